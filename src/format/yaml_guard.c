/* A directive begins with '%' in the first column. Which column that is depends
 * on line breaks of five kinds and on the encoding; so each "%TAG" counts,
 * wherever it stands. */
#include "format/yaml_guard.h"

#include <stdbool.h>
#include <string.h>

#define TAGS_MAX 16

/* The bytes of "%TAG", step bytes apart: 2 in UTF-16 of either order. */
static bool is_tag(const char *p, const char *end, size_t step)
{
	static const char word[] = "%TAG";
	size_t n = sizeof(word) - 2;

	if ((size_t)(end - p) <= n * step)
		return false;
	for (size_t i = 1; i <= n; i++)
		if (p[i * step] != word[i])
			return false;
	return true;
}

const char *yaml_guard(const char *text, size_t len)
{
	const char *end = text + len;
	unsigned tags = 0;

	for (const char *p = text; len > 0 && (p = memchr(p, '%', (size_t)(end - p))) != NULL; p++)
		if ((is_tag(p, end, 1) || is_tag(p, end, 2)) && ++tags > TAGS_MAX)
			return "too many %TAG directives";
	return NULL;
}
