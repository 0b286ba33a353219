#include "cmd/shell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "util/util.h"

char *shell_word(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%~";
	char *word, *at;

	for (const char *s = text; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f || *s == '\\') /* by which answers tell bytes that are no text */
			return NULL;
	if (*text && *text != '~' && !text[strspn(text, plain)])
		return strdup(text);
	at = word = malloc(4 * strlen(text) + 3);
	if (!word)
		return NULL;
	*at++ = '\'';
	for (; *text; text++)
		at = *text == '\'' ? stpcpy(at, "'\\''") : (*at = *text, at + 1);
	strcpy(at, "'");
	return word;
}

static char *make_above(const char *path)
{
	_cleanup_free_ char *above = strndup(path, (size_t)MAX(path_last(path) - path - 1, (ptrdiff_t)0)), *word = NULL;
	char *command;

	if (!above || !*above || access(above, F_OK) == 0)
		return strdup("");
	word = shell_word(above);
	return !word || asprintf(&command, "mkdir -p %s && ", word) < 0 ? NULL : command;
}

char *shell_restore(const char *from, uint64_t n, const char *to)
{
	_cleanup_free_ char *version = NULL, *source = NULL, *dest = NULL, *above = NULL;
	char *command;

	if (asprintf(&version, n ? "%s@%" PRIu64 : "%s", from, n) < 0)
		return NULL;
	source = shell_word(version);
	dest = to ? shell_word(to) : strdup("");
	above = make_above(to ? to : from);
	if (!source || !dest || !above)
		return NULL;
	return asprintf(&command, "%sexpfs restore %s%s%s", above, source, to ? " " : "", dest) < 0 ? NULL : command;
}

/* DIR's own name, or with a number behind it. */
static char *free_run(const char *point, const char *dir)
{
	const char *name = path_last(dir);
	char *run;

	if (!*name || *name == '.')
		name = "imported";
	if (asprintf(&run, "%s/runs/%s", point, name) < 0)
		return NULL;
	for (unsigned i = 2; access(run, F_OK) == 0; i++) {
		free(run);
		if (asprintf(&run, "%s/runs/%s-%u", point, name, i) < 0)
			return NULL;
	}
	return run;
}

char *shell_import(const char *dir, const char *point)
{
	_cleanup_free_ char *run = point ? free_run(point, dir) : strdup("MNT/runs/NAME"), *source = shell_word(dir);
	_cleanup_free_ char *dest = run ? shell_word(run) : NULL;
	char *command;

	if (!source || !dest)
		return NULL;
	return asprintf(&command, "expfs import %s %s%s", source, dest, point ? "" : ", with the store mounted at MNT") < 0 ? NULL : command;
}
