/* What is to be seen first: warnings, space, branches. */
#include "page/page_part.h"

#include "page/out.h"
#include "util/util.h"

#define WARNINGS_SHOWN 10
#define WARNINGS_FOLDED 290
#define BRANCHES_SHOWN 20
#define BRANCHES_FOLDED 480

static void put_warning(FILE *f, const json_t *w)
{
	fputs("<li><strong>", f);
	out_text(f, out_get(w, "kind"));
	fputs("</strong> <span>", f);
	if (*out_get(w, "path")) {
		fputs("<code>", f);
		out_name(f, out_get(w, "path"));
		fputs("</code> ", f);
	}
	out_text(f, out_get(w, "text"));
	fputs("</span></li>\n", f);
}

static void put_warnings_from(FILE *f, const json_t *warnings, size_t from, size_t n)
{
	fputs("<ul class=\"warnings\">\n", f);
	for (size_t i = from; i < MIN(from + n, json_array_size(warnings)); i++)
		put_warning(f, json_array_get(warnings, i));
	fputs("</ul>\n", f);
}

typedef void (*put_from_fn)(FILE *f, const json_t *list, size_t from, size_t n);

/* The first ones, some more that are folded, and how many there are beside. */
static void put_folded(FILE *f, const json_t *list, put_from_fn put, size_t shown, size_t folded, const char *what)
{
	size_t n = json_array_size(list);

	if (n > 0)
		put(f, list, 0, shown);
	if (n > shown) {
		fprintf(f, "<details><summary>%zu more</summary>\n", MIN(n - shown, folded));
		put(f, list, shown, folded);
		fputs("</details>\n", f);
	}
	out_more(f, (json_int_t)n - (json_int_t)(shown + folded), what, "expfs status");
}

static void put_warnings(FILE *f, const json_t *warnings)
{
	out_section(f, "warnings", "Warnings");
	if (json_array_size(warnings) == 0)
		fputs("<p class=\"good\">There is nothing to warn of.</p>\n", f);
	put_folded(f, warnings, put_warnings_from, WARNINGS_SHOWN, WARNINGS_FOLDED, "warning");
	out_section_end(f);
}

static void put_bar(FILE *f, const char *label, double bytes, double most, const char *what)
{
	fprintf(f, "<tr><th scope=\"row\">%s</th><td class=\"n\">", label);
	out_bytes(f, bytes);
	fprintf(f, "</td><td class=\"bar\"><svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
		   "<rect width=\"%.0f\" height=\"10\"/></svg><small>%s</small></td></tr>\n",
		most > 0 ? bytes / most * 1000 : 0, what);
}

static void put_space(FILE *f, const json_t *space)
{
	double raw = (double)out_get_number(space, "raw"), unique = (double)out_get_number(space, "unique");
	double stored = (double)out_get_number(space, "stored"), most = MAX(raw, MAX(unique, stored));

	if (!space)
		return;
	out_section(f, "space", "Space");
	fputs("<p class=\"big\">", f);
	if (raw > stored) {
		out_bytes(f, raw - stored);
		fprintf(f, " saved <small>%.0f %% of what the files have</small>", (raw - stored) / raw * 100);
	} else {
		out_bytes(f, stored);
		fputs(" stored <small>with what history alone holds</small>", f);
	}
	fputs("</p>\n<table class=\"space\"><tbody>\n", f);
	put_bar(f, "raw", raw, most, "all files");
	put_bar(f, "unique", unique, most, "equal ones once, with history");
	put_bar(f, "stored", stored, most, "on the store's disk");
	fputs("</tbody></table>\n", f);
	out_section_end(f);
}

static void put_checkpoint(FILE *f, const json_t *c)
{
	const json_t *step = json_object_get(c, "step");

	if (!json_is_object(c)) {
		fputs("<td>none</td>", f);
		return;
	}
	fputs("<td class=\"p\">", f);
	if (json_is_integer(step))
		fprintf(f, "<b>step %" JSON_INTEGER_FORMAT "</b>", json_integer_value(step));
	if (*out_get(c, "metric")) {
		fputs(json_is_integer(step) ? ", " : "", f);
		out_name(f, out_get(c, "metric"));
		fputc(' ', f);
		out_value(f, json_object_get(c, "value"));
	}
	if (*out_get(c, "selection"))
		fputs(" <em>selected</em>", f);
	fputs(json_is_integer(step) || *out_get(c, "metric") || *out_get(c, "selection") ? "<br><code>" : "<code>", f);
	out_name(f, out_get(c, "path"));
	fputs("</code></td>", f);
}

static void put_branch(FILE *f, const json_t *b)
{
	const json_t *pending = json_object_get(b, "pending");

	fputs("<tr><th scope=\"row\">", f);
	out_name(f, out_get(b, "name"));
	fputs(json_is_null(json_object_get(b, "run")) ? " <em>removed</em></th>" : "</th>", f);
	put_checkpoint(f, json_object_get(b, "latest"));
	put_checkpoint(f, json_object_get(b, "best"));
	fputs("<td><code>", f);
	out_text(f, out_get(b, "head"));
	fputs("</code></td><td>", f);
	out_names(f, json_object_get(pending, "components"));
	fputs("<br><code>", f);
	out_text(f, out_get(pending, "hash"));
	fputs("</code></td></tr>\n", f);
}

static void put_branches_from(FILE *f, const json_t *branches, size_t from, size_t n)
{
	out_table(f, "Branches", "branch|latest|best|head|pending");
	for (size_t i = from; i < MIN(from + n, json_array_size(branches)); i++)
		put_branch(f, json_array_get(branches, i));
	out_table_end(f);
}

static void put_branches(FILE *f, const json_t *branches)
{
	out_section(f, "branches", "Branches");
	if (json_array_size(branches) == 0)
		fputs("<p>There is no branch yet: a run makes one with its first checkpoint or configuration.</p>\n", f);
	put_folded(f, branches, put_branches_from, BRANCHES_SHOWN, BRANCHES_FOLDED, "branch");
	out_section_end(f);
}

void page_summary(FILE *f, const json_t *report)
{
	const json_t *status = json_object_get(report, "status");

	put_warnings(f, json_object_get(status, "warnings"));
	put_space(f, json_object_get(status, "space"));
	put_branches(f, json_object_get(status, "branches"));
}
