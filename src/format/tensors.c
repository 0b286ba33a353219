/* The list that the formats fill, the choice of the format, and safetensors,
 * whose own parser does all but that. */
#include "format/tensors.h"

#include <ctype.h>
#include <string.h>

#include "format/dtype.h"
#include "format/npz.h"
#include "format/records.h"
#include "format/safetensors.h"
#include "format/torch.h"
#include "util/io.h"

#define TAR_MAGIC_AT 257u

int tensors_no_memory(struct tensors *ts)
{
	return ts->arena.over ? window_bad(ts->w, "too many names, or too long ones") : -ENOMEM;
}

int tensors_set_strides(struct tensors *ts, struct tensor *t, bool columns)
{
	uint64_t *strides = arena_array(&ts->arena, t->ndim, sizeof(*strides)), step = 1;

	if (!strides)
		return tensors_no_memory(ts);
	for (unsigned i = 0; i < t->ndim; i++) {
		unsigned dim = columns ? i : t->ndim - 1 - i;

		strides[dim] = step;
		if (__builtin_mul_overflow(step, MAX(t->shape[dim], 1u), &step))
			return window_bad(ts->w, "tensor of too many elements");
	}
	t->strides = strides;
	return 0;
}

bool tensor_in_bounds(const struct tensor *t)
{
	uint64_t last = 0, n;

	for (unsigned i = 0; i < t->ndim; i++)
		if (t->shape[i] == 0)
			return true;
	for (unsigned i = 0; i < t->ndim; i++)
		if (__builtin_mul_overflow(t->shape[i] - 1, t->strides[i], &n) || __builtin_add_overflow(last, n, &last))
			return false;
	if (__builtin_add_overflow(last, 1u, &last) || __builtin_mul_overflow(last, t->item, &n) ||
	    __builtin_add_overflow(n, t->offset, &n))
		return false;
	return n <= t->end - t->begin;
}

/* The value of a tensor of one integer; false if it is something else. */
static int read_integer(struct tensors *ts, const struct tensor *t, bool *ret_is, int64_t *ret)
{
	bool is_signed = t->dtype[0] == 'i';
	uint8_t bytes[8];
	uint64_t v;
	int r;

	*ret_is = false;
	if (!t->located || !dtype_is_integer(t->dtype))
		return 0;
	for (unsigned i = 0; i < t->ndim; i++)
		if (t->shape[i] != 1)
			return 0;
	r = window_read(ts->w, t->begin + t->offset, bytes, t->item);
	if (r < 0)
		return r;
	v = is_signed && bytes[t->big_endian ? 0 : t->item - 1] & 0x80 ? UINT64_MAX : 0;
	for (unsigned i = 0; i < t->item; i++)
		v = v << 8 | bytes[t->big_endian ? i : t->item - 1 - i];
	*ret_is = is_signed || v <= INT64_MAX;
	*ret = (int64_t)v;
	return 0;
}

/* The keys that a number is looked for under, the first one first. */
static const char *const step_keys[] = { "step", "global_step", "state.global_step", "iter_num", "iteration" };
static const char *const epoch_keys[] = { "epoch", "state.epoch" };

#define STEP_KEYS ARRAY_SIZE(step_keys)
#define EPOCH_KEYS ARRAY_SIZE(epoch_keys)

static unsigned rank(const char *const *keys, unsigned n, const char *name, size_t len)
{
	unsigned i = 0;

	while (i < n && (strlen(keys[i]) != len || memcmp(keys[i], name, len) != 0))
		i++;
	return i;
}

static bool tells(const char *name, size_t len)
{
	return rank(step_keys, STEP_KEYS, name, len) < STEP_KEYS || rank(epoch_keys, EPOCH_KEYS, name, len) < EPOCH_KEYS;
}

void tensors_note(struct tensors *ts, const char *name, size_t len, int64_t v)
{
	unsigned i = rank(step_keys, STEP_KEYS, name, len);

	if (v >= 0 && i < (ts->has_step ? ts->step_rank : STEP_KEYS)) {
		ts->has_step = true;
		ts->step_rank = i;
		ts->step = (uint64_t)v;
	}
	i = rank(epoch_keys, EPOCH_KEYS, name, len);
	if (i < (ts->has_epoch ? ts->epoch_rank : EPOCH_KEYS)) {
		ts->has_epoch = true;
		ts->epoch_rank = i;
		ts->epoch = v;
	}
}

