#include "exp/compare.h"

#include <string.h>

#include "format/tensor_content.h"
#include "util/list.h"

/* One tensor of one side, under the name by which it is looked for. */
struct side_tensor {
	char *name;
	const struct tensor *t;
	const struct weights_file *file;
	const uint8_t *digest;
};

struct side {
	struct side_tensor *v;
	size_t n;
};

static void side_free(struct side *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].name);
	free(s->v);
}

static bool is_wrapper(const char *p, size_t n)
{
	return (n == strlen("module") && !memcmp(p, "module", n)) || (n == strlen("_orig_mod") && !memcmp(p, "_orig_mod", n));
}

/* A copy without the components that wrappers put into names. */
static char *plain_name(const char *name, size_t len)
{
	const char *p = name, *end = name + len;
	char *ret = malloc(len + 1), *to = ret;

	while (ret && p <= end) {
		const char *dot = memchr(p, '.', (size_t)(end - p));
		size_t n = (size_t)((dot ? dot : end) - p);

		if (!is_wrapper(p, n) || !dot) {
			if (to > ret)
				*to++ = '.';
			memcpy(to, p, n);
			to += n;
		}
		p = dot ? dot + 1 : end + 1;
	}
	if (ret)
		*to = 0;
	return ret;
}

static bool is_random_state(const struct tensor *t)
{
	return !t->model && (memmem(t->name, t->name_len, "rng", 3) || memmem(t->name, t->name_len, "random", 6));
}

static int add_tensor(struct side *s, const struct weights_file *f, size_t i)
{
	const struct tensor *t = &f->ts->v[i];
	struct side_tensor *v;

	if (is_random_state(t))
		return 0;
	v = array_grow(s->v, s->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	s->v = v;
	v[s->n] = (struct side_tensor){ .name = plain_name(t->name + t->inner, t->name_len - t->inner), .t = t, .file = f,
					.digest = f->row.digests[i] };
	return v[s->n++].name ? 0 : -ENOMEM;
}

/* Bytes that the names of all the model's tensors begin with, up to a '.'. */
static size_t common_prefix(const struct side *s)
{
	const char *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		size_t k = 0;

		if (!s->v[i].t->model)
			continue;
		if (!first) {
			first = s->v[i].name;
			n = strlen(first);
		}
		while (k < n && s->v[i].name[k] == first[k])
			k++;
		n = k;
	}
	while (n > 0 && first[n - 1] != '.')
		n--;
	return n;
}

