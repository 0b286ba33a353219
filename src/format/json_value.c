/* A JSON parser with Python's ways, which jansson has not: integers of any
 * length, 1e400 for infinity, NaN and Infinity, lone surrogates, NUL, and a key
 * that comes twice.
 *
 * It is not pyjson.c, for a hash is of all that Python reads: of every string and
 * number the whole, of halves of surrogate pairs, nested as deep as Python goes, and
 * with each value's line. pyjson.c takes what tells something, of files of any size,
 * in no memory. */
#include "format/json_value.h"

#include <math.h>
#include <string.h>

#include "format/json_escape.h"
#include "format/number.h"
#include "format/utf8.h"

struct reader {
	struct value_document *d;
	const char *p, *end;
	size_t line;
	struct value_stack open;
};

static int bad(struct reader *rd, const char *what)
{
	return value_fail(rd->d, rd->line, "%s", what);
}

static void skip_space(struct reader *rd)
{
	for (; rd->p < rd->end && strchr(" \t\n\r", *rd->p) && *rd->p; rd->p++)
		rd->line += *rd->p == '\n';
}

static bool take(struct reader *rd, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(rd->end - rd->p) < n || memcmp(rd->p, word, n) != 0)
		return false;
	rd->p += n;
	return true;
}

/* The closing quote of a string: no text is longer than how it is written. */
static const char *closing(const struct reader *rd)
{
	for (const char *p = rd->p; p < rd->end; p++) {
		if (*p == '"')
			return p;
		if (*p == '\\')
			p++;
	}
	return NULL;
}

static int take_string(struct reader *rd, struct value *v)
{
	const char *close;
	char *text, *out;

	if (!take(rd, "\""))
		return bad(rd, "a string is missing");
	close = closing(rd);
	if (!close)
		return bad(rd, "a string without an end");
	text = out = value_alloc(rd->d, (size_t)(close - rd->p) + 1);
	if (!text)
		return -ENOMEM;
	while (rd->p < close) {
		uint32_t c;
		size_t n;

		if (take(rd, "\\")) {
			if (!json_escape(&rd->p, rd->end, &c))
				return bad(rd, "an escape that JSON does not have");
			out += utf8_put(out, c);
			continue;
		}
		n = utf8_length(rd->p, (size_t)(close - rd->p));
		if (n == 0)
			return bad(rd, "not in UTF-8");
		if ((unsigned char)*rd->p < ' ')
			return bad(rd, "a control character in a string");
		memcpy(out, rd->p, n);
		out += n;
		rd->p += n;
	}
	rd->p++;
	*out = 0;
	v->kind = VALUE_STRING;
	v->text = text;
	v->count = (size_t)(out - text);
	return 0;
}

static size_t take_digits(struct reader *rd)
{
	const char *begin = rd->p;

	while (rd->p < rd->end && *rd->p >= '0' && *rd->p <= '9')
		rd->p++;
	return (size_t)(rd->p - begin);
}

/* Goes over a fraction or exponent, or stays where none is whole. */
static bool take_rest(struct reader *rd, const char *begins, const char *signs)
{
	const char *begin = rd->p;

	if (rd->p < rd->end && strchr(begins, *rd->p) && *rd->p) {
		rd->p++;
		rd->p += rd->p < rd->end && *rd->p && strchr(signs, *rd->p);
		if (take_digits(rd) > 0)
			return true;
	}
	rd->p = begin;
	return false;
}

static int take_number(struct reader *rd, struct value *v)
{
	const char *begin = rd->p;
	_cleanup_free_ char *text = NULL;
	bool real;
	int r;

	take(rd, "-");
	if (!take(rd, "0") && take_digits(rd) == 0)
		return bad(rd, "a value is missing");
	real = take_rest(rd, ".", "");
	real |= take_rest(rd, "eE", "+-");
	if (real) {
		v->kind = VALUE_FLOAT;
		return number_float(begin, (size_t)(rd->p - begin), &v->number);
	}
	r = number_int(begin, (size_t)(rd->p - begin), 10, &text);
	if (r == -ERANGE)
		return bad(rd, "an integer of too many digits");
	return r < 0 ? r : value_set_text(rd->d, v, VALUE_INT, text, strlen(text));
}

static int take_word(struct reader *rd, struct value *v)
{
	if (take(rd, "null"))
		return 0;
	if (take(rd, "true") || take(rd, "false")) {
		v->kind = VALUE_BOOL;
		v->truth = rd->p[-2] == 'u';
		return 0;
	}
	v->kind = VALUE_FLOAT;
	if (take(rd, "NaN"))
		v->number = NAN;
	else if (take(rd, "Infinity"))
		v->number = INFINITY;
	else if (take(rd, "-Infinity"))
		v->number = -INFINITY;
	else
		return take_number(rd, v);
	return 0;
}

static int take_value(struct reader *rd, unsigned depth, struct value **ret);

/* The items of a list, or keys and values of a map, onto the stack. */
static int take_items(struct reader *rd, unsigned depth, bool map)
{
	struct value *item;
	int r;

	skip_space(rd);
	if (take(rd, map ? "}" : "]"))
		return 0;
	for (;;) {
		skip_space(rd);
		if (map) {
			r = value_new(rd->d, rd->line, &item);
			if (r == 0)
				r = take_string(rd, item);
			if (r == 0)
				r = value_push(&rd->open, item);
			if (r < 0)
				return r;
			skip_space(rd);
			if (!take(rd, ":"))
				return bad(rd, "':' is missing");
			skip_space(rd);
		}
		r = take_value(rd, depth, &item);
		if (r == 0)
			r = value_push(&rd->open, item);
		if (r < 0)
			return r;
		skip_space(rd);
		if (take(rd, map ? "}" : "]"))
			return 0;
		if (!take(rd, ","))
			return bad(rd, map ? "',' or '}' is missing" : "',' or ']' is missing");
	}
}

static int take_inside(struct reader *rd, unsigned depth, bool map, struct value *v)
{
	size_t base = rd->open.count;
	int r = take_items(rd, depth, map);

	if (r < 0)
		return r;
	v->kind = map ? VALUE_MAP : VALUE_LIST;
	return value_pop(rd->d, &rd->open, base, v);
}

static int take_value(struct reader *rd, unsigned depth, struct value **ret)
{
	struct value *v;
	int r = value_new(rd->d, rd->line, &v);

	if (r < 0)
		return r;
	if (depth > VALUE_DEPTH_MAX)
		return value_fail(rd->d, rd->line, "nested deeper than %d", VALUE_DEPTH_MAX);
	if (take(rd, "{"))
		r = take_inside(rd, depth + 1, true, v);
	else if (take(rd, "["))
		r = take_inside(rd, depth + 1, false, v);
	else if (rd->p < rd->end && *rd->p == '"')
		r = take_string(rd, v);
	else
		r = take_word(rd, v);
	if (r < 0)
		return r;
	*ret = v;
	return 0;
}

int json_value(struct value_document *d, const char *bytes, size_t len, struct value **ret)
{
	struct reader rd = { .d = d, .p = bytes, .end = bytes + len, .line = 1 };
	struct value *v = NULL;
	int r;

	skip_space(&rd);
	r = take_value(&rd, 0, &v);
	free(rd.open.values);
	if (r < 0)
		return r;
	skip_space(&rd);
	if (rd.p < rd.end)
		return bad(&rd, "more after the value's end");
	*ret = v;
	return 0;
}
