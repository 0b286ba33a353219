/* Each record is an .npy file (numpy/lib/format.py), versions 1 to 3:
 *
 *   "\x93NUMPY", u8 major, u8 minor
 *   length of the header: u16 in version 1, u32 later; little-endian
 *   header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, spaces
 *   the array
 *
 * The header is a literal of Python, of which what numpy writes there is read. */
#include "format/npz.h"

#include <string.h>

#include "format/dtype.h"
#include "format/parts.h"
#include "format/source.h"

#define SUFFIX ".npy"
#define PREAMBLE_1 10u /* of version 1 */
#define PREAMBLE 12u
#define HEADER_MAX ((size_t)128 << 10)

struct header {
	struct window *w;
	const char *p, *end;
	const char *descr; /* a string without its quotes, or the text of a list */
	size_t descr_len;
	bool columns, seen_descr, seen_order, seen_shape;
	uint64_t shape[TENSOR_DIMS_MAX];
	unsigned ndim;
};

static bool is_array(const struct zip_record *r)
{
	size_t n = strlen(SUFFIX);

	return r->name_len > n && memcmp(r->name + r->name_len - n, SUFFIX, n) == 0;
}

bool npz_is(const struct records *rs)
{
	for (size_t i = 0; i < rs->n; i++)
		if (!is_array(&rs->v[i]))
			return false;
	return true;
}

static int bad_header(struct header *h)
{
	return window_bad(h->w, "numpy header does not parse");
}

static bool take(struct header *h, const char *text)
{
	while (h->p < h->end && (*h->p == ' ' || *h->p == '\n'))
		h->p++;
	if (strlen(text) > (size_t)(h->end - h->p) || memcmp(h->p, text, strlen(text)) != 0)
		return false;
	h->p += strlen(text);
	return true;
}

/* A quoted string without escapes. */
static int take_string(struct header *h, const char **ret, size_t *ret_len)
{
	char quote;
	const char *close;

	if (!take(h, "'") && !take(h, "\""))
		return bad_header(h);
	quote = h->p[-1];
	close = memchr(h->p, quote, (size_t)(h->end - h->p));
	if (!close || memchr(h->p, '\\', (size_t)(close - h->p)))
		return bad_header(h);
	*ret = h->p;
	*ret_len = (size_t)(close - h->p);
	h->p = close + 1;
	return 0;
}

/* A list, whatever is in it: brackets in names of fields are in quotes. */
static int take_list(struct header *h, const char **ret, size_t *ret_len)
{
	const char *begin = h->p;
	char quote = 0;
	int depth = 0;

	for (; h->p < h->end; h->p++) {
		char c = *h->p;

		if (quote) {
			if (c == '\\')
				return bad_header(h);
			quote = c == quote ? 0 : quote;
		} else if (c == '\'' || c == '"') {
			quote = c;
		} else if (c == '[' || c == '(') {
			depth++;
		} else if ((c == ']' || c == ')') && --depth == 0) {
			h->p++;
			*ret = begin;
			*ret_len = (size_t)(h->p - begin);
			return 0;
		}
	}
	return bad_header(h);
}

static int take_descr(struct header *h)
{
	h->seen_descr = true;
	if (take(h, "[")) {
		h->p--;
		return take_list(h, &h->descr, &h->descr_len);
	}
	return take_string(h, &h->descr, &h->descr_len);
}

static int take_order(struct header *h)
{
	h->seen_order = true;
	h->columns = take(h, "True");
	return h->columns || take(h, "False") ? 0 : bad_header(h);
}

static int take_shape(struct header *h)
{
	h->seen_shape = true;
	if (!take(h, "("))
		return bad_header(h);
	while (!take(h, ")")) {
		const char *begin;
		uint64_t n = 0;

		take(h, ""); /* spaces */
		begin = h->p;
		for (; h->p < h->end && *h->p >= '0' && *h->p <= '9'; h->p++)
			if (__builtin_mul_overflow(n, 10u, &n) || __builtin_add_overflow(n, (unsigned)(*h->p - '0'), &n))
				return bad_header(h);
		if (h->p == begin)
			return bad_header(h);
		take(h, "L"); /* of Python 2 */
		if (h->ndim == TENSOR_DIMS_MAX)
			return window_bad(h->w, "tensor of too many dimensions");
		h->shape[h->ndim++] = n;
		if (!take(h, ",") && !(h->p < h->end && *h->p == ')'))
			return bad_header(h);
	}
	return 0;
}

static int take_entry(struct header *h)
{
	const char *key;
	size_t len;
	int r = take_string(h, &key, &len);

	if (r < 0)
		return r;
	if (!take(h, ":"))
		return bad_header(h);
	if (len == 5 && memcmp(key, "descr", len) == 0 && !h->seen_descr)
		return take_descr(h);
	if (len == 13 && memcmp(key, "fortran_order", len) == 0 && !h->seen_order)
		return take_order(h);
	if (len == 5 && memcmp(key, "shape", len) == 0 && !h->seen_shape)
		return take_shape(h);
	return bad_header(h);
}