static int compare_sides(const void *pa, const void *pb)
{
	const struct side_tensor *a = pa, *b = pb;

	if (a->t->model != b->t->model)
		return a->t->model ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int load_side(const struct weights *w, struct side *s)
{
	size_t prefix;
	int r = 0;

	for (size_t i = 0; i < w->n; i++)
		for (size_t k = 0; w->v[i].ts && w->v[i].of_model && k < w->v[i].ts->n && r == 0; k++)
			r = add_tensor(s, &w->v[i], k);
	prefix = r == 0 ? common_prefix(s) : 0;
	for (size_t i = 0; prefix > 0 && i < s->n; i++)
		if (s->v[i].t->model)
			memmove(s->v[i].name, s->v[i].name + prefix, strlen(s->v[i].name + prefix) + 1);
	if (s->n > 0)
		qsort(s->v, s->n, sizeof(*s->v), compare_sides);
	return r;
}

static bool has_one_shape(const struct tensor *a, const struct tensor *b)
{
	return a->ndim == b->ndim && (a->ndim == 0 || !memcmp(a->shape, b->shape, a->ndim * sizeof(*a->shape)));
}

static enum difference compare_two(const struct side_tensor *a, const struct side_tensor *b)
{
	if (strcmp(a->t->dtype, b->t->dtype) != 0)
		return DIFFERENCE_TYPE;
	if (!has_one_shape(a->t, b->t))
		return DIFFERENCE_SHAPE;
	if (!identity_is_told(a->digest) || !identity_is_told(b->digest))
		return DIFFERENCE_UNTOLD;
	return memcmp(a->digest, b->digest, WEIGHTS_DIGEST) == 0 ? DIFFERENCE_NONE : DIFFERENCE_CONTENT;
}

/* a or b: NULL where that side has none. */
static int add(struct comparison *c, const struct side_tensor *a, const struct side_tensor *b)
{
	const struct side_tensor *one = a ? a : b;
	struct compared *v;

	if (!one->t->model && (!a || !b))
		return 0;
	v = array_grow(c->v, c->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	c->v = v;
	v += c->n;
	*v = (struct compared){
		.name = strdup(one->name),
		.model = one->t->model,
		.difference = !a ? DIFFERENCE_MISSING : !b ? DIFFERENCE_EXTRA : compare_two(a, b),
		.a = a ? a->t : NULL,
		.b = b ? b->t : NULL,
		.file_a = a ? a->file : NULL,
		.file_b = b ? b->file : NULL,
	};
	c->n++;
	(v->model ? c->count : c->other_count)[v->difference]++;
	return v->name ? 0 : -ENOMEM;
}

static int merge(const struct side *a, const struct side *b, struct comparison *c)
{
	size_t i = 0, k = 0;
	int r = 0;

	while (r == 0 && (i < a->n || k < b->n)) {
		int order = i == a->n ? 1 : k == b->n ? -1 : compare_sides(&a->v[i], &b->v[k]);

		r = add(c, order <= 0 ? &a->v[i] : NULL, order >= 0 ? &b->v[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
	return r;
}

int compare_weights(const struct weights *a, const struct weights *b, struct comparison *ret)
{
	_cleanup_comparison_ struct comparison c = { 0 };
	_cleanup_(side_free) struct side x = { 0 };
	_cleanup_(side_free) struct side y = { 0 };
	int r = load_side(a, &x);

	if (r == 0)
		r = load_side(b, &y);
	if (r == 0)
		r = merge(&x, &y, &c);
	if (r < 0)
		return r;
	*ret = c;
	c = (struct comparison){ 0 };
	return 0;
}

void comparison_free(struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].name);
	free(c->v);
	*c = (struct comparison){ 0 };
}

bool comparison_is_same(const struct comparison *c)
{
	size_t different = 0;

	for (enum difference d = DIFFERENCE_NONE + 1; d < DIFFERENCES; d++)
		different += c->count[d] + c->other_count[d];
	return different == 0 && c->count[DIFFERENCE_NONE] > 0;
}

struct proof {
	weights_stop stop;
	void *arg;
};

static int compare_bytes(void *arg, const uint8_t *a, const uint8_t *b, size_t n)
{
	const struct proof *p = arg;

	if (p->stop && p->stop(p->arg))
		return -ECANCELED;
	return memcmp(a, b, n) != 0;
}

static int prove(struct expfs *ex, const struct compared *t, weights_stop stop, void *arg)
{
	struct proof p = { stop, arg };
	struct weights_open a, b;
	int r = weights_open(ex, t->file_a, &a);

	if (r < 0)
		return r;
	r = weights_open(ex, t->file_b, &b);
	if (r == 0) {
		r = tensor_contents_each(a.fd, t->a, b.fd, t->b, compare_bytes, &p);
		r = r < 0 ? r : r == 0;
		weights_close(&b);
	}
	weights_close(&a);
	return r;
}

static bool is_one_content(const struct weights_file *a, const struct weights_file *b)
{
	return a->row.object && a->row.object == b->row.object;
}

int comparison_proves(struct expfs *ex, const struct comparison *c, weights_stop stop, void *arg)
{
	int r = 1;

	for (size_t i = 0; i < c->n && r == 1; i++)
		if (c->v[i].difference == DIFFERENCE_NONE && !is_one_content(c->v[i].file_a, c->v[i].file_b))
			r = prove(ex, &c->v[i], stop, arg);
	return r;
}

const char *difference_name(enum difference d)
{
	static const char *const names[DIFFERENCES] = { "none", "content", "type", "shape", "missing", "extra", "untold" };

	return names[d];
}
