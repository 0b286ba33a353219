#include "exp/side.h"

#include <string.h>

#include "util/list.h"

void side_free(struct side *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].name);
	free(s->v);
	*s = (struct side){ 0 };
}

static bool is_wrapper(const char *p, size_t n)
{
	return (n == strlen("module") && !memcmp(p, "module", n)) || (n == strlen("_orig_mod") && !memcmp(p, "_orig_mod", n));
}

/* A copy without the components that wrappers put into names. */
static char *plain_name(const char *name, size_t len, size_t *ret_len)
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
	*ret_len = (size_t)(to - ret);
	return ret;
}

static bool says_random(const char *p, size_t n)
{
	return memmem(p, n, "rng", 3) || memmem(p, n, "random", 6);
}

static int add_tensor(struct side *s, const struct weights_file *f, size_t i)
{
	const struct tensor *t = &f->ts->v[i];
	struct side_tensor one = { .model = t->model && f->of_model, .t = t, .file = f, .digest = f->row.digests[i] }, *v;

	if (one.model && !tensor_is_weight(t))
		return 0;
	if (!one.model && (says_random(t->name, t->name_len) || (f->name && says_random(f->name, strlen(f->name)))))
		return 0;
	v = array_grow(s->v, s->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	s->v = v;
	one.name = plain_name(t->name + t->inner, t->name_len - t->inner, &one.len);
	if (!one.name)
		return -ENOMEM;
	v[s->n++] = one;
	return 0;
}

static size_t common_prefix(const struct side *s)
{
	const struct side_tensor *first = s->v;
	size_t n = s->n > 0 && first->model ? first->len : 0;

	for (size_t i = 1; i < s->n && s->v[i].model; i++) {
		const struct side_tensor *v = &s->v[i];
		size_t k = 0;

		while (k < n && k < v->len && v->name[k] == first->name[k])
			k++;
		n = k;
	}
	while (n > 0 && first->name[n - 1] != '.')
		n--;
	return n;
}

static int compare_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int r = memcmp(a, b, MIN(a_len, b_len));

	return r != 0 ? r : (a_len > b_len) - (a_len < b_len);
}

/* Shards may have the same names, and one of two may have a wrapper's. */
static int compare_all(const void *pa, const void *pb)
{
	const struct side_tensor *a = pa, *b = pb;
	int r = b->model - a->model;

	if (r == 0)
		r = compare_bytes(a->name, a->len, b->name, b->len);
	if (r == 0 && a->file != b->file)
		r = strcmp(a->file->name, b->file->name);
	return r != 0 ? r : compare_bytes(a->t->name, a->t->name_len, b->t->name, b->t->name_len);
}

static void sort(struct side *s)
{
	if (s->n > 0)
		qsort(s->v, s->n, sizeof(*s->v), compare_all);
	for (size_t i = 1; i < s->n; i++)
		if (compare_all(&s->v[i - 1], &s->v[i]) == 0)
			s->v[i - 1].vague = s->v[i].vague = true;
}

int side_load(const struct weights *w, struct side *ret)
{
	_cleanup_side_tensors_ struct side s = { 0 };
	int r = 0;

	for (size_t i = 0; i < w->n; i++)
		for (size_t k = 0; w->v[i].ts && k < w->v[i].ts->n && r == 0; k++)
			r = add_tensor(&s, &w->v[i], k);
	if (r < 0)
		return r;
	sort(&s);
	s.prefix = common_prefix(&s);
	*ret = s;
	s = (struct side){ 0 };
	return 0;
}

const char *side_name(const struct side *s, size_t i, size_t *ret_len)
{
	size_t skip = s->v[i].model ? s->skip : 0;

	*ret_len = s->v[i].len - skip;
	return s->v[i].name + skip;
}

int side_compare(const struct side *x, size_t i, const struct side *y, size_t k)
{
	size_t x_len, y_len;
	const char *a = side_name(x, i, &x_len), *b = side_name(y, k, &y_len);
	int r = y->v[k].model - x->v[i].model;

	return r != 0 ? r : compare_bytes(a, x_len, b, y_len);
}

bool side_has_one_form(const struct side_tensor *a, const struct side_tensor *b)
{
	const struct tensor *x = a->t, *y = b->t;

	return strcmp(x->dtype, y->dtype) == 0 && x->ndim == y->ndim &&
	       (x->ndim == 0 || !memcmp(x->shape, y->shape, x->ndim * sizeof(*x->shape)));
}