static int parse_header(struct header *h)
{
	if (!take(h, "{"))
		return bad_header(h);
	while (!take(h, "}")) {
		int r = take_entry(h);

		if (r < 0)
			return r;
		if (!take(h, ",") && !(h->p < h->end && *h->p == '}'))
			return bad_header(h);
	}
	take(h, ""); /* spaces */
	return h->p == h->end && h->seen_descr && h->seen_order && h->seen_shape ? 0 : bad_header(h);
}

/* '<f4' and the like, or what is none of torch's types. */
static int set_dtype(struct tensors *ts, struct tensor *t, const struct header *h)
{
	const struct dtype *dtype = NULL;

	if (h->descr_len > 0 && memchr("<>|=", h->descr[0], 4))
		dtype = dtype_of_numpy(h->descr + 1, h->descr_len - 1);
	t->dtype = dtype ? dtype->name : arena_text(&ts->arena, h->descr, h->descr_len);
	t->item = dtype ? dtype->item : 0;
	t->located = dtype != NULL;
	t->why = dtype ? NULL : "an array of elements that are no numbers";
	t->big_endian = dtype && h->descr[0] == '>';
	return t->dtype ? 0 : tensors_no_memory(ts);
}

static int set_packed(struct tensors *ts, struct tensor *t, const struct zip_record *r, const struct header *h)
{
	struct packed *p = arena_alloc(&ts->arena, sizeof(*p));

	if (!p)
		return tensors_no_memory(ts);
	*p = (struct packed){ r->at, r->len, r->size };
	t->packed = p;
	if (t->located && h->columns && t->ndim > 1 && r->size > SOURCE_WHOLE_MAX) {
		t->located = false;
		t->why = "a compressed array in the order of columns, over 64 MiB";
	}
	return 0;
}

static int add_array(struct tensors *ts, const struct zip_record *r, const struct header *h, uint64_t at)
{
	struct tensor t = {
		.name = arena_text(&ts->arena, r->name, r->name_len - strlen(SUFFIX)),
		.name_len = r->name_len - strlen(SUFFIX),
		.ndim = h->ndim,
		.begin = r->deflated ? at : r->at + at,
		.end = r->deflated ? r->size : r->at + r->len,
		.model = true,
	};
	uint64_t *shape = arena_array(&ts->arena, h->ndim, sizeof(*shape));
	int err;

	if (!t.name || !shape)
		return tensors_no_memory(ts);
	if (h->ndim > 0)
		memcpy(shape, h->shape, h->ndim * sizeof(*shape));
	t.shape = shape;
	ts->parts |= parts_of_tensor(t.name, t.name_len);
	err = set_dtype(ts, &t, h);
	if (err == 0)
		err = tensors_set_strides(ts, &t, h->columns);
	if (err < 0)
		return err;
	if (t.located && !tensor_in_bounds(&t))
		return window_bad(ts->w, "numpy array that is cut");
	err = r->deflated ? set_packed(ts, &t, r, h) : 0;
	return err < 0 ? err : tensors_add(ts, &t);
}

/* The next n bytes of an array. */
static int read_next(struct tensors *ts, const struct zip_record *r, struct unpacker *u, uint64_t *at, void *buf, size_t n)
{
	int err = u ? unpacker_read(u, buf, n) : window_read(ts->w, r->at + *at, buf, n);

	*at += n;
	return u && err == -EBADMSG ? window_bad(ts->w, "array that does not unpack") : err;
}

static int read_header(struct tensors *ts, const struct zip_record *r, struct unpacker *u, struct header *h, char *text)
{
	uint8_t p[PREAMBLE];
	uint64_t at = 0, len, size = u ? r->size : r->len;
	int err;

	if (size < PREAMBLE)
		return bad_header(h);
	err = read_next(ts, r, u, &at, p, PREAMBLE_1);
	if (err < 0)
		return err;
	if (memcmp(p, "\x93NUMPY", 6) != 0 || p[6] < 1 || p[6] > 3)
		return bad_header(h);
	if (p[6] > 1)
		err = read_next(ts, r, u, &at, p + PREAMBLE_1, PREAMBLE - PREAMBLE_1);
	if (err < 0)
		return err;
	len = p[6] == 1 ? le16(p + 8) : le32(p + 8);
	if (len > HEADER_MAX || len > size - at)
		return bad_header(h);
	err = read_next(ts, r, u, &at, text, (size_t)len);
	if (err < 0)
		return err;
	if (memchr(text, '\0', (size_t)len))
		return bad_header(h);
	h->p = text;
	h->end = text + len;
	err = parse_header(h);
	return err < 0 ? err : add_array(ts, r, h, at);
}

static int read_array(struct tensors *ts, const struct zip_record *r)
{
	_cleanup_unpacker_ struct unpacker *u = NULL;
	_cleanup_free_ char *text = malloc(HEADER_MAX);
	struct header h = { .w = ts->w };
	int err = 0;

	if (!r->plain && !r->deflated)
		return window_bad(ts->w, "numpy arrays that are encrypted, or compressed in another way than deflated");
	if (!text)
		return -ENOMEM;
	if (r->deflated)
		err = unpacker_open(ts->w->fd, &(struct packed){ r->at, r->len, r->size }, &u);
	return err < 0 ? err : read_header(ts, r, u, &h, text);
}

int npz_read(struct tensors *ts, const struct records *rs)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < rs->n; i++)
		r = read_array(ts, &rs->v[i]);
	return r;
}
