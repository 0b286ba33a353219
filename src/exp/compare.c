#include "exp/compare.h"

#include <string.h>

#include "exp/side.h"
#include "format/tensor_content.h"
#include "util/list.h"

static enum difference compare_two(const struct side_tensor *a, const struct side_tensor *b)
{
	if (strcmp(a->t->dtype, b->t->dtype) != 0)
		return DIFFERENCE_TYPE;
	if (!side_has_one_form(a, b))
		return DIFFERENCE_SHAPE;
	if (a->vague || b->vague || !identity_is_told(a->digest) || !identity_is_told(b->digest))
		return DIFFERENCE_UNTOLD;
	return memcmp(a->digest, b->digest, WEIGHTS_DIGEST) == 0 ? DIFFERENCE_NONE : DIFFERENCE_CONTENT;
}

/* a or b: NULL where that side has none. */
static int add(struct comparison *c, const char *name, const struct side_tensor *a, const struct side_tensor *b)
{
	const struct side_tensor *one = a ? a : b;
	struct compared *v;

	if (!one->model && (!a || !b))
		return 0;
	v = array_grow(c->v, c->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	c->v = v;
	v += c->n;
	*v = (struct compared){
		.name = strdup(name),
		.model = one->model,
		.difference = !a ? DIFFERENCE_MISSING : !b ? DIFFERENCE_EXTRA : compare_two(a, b),
		.a = a ? a->t : NULL,
		.b = b ? b->t : NULL,
		.file_a = a ? a->file : NULL,
		.file_b = b ? b->file : NULL,
	};
	c->n++;
	return v->name ? 0 : -ENOMEM;
}

/* The next name of the two sides: -1: the first one has it alone; 0: both have it. */
static int next_order(const struct side *a, size_t i, const struct side *b, size_t k)
{
	return i == a->n ? 1 : k == b->n ? -1 : side_compare(a, i, b, k);
}

static size_t count_common(const struct side *a, const struct side *b)
{
	size_t i = 0, k = 0, n = 0;

	while (i < a->n && k < b->n) {
		int order = side_compare(a, i, b, k);

		n += order == 0;
		i += order <= 0;
		k += order >= 0;
	}
	return n;
}

/* What all names of one side begin with is left out only where more of them are found so. */
static void set_skip(struct side *a, struct side *b)
{
	size_t n = count_common(a, b);

	if (a->prefix == 0 && b->prefix == 0)
		return;
	a->skip = a->prefix;
	b->skip = b->prefix;
	if (count_common(a, b) <= n)
		a->skip = b->skip = 0;
}

static int merge(const struct side *a, const struct side *b, struct comparison *c)
{
	size_t i = 0, k = 0, len;
	int r = 0;

	while (r == 0 && (i < a->n || k < b->n)) {
		int order = next_order(a, i, b, k);

		r = add(c, order <= 0 ? side_name(a, i, &len) : side_name(b, k, &len), order <= 0 ? &a->v[i] : NULL,
			order >= 0 ? &b->v[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
	return r;
}

/* Tensors of one side that are one: weights that are tied, which some formats write under one of their names only */

struct place {
	const struct weights_file *file;
	const struct tensor *t;
};

static int compare_places(const struct place *a, const struct place *b)
{
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return tensor_compare_places(a->t, b->t);
}

static int by_place(const void *a, const void *b)
{
	return compare_places(a, b);
}

static struct place place_of(const struct compared *v, bool of_a)
{
	return of_a ? (struct place){ v->file_a, v->a } : (struct place){ v->file_b, v->b };
}

static bool is_placed(const struct tensor *t)
{
	return t->located && tensor_content_size(t) > 0;
}

/* Those that only one side has, where it has them under another name, too, which is equal in both. */
static int find_tied(struct comparison *c, enum difference alone, bool of_a)
{
	_cleanup_free_ struct place *equal = malloc((c->n + 1) * sizeof(*equal));
	size_t n = 0;

	if (!equal)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].difference == DIFFERENCE_NONE && is_placed(c->v[i].a))
			equal[n++] = place_of(&c->v[i], of_a);
	qsort(equal, n, sizeof(*equal), by_place);
	for (size_t i = 0; i < c->n; i++) {
		struct place p = place_of(&c->v[i], of_a);

		if (c->v[i].difference == alone && is_placed(p.t) && bsearch(&p, equal, n, sizeof(*equal), by_place))
			c->v[i].difference = DIFFERENCE_TIED;
	}
	return 0;
}

static int find_all_tied(struct comparison *c)
{
	int r = find_tied(c, DIFFERENCE_EXTRA, true);

	if (r == 0)
		r = find_tied(c, DIFFERENCE_MISSING, false);
	for (size_t i = 0; i < c->n; i++)
		(c->v[i].model ? c->count : c->other_count)[c->v[i].difference]++;
	return r;
}

int compare_weights(const struct weights *a, const struct weights *b, struct comparison *ret)
{
	_cleanup_comparison_ struct comparison c = { 0 };
	_cleanup_side_tensors_ struct side x = { 0 };
	_cleanup_side_tensors_ struct side y = { 0 };
	int r = side_load(a, &x);

	if (r == 0)
		r = side_load(b, &y);
	if (r < 0)
		return r;
	set_skip(&x, &y);
	r = merge(&x, &y, &c);
	if (r == 0)
		r = find_all_tied(&c);
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

size_t comparison_count_different(const size_t count[DIFFERENCES])
{
	size_t n = 0;

	for (enum difference d = DIFFERENCE_TIED + 1; d < DIFFERENCES; d++)
		n += count[d];
	return n;
}

bool comparison_is_same_model(const struct comparison *c)
{
	return comparison_count_different(c->count) == 0 && c->count[DIFFERENCE_NONE] > 0;
}

bool comparison_is_same(const struct comparison *c)
{
	return comparison_is_same_model(c) && comparison_count_different(c->other_count) == 0;
}

size_t comparison_count_open(const struct comparison *c)
{
	size_t n = c->count[DIFFERENCE_UNTOLD] + c->other_count[DIFFERENCE_UNTOLD];

	return comparison_count_different(c->count) + comparison_count_different(c->other_count) == n ? n : 0;
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

/* Those whose bytes are the same as of others are read once. */
static int compare_pairs(const void *pa, const void *pb)
{
	const struct compared *a = *(const struct compared *const *)pa, *b = *(const struct compared *const *)pb;
	struct place x = place_of(a, true), y = place_of(b, true);
	int r = compare_places(&x, &y);

	x = place_of(a, false);
	y = place_of(b, false);
	return r != 0 ? r : compare_places(&x, &y);
}

int comparison_proves(struct expfs *ex, const struct comparison *c, weights_stop stop, void *arg)
{
	_cleanup_free_ const struct compared **order = malloc((c->n + 1) * sizeof(*order));
	size_t n = 0;
	int r = 1;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].difference == DIFFERENCE_NONE && !is_one_content(c->v[i].file_a, c->v[i].file_b))
			order[n++] = &c->v[i];
	qsort(order, n, sizeof(*order), compare_pairs);
	for (size_t i = 0; i < n && r == 1; i++)
		if (i == 0 || compare_pairs(&order[i - 1], &order[i]) != 0)
			r = prove(ex, order[i], stop, arg);
	return r;
}

const char *difference_name(enum difference d)
{
	static const char *const names[DIFFERENCES] = { "none", "tied", "content", "type", "shape", "missing", "extra", "untold" };

	return names[d];
}
