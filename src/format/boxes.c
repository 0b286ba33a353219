/* Dimensions of one element are left out, and neighbours that lie as one are joined. What
 * is then one row is read as it is. All else is gathered box by box: some rows of one
 * dimension with all that is inside them. A box is read in the order of the file, as much
 * with one pread() as is dense enough there, into a scratch buffer that stays in the cache
 * of a core; when that is full, or has enough rows, its elements go to their places in the
 * box (format/elements.h). The larger the box, the longer the rows of a transposed tensor
 * that are read at once. */
#include "format/boxes.h"

#include <string.h>
#include <sys/mman.h>

#include "format/elements.h"
#include "format/source.h"

#define PLAIN_BLOCK ((size_t)1 << 20) /* stays in the cache of a core, as SCRATCH does */
#define SCRATCH ((size_t)1 << 20)
#define SPARE ((size_t)64 << 10) /* so that 128 rows of RUN fit, too */
#define RUN (8u << 10)
#define GAP (4u << 10) /* to read so much more costs no more than another call */
#define LINE 64u
#define HUGE_PAGE ((size_t)2 << 20)

struct dim {
	uint64_t n, stride; /* in the file, in elements */
	uint64_t out;       /* stride in the box, in elements */
};

struct boxes {
	struct source source;
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

static void set_dims(struct boxes *c)
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

static void set_boxes(struct boxes *c)
{
	uint64_t room = BOXES_MEMORY / c->t->item, inner = 1;
	unsigned i = c->ndim - 1;

	while (i > 0 && c->dim[i].n <= room / inner) {
		c->dim[i].out = inner;
		inner *= c->dim[i--].n;
	}
	c->dim[i].out = inner;
	c->split = i;
	c->rows = MIN(c->dim[i].n, room / inner);
}

/* Large pages: its rows are far from each other. */
static uint8_t *new_box(size_t n)
{
	uint8_t *p;

	if (n < HUGE_PAGE)
		return malloc(n);
	n += (HUGE_PAGE - n % HUGE_PAGE) % HUGE_PAGE;
	p = aligned_alloc(HUGE_PAGE, n);
	if (p)
		madvise(p, n, MADV_HUGEPAGE);
	return p;
}

int boxes_open(int fd, const struct tensor *t, uint64_t size, struct boxes **ret)
{
	_cleanup_boxes_ struct boxes *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->source.fd = -1;
	c->t = t;
	c->size = size;
	c->done = c->size == 0;
	set_dims(c);
	if (!c->plain && !c->done) {
		set_boxes(c);
		c->scratch = malloc(SCRATCH + SPARE);
	}
	c->box = new_box((size_t)MIN(MAX(c->size, 1u), c->plain ? PLAIN_BLOCK : BOXES_MEMORY));
	if (!c->box || (!c->plain && !c->done && !c->scratch))
		return -ENOMEM;
	r = source_open(&c->source, fd, t->packed, c->plain);
	if (r < 0)
		return r;
	*ret = steal(&c);
	return 0;
}

void boxes_free(struct boxes *c)
{
	if (!c)
		return;
	source_close(&c->source);
	free(c->box);
	free(c->scratch);
	free(c);
}

static int read_all(struct boxes *c, void *buf, size_t n, uint64_t element)
{
	return source_read(&c->source, buf, n, c->t->begin + c->t->offset + element * c->t->item);
}

/* A box, or a piece of one: its dimensions, those with the largest strides first. */
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
static uint64_t rows_at_once(const struct dim *d, uint64_t span, uint64_t count, uint64_t room, uint64_t gap)
{
	if (d->stride == 0)
		return d->n;
	if (d->stride / BOXES_SPREAD > count || span > room || d->stride > span + gap)
		return 1;
	return MIN(d->n, 1 + (room - span) / d->stride);
}

static void set_inner(struct box *b, unsigned item)
{
	uint64_t room = SCRATCH / item, span = 1, count = 1;

	b->inner = b->ndim;
	b->chunk = 1;
	while (b->inner > 0) {
		const struct dim *d = &b->dim[b->inner - 1];
		uint64_t rows = rows_at_once(d, span, count, room, GAP / item);

		b->chunk = rows;
		if (rows < d->n)
			return;
		span += (d->n - 1) * d->stride;
		count *= d->n;
		b->inner--;
	}
}

/* Of the dimensions that are not read at once, the one in which elements of the box lie densest comes last: rows of it are
 * gathered, and go to the box together. */
static void set_gathered(struct box *b)
{
	unsigned last = b->inner - 1, best = last;
	struct dim d;

	for (unsigned i = 0; i < last; i++)
		if (b->dim[i].out < b->dim[best].out)
			best = i;
	d = b->dim[best];
	b->dim[best] = b->dim[last];
	b->dim[last] = d;
}

/* n rows of dimension i, with all that is inside them, as they lie in the scratch buffer. */
static void copy_rows(const struct boxes *c, const struct box *b, unsigned i, uint64_t n, uint64_t stride, uint64_t to)
{
	struct elements_dim dim[TENSOR_DIMS_MAX];
	unsigned ndim = 0;

	dim[ndim++] = (struct elements_dim){ n, stride, b->dim[i].out };
	for (unsigned k = i + 1; k < b->ndim; k++)
		dim[ndim++] = (struct elements_dim){ b->dim[k].n, b->dim[k].stride, b->dim[k].out };
	elements_copy(c->box + to * c->t->item, c->scratch, dim, ndim, c->t->item);
}

/* What is read at once, of one row of the dimension before. */
static uint64_t inner_span(const struct box *b)
{
	uint64_t span = 1;

	for (unsigned k = b->inner; k < b->ndim; k++)
		span += (b->dim[k].n - 1) * b->dim[k].stride;
	return span;
}

/* Each row by itself. They lie apart by an odd number of lines of the cache, so that they do not fight for its places. */
static int gather(struct boxes *c, const struct box *b, uint64_t from, uint64_t to)
{
	const struct dim *d = &b->dim[b->inner - 1];
	size_t span = inner_span(b) * c->t->item, pitch = (span + LINE - 1) / (2 * LINE) * 2 * LINE + LINE;
	uint64_t most = MAX((SCRATCH + SPARE) / pitch, 1u);

	if (most > LINE)
		most -= most % LINE;
	for (uint64_t k = 0; k < d->n; k += most) {
		uint64_t n = MIN(most, d->n - k);

		for (uint64_t i = 0; i < n; i++) {
			int r = read_all(c, c->scratch + i * pitch, span, from + (k + i) * d->stride);

			if (r < 0)
				return r;
		}
		copy_rows(c, b, b->inner - 1, n, pitch / c->t->item, to + k * d->out);
	}
	return 0;
}

/* Chunks of rows, each with what lies between them. */
static int read_chunks(struct boxes *c, const struct box *b, uint64_t from, uint64_t to)
{
	unsigned i = b->inner ? b->inner - 1 : 0;
	const struct dim *d = &b->dim[i];
	uint64_t inner = b->inner ? inner_span(b) : inner_span(b) - (d->n - 1) * d->stride;
	int r = 0;

	for (uint64_t k = 0; k < d->n && r == 0; k += b->chunk) {
		uint64_t n = MIN(b->chunk, d->n - k);

		r = read_all(c, c->scratch, ((n - 1) * d->stride + inner) * c->t->item, from + k * d->stride);
		if (r == 0)
			copy_rows(c, b, i, n, d->stride, to + k * d->out);
	}
	return r;
}

/* Dimension i and those inside it, from element from on, to element to of the box. */
static int read_dim(struct boxes *c, const struct box *b, unsigned i, uint64_t from, uint64_t to)
{
	const struct dim *d = &b->dim[i];
	int r = 0;

	if (i + 1 >= b->inner)
		return b->inner && b->chunk == 1 ? gather(c, b, from, to) : read_chunks(c, b, from, to);
	for (uint64_t k = 0; k < d->n && r == 0; k++)
		r = read_dim(c, b, i + 1, from + k * d->stride, to + k * d->out);
	return r;
}

/* The box in pieces that have short rows in the file, unless they are rows of the box too: so that many of them are gathered. */
static int read_box(struct boxes *c, const struct box *box, uint64_t from)
{
	struct box b = *box;
	struct dim *last = &b.dim[b.ndim - 1];
	int r = 0;

	while (last > b.dim && last->stride == 0)
		last--;
	for (uint64_t k = 0, n = last->n; k < n && r == 0; k += last->n) {
		last->n = last->out == 1 ? n : MIN(RUN / c->t->item, n - k);
		struct box piece = b;

		set_inner(&piece, c->t->item);
		if (piece.inner > 0 && piece.chunk == 1)
			set_gathered(&piece);
		r = read_dim(c, &piece, 0, from + k * last->stride, k * last->out);
	}
	return r;
}

/* Goes on to the next box; the rows of this one. */
static uint64_t advance(struct boxes *c, uint64_t *ret_from)
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

static ssize_t next_box(struct boxes *c)
{
	struct box b = { .ndim = c->ndim - c->split };
	uint64_t from, rows = advance(c, &from);
	int r;

	memcpy(b.dim, c->dim + c->split, b.ndim * sizeof(*b.dim));
	b.dim[0].n = rows;
	qsort(b.dim, b.ndim, sizeof(*b.dim), by_stride);
	r = read_box(c, &b, from);
	return r < 0 ? r : (ssize_t)(rows * c->dim[c->split].out * c->t->item);
}

static ssize_t next_plain(struct boxes *c)
{
	size_t n = (size_t)MIN(c->size - c->at, PLAIN_BLOCK);
	int r = read_all(c, c->box, n, c->at / c->t->item);

	c->at += n;
	c->done = c->at == c->size;
	return r < 0 ? r : (ssize_t)n;
}

ssize_t boxes_next(struct boxes *c, uint8_t **ret)
{
	*ret = c->box;
	return c->done ? 0 : c->plain ? next_plain(c) : next_box(c);
}
