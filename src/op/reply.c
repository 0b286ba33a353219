#include "op/reply.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "exp/branch.h"
#include "format/number.h"
#include "util/hex.h"

/* Length of the UTF-8 character at s, 0 where there is none. */
static size_t utf8_length(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
	uint32_t c;

	if (n < 2)
		return n;
	c = *s & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c >= least[n] && c <= 0x10ffff && c >> 11 != 0x1b ? n : 0;
}

json_t *reply_text(const char *bytes)
{
	_cleanup_free_ char *text = malloc(4 * strlen(bytes) + 1);
	char *to = text;

	if (!text)
		return NULL;
	for (const unsigned char *s = (const unsigned char *)bytes; *s;) {
		size_t n = utf8_length(s);

		if (n == 0) {
			to += sprintf(to, "\\x%02x", *s++);
			continue;
		}
		memcpy(to, s, n);
		to += n;
		s += n;
	}
	return json_stringn(text, (size_t)(to - text));
}

json_t *reply_number(double value)
{
	if (isnan(value))
		return json_string("nan");
	return isinf(value) ? json_string(value < 0 ? "-inf" : "inf") : json_real(value);
}

/* The number at text, of n bytes; one with a point or an exponent is real. */
static void put_number(FILE *f, const char *text, size_t n)
{
	char copy[NUMBER_REPR_SIZE] = "";

	if (n < sizeof(copy) && (memchr(text, '.', n) || memchr(text, 'e', n))) {
		memcpy(copy, text, n);
		number_repr(strtod(copy, NULL), copy);
		text = copy;
		n = strlen(copy);
	}
	fwrite(text, 1, n, f);
}

static void put_shortened(FILE *f, const char *text)
{
	bool in_string = false;

	while (*text) {
		size_t n = in_string ? 0 : strspn(text, "+-.0123456789eE");

		if (n > 0 && (*text == '-' || (*text >= '0' && *text <= '9'))) {
			put_number(f, text, n);
			text += n;
			continue;
		}
		if (in_string && *text == '\\')
			putc(*text++, f);
		else if (*text == '"')
			in_string = !in_string;
		putc(*text++, f);
	}
}

char *reply_dump(const json_t *j, size_t flags)
{
	_cleanup_free_ char *text = json_dumps(j, flags);
	char *to = NULL;
	size_t len;
	FILE *f = text ? open_memstream(&to, &len) : NULL;

	if (!f)
		return NULL;
	put_shortened(f, text);
	if (fclose(f) == 0)
		return to;
	free(to);
	return NULL;
}

json_t *reply_path(const char *path)
{
	_cleanup_free_ char *text = NULL;

	return asprintf(&text, "/%s", path) < 0 ? NULL : reply_text(text);
}

char *reply_place(const struct expfs *ex, const char *path)
{
	char *place;

	return asprintf(&place, "%s/%s", ex->mountpoint ? ex->mountpoint : "", path) < 0 ? NULL : place;
}

json_t *reply_time(int64_t ns)
{
	struct timespec ts = ns_timespec(ns);
	char day[32], text[64];
	struct tm tm;

	if (!gmtime_r(&ts.tv_sec, &tm) || strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		return json_null();
	snprintf(text, sizeof(text), "%s.%09ldZ", day, ts.tv_nsec);
	return json_string(text);
}

void reply_time_text(const char *text, char ret[static REPLY_TIME_TEXT])
{
	struct tm tm = { 0 };
	time_t t;

	*ret = 0;
	if (!strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
		return;
	t = timegm(&tm);
	if (localtime_r(&t, &tm))
		strftime(ret, REPLY_TIME_TEXT, "%Y-%m-%d %H:%M:%S", &tm);
}

int reply_put_path(json_t *args, const char *path)
{
	_cleanup_free_ char *slashed = NULL, *hex = NULL;
	json_t *j;

	if (asprintf(&slashed, "/%s", path) < 0)
		return -ENOMEM;
	j = json_string(slashed);
	if (j)
		return json_object_set_new(args, "path", j) < 0 ? -ENOMEM : 0;
	hex = malloc(2 * strlen(path) + 1);
	if (!hex)
		return -ENOMEM;
	hex_text(path, strlen(path), hex);
	return json_object_set_new(args, "path_hex", json_string(hex)) < 0 ? -ENOMEM : 0;
}

char *reply_get_path(const json_t *args)
{
	const char *path = json_string_value(json_object_get(args, "path"));
	const char *hex = json_string_value(json_object_get(args, "path_hex"));
	size_t n = hex ? strlen(hex) / 2 : 0;
	char *bytes;

	if (path)
		return strdup(path + (*path == '/'));
	bytes = hex ? malloc(n + 1) : NULL;
	for (size_t i = 0; bytes && i < n; i++) {
		unsigned c = 0;

		sscanf(hex + 2 * i, "%2x", &c);
		bytes[i] = (char)c;
	}
	if (bytes)
		bytes[n] = 0;
	return bytes;
}

enum op_exit reply_error(json_t **ret, enum op_exit exit, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	*ret = json_pack("{s:o}", "error", n < 0 ? json_string("memory is short") : reply_text(text));
	return exit;
}

json_t *reply_run(const struct branch *b)
{
	return branch_is_removed(b) ? json_null() : reply_path(b->path);
}

enum op_exit reply_removed(const struct expfs *ex, json_t **ret, const struct branch *b)
{
	_cleanup_free_ char *place = reply_place(ex, b->path);

	return reply_error(ret, OP_FAILED, "%s: its run was removed; make it again with mkdir %s, or go on in a new one: expfs branch "
			   "NEW --from %s", b->name, place ? place : b->path, b->name);
}