int tensors_add(struct tensors *ts, const struct tensor *t)
{
	int64_t v;
	bool is;
	int r;

	if (ts->n == TENSORS_MAX)
		return window_bad(ts->w, "too many tensors");
	if (ts->n == ts->room) {
		size_t room = ts->room ? 2 * ts->room : 16;
		struct tensor *grown = reallocarray(ts->v, room, sizeof(*t));

		if (!grown)
			return -ENOMEM;
		ts->v = grown;
		ts->room = room;
	}
	ts->v[ts->n++] = *t;
	if (!tells(t->name, t->name_len))
		return 0;
	r = read_integer(ts, t, &is, &v);
	if (r == 0 && is)
		tensors_note(ts, t->name, t->name_len, v);
	return r;
}

/* safetensors */

static int add_safetensor(void *arg, const struct safetensors_tensor *s)
{
	const struct dtype *dtype = dtype_of_safetensors(s->dtype);
	struct tensors *ts = arg;
	struct tensor t = {
		.name = arena_text(&ts->arena, s->name, s->name_len),
		.name_len = s->name_len,
		.ndim = s->ndim,
		.located = dtype && dtype->item > 0,
		.item = dtype ? dtype->item : 0,
		.begin = s->begin,
		.end = s->end,
		.model = true,
	};
	uint64_t *shape = arena_array(&ts->arena, s->ndim, sizeof(*shape));
	int r;

	t.dtype = dtype ? dtype->name : arena_text(&ts->arena, s->dtype, strlen(s->dtype));
	if (!t.name || !shape || !t.dtype)
		return tensors_no_memory(ts);
	if (s->ndim > 0)
		memcpy(shape, s->shape, s->ndim * sizeof(*shape));
	t.shape = shape;
	r = tensors_set_strides(ts, &t, false);
	return r < 0 ? r : tensors_add(ts, &t);
}

static int note_metadata(void *arg, const char *key, const char *value)
{
	struct tensors *ts = arg;
	int64_t v = 0;
	const char *p;

	for (p = value; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
			return 0;
	if (p > value && !*p)
		tensors_note(ts, key, strlen(key), v);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct tensor *x = a, *y = b;
	int r = memcmp(x->name, y->name, MIN(x->name_len, y->name_len));

	return r != 0 ? r : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

/* Readers disagree about which one of two of one name counts. */
static int check_names(struct tensors *ts)
{
	if (ts->n > 0)
		qsort(ts->v, ts->n, sizeof(*ts->v), compare_names);
	for (size_t i = 1; i < ts->n; i++)
		if (compare_names(&ts->v[i - 1], &ts->v[i]) == 0)
			return window_bad(ts->w, "safetensors of one name");
	return 0;
}

static int read_safetensors(struct window *w, struct tensors *ts)
{
	const struct safetensors_reader reader = { add_safetensor, note_metadata, ts };
	int r = safetensors_each(w, &reader);

	return r < 0 ? r : check_names(ts);
}

static int read_zip(struct tensors *ts)
{
	struct records records;
	int r = records_read(ts, &records);

	if (r < 0)
		return r;
	if (torch_is(&records))
		return torch_read(ts, &records);
	if (npz_is(&records))
		return npz_read(ts, &records);
	return window_bad(ts->w, "zip file that is neither torch's nor numpy's");
}

static int read_any(struct window *w, struct tensors *ts)
{
	uint8_t head[TAR_MAGIC_AT + 5] = { 0 };
	size_t n = (size_t)MIN(w->size, sizeof(head));
	int r;

	if (n == 0)
		return window_bad(w, "empty");
	r = window_read(w, 0, head, n);
	if (r < 0)
		return r;
	if (memcmp(head, "PK\3\4", 4) == 0)
		return read_zip(ts);
	if (head[8] == '{')
		return read_safetensors(w, ts);
	if (head[0] == 0x80 && head[1] <= 5)
		return window_bad(w, "pickle outside of a zip file, as torch before 1.6 wrote them");
	if (memcmp(head + TAR_MAGIC_AT, "ustar", 5) == 0)
		return window_bad(w, "tar file, as torch before 0.1.10 wrote them");
	return window_bad(w, "no file of tensors that can be read here");
}

int tensors_read(int fd, uint64_t size, struct tensors **ret, const char **ret_why)
{
	_cleanup_free_ uint8_t *buf = malloc(WINDOW_SIZE);
	_cleanup_tensors_ struct tensors *ts = calloc(1, sizeof(*ts));
	struct window w = { .fd = fd, .size = size, .buf = buf };
	int r;

	*ret_why = NULL;
	if (!buf || !ts)
		return -ENOMEM;
	ts->arena.limit = TENSORS_MEMORY_MAX;
	ts->w = &w;
	r = read_any(&w, ts);
	ts->w = NULL;
	if (r < 0) {
		*ret_why = w.why;
		return r;
	}
	*ret = steal(&ts);
	return 0;
}

void tensors_free(struct tensors *ts)
{
	if (!ts)
		return;
	arena_clear(&ts->arena);
	free(ts->v);
	free(ts);
}
