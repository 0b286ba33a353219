/* What of a configuration changed from each experiment to the next. */
#include "page/page_part.h"

#include "page/out.h"
#include "util/util.h"

#define SHOWN 10       /* experiments that are not folded */
#define ROWS_MAX 2000  /* of all together */
#define KEYS_MAX 100   /* of one experiment */

static void put_value(FILE *f, const json_t *key, const char *value, const char *type)
{
	fputs("<td><code>", f);
	out_name(f, out_get(key, value));
	fputs("</code>", f);
	if (*out_get(key, type)) {
		fputs(" <small>", f);
		out_text(f, out_get(key, type));
		fputs("</small>", f);
	}
	fputs("</td>", f);
}

static size_t put_keys(FILE *f, const json_t *hp)
{
	size_t n = MIN(json_array_size(hp), KEYS_MAX);

	for (size_t i = 0; i < n; i++) {
		const json_t *key = json_array_get(hp, i);

		fputs("<tr><td>", f);
		out_name(f, out_get(key, "key"));
		fputs("</td>", f);
		put_value(f, key, "from", "from_type");
		put_value(f, key, "to", "to_type");
		fputs("</tr>\n", f);
	}
	if (n < json_array_size(hp)) {
		fputs("<tr><td colspan=\"3\">and ", f);
		out_count(f, (json_int_t)(json_array_size(hp) - n), "key");
		fputs(" more</td></tr>\n", f);
	}
	return n;
}

static size_t put_experiment(FILE *f, const json_t *e)
{
	size_t n;

	fputs("</tbody>\n<tbody>\n<tr class=\"group\"><th colspan=\"3\" scope=\"rowgroup\"><code>", f);
	out_text(f, out_get(e, "parent"));
	fputs("</code> → <code>", f);
	out_text(f, out_get(e, "hash"));
	fputs("</code> <small>", f);
	out_names(f, json_object_get(e, "branches"));
	fputs("</small></th></tr>\n", f);
	n = put_keys(f, json_object_get(e, "hp"));
	return n + 1;
}

void page_changes(FILE *f, const json_t *report)
{
	const json_t *list = json_object_get(report, "experiments"), *e;
	size_t i, rows = 0, n = 0, shown = 0;

	json_array_foreach (list, i, e)
		n += json_array_size(json_object_get(e, "hp")) > 0;
	if (n == 0)
		return;
	out_section(f, "changes", "Changes of configuration");
	out_table(f, "Changes of configuration", "key|before|after");
	json_array_foreach (list, i, e) {
		if (json_array_size(json_object_get(e, "hp")) == 0 || rows >= ROWS_MAX)
			continue;
		if (shown++ == SHOWN) {
			out_table_end(f);
			fputs("<details><summary>older ones</summary>\n", f);
			out_table(f, "Older changes of configuration", "key|before|after");
		}
		rows += put_experiment(f, e);
	}
	out_table_end(f);
	fputs(shown > SHOWN ? "</details>\n" : "", f);
	out_more(f, (json_int_t)(n - shown), "experiment", "expfs log");
	out_section_end(f);
}
