/* Whether a safetensors file has all of its parts.
 *
 *   u64 length of the header, little-endian; at most 100 MB
 *   header: {"__metadata__": {…}, "name": {"dtype": "F32", "shape": [2, 3],
 *            "data_offsets": [begin, end]}, …}, spaces
 *   data, to the end of the file
 *
 * The tensors have to tile the data without holes or overlaps, in any order.
 * The header is read as a stream and none of it is kept, so that a large one
 * costs no memory: a reader is told each tensor in passing. Tiling then shows as follows. Take each tensor as an arrow
 * from begin to end, begin <= end. If, as multisets, the begins and the size of
 * the data equal the ends and 0, each point has as many arrows in as out except
 * for one more out of 0 and one more into the end of the data. Such arrows form
 * one path from 0 to the end, and circles; and as no arrow goes back, the
 * circles are tensors of no bytes. The multisets are compared by sums of 64-bit
 * hashes: chance does not make them equal, and who makes a file by intent can
 * make a whole one as well.
 *
 * The header is parsed as JSON as far as the structure goes; that text is UTF-8
 * and that names are unique is left to those who load it. */
#include "format/safetensors.h"

#include <stdbool.h>
#include <string.h>

#include "format/utf8.h"
#include "util/util.h"

#define HEADER_MAX 100000000u
#define LENGTH_LEN 8u
#define DEPTH_MAX 32
#define WORD_MAX 24u

struct header {
	struct window *w;
	uint64_t at, end;         /* what is not yet in the chunk */
	const uint8_t *p, *p_end; /* the chunk: valid until the next one is read */
	uint64_t data_size;
	uint64_t begins, ends;    /* sums of hashes */
	const struct safetensors_reader *reader;
	char *name; /* of SAFETENSORS_NAME_MAX + 1 bytes; with a reader only */
};

/* The keys that matter and the dtypes are short: longer strings are cut. */
struct word {
	char text[WORD_MAX + 1];
	size_t len;
};

static int bad_json(struct header *h)
{
	return window_bad(h->w, "safetensors header does not parse");
}

/* The next byte, not taken; or an error. */
static int peek(struct header *h)
{
	if (h->p == h->p_end) {
		size_t n = (size_t)MIN(h->end - h->at, WINDOW_SIZE);
		int r;

		if (n == 0)
			return bad_json(h);
		r = window_get(h->w, h->at, n, &h->p);
		if (r < 0)
			return r;
		h->p_end = h->p + n;
		h->at += n;
	}
	return *h->p;
}

static int take(struct header *h)
{
	int c = peek(h);

	if (c >= 0)
		h->p++;
	return c;
}

