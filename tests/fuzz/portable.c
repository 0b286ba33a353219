/* Names for sync folders: the names of a directory, with a slash between them.
 *
 * What they are mapped to is refused by no folder, differs not in case alone, and leads back. */
#include "format/utf8.h"
#include "fuzz.h"
#include "sync/portable.h"

#define NAMES_MAX 64

static void check_taken(const char *mapped)
{
	size_t len = strlen(mapped);

	must(len > 0 && len <= PORTABLE_MAX);
	must(mapped[0] != ' ' && mapped[len - 1] != ' ' && mapped[len - 1] != '.');
	must(strncmp(mapped, PORTABLE_PART, strlen(PORTABLE_PART)) != 0);
	for (size_t at = 0, n; at < len; at += n) {
		n = utf8_length(mapped + at, len - at);
		must(n > 0);
		must((unsigned char)mapped[at] >= 0x20 && !strchr(":?*\"<>|\\\x7f", mapped[at]));
	}
}

static void check_back(const char *name, const char *mapped)
{
	_cleanup_free_ char *back = NULL, *foreign = NULL;

	must(portable_unmap(mapped, &back) == 0);
	must(!strcmp(back, name));
	must(portable_unmap(name, &foreign) == 0);
	must(*foreign && strcmp(foreign, ".") && strcmp(foreign, ".."));
	must(!strchr(foreign, '/') && strlen(foreign) <= strlen(name));
}

static size_t split(char *text, const char *names[NAMES_MAX])
{
	char *rest = NULL;
	size_t n = 0;

	for (char *s = strtok_r(text, "/", &rest); s && n < NAMES_MAX; s = strtok_r(NULL, "/", &rest)) {
		bool there = !strcmp(s, ".") || !strcmp(s, "..") || strlen(s) > PORTABLE_MAX;

		for (size_t i = 0; i < n; i++)
			there |= !strcmp(names[i], s);
		if (!there)
			names[n++] = s;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = as_text(data, size);
	const char *names[NAMES_MAX];
	char *to[NAMES_MAX];
	size_t n = split(text, names);

	must(portable_map_all(names, n, to) == 0);
	for (size_t i = 0; i < n; i++) {
		if (!to[i])
			continue;
		check_taken(to[i]);
		check_back(names[i], to[i]);
		for (size_t j = 0; j < i; j++)
			must(!to[j] || strcasecmp(to[i], to[j]) != 0);
	}
	for (size_t i = 0; i < n; i++)
		free(to[i]);
	return 0;
}
