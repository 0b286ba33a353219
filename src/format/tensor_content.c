/* Dimensions of one element are left out, and neighbours that lie as one are joined. What
 * is then one row is read as it is. All else is gathered box by box: some rows of one
 * dimension with all that is inside them. A box is read in the order of the file: as many
 * of its dimensions as fit into the scratch buffer, and are dense enough there, with one
 * pread(), from which each element goes to its place. */
#include "format/tensor_content.h"

#include <string.h>
#include <xxhash.h>

#include "util/io.h"

#define PLAIN_BLOCK ((size_t)1 << 20) /* stays in the cache of a core */

struct dim {
	uint64_t n, stride; /* in the file, in elements */
	uint64_t out;       /* stride in the box, in elements */
};

struct tensor_content {
	int fd;
	const struct tensor *t;
	struct dim dim[TENSOR_DIMS_MAX];
	unsigned ndim;
	bool plain;
	bool done;
	uint64_t at, size;             /* of a plain one, in bytes */
	unsigned split;                /* the dimension of which a box has some rows */
	uint64_t rows;                 /* at most */
	uint64_t next[TENSOR_DIMS_MAX]; /* where the next box begins, up to split */
	uint8_t *box, *scratch;
};

uint64_t tensor_content_size(const struct tensor *t)
{
	uint64_t size = t->item;

	for (unsigned i = 0; i < t->ndim; i++)
		if (t->shape[i] == 0)
			return 0;
	for (unsigned i = 0; i < t->ndim; i++)
		if (__builtin_mul_overflow(size, t->shape[i], &size))
			return UINT64_MAX;
	return size;
}

static void set_dims(struct tensor_content *c)
{
	const struct tensor *t = c->t;

	for (unsigned i = 0; i < t->ndim; i++) {
		struct dim *outer = c->ndim ? &c->dim[c->ndim - 1] : NULL;
		uint64_t whole;

		if (t->shape[i] == 1)
			continue;
		if (outer && !__builtin_mul_overflow(t->strides[i], t->shape[i], &whole) && outer->stride == whole &&
		    !__builtin_mul_overflow(outer->n, t->shape[i], &whole)) {
			outer->n = whole;
			outer->stride = t->strides[i];
		} else {
			c->dim[c->ndim++] = (struct dim){ .n = t->shape[i], .stride = t->strides[i] };
		}
	}
	c->plain = c->ndim == 0 || (c->ndim == 1 && c->dim[0].stride == 1);
}

static void set_boxes(struct tensor_content *c)
{
	uint64_t room = TENSOR_CONTENT_BLOCK / c->t->item, inner = 1;
	unsigned i = c->ndim - 1;

	while (i > 0 && c->dim[i].n <= room / inner) {
		c->dim[i].out = inner;
		inner *= c->dim[i--].n;
	}
	c->dim[i].out = inner;
	c->split = i;
	c->rows = MIN(c->dim[i].n, room / inner);
}

int tensor_content_open(int fd, const struct tensor *t, struct tensor_content **ret)
{
	_cleanup_tensor_content_ struct tensor_content *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->fd = fd;
	c->t = t;
	c->size = tensor_content_size(t);
	c->done = c->size == 0;
	set_dims(c);
	if (!c->plain && !c->done) {
		set_boxes(c);
		c->scratch = malloc(TENSOR_CONTENT_BLOCK);
	}
	c->box = malloc(c->plain ? PLAIN_BLOCK : TENSOR_CONTENT_BLOCK);
	if (!c->box || (!c->plain && !c->done && !c->scratch))
		return -ENOMEM;
	*ret = steal(&c);
	return 0;
}

void tensor_content_free(struct tensor_content *c)
{
	if (!c)
		return;
	free(c->box);
	free(c->scratch);
	free(c);
}

static int read_all(const struct tensor_content *c, void *buf, size_t n, uint64_t element)
{
	const struct tensor *t = c->t;
	ssize_t got = io_pread(c->fd, buf, n, t->begin + t->offset + element * t->item);

	return got < 0 ? (int)got : (size_t)got < n ? -EIO : 0;
}

/* The dimensions of a box, those with the largest strides first. */
struct box {
	struct dim dim[TENSOR_DIMS_MAX];
	unsigned ndim;
	unsigned inner; /* from this one on, all are read at once, */
	uint64_t chunk; /* of the one before it so many rows */
};

