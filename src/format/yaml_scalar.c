/* Scalars by yaml/resolver.py and yaml/constructor.py of PyYAML 6.0. Their
 * regular expressions are written out here; each function says which it is. */
#include "format/yaml_scalar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format/number.h"
#include "format/scan.h"
#include "format/timestamp.h"

static bool is_any(const char *text, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == len && memcmp(*words, text, len) == 0)
			return true;
	return false;
}

#define DIGITS "0123456789"
#define DIGITS_ "0123456789_"

/* (?::[0-5]?[0-9])+ */
static bool take_sixties(struct scan *s)
{
	bool any = false;

	while (s->end - s->p >= 2 && s->p[0] == ':' && s->p[1] >= '0' && s->p[1] <= '9') {
		s->p += s->p[1] <= '5' && s->end - s->p >= 3 && s->p[2] >= '0' && s->p[2] <= '9' ? 3 : 2;
		any = true;
	}
	return any;
}

/* (?:[eE][-+][0-9]+)?$ */
static bool ends_with_exponent(struct scan s)
{
	if (s.p == s.end)
		return true;
	return scan_any(&s, "eE") && scan_any(&s, "+-") && scan_all(&s, DIGITS) && s.p == s.end;
}

static bool is_float(const char *text, size_t len)
{
	struct scan s = { text, text + len }, begin;
	bool sign = scan_any(&s, "+-");

	begin = s;
	if (scan_any(&s, ".")) {
		if (scan_word(&s, "inf") || scan_word(&s, "Inf") || scan_word(&s, "INF"))
			return s.p == s.end;
		if (sign)
			return false;
		if (scan_word(&s, "nan") || scan_word(&s, "NaN") || scan_word(&s, "NAN"))
			return s.p == s.end;
		return scan_any(&s, DIGITS) && (scan_all(&s, DIGITS_), ends_with_exponent(s));
	}
	if (!scan_any(&begin, DIGITS))
		return false;
	s = begin;
	scan_all(&s, DIGITS_);
	if (scan_any(&s, ".")) {
		scan_all(&s, DIGITS_);
		return ends_with_exponent(s);
	}
	return take_sixties(&s) && scan_any(&s, ".") && (scan_all(&s, DIGITS_), s.p == s.end);
}

static bool is_int(const char *text, size_t len)
{
	struct scan s = { text, text + len };

	scan_any(&s, "+-");
	if (scan_any(&s, "0")) {
		if (s.p == s.end)
			return true;
		if (scan_any(&s, "b"))
			return scan_all(&s, "01_") && s.p == s.end;
		if (scan_any(&s, "x"))
			return scan_all(&s, "0123456789abcdefABCDEF_") && s.p == s.end;
		return scan_all(&s, "01234567_") && s.p == s.end;
	}
	if (!scan_any(&s, "123456789"))
		return false;
	scan_all(&s, DIGITS_);
	return s.p == s.end || (take_sixties(&s) && s.p == s.end);
}

/* In re, $ stands before a last line break too, which a scalar tagged ! may have. */
static size_t without_break(const char *text, size_t len)
{
	return len - (len > 0 && text[len - 1] == '\n');
}

enum yaml_tag yaml_resolve(const char *text, size_t all)
{
	static const char *const nulls[] = { "~", "null", "Null", "NULL", "", NULL };
	static const char *const bools[] = { "yes", "Yes", "YES", "no", "No", "NO", "true", "True", "TRUE", "false",
					     "False", "FALSE", "on", "On", "ON", "off", "Off", "OFF", NULL };
	size_t len = without_break(text, all);

	switch (*text) {
	case '<':
		return len == 2 && text[1] == '<' ? YAML_MERGE : YAML_STR;
	case '=':
		return len == 1 ? YAML_VALUE : YAML_STR;
	case '!':
	case '&':
	case '*':
		return len == 1 ? YAML_NONE : YAML_STR; /* PyYAML has a tag for these, and nothing for the tag */
	case '+':
	case '-':
	case '.':
	case '0' ... '9':
		if (is_float(text, len))
			return YAML_FLOAT;
		if (is_int(text, len))
			return YAML_INT;
		return timestamp_is_plain(text, len) ? YAML_TIMESTAMP : YAML_STR;
	case '\n':
		return YAML_STR;
	default:
		return is_any(text, len, nulls) ? YAML_NULL : is_any(text, len, bools) ? YAML_BOOL : YAML_STR;
	}
}