static bool is_space(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next byte that is no space, not taken. */
static int peek_token(struct header *h)
{
	int c;

	while (is_space(c = peek(h)))
		h->p++;
	return c;
}

static int take_token(struct header *h, char wanted)
{
	int c = peek_token(h);

	if (c < 0)
		return c;
	if (c != wanted)
		return bad_json(h);
	h->p++;
	return 0;
}

/* Inside of [] or {}: 1 if another element follows, 0 at the closing byte,
 * which is taken. */
static int more(struct header *h, char close, bool first)
{
	int c = peek_token(h);

	if (c < 0)
		return c;
	if (c == close) {
		h->p++;
		return 0;
	}
	if (first)
		return 1;
	if (c != ',')
		return bad_json(h);
	h->p++;
	c = peek_token(h);
	if (c < 0)
		return c;
	return c == close ? bad_json(h) : 1;
}

static bool is_hex(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* What follows a backslash; the UTF-16 unit that it stands for, or an error. */
static int take_escape(struct header *h)
{
	static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	int c = take(h), unit = 0;
	const char *name;

	if (c < 0)
		return c;
	if (c == 'u') {
		for (int i = 0; i < 4; i++) {
			c = take(h);
			if (c < 0)
				return c;
			if (!is_hex(c))
				return bad_json(h);
			unit = unit << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
		}
		return unit;
	}
	name = memchr(names, c, sizeof(names) - 1);
	return name ? bytes[name - names] : bad_json(h);
}

/* A string. Escapes are checked and stand for '\' in the word, which no key
 * that matters has. */
static int take_string(struct header *h, struct word *ret)
{
	int r = take_token(h, '"');

	ret->len = 0;
	while (r == 0) {
		int c = take(h);

		if (c < 0)
			return c;
		if (c == '"')
			break;
		if (c < ' ')
			return bad_json(h);
		if (c == '\\' && (r = take_escape(h)) > 0)
			r = 0;
		if (ret->len < WORD_MAX)
			ret->text[ret->len++] = (char)c;
	}
	ret->text[ret->len] = '\0';
	return r;
}

/* A string for the reader, whole and with its escapes undone, into h->name.
 * Halves of a pair of surrogates are put together where both are escapes. */
static int take_name(struct header *h, size_t *ret_len)
{
	uint8_t *name = (uint8_t *)h->name;
	int r = take_token(h, '"'), c, high = 0;
	size_t n = 0;

	while (r == 0) {
		c = take(h);
		if (c < 0)
			return c;
		if (c == '"')
			break;
		if (c < ' ')
			return bad_json(h);
		if (n > SAFETENSORS_NAME_MAX - UTF8_MAX)
			return window_bad(h->w, "tensor of too long a name");
		if (c != '\\') {
			name[n++] = (uint8_t)c;
			high = 0;
			continue;
		}
		c = take_escape(h);
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

static int take_u64(struct header *h, uint64_t *ret)
{
	uint64_t v = 0;
	int c = peek_token(h);
	size_t n;

	for (n = 0; c >= '0' && c <= '9'; n++) {
		if ((n > 0 && v == 0) || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (unsigned)(c - '0'), &v))
			return bad_json(h);
		h->p++;
		c = peek(h);
	}
	if (c < 0)
		return c;
	if (n == 0)
		return bad_json(h);
	*ret = v;
	return 0;
}

static int skip_value(struct header *h, int depth);

static int skip_list(struct header *h, int depth, char open, char close)
{
	struct word key;
	int r = take_token(h, open), go;

	for (bool first = true; r == 0; first = false) {
		go = more(h, close, first);
		if (go <= 0)
			return go;
		if (open == '{') {
			r = take_string(h, &key);
			if (r == 0)
				r = take_token(h, ':');
		}
		if (r == 0)
			r = skip_value(h, depth + 1);
	}
	return r;
}

/* A number, true, false or null: their letters, in no strict order. */
static int skip_bare(struct header *h)
{
	static const char letters[] = "+-.0123456789Eaeflnrstu";
	int c, n = 0;

	while ((c = peek(h)) > 0 && strchr(letters, c)) {
		h->p++;
		n++;
	}
	if (c < 0)
		return c;
	return n ? 0 : bad_json(h);
}

static int skip_value(struct header *h, int depth)
{
	struct word text;
	int c = peek_token(h);

	if (c < 0)
		return c;
	if (depth == DEPTH_MAX)
		return bad_json(h);
	if (c == '{')
		return skip_list(h, depth, '{', '}');
	if (c == '[')
		return skip_list(h, depth, '[', ']');
	return c == '"' ? take_string(h, &text) : skip_bare(h);
}

/* Bits of an element; 0 for a type that is not known here. */
static unsigned dtype_bits(const char *dtype)
{
	static const struct {
		const char *name;
		unsigned bits;
	} dtypes[] = {
		{ "F4", 4 },       { "F6_E2M3", 6 },     { "F6_E3M2", 6 },     { "BOOL", 8 },    { "U8", 8 },
		{ "I8", 8 },       { "F8_E4M3", 8 },     { "F8_E5M2", 8 },     { "F8_E8M0", 8 }, { "F8_E4M3FNUZ", 8 },
		{ "F8_E5M2FNUZ", 8 }, { "U16", 16 },     { "I16", 16 },        { "F16", 16 },    { "BF16", 16 },
		{ "U32", 32 },     { "I32", 32 },        { "F32", 32 },        { "U64", 64 },    { "I64", 64 },
		{ "F64", 64 },     { "C64", 64 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(dtypes); i++)
		if (strcmp(dtypes[i].name, dtype) == 0)
			return dtypes[i].bits;
	return 0;
}

struct tensor {
	unsigned seen; /* of its fields */
	struct word dtype;
	uint64_t elements, begin, end;
	uint64_t shape[SAFETENSORS_DIMS_MAX];
	size_t ndim; /* may be more than there is room for */
};

enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4, ALL_FIELDS = 7 };

static int take_shape(struct header *h, struct tensor *t)
{
	uint64_t n;
	int r = take_token(h, '['), go;

	t->elements = 1;

	for (bool first = true; r == 0; first = false) {
		go = more(h, ']', first);
		if (go <= 0)
			return go;
		r = take_u64(h, &n);
		if (r == 0 && __builtin_mul_overflow(t->elements, n, &t->elements))
			return window_bad(h->w, "tensor of too many elements");
		if (t->ndim < SAFETENSORS_DIMS_MAX)
			t->shape[t->ndim] = n;
		t->ndim++;
	}
	return r;
}

static int take_offsets(struct header *h, uint64_t *ret_begin, uint64_t *ret_end)
{
	int r = take_token(h, '[');

	if (r == 0)
		r = take_u64(h, ret_begin);
	if (r == 0)
		r = take_token(h, ',');
	if (r == 0)
		r = take_u64(h, ret_end);
	return r == 0 ? take_token(h, ']') : r;
}

/* splitmix64 */
static uint64_t hash(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static int take_field(struct header *h, struct tensor *t)
{
	struct word key;
	unsigned field = 0;
	int r = take_string(h, &key);

	if (r == 0)
		r = take_token(h, ':');
	if (r < 0)
		return r;
	if (strcmp(key.text, "dtype") == 0)
		field = DTYPE;
	else if (strcmp(key.text, "shape") == 0)
		field = SHAPE;
	else if (strcmp(key.text, "data_offsets") == 0)
		field = OFFSETS;
	if (t->seen & field)
		return bad_json(h);
	t->seen |= field;
	switch (field) {
	case DTYPE:
		return take_string(h, &t->dtype);
	case SHAPE:
		return take_shape(h, t);
	case OFFSETS:
		return take_offsets(h, &t->begin, &t->end);
	default:
		return skip_value(h, 0);
	}
}

static int tell_tensor(struct header *h, const struct tensor *t, size_t name_len, unsigned bits)
{
	uint64_t data = h->w->size - h->data_size;

	if (t->ndim > SAFETENSORS_DIMS_MAX)
		return window_bad(h->w, "tensor of too many dimensions");
	return h->reader->tensor(h->reader->arg, &(struct safetensors_tensor){
							 .name = h->name,
							 .name_len = name_len,
							 .dtype = t->dtype.text,
							 .bits = bits,
							 .ndim = (unsigned)t->ndim,
							 .shape = t->shape,
							 .begin = data + t->begin,
							 .end = data + t->end,
						 });
}

static int check_tensor(struct header *h, const struct tensor *t, size_t name_len)
{
	unsigned bits = dtype_bits(t->dtype.text);
	uint64_t n;

	if (t->seen != ALL_FIELDS)
		return bad_json(h);
	if (t->begin > t->end || t->end > h->data_size)
		return window_bad(h->w, "tensor outside of the file");
	if (bits && (__builtin_mul_overflow(t->elements, bits, &n) || n % 8 != 0 || n / 8 != t->end - t->begin))
		return window_bad(h->w, "tensor whose shape does not give its length");
	h->begins += hash(t->begin);
	h->ends += hash(t->end);
	return h->reader ? tell_tensor(h, t, name_len, bits) : 0;
}

static int take_tensor(struct header *h, size_t name_len)
{
	struct tensor t = { .seen = 0 };
	int r = take_token(h, '{'), go;

	for (bool first = true; r == 0; first = false) {
		go = more(h, '}', first);
		if (go < 0)
			return go;
		if (go == 0)
			return check_tensor(h, &t, name_len);
		r = take_field(h, &t);
	}
	return r;
}

/* The metadata are to have strings only: others are of no interest here. */
static int take_metadata(struct header *h)
{
	struct word key, value;
	int r = take_token(h, '{'), go;

	for (bool first = true; r == 0; first = false) {
		go = more(h, '}', first);
		if (go <= 0)
			return go;
		r = take_string(h, &key);
		if (r == 0)
			r = take_token(h, ':');
		if (r == 0)
			r = peek_token(h);
		if (r == '"') {
			r = take_string(h, &value);
			if (r == 0)
				r = h->reader->metadata(h->reader->arg, key.text, value.text);
		} else if (r >= 0) {
			r = skip_value(h, 0);
		}
	}
	return r;
}

static int take_entry(struct header *h)
{
	struct word key;
	const char *name = key.text;
	size_t len;
	int r;

	if (h->reader) {
		r = take_name(h, &len);
		name = h->name;
	} else {
		r = take_string(h, &key);
		len = key.len;
	}
	if (r == 0)
		r = take_token(h, ':');
	if (r < 0)
		return r;
	if (len != strlen("__metadata__") || memcmp(name, "__metadata__", len) != 0)
		return take_tensor(h, len);
	return h->reader && peek_token(h) == '{' ? take_metadata(h) : skip_value(h, 0);
}

static int take_header(struct header *h)
{
	int r = take_token(h, '{'), c, go;

	for (bool first = true; r == 0; first = false) {
		go = more(h, '}', first);
		if (go < 0)
			return go;
		if (go == 0)
			break;
		r = take_entry(h);
	}
	while (r == 0 && (h->p < h->p_end || h->at < h->end)) {
		c = take(h);
		if (!is_space(c))
			return c < 0 ? c : bad_json(h);
	}
	return r;
}

int safetensors_each(struct window *w, const struct safetensors_reader *reader)
{
	_cleanup_free_ char *name = reader ? malloc(SAFETENSORS_NAME_MAX + 1) : NULL;
	struct header h = { .w = w, .reader = reader, .name = name };
	const uint8_t *p;
	uint64_t n;
	int r;

	if (reader && !name)
		return -ENOMEM;
	r = window_get(w, 0, LENGTH_LEN, &p);
	if (r < 0)
		return r;
	n = le64(p);
	if (n > HEADER_MAX)
		return window_bad(w, "safetensors header over 100 MB");
	if (n > w->size - LENGTH_LEN)
		return window_bad(w, "ends in its safetensors header");
	h.at = LENGTH_LEN;
	h.end = LENGTH_LEN + n;
	h.data_size = w->size - h.end;
	r = take_header(&h);
	if (r < 0)
		return r;
	if (h.begins + hash(h.data_size) != h.ends + hash(0))
		return window_bad(w, "tensors do not fill the file");
	return 0;
}

int safetensors_check(struct window *w)
{
	return safetensors_each(w, NULL);
}
