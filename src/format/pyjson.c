/* JSON (RFC 8259) with Python's three words more. Strings are decoded to UTF-8,
 * which they have to be; a half of a surrogate pair is refused, as nothing can be
 * named by it. A configuration, of which nothing may be left out, is read by
 * json_value.c instead. */
#include "format/pyjson.h"

#include <string.h>

#include "format/json_escape.h"
#include "format/utf8.h"

void pyjson_begin(struct pyjson *j, const char *text, size_t len, struct reason *why)
{
	j->begin = j->at = text;
	j->end = text + len;
	j->line = 1;
	j->why = why;
	j->objects = 0;
	j->depth = 0;
	j->want_value = true;
	j->type = PYJSON_END;
	j->len = 0;
}

int pyjson_bad(struct pyjson *j, const char *reason)
{
	size_t line = j->line;

	for (const char *p = j->begin; (p = memchr(p, '\n', (size_t)(j->at - p))) != NULL; p++)
		line++;
	return reason_set(j->why, line, "%s", reason);
}

bool pyjson_is(const struct pyjson *j, const char *text)
{
	return strlen(text) == j->len && memcmp(j->text, text, j->len) == 0;
}

bool pyjson_is_text(const struct pyjson *j)
{
	return !j->cut && strlen(j->text) == j->len;
}

/* The next byte, or -1 at the end. */
static int peek(const struct pyjson *j)
{
	return j->at < j->end ? (unsigned char)*j->at : -1;
}

static void skip_space(struct pyjson *j)
{
	while (j->at < j->end && (*j->at == ' ' || *j->at == '\t' || *j->at == '\n' || *j->at == '\r'))
		j->at++;
}

static bool in_object(const struct pyjson *j)
{
	return j->depth > 0 && j->objects >> (j->depth - 1) & 1;
}

/* Whole characters only, so that what is cut is UTF-8 still. */
static void keep(struct pyjson *j, const char *bytes, size_t n)
{
	if (j->cut || j->len + n > PYJSON_TEXT_MAX) {
		j->cut = true;
		return;
	}
	memcpy(j->text + j->len, bytes, n);
	j->len += n;
}

static int take_escape(struct pyjson *j)
{
	char bytes[UTF8_MAX];
	uint32_t c;

	if (!json_escape(&j->at, j->end, &c))
		return pyjson_bad(j, "an escape that JSON does not have");
	if (c >= 0xd800 && c < 0xe000)
		return pyjson_bad(j, "half of a surrogate pair");
	keep(j, bytes, utf8_put(bytes, c));
	return 0;
}

/* A string, after its first quote. */
static int take_string(struct pyjson *j)
{
	j->len = 0;
	j->cut = false;
	while (j->at < j->end) {
		unsigned c = 0;
		size_t n = utf8_get(j->at, (size_t)(j->end - j->at), &c);
		int r;

		if (*j->at == '"') {
			j->at++;
			j->text[j->len] = '\0';
			return 0;
		}
		if (*j->at == '\\') {
			j->at++;
			r = take_escape(j);
			if (r < 0)
				return r;
			continue;
		}
		if (n == 1 && c < ' ')
			return pyjson_bad(j, "a control character in a string");
		if (n == 0)
			return pyjson_bad(j, "not UTF-8");
		keep(j, j->at, n);
		j->at += n;
	}
	return pyjson_bad(j, "ends in a string");
}

static size_t digits(const char *p)
{
	return strspn(p, "0123456789");
}

/* A number of the grammar in j->text, the whole of it? */
static bool is_number(const char *p, bool *ret_integer)
{
	size_t n;

	p += *p == '-';
	n = digits(p);
	if (n == 0 || (n > 1 && *p == '0'))
		return false;
	p += n;
	*ret_integer = *p == '\0';
	if (*p == '.') {
		n = digits(++p);
		if (n == 0)
			return false;
		p += n;
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '+' || *p == '-';
		n = digits(p);
		if (n == 0)
			return false;
		p += n;
	}
	return *p == '\0';
}

