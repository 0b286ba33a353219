/* Two dimensions matter: `along`, in which elements lie densest where they come from, and
 * `across`, in which they do where they go. Where it is one, rows are copied. Where it is two,
 * they are taken tile by tile, a line of the cache wide and as many high, so that a line is
 * fetched once and written once; and a tile in squares that fit into registers. */
#include "format/elements.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "format/tensors.h"

#define LINE 64u
#define VECTOR 16u

typedef const struct elements_dim dim_t;

struct copy {
	unsigned item;
	dim_t *along, *across;
	dim_t *rest[TENSOR_DIMS_MAX];
	unsigned n_rest;
};

/* A square of VECTOR bytes each way, turned: zipping the halves of a deck of rows as often as
 * it can be halved brings each column into a row. */
#define SQUARE(name, type, LOW, HIGH)                                                                     \
	static void name(uint8_t *to, size_t to_step, const uint8_t *from, size_t from_step)              \
	{                                                                                                 \
		typedef type vector __attribute__((vector_size(VECTOR)));                                 \
		enum { N = VECTOR / sizeof(type) };                                                       \
		vector a[N], b[N];                                                                        \
                                                                                                          \
		_Pragma("GCC unroll 16") for (unsigned i = 0; i < N; i++)                                 \
			memcpy(&a[i], from + i * from_step, VECTOR);                                      \
		_Pragma("GCC unroll 16") for (unsigned k = 1; k < N; k *= 2) {                            \
			_Pragma("GCC unroll 16") for (unsigned i = 0; i < N / 2; i++) {                   \
				b[2 * i] = __builtin_shufflevector(a[i], a[i + N / 2], LOW);              \
				b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + N / 2], HIGH);         \
			}                                                                                 \
			memcpy(a, b, sizeof(a));                                                          \
		}                                                                                         \
		_Pragma("GCC unroll 16") for (unsigned i = 0; i < N; i++)                                 \
			memcpy(to + i * to_step, &a[i], VECTOR);                                          \
	}
#define LIST(...) __VA_ARGS__
SQUARE(square1, uint8_t, LIST(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23),
       LIST(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31))
SQUARE(square2, uint16_t, LIST(0, 8, 1, 9, 2, 10, 3, 11), LIST(4, 12, 5, 13, 6, 14, 7, 15))
SQUARE(square4, uint32_t, LIST(0, 4, 1, 5), LIST(2, 6, 3, 7))
SQUARE(square8, uint64_t, LIST(0, 2), LIST(1, 3))

typedef void (*square_fn)(uint8_t *to, size_t to_step, const uint8_t *from, size_t from_step);

static const square_fn squares[VECTOR + 1] = { [1] = square1, [2] = square2, [4] = square4, [8] = square8 };

static void copy_row(uint8_t *to, size_t to_step, const uint8_t *from, size_t from_step, uint64_t n, unsigned item)
{
	if (to_step == item && from_step == item) {
		memcpy(to, from, n * item);
		return;
	}
#define COPY(size)                                                            \
	case size:                                                            \
		for (uint64_t i = 0; i < n; i++)                              \
			memcpy(to + i * to_step, from + i * from_step, size); \
		return
	switch (item) {
		COPY(1);
		COPY(2);
		COPY(4);
		COPY(8);
		COPY(16);
	}
#undef COPY
}

/* So many elements across and along. */
static void copy_tile(const struct copy *c, uint8_t *to, const uint8_t *from, uint64_t across, uint64_t along)
{
	size_t to_step = c->along->to * c->item, from_step = c->across->from * c->item;
	unsigned side = VECTOR / c->item;
	square_fn square = squares[c->item];

	if (!square || across * c->item < LINE || along * c->item < LINE || c->along->from != 1 || c->across->to != 1) {
		for (uint64_t i = 0; i < along; i++)
			copy_row(to + i * to_step, c->across->to * c->item, from + i * c->along->from * c->item,
				 from_step, across, c->item);
		return;
	}
	for (unsigned i = 0; i < along; i += side)
		for (unsigned k = 0; k < across; k += side)
			square(to + i * to_step + k * c->item, to_step, from + k * from_step + i * c->item, from_step);
}

/* n rows of one dimension, each by itself. */
static void copy_rows(const struct copy *c, dim_t *rows, dim_t *row, uint8_t *to, const uint8_t *from)
{
	for (uint64_t i = 0; i < rows->n; i++)
		copy_row(to + i * rows->to * c->item, row->to * c->item, from + i * rows->from * c->item,
			 row->from * c->item, row->n, c->item);
}

static void copy_plane(const struct copy *c, uint8_t *to, const uint8_t *from)
{
	static const struct elements_dim one = { .n = 1 };
	dim_t *along = c->along, *across = c->across;
	unsigned side = LINE / c->item;

	if (along == across)
		copy_rows(c, &one, along, to, from);
	else if (across->n < side)
		copy_rows(c, across, along, to, from);
	else if (along->n < side)
		copy_rows(c, along, across, to, from);
	else
		for (uint64_t i = 0; i < along->n; i += side)
			for (uint64_t k = 0; k < across->n; k += side)
				copy_tile(c, to + (i * along->to + k * across->to) * c->item,
					  from + (i * along->from + k * across->from) * c->item,
					  MIN(side, across->n - k), MIN(side, along->n - i));
}

static void copy_rest(const struct copy *c, unsigned i, uint8_t *to, const uint8_t *from)
{
	if (i == c->n_rest) {
		copy_plane(c, to, from);
		return;
	}
	for (uint64_t k = 0; k < c->rest[i]->n; k++)
		copy_rest(c, i + 1, to + k * c->rest[i]->to * c->item, from + k * c->rest[i]->from * c->item);
}

/* A stride of 0 is none to go along. */
static bool is_denser(uint64_t stride, uint64_t than)
{
	return stride > 0 && (than == 0 || stride < than);
}

void elements_copy(uint8_t *to, const uint8_t *from, const struct elements_dim *dim, unsigned ndim, unsigned item)
{
	static const struct elements_dim one = { .n = 1, .from = 1, .to = 1 };
	struct copy c = { .item = item, .along = ndim ? dim : &one, .across = ndim ? dim : &one };

	for (unsigned i = 1; i < ndim; i++) {
		if (dim[i].n > 1 && is_denser(dim[i].from, c.along->n > 1 ? c.along->from : 0))
			c.along = &dim[i];
		if (dim[i].n > 1 && is_denser(dim[i].to, c.across->n > 1 ? c.across->to : 0))
			c.across = &dim[i];
	}
	for (unsigned i = 0; i < ndim; i++)
		if (&dim[i] != c.along && &dim[i] != c.across)
			c.rest[c.n_rest++] = &dim[i];
	copy_rest(&c, 0, to, from);
}
