/* Texts are plain only where no version of YAML could take them for anything but
 * text; else they are quoted, and beyond printable ASCII escaped, as yaml.dump
 * does it. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "format/manifest.h"
#include "format/utf8.h"

/* A key has to be found by its colon within 1024 characters. */
#define HASH_MAX 128

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

static bool is_plain(const char *text)
{
	static const char *const words[] = { "y", "n", "yes", "no", "on", "off", "true", "false", "null" };

	if (!*text || !strchr(letters, *text))
		return false;
	for (const char *p = text; *p; p++)
		if (!strchr(letters, *p) && !strchr("0123456789_.-", *p))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcasecmp(text, words[i]))
			return false;
	return true;
}

static bool is_printable_ascii(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static int put_escaped(FILE *f, const char *text)
{
	unsigned c = 0;

	putc('"', f);
	for (size_t left = strlen(text), n; left > 0; text += n, left -= n) {
		n = utf8_get(text, left, &c);
		if (n == 0)
			return -EINVAL;
		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", (int)c);
		else if (c == '\n')
			fputs("\\n", f);
		else if (c >= ' ' && c <= '~')
			putc((int)c, f);
		else
			fprintf(f, c < 0x100 ? "\\x%02X" : c < 0x10000 ? "\\u%04X" : "\\U%08X", c);
	}
	putc('"', f);
	return 0;
}

static int put_text(FILE *f, const char *text)
{
	if (is_plain(text)) {
		fputs(text, f);
		return 0;
	}
	if (!is_printable_ascii(text))
		return put_escaped(f, text);
	putc('\'', f);
	for (; *text; text++)
		fputs(*text == '\'' ? "''" : (const char[]){ *text, '\0' }, f);
	putc('\'', f);
	return 0;
}

/* A line; text NULL: null. */
static int put(FILE *f, const char *indent, const char *key, const char *text)
{
	int r = 0;

	fprintf(f, "%s%s: ", indent, key);
	if (text)
		r = put_text(f, text);
	else
		fputs("null", f);
	putc('\n', f);
	return r;
}

static int put_entry(FILE *f, const struct manifest_entry *e)
{
	static const char indent[] = "    ";
	char step[32];
	int r;

	if (strlen(e->hash) > HASH_MAX)
		return -EINVAL;
	fputs("  ", f);
	r = put_text(f, e->hash);
	fputs(":\n", f);
	if (r == 0)
		r = put(f, indent, "hp_hash", e->hp_hash);
	if (r == 0)
		r = put(f, indent, "model_hash", e->model_hash);
	if (r == 0)
		r = put(f, indent, "data_hash", e->data_hash);
	if (r == 0)
		r = put(f, indent, "created", e->created);
	if (r == 0)
		r = put(f, indent, "last_used", e->last_used);
	if (r == 0)
		r = put(f, indent, "latest_weight_checkpoint", e->latest_weight_checkpoint);
	snprintf(step, sizeof(step), "%lld", (long long)e->latest_weight_step);
	fprintf(f, "%slatest_weight_step: %s\n", indent, e->latest_weight_step < 0 ? "null" : step);
	if (r == 0)
		r = put(f, indent, "experiment_name", e->experiment_name);
	return r == 0 ? put(f, indent, "notes", e->notes ? e->notes : "") : r;
}

int manifest_write(const struct manifest *m, char **ret, size_t *ret_len)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int r = 0;

	if (!f)
		return -ENOMEM;
	fputs(m->count ? "experiments:\n" : "experiments: {}\n", f);
	for (size_t i = 0; i < m->count && r == 0; i++)
		r = put_entry(f, &m->entries[i]);
	if (r == 0)
		r = put(f, "", "latest_hash", m->latest_hash);
	if (r == 0)
		r = put(f, "", "last_updated", m->last_updated);
	if (ferror(f) && r == 0)
		r = -ENOMEM;
	if (fclose(f) != 0 && r == 0)
		r = -ENOMEM;
	if (r < 0) {
		free(text);
		return r;
	}
	*ret = text;
	*ret_len = len;
	return 0;
}