enum yaml_tag yaml_tag_of(const char *uri)
{
	static const char prefix[] = "tag:yaml.org,2002:";
	static const char *const names[] = {
		[YAML_NULL] = "null",   [YAML_BOOL] = "bool",	[YAML_INT] = "int",	[YAML_FLOAT] = "float",
		[YAML_BINARY] = "binary", [YAML_TIMESTAMP] = "timestamp", [YAML_STR] = "str", [YAML_MERGE] = "merge",
		[YAML_VALUE] = "value", [YAML_SEQ] = "seq",	[YAML_MAP] = "map",	[YAML_SET] = "set",
		[YAML_OMAP] = "omap",	[YAML_PAIRS] = "pairs",
	};

	if (strncmp(uri, prefix, sizeof(prefix) - 1) != 0)
		return YAML_NONE;
	for (size_t i = YAML_NULL; i < ARRAY_SIZE(names); i++)
		if (strcmp(uri + sizeof(prefix) - 1, names[i]) == 0)
			return (enum yaml_tag)i;
	return YAML_NONE;
}

static int fail(struct value_document *d, const struct value *v, const char *what, const char *text, size_t len)
{
	size_t shown = MIN(len, (size_t)40);

	for (size_t i = 0; i < shown; i++)
		if (text[i] < ' ' || text[i] > '~')
			shown = i;
	return value_fail(d, v->line, "no %s: %.*s%s", what, (int)shown, text, shown < len ? "..." : "");
}

static int make_bool(struct value_document *d, struct value *v, const char *text, size_t len)
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == len && strncasecmp(words[i], text, len) == 0) {
			v->kind = VALUE_BOOL;
			v->truth = i % 2;
			return 0;
		}
	return fail(d, v, "boolean", text, len);
}

/* A copy without '_', as constructors of numbers make one. */
static char *without_underscores(const char *text, size_t len, size_t *ret_len)
{
	char *copy = malloc(len + 1), *out = copy;

	if (!copy)
		return NULL;
	for (size_t i = 0; i < len; i++)
		if (text[i] != '_')
			*out++ = text[i];
	*out = 0;
	*ret_len = (size_t)(out - copy);
	return copy;
}

/* What is left of construct_yaml_int() once the sign is gone. */
static int read_int(const char *p, size_t len, char **ret)
{
	if (len == 0)
		return -EINVAL;
	if (p[0] == '0' && len > 1) {
		if (p[1] == 'b')
			return number_int(p + 2, len - 2, 2, ret);
		if (p[1] == 'x')
			return number_int(p + 2, len - 2, 16, ret);
		return number_int(p, len, 8, ret);
	}
	return memchr(p, ':', len) ? number_int_sexagesimal(p, len, ret) : number_int(p, len, 10, ret);
}

static int make_int(struct value_document *d, struct value *v, const char *text, size_t len)
{
	_cleanup_free_ char *plain = NULL, *number = NULL, *negated = NULL;
	size_t n = 0, sign;
	int r;

	plain = without_underscores(text, len, &n);
	if (!plain)
		return -ENOMEM;
	sign = n > 0 && (plain[0] == '-' || plain[0] == '+');
	r = read_int(plain + sign, n - sign, &number);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return fail(d, v, r == -ERANGE ? "integer that Python would write" : "integer", text, len);
	if (plain[0] != '-' || strcmp(number, "0") == 0)
		return value_set_text(d, v, VALUE_INT, number, strlen(number));
	if (number[0] == '-')
		return value_set_text(d, v, VALUE_INT, number + 1, strlen(number + 1));
	if (asprintf(&negated, "-%s", number) < 0)
		return -ENOMEM;
	return value_set_text(d, v, VALUE_INT, negated, strlen(negated));
}

static int read_float(const char *p, size_t len, double *ret)
{
	if (len == 4 && (strncasecmp(p, ".inf", len) == 0 || strncasecmp(p, ".nan", len) == 0))
		return number_float(p + 1, len - 1, ret);
	return memchr(p, ':', len) ? number_float_sexagesimal(p, len, ret) : number_float(p, len, ret);
}

static int make_float(struct value_document *d, struct value *v, const char *text, size_t len)
{
	_cleanup_free_ char *plain = NULL;
	size_t n = 0, sign;
	double number = 0;
	int r;

	plain = without_underscores(text, len, &n);
	if (!plain)
		return -ENOMEM;
	sign = n > 0 && (plain[0] == '-' || plain[0] == '+');
	r = read_float(plain + sign, n - sign, &number);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return fail(d, v, "number", text, len);
	v->kind = VALUE_FLOAT;
	v->number = plain[0] == '-' ? -number : number;
	return 0;
}

static int make_timestamp(struct value_document *d, struct value *v, const char *text, size_t all)
{
	char out[TIMESTAMP_TEXT_SIZE];
	size_t len = without_break(text, all);

	if (timestamp_text(text, len, out) < 0)
		return fail(d, v, "date", text, len);
	return value_set_text(d, v, VALUE_OTHER, out, strlen(out));
}

