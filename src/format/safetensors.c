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

#include "format/safetensors_json.h"
#include "util/util.h"

#define HEADER_MAX 100000000u
#define LENGTH_LEN 8u

struct header {
	struct stream s;
	uint64_t data_size;
	uint64_t begins, ends; /* sums of hashes */
	const struct safetensors_reader *reader;
	char *name; /* of SAFETENSORS_NAME_MAX + 1 bytes; with a reader only */
};

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
	struct stream_word dtype;
	uint64_t elements, begin, end;
	uint64_t shape[SAFETENSORS_DIMS_MAX];
	size_t ndim; /* may be more than there is room for */
};

enum { DTYPE = 1, SHAPE = 2, OFFSETS = 4, ALL_FIELDS = 7 };

static int take_shape(struct header *h, struct tensor *t)
{
	uint64_t n;
	int r = stream_take(&h->s, '['), go;

	t->elements = 1;

	for (bool first = true; r == 0; first = false) {
		go = stream_more(&h->s, ']', first);
		if (go <= 0)
			return go;
		r = stream_take_u64(&h->s, &n);
		if (r == 0 && __builtin_mul_overflow(t->elements, n, &t->elements))
			return window_bad(h->s.w, "tensor of too many elements");
		if (t->ndim < SAFETENSORS_DIMS_MAX)
			t->shape[t->ndim] = n;
		t->ndim++;
	}
	return r;
}

static int take_offsets(struct header *h, uint64_t *ret_begin, uint64_t *ret_end)
{
	int r = stream_take(&h->s, '[');

	if (r == 0)
		r = stream_take_u64(&h->s, ret_begin);
	if (r == 0)
		r = stream_take(&h->s, ',');
	if (r == 0)
		r = stream_take_u64(&h->s, ret_end);
	return r == 0 ? stream_take(&h->s, ']') : r;
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
	struct stream_word key;
	unsigned field = 0;
	int r = stream_take_string(&h->s, &key);

	if (r == 0)
		r = stream_take(&h->s, ':');
	if (r < 0)
		return r;
	if (strcmp(key.text, "dtype") == 0)
		field = DTYPE;
	else if (strcmp(key.text, "shape") == 0)
		field = SHAPE;
	else if (strcmp(key.text, "data_offsets") == 0)
		field = OFFSETS;
	if (t->seen & field)
		return stream_bad(&h->s);
	t->seen |= field;
	switch (field) {
	case DTYPE:
		return stream_take_string(&h->s, &t->dtype);
	case SHAPE:
		return take_shape(h, t);
	case OFFSETS:
		return take_offsets(h, &t->begin, &t->end);
	default:
		return stream_skip(&h->s);
	}
}

static int tell_tensor(struct header *h, const struct tensor *t, size_t name_len, unsigned bits)
{
	uint64_t data = h->s.w->size - h->data_size;

	if (t->ndim > SAFETENSORS_DIMS_MAX)
		return window_bad(h->s.w, "tensor of too many dimensions");
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
		return stream_bad(&h->s);
	if (t->begin > t->end || t->end > h->data_size)
		return window_bad(h->s.w, "tensor outside of the file");
	if (bits && (__builtin_mul_overflow(t->elements, bits, &n) || n % 8 != 0 || n / 8 != t->end - t->begin))
		return window_bad(h->s.w, "tensor whose shape does not give its length");
	h->begins += hash(t->begin);
	h->ends += hash(t->end);
	return h->reader ? tell_tensor(h, t, name_len, bits) : 0;
}

static int take_tensor(struct header *h, size_t name_len)
{
	struct tensor t = { .seen = 0 };
	int r = stream_take(&h->s, '{'), go;

	for (bool first = true; r == 0; first = false) {
		go = stream_more(&h->s, '}', first);
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
	struct stream_word key, value;
	int r = stream_take(&h->s, '{'), go;

	for (bool first = true; r == 0; first = false) {
		go = stream_more(&h->s, '}', first);
		if (go <= 0)
			return go;
		r = stream_take_string(&h->s, &key);
		if (r == 0)
			r = stream_take(&h->s, ':');
		if (r == 0)
			r = stream_peek(&h->s);
		if (r == '"') {
			r = stream_take_string(&h->s, &value);
			if (r == 0)
				r = h->reader->metadata(h->reader->arg, key.text, value.text);
		} else if (r >= 0) {
			r = stream_skip(&h->s);
		}
	}
	return r;
}

static int take_entry(struct header *h)
{
	struct stream_word key;
	const char *name = key.text;
	size_t len;
	int r;

	if (h->reader) {
		r = stream_take_name(&h->s, h->name, &len);
		name = h->name;
	} else {
		r = stream_take_string(&h->s, &key);
		len = key.len;
	}
	if (r == 0)
		r = stream_take(&h->s, ':');
	if (r < 0)
		return r;
	if (len != strlen("__metadata__") || memcmp(name, "__metadata__", len) != 0)
		return take_tensor(h, len);
	return h->reader && stream_peek(&h->s) == '{' ? take_metadata(h) : stream_skip(&h->s);
}

static int take_header(struct header *h)
{
	int r = stream_take(&h->s, '{'), go;

	for (bool first = true; r == 0; first = false) {
		go = stream_more(&h->s, '}', first);
		if (go < 0)
			return go;
		if (go == 0)
			break;
		r = take_entry(h);
	}
	return r == 0 ? stream_end(&h->s) : r;
}

int safetensors_each(struct window *w, const struct safetensors_reader *reader)
{
	_cleanup_free_ char *name = reader ? malloc(SAFETENSORS_NAME_MAX + 1) : NULL;
	struct header h = { .s.w = w, .reader = reader, .name = name };
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
	h.s.at = LENGTH_LEN;
	h.s.end = LENGTH_LEN + n;
	h.data_size = w->size - h.s.end;
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