static int by_stride(const void *a, const void *b)
{
	const struct dim *x = a, *y = b;

	return (x->stride < y->stride) - (x->stride > y->stride);
}

/* How many rows of d are to be read at once, where those inside it have span and count elements. */
static uint64_t rows_at_once(const struct dim *d, uint64_t span, uint64_t count, uint64_t room)
{
	if (d->stride == 0)
		return d->n;
	if (d->stride / TENSOR_CONTENT_SPREAD > count || span > room)
		return 1;
	return MIN(d->n, 1 + (room - span) / d->stride);
}

static void set_inner(struct box *b, unsigned item)
{
	uint64_t room = TENSOR_CONTENT_BLOCK / item, span = 1, count = 1;

	b->inner = b->ndim;
	b->chunk = 1;
	while (b->inner > 0) {
		const struct dim *d = &b->dim[b->inner - 1];
		uint64_t rows = rows_at_once(d, span, count, room);

		b->chunk = rows;
		if (rows < d->n)
			return;
		span += (d->n - 1) * d->stride;
		count *= d->n;
		b->inner--;
	}
}

static void copy_row(uint8_t *to, uint64_t to_step, const uint8_t *from, uint64_t from_step, uint64_t n, unsigned item)
{
#define COPY(size)                                                        \
	case size:                                                        \
		for (uint64_t i = 0; i < n; i++)                          \
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

/* n rows of dimension i, with all that is inside them. */
static void scatter(const struct tensor_content *c, const struct box *b, unsigned i, uint64_t n, const uint8_t *from,
		    uint8_t *to)
{
	unsigned item = c->t->item;
	const struct dim *d = &b->dim[i];

	if (i + 1 == b->ndim) {
		copy_row(to, d->out * item, from, d->stride * item, n, item);
		return;
	}
	for (uint64_t k = 0; k < n; k++)
		scatter(c, b, i + 1, d[1].n, from + k * d->stride * item, to + k * d->out * item);
}

static int read_rows(const struct tensor_content *c, const struct box *b, unsigned i, uint64_t n, uint64_t from,
		     uint64_t to)
{
	uint64_t span = (n - 1) * b->dim[i].stride + 1;
	int r;

	for (unsigned k = i + 1; k < b->ndim; k++)
		span += (b->dim[k].n - 1) * b->dim[k].stride;
	r = read_all(c, c->scratch, span * c->t->item, from);
	if (r == 0)
		scatter(c, b, i, n, c->scratch, c->box + to * c->t->item);
	return r;
}

/* Dimension i and those inside it, from element from on, to element to of the box. */
static int read_dim(const struct tensor_content *c, const struct box *b, unsigned i, uint64_t from, uint64_t to)
{
	const struct dim *d = &b->dim[i];
	bool at_once = i + 1 >= b->inner;
	uint64_t step = at_once ? b->chunk : 1;
	int r = 0;

	for (uint64_t k = 0; k < d->n && r == 0; k += step) {
		if (at_once)
			r = read_rows(c, b, i, MIN(step, d->n - k), from + k * d->stride, to + k * d->out);
		else
			r = read_dim(c, b, i + 1, from + k * d->stride, to + k * d->out);
	}
	return r;
}

/* Goes on to the next box; the rows of this one. */
static uint64_t advance(struct tensor_content *c, uint64_t *ret_from)
{
	uint64_t from = 0, rows = MIN(c->rows, c->dim[c->split].n - c->next[c->split]);

	for (unsigned i = 0; i <= c->split; i++)
		from += c->next[i] * c->dim[i].stride;
	*ret_from = from;
	c->next[c->split] += rows;
	for (unsigned i = c->split; c->next[i] == c->dim[i].n; i--) {
		if (i == 0) {
			c->done = true;
			break;
		}
		c->next[i] = 0;
		c->next[i - 1]++;
	}
	return rows;
}

static ssize_t next_box(struct tensor_content *c)
{
	struct box b = { .ndim = c->ndim - c->split };
	uint64_t from, rows = advance(c, &from);
	int r;

	memcpy(b.dim, c->dim + c->split, b.ndim * sizeof(*b.dim));
	b.dim[0].n = rows;
	qsort(b.dim, b.ndim, sizeof(*b.dim), by_stride);
	set_inner(&b, c->t->item);
	r = read_dim(c, &b, 0, from, 0);
	return r < 0 ? r : (ssize_t)(rows * c->dim[c->split].out * c->t->item);
}

static ssize_t next_plain(struct tensor_content *c)
{
	size_t n = (size_t)MIN(c->size - c->at, PLAIN_BLOCK);
	int r = read_all(c, c->box, n, c->at / c->t->item);

	c->at += n;
	c->done = c->at == c->size;
	return r < 0 ? r : (ssize_t)n;
}

/* Complex numbers are two of half their size. */
static void swap_bytes(uint8_t *p, size_t n, unsigned unit)
{
	for (size_t i = 0; i < n; i += unit) {
		for (unsigned k = 0; k < unit / 2; k++) {
			uint8_t b = p[i + k];

			p[i + k] = p[i + unit - 1 - k];
			p[i + unit - 1 - k] = b;
		}
	}
}

ssize_t tensor_content_next(struct tensor_content *c, const uint8_t **ret)
{
	const struct tensor *t = c->t;
	ssize_t n;

	if (c->done)
		return 0;
	n = c->plain ? next_plain(c) : next_box(c);
	if (n > 0 && t->big_endian)
		swap_bytes(c->box, (size_t)n, strncmp(t->dtype, "complex", 7) == 0 ? t->item / 2 : t->item);
	*ret = c->box;
	return n;
}

/* Bytes that were read of a content and not given on yet. */
struct rest {
	const uint8_t *p;
	size_t n;
};

/* 1 while there is more. */
static int fill(struct tensor_content *c, struct rest *rest)
{
	ssize_t n = rest->n > 0 ? (ssize_t)rest->n : tensor_content_next(c, &rest->p);

	rest->n = n > 0 ? (size_t)n : 0;
	return n > 0 ? 1 : (int)n;
}

static int each_pair(struct tensor_content *a, struct tensor_content *b, tensor_pair_fn f, void *arg)
{
	struct rest x = { 0 }, y = { 0 };
	int r;

	while ((r = fill(a, &x)) == 1 && (r = fill(b, &y)) == 1) {
		size_t n = MIN(x.n, y.n);

		r = f(arg, x.p, y.p, n);
		if (r != 0)
			return r;
		x = (struct rest){ x.p + n, x.n - n };
		y = (struct rest){ y.p + n, y.n - n };
	}
	return r;
}

int tensor_contents_each(int fd_a, const struct tensor *a, int fd_b, const struct tensor *b, tensor_pair_fn f, void *arg)
{
	_cleanup_tensor_content_ struct tensor_content *x = NULL, *y = NULL;
	int r = a->item != b->item || tensor_content_size(a) != tensor_content_size(b) ? -EINVAL : tensor_content_open(fd_a, a, &x);

	if (r == 0)
		r = tensor_content_open(fd_b, b, &y);
	return r < 0 ? r : each_pair(x, y, f, arg);
}

/* change: of the first byte. */
static int digest(int fd, const struct tensor *t, uint8_t change, tensor_stop stop, void *arg, uint8_t ret[TENSOR_DIGEST_SIZE])
{
	_cleanup_tensor_content_ struct tensor_content *c = NULL;
	XXH3_state_t *state;
	const uint8_t *p;
	XXH128_canonical_t canonical;
	ssize_t n = tensor_content_open(fd, t, &c);

	if (n < 0)
		return (int)n;
	state = XXH3_createState();
	if (!state)
		return -ENOMEM;
	XXH3_128bits_reset(state);
	while ((n = stop && stop(arg) ? -ECANCELED : tensor_content_next(c, &p)) > 0) {
		c->box[0] ^= change;
		change = 0;
		XXH3_128bits_update(state, p, (size_t)n);
	}
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
	XXH3_freeState(state);
	memcpy(ret, canonical.digest, TENSOR_DIGEST_SIZE);
	return n < 0 ? (int)n : 0;
}

int tensor_digest(int fd, const struct tensor *t, tensor_stop stop, void *arg, uint8_t ret[TENSOR_DIGEST_SIZE])
{
	return digest(fd, t, 0, stop, arg, ret);
}

int tensor_digest_changed(int fd, const struct tensor *t, tensor_stop stop, void *arg, uint8_t ret[TENSOR_DIGEST_SIZE])
{
	return digest(fd, t, 1, stop, arg, ret);
}
