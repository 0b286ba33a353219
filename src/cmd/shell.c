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
