/* Checkpoints that somebody selected, and what was decided about them. */
#include "page/page_part.h"

#include "page/out.h"
#include "util/util.h"

#define SELECTIONS_MAX 200
#define DECISIONS_MAX 20 /* of one */

static void put_decisions(FILE *f, const json_t *decisions)
{
	size_t n = json_array_size(decisions), from = n > DECISIONS_MAX ? n - DECISIONS_MAX : 0;

	if (from > 0)
		fprintf(f, "<small>%zu older ones: <code>expfs show</code></small><br>", from);
	for (size_t i = from; i < n; i++) {
		const json_t *d = json_array_get(decisions, i);

		fputs(i > from ? "<br><b>" : "<b>", f);
		out_text(f, out_get(d, "decision"));
		fputs("</b> by ", f);
		out_name(f, out_get(d, "by"));
		fputs(" <small>", f);
		out_time(f, out_get(d, "time"));
		fputs("</small> ", f);
		out_name(f, out_get(d, "note"));
	}
}

static void put_selection(FILE *f, const json_t *s)
{
	const json_t *metric = json_object_get(s, "metric"), *step = json_object_get(s, "step");

	fputs("<tr><th scope=\"row\">", f);
	out_name(f, out_get(s, "branch"));
	fputc(':', f);
	out_name(f, out_get(s, "name"));
	fputs("<br><small>", f);
	out_text(f, out_get(s, "selection"));
	fputs("</small></th><td>", f);
	if (json_is_integer(step))
		fprintf(f, "<b>step %" JSON_INTEGER_FORMAT "</b> ", json_integer_value(step));
	out_name(f, out_get(metric, "name"));
	fputc(' ', f);
	out_value(f, json_object_get(metric, "value"));
	fputs("<br><code>", f);
	out_name(f, out_get(s, "path"));
	fprintf(f, "@%" JSON_INTEGER_FORMAT "</code>", out_get_number(s, "version"));
	fputs(json_is_false(json_object_get(s, "held")) ? " <strong>lost</strong></td><td>" : "</td><td>", f);
	out_time(f, out_get(s, "selected_at"));
	fputs("</td><td class=\"w\">", f);
	if (*out_get(s, "label")) {
		fputs("<strong>", f);
		out_text(f, out_get(s, "label"));
		fputs("</strong><br>", f);
	}
	put_decisions(f, json_object_get(s, "decisions"));
	fputs("</td></tr>\n", f);
}

void page_selections(FILE *f, const json_t *report)
{
	const json_t *list = json_object_get(report, "selections");
	size_t all = json_array_size(list), n = MIN(all, SELECTIONS_MAX);

	if (n == 0)
		return;
	out_section(f, "selections", "Selections");
	out_table(f, "Selections", "selection|checkpoint|selected|decisions");
	for (size_t i = 0; i < n; i++)
		put_selection(f, json_array_get(list, i));
	out_table_end(f);
	out_more(f, (json_int_t)(all - n), "selection", "expfs log");
	out_section_end(f);
}
