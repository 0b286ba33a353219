/* The list that the formats fill. */
#include "format/tensors.h"

#include <string.h>

#include "format/dtype.h"

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

static int compare_numbers(const uint64_t *a, const uint64_t *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

int tensor_compare_places(const struct tensor *a, const struct tensor *b)
{
	const uint64_t x[] = { (uintptr_t)a->components, a->packed ? a->packed->at : 0, a->begin + a->offset, a->item, a->ndim },
		       y[] = { (uintptr_t)b->components, b->packed ? b->packed->at : 0, b->begin + b->offset, b->item, b->ndim };
	int r = compare_numbers(x, y, ARRAY_SIZE(x));

	if (r == 0)
		r = strcmp(a->dtype, b->dtype);
	if (r == 0)
		r = compare_numbers(a->shape, b->shape, a->ndim);
	return r != 0 || a->n_components > 0 ? r : compare_numbers(a->strides, b->strides, a->ndim);
}

/* The value of a tensor of one integer; false if it is something else. */
static int read_integer(struct tensors *ts, const struct tensor *t, bool *ret_is, int64_t *ret)
{
	uint8_t bytes[8];
	int r;

	*ret_is = false;
	if (!t->located || t->n_components > 0 || !dtype_is_integer(t->dtype))
		return 0;
	for (unsigned i = 0; i < t->ndim; i++)
		if (t->shape[i] != 1)
			return 0;
	if (t->packed)
		r = unpack(ts->w->fd, t->packed, t->begin + t->offset, bytes, t->item);
	else
		r = window_read(ts->w, t->begin + t->offset, bytes, t->item);
	if (r == -EBADMSG && t->packed)
		return window_bad(ts->w, "array that does not unpack");
	if (r == 0)
		*ret_is = dtype_read_integer(t->dtype, t->item, t->big_endian, bytes, ret);
	return r;
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

bool tensor_is_weight(const struct tensor *t)
{
	bool number = dtype_is_integer(t->dtype);

	for (unsigned i = 0; i < t->ndim; i++)
		number = number && t->shape[i] == 1;
	return t->model && !(number && tells(t->name + t->inner, t->name_len - t->inner));
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

void tensors_free(struct tensors *ts)
{
	if (!ts)
		return;
	arena_clear(&ts->arena);
	free(ts->v);
	free(ts);
}