/* base64.decodebytes(): what is no digit is skipped, and all after the padding. */
static int decode(const char *text, size_t len, char *out, size_t *ret_len)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *begin = out;
	unsigned bits = 0, position = 0, pads = 0;

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] >= 0x80)
			return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		const char *at;

		if (text[i] == '=' && position >= 2 && position + ++pads >= 4) {
			position = 0;
			break;
		}
		at = memchr(alphabet, text[i], sizeof(alphabet) - 1);
		if (!at)
			continue;
		pads = 0;
		bits = bits << 6 | (unsigned)(at - alphabet);
		if (position > 0)
			*out++ = (char)(bits >> (6 - 2 * position));
		position = (position + 1) % 4;
	}
	*ret_len = (size_t)(out - begin);
	return position == 0 ? 0 : -EINVAL;
}

static int put_escaped(struct value_buffer *b, unsigned char c)
{
	static const char from[] = "\t\n\r\\'\"", to[] = "tnr\\'\"", hex[] = "0123456789abcdef";
	const char *at = memchr(from, c, sizeof(from) - 1);
	char text[4] = { '\\', 'x', hex[c >> 4], hex[c & 15] };

	if (at)
		text[1] = to[at - from];
	return value_put(b, text, at ? 2 : 4);
}

/* repr() of bytes, or of text in ASCII. */
static int put_quoted(struct value_buffer *b, const char *prefix, const char *text, size_t len)
{
	char quote = memchr(text, '\'', len) && !memchr(text, '"', len) ? '"' : '\'';
	const char *end = text + len;
	int r = value_put(b, prefix, strlen(prefix));

	if (r == 0)
		r = value_put(b, &quote, 1);
	while (r == 0 && text < end) {
		const char *p = text;

		while (p < end && *p >= ' ' && *p <= '~' && *p != '\\' && *p != quote)
			p++;
		r = value_put(b, text, (size_t)(p - text));
		if (r == 0 && p < end)
			r = put_escaped(b, (unsigned char)*p++);
		text = p;
	}
	return r == 0 ? value_put(b, &quote, 1) : r;
}

int yaml_put_repr(struct value_document *d, struct value_buffer *b, const struct value *v)
{
	char number[NUMBER_REPR_SIZE];
	const char *text = number;

	switch (v->kind) {
	case VALUE_STRING:
		for (size_t i = 0; i < v->count; i++)
			if ((unsigned char)v->text[i] >= 0x80)
				return value_fail(d, v->line, "a set with a string that is not in ASCII");
		return put_quoted(b, "", v->text, v->count);
	case VALUE_NULL:
		text = "None";
		break;
	case VALUE_BOOL:
		text = v->truth ? "True" : "False";
		break;
	case VALUE_INT:
		text = v->text;
		break;
	default: /* VALUE_FLOAT */
		number_repr(v->number, number);
		if (isnan(v->number))
			text = "nan";
		else if (isinf(v->number))
			text = v->number < 0 ? "-inf" : "inf";
	}
	return value_put(b, text, strlen(text));
}

static int make_binary(struct value_document *d, struct value *v, const char *text, size_t len)
{
	_cleanup_free_ char *bytes = malloc(len + 1);
	struct value_buffer b = { .max = VALUE_TEXT_MAX };
	size_t n = 0;
	int r;

	if (!bytes)
		return -ENOMEM;
	if (decode(text, len, bytes, &n) < 0)
		return fail(d, v, "base64", text, len);
	r = put_quoted(&b, "b", bytes, n);
	if (r == -E2BIG)
		r = value_fail(d, v->line, "bytes that take too much text");
	if (r == 0)
		r = value_set_text(d, v, VALUE_OTHER, b.text, b.len);
	free(b.text);
	return r;
}

int yaml_scalar(struct value_document *d, struct value *v, enum yaml_tag tag, const char *text, size_t len)
{
	switch (tag) {
	case YAML_NULL:
		return 0;
	case YAML_BOOL:
		return make_bool(d, v, text, len);
	case YAML_INT:
		return make_int(d, v, text, len);
	case YAML_FLOAT:
		return make_float(d, v, text, len);
	case YAML_BINARY:
		return make_binary(d, v, text, len);
	case YAML_TIMESTAMP:
		return make_timestamp(d, v, text, len);
	case YAML_STR:
		return value_set_text(d, v, VALUE_STRING, text, len);
	case YAML_MERGE:
	case YAML_VALUE:
		v->kind = tag == YAML_MERGE ? VALUE_MERGE : VALUE_DEFAULT;
		return value_set_text(d, v, (enum value_kind)v->kind, text, len);
	default:
		return value_fail(d, v->line, "a scalar with a tag that it cannot have");
	}
}
