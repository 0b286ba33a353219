/* What a tensor of components holds is each one's content behind a line that says what it is. */
#include "format/tensor_content.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "format/boxes.h"

#define TITLE_MAX (TENSOR_COMPONENT_NAME_MAX + 40u + 24u * TENSOR_DIMS_MAX)

struct tensor_content {
	int fd;
	const struct tensor *next, *end; /* those to come */
	const struct tensor *t;		 /* the one that is read */
	struct boxes *boxes;		 /* of it; NULL before the first and between two */
	uint8_t *last;			 /* what was given */
	bool titled;
	uint8_t title[TITLE_MAX];
};

/* "NAME:DTYPE:[SHAPE]\n" */
static size_t put_title(uint8_t title[TITLE_MAX], const struct tensor *t)
{
	char *p = mempcpy(title, t->name, t->name_len);

	p += sprintf(p, ":%.24s:[", t->dtype);
	for (unsigned i = 0; i < t->ndim; i++)
		p += sprintf(p, "%s%" PRIu64, i ? "," : "", t->shape[i]);
	p += sprintf(p, "]\n");
	return (size_t)(p - (char *)title);
}

static uint64_t elements_size(const struct tensor *t)
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

uint64_t tensor_content_size(const struct tensor *t)
{
	uint64_t size = 0;

	if (t->n_components == 0)
		return elements_size(t);
	for (unsigned i = 0; i < t->n_components; i++) {
		uint8_t title[TITLE_MAX];

		if (__builtin_add_overflow(size, put_title(title, &t->components[i]), &size) ||
		    __builtin_add_overflow(size, elements_size(&t->components[i]), &size))
			return UINT64_MAX;
	}
	return size;
}

int tensor_content_open(int fd, const struct tensor *t, struct tensor_content **ret)
{
	struct tensor_content *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->fd = fd;
	c->next = t->n_components ? t->components : t;
	c->end = c->next + MAX(t->n_components, 1u);
	c->titled = t->n_components > 0;
	*ret = c;
	return 0;
}

void tensor_content_free(struct tensor_content *c)
{
	if (!c)
		return;
	boxes_free(c->boxes);
	free(c);
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

/* Opens the next one; what is to be given before it. */
static ssize_t begin_next(struct tensor_content *c)
{
	int r;

	c->t = c->next++;
	r = boxes_open(c->fd, c->t, elements_size(c->t), &c->boxes);
	if (r < 0)
		return r;
	c->last = c->title;
	return c->titled ? (ssize_t)put_title(c->title, c->t) : 0;
}

static ssize_t next_elements(struct tensor_content *c)
{
	ssize_t n = boxes_next(c->boxes, &c->last);
	unsigned item = c->t->item;

	if (n > 0 && c->t->big_endian)
		swap_bytes(c->last, (size_t)n, strncmp(c->t->dtype, "complex", 7) == 0 ? item / 2 : item);
	if (n == 0)
		boxes_free(steal(&c->boxes));
	return n;
}

ssize_t tensor_content_next(struct tensor_content *c, const uint8_t **ret)
{
	ssize_t n = 0;

	while (n == 0 && (c->boxes || c->next < c->end))
		n = c->boxes ? next_elements(c) : begin_next(c);
	*ret = c->last;
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
		c->last[0] ^= change;
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
