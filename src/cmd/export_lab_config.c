#include "cmd/export_lab_config.h"

#include <stdio.h>
#include <string.h>

#include "util/util.h"

static bool is_marker(const char *line, const char *marker)
{
	size_t n = strlen(marker);

	return !strncmp(line, marker, n) && (!line[n] || strchr(" \t\r\n", line[n]));
}

/* Each line further in; the mark of a document's begin is left out. */
static int put_lines(FILE *f, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (is_marker(text, "...") || *text == '%')
			return -EINVAL;
		if (is_marker(text, "---"))
			fprintf(f, "\n");
		else
			fprintf(f, "%s%.*s\n", n ? "  " : "", (int)n, text);
		text += n + (text[n] == '\n');
	}
	return 0;
}

/* What Python makes of it is what it made of the configuration. */
static int check(const char *wrapped, const char *inner, const char *hash, const char *time)
{
	static const char *const none[] = { NULL };
	_cleanup_free_ char *is = NULL, *wanted = NULL, *error = NULL;
	int r = hp_parse(wrapped, strlen(wrapped), "config.yaml", none, &is, &error);

	if (r < 0)
		return r;
	if (asprintf(&wanted, "{\"exp_hash\": \"%s\", \"hyperparameters\": %s, \"last_updated\": \"%s\"}", hash, inner, time) < 0)
		return -ENOMEM;
	return !strcmp(is, wanted) ? 0 : -EINVAL;
}

int lab_config(const char *text, const char *name, const char *hash, const char *time, char **ret)
{
	static const char *const none[] = { NULL };
	_cleanup_free_ char *inner = NULL, *error = NULL, *wrapped = NULL;
	size_t len;
	FILE *f;
	int r = hp_parse(text, strlen(text), name, none, &inner, &error);

	if (r < 0)
		return r;
	f = open_memstream(&wrapped, &len);
	if (!f)
		return -ENOMEM;
	fprintf(f, "exp_hash: '%s'\nhyperparameters:%s\n", hash, !strcmp(inner, "{}") ? " {}" : "");
	r = !strcmp(inner, "{}") ? 0 : put_lines(f, text);
	fprintf(f, "last_updated: '%s'\n", time);
	if (fclose(f) != 0)
		return -ENOMEM;
	if (r == 0)
		r = check(wrapped, inner, hash, time);
	if (r == 0)
		*ret = steal(&wrapped);
	return r;
}
