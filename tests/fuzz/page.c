/* The page of a report: whatever the JSON is, each element that begins ends, in order, and nothing is of a kind that the page has
 * not. */
#include "page/page.h"

#include "fuzz.h"

#define DEPTH 64
#define NAME 16

static bool has_no_end(const char *tag, const char *end)
{
	return end[-1] == '/' || !strcmp(tag, "meta") || !strcmp(tag, "br");
}

static bool is_unwanted(const char *tag)
{
	static const char *const tags[] = { "script", "link", "img", "iframe", "object", "embed", "a", "base", "form" };

	for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
		if (!strcmp(tag, tags[i]))
			return true;
	return false;
}

static void check_elements(const char *page)
{
	char open[DEPTH][NAME];
	size_t depth = 0;

	for (const char *s = strchr(page + 1, '<'); s; s = strchr(s, '<')) {
		bool ends = s[1] == '/';
		const char *name = s + 1 + ends, *end = strchr(s, '>');
		size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");

		must(end && n > 0 && n < NAME && depth < DEPTH);
		must(memchr(s + 1, '<', (size_t)(end - s - 1)) == NULL);
		if (ends) {
			must(depth > 0 && strlen(open[depth - 1]) == n && !memcmp(open[depth - 1], name, n));
			depth--;
		} else {
			memcpy(open[depth], name, n);
			open[depth][n] = 0;
			must(!is_unwanted(open[depth]));
			depth += !has_no_end(open[depth], end);
		}
		s = end;
	}
	must(depth == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *report = json_loadb((const char *)data, size, 0, NULL);
	char *page = NULL;
	size_t len = 0;

	if (!report)
		return 0;
	must(page_html(report, &page, &len) == 0);
	must(strlen(page) == len);
	for (const char *s = page; *s; s++)
		must((unsigned char)*s >= 0x20 || *s == '\n');
	check_elements(page);
	free(page);
	json_decref(report);
	return 0;
}
