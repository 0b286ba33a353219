#include "format/safetensors_json.h"

#include <string.h>

#include "format/safetensors.h"
#include "format/utf8.h"
#include "util/util.h"

#define DEPTH_MAX 32

int stream_bad(struct stream *s)
{
	return window_bad(s->w, "safetensors header does not parse");
}

/* The next byte, not taken; or an error. */
static int peek(struct stream *s)
{
	if (s->p == s->p_end) {
		size_t n = (size_t)MIN(s->end - s->at, WINDOW_SIZE);
		int r;

		if (n == 0)
			return stream_bad(s);
		r = window_get(s->w, s->at, n, &s->p);
		if (r < 0)
			return r;
		s->p_end = s->p + n;
		s->at += n;
	}
	return *s->p;
}

static int take(struct stream *s)
{
	int c = peek(s);

	if (c >= 0)
		s->p++;
	return c;
}

static bool is_space(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int stream_peek(struct stream *s)
{
	int c;

	while (is_space(c = peek(s)))
		s->p++;
	return c;
}

int stream_take(struct stream *s, char wanted)
{
	int c = stream_peek(s);

	if (c < 0)
		return c;
	if (c != wanted)
		return stream_bad(s);
	s->p++;
	return 0;
}

int stream_more(struct stream *s, char close, bool first)
{
	int c = stream_peek(s);

	if (c < 0)
		return c;
	if (c == close) {
		s->p++;
		return 0;
	}
	if (first)
		return 1;
	if (c != ',')
		return stream_bad(s);
	s->p++;
	c = stream_peek(s);
	if (c < 0)
		return c;
	return c == close ? stream_bad(s) : 1;
}

static bool is_hex(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* What follows a backslash; the UTF-16 unit that it stands for, or an error. */
static int take_escape(struct stream *s)
{
	static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	int c = take(s), unit = 0;
	const char *name;

	if (c < 0)
		return c;
	if (c == 'u') {
		for (int i = 0; i < 4; i++) {
			c = take(s);
			if (c < 0)
				return c;
			if (!is_hex(c))
				return stream_bad(s);
			unit = unit << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
		}
		return unit;
	}
	name = memchr(names, c, sizeof(names) - 1);
	return name ? bytes[name - names] : stream_bad(s);
}

int stream_take_string(struct stream *s, struct stream_word *ret)
{
	int r = stream_take(s, '"');

	ret->len = 0;
	while (r == 0) {
		int c = take(s);

		if (c < 0)
			return c;
		if (c == '"')
			break;
		if (c < ' ')
			return stream_bad(s);
		if (c == '\\' && (r = take_escape(s)) > 0)
			r = 0;
		if (ret->len < STREAM_WORD_MAX)
			ret->text[ret->len++] = (char)c;
	}
	ret->text[ret->len] = '\0';
	return r;
}

/* Halves of a pair of surrogates are put together where both are escapes. */
int stream_take_name(struct stream *s, char *ret, size_t *ret_len)
{
	uint8_t *name = (uint8_t *)ret;
	int r = stream_take(s, '"'), c, high = 0;
	size_t n = 0;

	while (r == 0) {
		c = take(s);
		if (c < 0)
			return c;
		if (c == '"')
			break;
		if (c < ' ')
			return stream_bad(s);
		if (n > SAFETENSORS_NAME_MAX - UTF8_MAX)
			return window_bad(s->w, "tensor of too long a name");
		if (c != '\\') {
			name[n++] = (uint8_t)c;
			high = 0;
			continue;
		}
		c = take_escape(s);
		if (c < 0)
			return c;
		if (high && c >= 0xdc00 && c < 0xe000) {
			n -= 3; /* what the high half alone became */
			c = 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00);
		}
		high = c >= 0xd800 && c < 0xdc00 ? c : 0;
		n += utf8_put((char *)name + n, (uint32_t)c);
	}
	name[n] = '\0';
	*ret_len = n;
	return r;
}

int stream_take_u64(struct stream *s, uint64_t *ret)
{
	uint64_t v = 0;
	int c = stream_peek(s);
	size_t n;

	for (n = 0; c >= '0' && c <= '9'; n++) {
		if ((n > 0 && v == 0) || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (unsigned)(c - '0'), &v))
			return stream_bad(s);
		s->p++;
		c = peek(s);
	}
	if (c < 0)
		return c;
	if (n == 0)
		return stream_bad(s);
	*ret = v;
	return 0;
}

static int skip(struct stream *s, int depth);

static int skip_list(struct stream *s, int depth, char open, char close)
{
	struct stream_word key;
	int r = stream_take(s, open), go;

	for (bool first = true; r == 0; first = false) {
		go = stream_more(s, close, first);
		if (go <= 0)
			return go;
		if (open == '{') {
			r = stream_take_string(s, &key);
			if (r == 0)
				r = stream_take(s, ':');
		}
		if (r == 0)
			r = skip(s, depth + 1);
	}
	return r;
}

/* A number, true, false or null: their letters, in no strict order. */
static int skip_bare(struct stream *s)
{
	static const char letters[] = "+-.0123456789Eaeflnrstu";
	int c, n = 0;

	while ((c = peek(s)) > 0 && strchr(letters, c)) {
		s->p++;
		n++;
	}
	if (c < 0)
		return c;
	return n ? 0 : stream_bad(s);
}

static int skip(struct stream *s, int depth)
{
	struct stream_word text;
	int c = stream_peek(s);

	if (c < 0)
		return c;
	if (depth == DEPTH_MAX)
		return stream_bad(s);
	if (c == '{')
		return skip_list(s, depth, '{', '}');
	if (c == '[')
		return skip_list(s, depth, '[', ']');
	return c == '"' ? stream_take_string(s, &text) : skip_bare(s);
}

int stream_skip(struct stream *s)
{
	return skip(s, 0);
}

int stream_end(struct stream *s)
{
	while (s->p < s->p_end || s->at < s->end) {
		int c = take(s);

		if (!is_space(c))
			return c < 0 ? c : stream_bad(s);
	}
	return 0;
}
