/* The checkpoints of each branch, by step. */
#include "page/page_part.h"

#include <string.h>

#include "page/out.h"
#include "util/util.h"

#define OPEN 2         /* branches whose list is not folded */
#define BRANCHES 300   /* more are counted only */
#define ROWS_MAX 3000  /* of all together */

static void put_weights(FILE *f, const json_t *weights)
{
	const json_t *parts = json_object_get(weights, "parts");

	if (!json_is_object(weights))
		fputs("<td></td><td>", f);
	else if (!json_is_true(json_object_get(weights, "read")))
		fputs("<td><small>not read yet</small></td><td>", f);
	else if (json_array_size(parts) == 0)
		fprintf(f, "<td>%s</td><td>", json_is_true(json_object_get(weights, "told")) ? "weights alone" : "<small>cannot be told</small>");
	else {
		fputs("<td class=\"w\">", f);
		out_names(f, parts);
		fputs("</td><td>", f);
	}
	if (*out_get(weights, "label")) {
		fputs("<strong class=\"w\">", f);
		out_text(f, out_get(weights, "label"));
		fputs("</strong>", f);
	}
	fputs("</td></tr>\n", f);
}

static void put_mark(FILE *f, const json_t *c, const char *key, const char *text)
{
	if (json_is_true(json_object_get(c, key)))
		fprintf(f, " <em>%s</em>", text);
}

static void put_row(FILE *f, const json_t *c)
{
	const json_t *step = json_object_get(c, "step");

	fputs("<tr><th scope=\"row\" class=\"n\">", f);
	if (json_is_integer(step))
		fprintf(f, "%" JSON_INTEGER_FORMAT, json_integer_value(step));
	fputs("</th><td class=\"p\"><code>", f);
	out_name(f, out_get(c, "path"));
	fputs("</code>", f);
	put_mark(f, c, "latest", "latest");
	put_mark(f, c, "best", "best");
	put_mark(f, c, "off", "off the line");
	fputs("</td><td>", f);
	out_time(f, out_get(c, "time"));
	fputs("</td><td class=\"n\">", f);
	out_bytes(f, (double)out_get_number(c, "size"));
	fputs("</td><td class=\"n\">", f);
	out_bytes(f, (double)out_get_number(c, "stored"));
	fputs(json_is_true(json_object_get(c, "complete")) ? "</td><td>yes</td>" : "</td><td><strong>no</strong></td>", f);
	put_weights(f, json_object_get(c, "weights"));
}

static void put_branch(FILE *f, const json_t *b, bool open, size_t *left)
{
	const json_t *list = json_object_get(b, "list");
	const char *name = out_get(b, "branch");
	size_t n = MIN(json_array_size(list), *left);
	json_int_t count = out_get_number(b, "count");

	fprintf(f, "<details%s><summary><h3>", open ? " open" : "");
	out_name(f, name);
	fputs("</h3> <small>", f);
	out_count(f, count, "checkpoint");
	fputs("</small></summary>\n", f);
	if (n > 0) {
		out_table(f, name, "#step|checkpoint|time|#size|#stored|complete|a resume finds|label");
		for (size_t i = 0; i < n; i++)
			put_row(f, json_array_get(list, i));
		out_table_end(f);
	}
	*left -= n;
	if (count > (json_int_t)n) {
		fputs("<p class=\"more\">and ", f);
		out_count(f, count - (json_int_t)n, "checkpoint");
		fputs(" more, older ones: their steps are in <code>branches/", f);
		out_name(f, name);
		fputs("/step/</code> of a mount</p>\n", f);
	}
	fputs("</details>\n", f);
}

void page_checkpoints(FILE *f, const json_t *report)
{
	const json_t *list = json_object_get(report, "checkpoints"), *b;
	size_t i, left = ROWS_MAX, shown = 0, n = 0;

	json_array_foreach (list, i, b)
		n += out_get_number(b, "count") > 0;
	if (n == 0)
		return;
	out_section(f, "checkpoints", "Checkpoints");
	json_array_foreach (list, i, b)
		if (out_get_number(b, "count") > 0 && shown < BRANCHES)
			put_branch(f, b, shown++ < OPEN, &left);
	out_more(f, (json_int_t)(n - shown), "branch", "expfs status");
	out_section_end(f);
}
