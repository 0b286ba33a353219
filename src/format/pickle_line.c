/* Opcodes whose argument is a line of text: those of protocol 0. */
#include "format/pickle_scan.h"

#include <string.h>

#include "format/utf8.h"

#define FLOAT_TEXT_MAX 64u

bool scan_parse_decimal(struct pickle_bytes b, int64_t *ret, bool *ret_big)
{
	bool minus = b.len > 0 && b.p[0] == '-';
	int64_t v = 0;

	*ret_big = false;
	if (b.len > 0 && (minus || b.p[0] == '+')) {
		b.p++;
		b.len--;
	}
	if (b.len == 0)
		return false;
	for (size_t i = 0; i < b.len; i++) {
		int digit = b.p[i] - '0';

		if (digit < 0 || digit > 9)
			return false;
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, digit, &v))
			*ret_big = true;
	}
	if (!minus && !*ret_big && __builtin_sub_overflow(0, v, &v))
		*ret_big = true;
	*ret = v;
	return true;
}

int scan_op_int_line(struct scan *s, const struct opcode *op)
{
	struct pickle_bytes b;
	int64_t v;
	bool big;
	int r = scan_take_line(s, &b);

	if (r < 0)
		return r;
	if (op->kind == PICKLE_BOOL && (pickle_bytes_are(b, "00") || pickle_bytes_are(b, "01")))
		return scan_push(s, &s->pickle->bools[b.p[1] == '1']);
	if (op->kind == PICKLE_BIG_INT && b.len > 0 && b.p[b.len - 1] == 'L')
		b.len--;
	if (!scan_parse_decimal(b, &v, &big))
		return scan_misfit();
	return big ? scan_push_big(s) : scan_push_int(s, v);
}

int scan_op_float_line(struct scan *s, const struct opcode *op)
{
	char text[FLOAT_TEXT_MAX + 1], *end;
	struct pickle_bytes b;
	double real;
	int r = scan_take_line(s, &b);

	if (r < 0)
		return r;
	if (b.len == 0 || b.len > FLOAT_TEXT_MAX)
		return scan_misfit();
	memcpy(text, b.p, b.len);
	text[b.len] = '\0';
	real = strtod(text, &end);
	return end == text + b.len ? scan_push_float(s, real) : scan_misfit();
}

/* Escapes */

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_hex(struct pickle_bytes *b, unsigned n, uint32_t *ret)
{
	uint32_t v = 0;

	if (n > b->len)
		return false;
	for (unsigned i = 0; i < n; i++) {
		int digit = hex_digit(b->p[i]);

		if (digit < 0)
			return false;
		v = v << 4 | (uint32_t)digit;
	}
	b->p += n;
	b->len -= n;
	*ret = v;
	return true;
}

/* Python's raw-unicode-escape: Latin-1 and \u, at most two bytes for each one. */
int scan_op_unicode_line(struct scan *s, const struct opcode *op)
{
	struct pickle_bytes b;
	uint8_t *text;
	size_t n = 0;
	int r = scan_take_line(s, &b);

	if (r < 0)
		return r;
	text = arena_array(&s->pickle->arena, b.len, 2);
	if (!text)
		return scan_no_memory(s);
	while (b.len > 0) {
		uint32_t c = *b.p++;

		b.len--;
		if (c == '\\' && b.len > 0 && (b.p[0] == 'u' || b.p[0] == 'U')) {
			unsigned digits = b.p[0] == 'u' ? 4 : 8;

			b.p++;
			b.len--;
			if (!take_hex(&b, digits, &c) || c > 0x10ffff)
				return scan_misfit();
		}
		n += utf8_put((char *)text + n, c);
	}
	return scan_push_bytes(s, PICKLE_STR, text, n);
}

/* One escape of a Python 2 string, after its backslash. */
static bool take_escape(struct pickle_bytes *b, uint8_t *text, size_t *n)
{
	static const char names[] = "\\'\"abfnrtv", bytes[] = "\\'\"\a\b\f\n\r\t\v";
	const char *name;
	uint32_t c;

	if (b->len == 0)
		return false;
	c = *b->p++;
	b->len--;
	if (c == 'x') {
		if (!take_hex(b, 2, &c))
			return false;
	} else if (c >= '0' && c <= '7') {
		c -= '0';
		for (int i = 0; i < 2 && b->len > 0 && b->p[0] >= '0' && b->p[0] <= '7'; i++) {
			c = c << 3 | (uint32_t)(*b->p++ - '0');
			b->len--;
		}
	} else if (c && (name = strchr(names, (int)c))) {
		c = (uint8_t)bytes[name - names];
	} else {
		text[(*n)++] = '\\';
	}
	text[(*n)++] = (uint8_t)c;
	return true;
}

/* A quoted line, as repr() of a Python 2 string gives it. */
int scan_op_string_line(struct scan *s, const struct opcode *op)
{
	struct pickle_bytes b;
	uint8_t *text;
	size_t n = 0;
	int r = scan_take_line(s, &b);

	if (r < 0)
		return r;
	if (b.len < 2 || b.p[0] != b.p[b.len - 1] || (b.p[0] != '\'' && b.p[0] != '"'))
		return scan_misfit();
	b = (struct pickle_bytes){ b.p + 1, b.len - 2 };
	text = arena_array(&s->pickle->arena, b.len, 1);
	if (!text)
		return scan_no_memory(s);
	while (b.len > 0) {
		uint8_t c = *b.p++;

		b.len--;
		if (c != '\\')
			text[n++] = c;
		else if (!take_escape(&b, text, &n))
			return scan_misfit();
	}
	return scan_push_bytes(s, PICKLE_STR, text, n);
}