/* A word or number, up to what cannot be in one. */
static int take_bare(struct pyjson *j)
{
	static const struct {
		const char *word;
		enum pyjson_type type;
		double number;
	} words[] = {
		{ "true", PYJSON_TRUE, 0 },
		{ "false", PYJSON_FALSE, 0 },
		{ "null", PYJSON_NULL, 0 },
		{ "NaN", PYJSON_NUMBER, __builtin_nan("") },
		{ "Infinity", PYJSON_NUMBER, __builtin_inf() },
		{ "-Infinity", PYJSON_NUMBER, -__builtin_inf() },
	};
	static const char letters[] = "+-.0123456789EINTUaefilnrstuy";

	j->len = 0;
	j->cut = false;
	while (j->at < j->end && *j->at && strchr(letters, *j->at)) {
		if (j->len == PYJSON_TEXT_MAX)
			return pyjson_bad(j, "too long a number");
		j->text[j->len++] = *j->at++;
	}
	j->text[j->len] = '\0';
	j->is_integer = false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (pyjson_is(j, words[i].word)) {
			j->type = words[i].type;
			j->number = words[i].number;
			return 0;
		}
	if (!is_number(j->text, &j->is_integer))
		return pyjson_bad(j, j->at == j->end ? "ends where a value is wanted" : "a value is wanted here");
	j->type = PYJSON_NUMBER;
	j->number = strtod(j->text, NULL);
	if (j->is_integer) {
		errno = 0;
		j->integer = strtoll(j->text, NULL, 10);
		j->is_integer = errno == 0;
	}
	return 0;
}

static int open_list(struct pyjson *j, bool object)
{
	if (j->depth == PYJSON_DEPTH_MAX)
		return pyjson_bad(j, "nested too deep");
	j->at++;
	j->objects &= ~(UINT64_C(1) << j->depth);
	j->objects |= (uint64_t)object << j->depth++;
	j->type = object ? PYJSON_OBJECT : PYJSON_ARRAY;
	j->want_value = false;
	return 0;
}

static int close_list(struct pyjson *j)
{
	j->at++;
	j->type = in_object(j) ? PYJSON_OBJECT_END : PYJSON_ARRAY_END;
	j->depth--;
	j->want_value = false;
	return 0;
}

static int take_value(struct pyjson *j)
{
	int c = peek(j);

	if (c == '{' || c == '[')
		return open_list(j, c == '{');
	j->want_value = false;
	if (c != '"')
		return take_bare(j);
	j->at++;
	j->type = PYJSON_STRING;
	return take_string(j);
}

static int take_key(struct pyjson *j)
{
	int r;

	if (peek(j) != '"')
		return pyjson_bad(j, j->at == j->end ? "ends in an object" : "a key is wanted here");
	j->at++;
	r = take_string(j);
	if (r < 0)
		return r;
	skip_space(j);
	if (peek(j) != ':')
		return pyjson_bad(j, "a colon is wanted here");
	j->at++;
	j->type = PYJSON_KEY;
	j->want_value = true;
	return 0;
}

int pyjson_next(struct pyjson *j)
{
	bool first = j->type == PYJSON_OBJECT || j->type == PYJSON_ARRAY;
	int c;

	skip_space(j);
	if (j->want_value)
		return take_value(j);
	c = peek(j);
	if (j->depth == 0) {
		j->type = PYJSON_END;
		return c < 0 ? 0 : pyjson_bad(j, "more after the end");
	}
	if (c == (in_object(j) ? '}' : ']'))
		return close_list(j);
	if (!first) {
		if (c != ',')
			return pyjson_bad(j, c < 0 ? "ends in a list" : "a comma is wanted here");
		j->at++;
		skip_space(j);
	}
	return in_object(j) ? take_key(j) : take_value(j);
}

int pyjson_skip(struct pyjson *j)
{
	unsigned outside = j->depth - 1;
	int r = 0;

	if (j->type != PYJSON_OBJECT && j->type != PYJSON_ARRAY)
		return 0;
	while (r == 0 && j->depth > outside)
		r = pyjson_next(j);
	return r;
}
