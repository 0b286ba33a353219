#include "page/out.h"

#include <math.h>
#include <string.h>

#include "util/human.h"
#include "util/util.h"

const char *out_get(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

json_int_t out_get_number(const json_t *j, const char *key)
{
	return json_integer_value(json_object_get(j, key));
}

/* The character at *s, which is valid UTF-8 as all text of JSON, and goes past it. */
static uint32_t next(const unsigned char **s)
{
	unsigned n = **s < 0x80 ? 0 : **s >= 0xf0 ? 3 : **s >= 0xe0 ? 2 : 1;
	uint32_t c = n == 0 ? **s : **s & (0x3fu >> n);

	for ((*s)++; n > 0 && **s >> 6 == 2; n--)
		c = c << 6 | (*(*s)++ & 0x3f);
	return c;
}

/* Controls, marks of direction, what has no width, and what is no character. */
static bool is_unseen(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfdd0 && c <= 0xfdef) ||
	       (c >= 0xe0000 && c <= 0xe0fff) || (c & 0xfffe) == 0xfffe;
}

static void put(FILE *f, uint32_t c, const unsigned char *bytes, size_t n)
{
	static const char *const entities[] = { ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;" };

	if (is_unseen(c))
		fprintf(f, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
	else if (c < ARRAY_SIZE(entities) && entities[c])
		fputs(entities[c], f);
	else
		fwrite(bytes, 1, n, f);
}

void out_text(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	for (unsigned i = 0; *s; i++) {
		const unsigned char *begin = s;
		uint32_t c = next(&s);

		if (i == OUT_TEXT) {
			fputs("…", f);
			return;
		}
		put(f, c, begin, (size_t)(s - begin));
	}
}

void out_name(FILE *f, const char *text)
{
	fputs("<bdi>", f);
	out_text(f, text);
	fputs("</bdi>", f);
}

void out_names(FILE *f, const json_t *list)
{
	const json_t *name;
	size_t i;

	json_array_foreach (list, i, name) {
		fputs(i ? ", " : "", f);
		out_name(f, json_is_string(name) ? json_string_value(name) : "");
	}
}

void out_time(FILE *f, const char *time)
{
	unsigned y, mo, d, h, m, s;

	if (sscanf(time, "%4u-%2u-%2uT%2u:%2u:%2u", &y, &mo, &d, &h, &m, &s) == 6)
		fprintf(f, "<time datetime=\"%04u-%02u-%02uT%02u:%02u:%02uZ\">%04u-%02u-%02u %02u:%02u:%02u</time>", y, mo, d, h, m,
			s, y, mo, d, h, m, s);
}

void out_bytes(FILE *f, double bytes)
{
	char text[HUMAN_TEXT];

	human_bytes(bytes, text);
	fputs(text, f);
}

void out_count(FILE *f, json_int_t n, const char *thing)
{
	size_t len = strlen(thing);

	fprintf(f, "%" JSON_INTEGER_FORMAT " %s%s", n, thing, n == 1 ? "" : len > 2 && !strcmp(thing + len - 2, "ch") ? "es" : "s");
}

void out_number(FILE *f, double value)
{
	fprintf(f, fabs(value) < 9007199254740992.0 && value == floor(value) ? "%.0f" : "%.4g", value);
}

void out_value(FILE *f, const json_t *value)
{
	if (json_is_number(value))
		out_number(f, json_number_value(value));
	else if (json_is_string(value))
		out_text(f, json_string_value(value));
}

void out_section(FILE *f, const char *id, const char *title)
{
	fprintf(f, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", id, id, title);
}

void out_section_end(FILE *f)
{
	fputs("</section>\n", f);
}

void out_table(FILE *f, const char *label, const char *head)
{
	fputs("<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"", f);
	out_text(f, label);
	fputs("\"><table>\n<thead><tr>", f);
	for (const char *s = head; *s;) {
		size_t n = strcspn(s, "|");

		fprintf(f, "<th scope=\"col\"%s>%.*s</th>", *s == '#' ? " class=\"n\"" : "", (int)n - (*s == '#'), s + (*s == '#'));
		s += n + (s[n] == '|');
	}
	fputs("</tr></thead>\n<tbody>\n", f);
}

void out_table_end(FILE *f)
{
	fputs("</tbody>\n</table></div>\n", f);
}

void out_more(FILE *f, json_int_t n, const char *thing, const char *command)
{
	if (n <= 0)
		return;
	fputs("<p class=\"more\">and ", f);
	out_count(f, n, thing);
	fputs(" more: <code>", f);
	out_text(f, command);
	fputs("</code></p>\n", f);
}
