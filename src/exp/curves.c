#include "exp/curves.h"

#include <string.h>

#include "exp/entries.h"
#include "meta/metric.h"

#define NAMES_MAX 65536u

struct collect {
	struct curves *c;
	const char *only;
	size_t root;
	size_t last; /* the name before: files repeat theirs in one order */
	size_t begin; /* the first row of this file */
};

static int find_name(struct collect *k, const char *name, const char **ret)
{
	struct curves *c = k->c;
	char **v;

	for (size_t i = 0; i < c->n_names; i++) {
		size_t at = (k->last + 1 + i) % c->n_names;

		if (strcmp(c->names[at], name) != 0)
			continue;
		k->last = at;
		*ret = c->names[at];
		return 0;
	}
	if (c->n_names == NAMES_MAX)
		return -E2BIG;
	v = array_grow(c->names, c->n_names, sizeof(*v));
	if (!v)
		return -ENOMEM;
	c->names = v;
	v[c->n_names] = strdup(name);
	if (!v[c->n_names])
		return -ENOMEM;
	k->last = c->n_names++;
	*ret = v[k->last];
	return 0;
}

static int add_row(void *arg, int64_t step, const char *name, double value)
{
	struct collect *k = arg;
	struct curves *c = k->c;
	struct curves_row *v, row = { .step = step, .root = k->root, .value = value, .number = c->n };
	int r;

	if (k->only && strcmp(name, k->only) != 0)
		return 0;
	if (c->n == CURVES_ROWS_MAX)
		return -E2BIG;
	r = find_name(k, name, &row.name);
	if (r < 0)
		return r;
	v = array_grow(c->v, c->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	c->v = v;
	v[c->n++] = row;
	return 0;
}

static void restart(void *arg)
{
	struct collect *k = arg;

	k->c->n = k->begin;
}

/* Where the rows of a file are. */
struct part {
	int64_t mtime;
	size_t begin, end;
};

static int read_file(struct expfs *ex, struct collect *k, const struct signal_path *p, struct part *ret)
{
	struct signal_file *f = NULL;
	int r = signal_file_new(p, &f);

	if (r < 0)
		return r;
	k->begin = ret->begin = k->c->n;
	r = signal_file_read(ex, f, &(struct signal_sink){ restart, add_row, k }, &ret->mtime);
	ret->end = k->c->n;
	signal_file_free(f);
	return r;
}

static int part_compare(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	if (a->mtime != b->mtime)
		return a->mtime < b->mtime ? -1 : 1;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* Numbers the rows anew, in the order of the files' times. */
static void order_parts(struct curves *c, struct part *parts, size_t n)
{
	uint64_t number = 0;

	qsort(parts, n, sizeof(*parts), part_compare);
	for (size_t i = 0; i < n; i++)
		for (size_t j = parts[i].begin; j < parts[i].end; j++)
			c->v[j].number = number++;
}

static int read_files(struct expfs *ex, struct collect *k, const struct signal_paths *paths)
{
	_cleanup_free_ struct part *parts = NULL;
	int r = 0;

	if (paths->n == 0)
		return 0;
	parts = calloc(paths->n, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < paths->n && r == 0; i++)
		r = read_file(ex, k, &paths->v[i], &parts[i]);
	if (r == 0)
		order_parts(k->c, parts, paths->n);
	return r;
}

static int row_compare(const void *pa, const void *pb)
{
	const struct curves_row *a = pa, *b = pb;
	int r = a->name == b->name ? 0 : strcmp(a->name, b->name);

	if (r != 0)
		return r;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->root != b->root)
		return a->root < b->root ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static bool is_same_place(const struct curves_row *a, const struct curves_row *b)
{
	return a->name == b->name && a->step == b->step && a->root == b->root;
}

static void sort(struct curves *c)
{
	size_t out = 0;

	if (c->n > 0)
		qsort(c->v, c->n, sizeof(*c->v), row_compare);
	for (size_t i = 0; i < c->n; i++) {
		bool again = out > 0 && is_same_place(&c->v[out - 1], &c->v[i]);

		c->v[again ? out - 1 : out] = c->v[i];
		out += !again;
	}
	c->n = out;
}

/* What was recorded comes last. */
static int read_root(struct expfs *ex, struct collect *k, const struct curve_root *root)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	int r = read_files(ex, k, &root->files);

	if (r < 0 || !root->run)
		return r;
	db = meta_reader(ex->meta);
	return signal_list(db, root->run, k->only, add_row, k);
}

int curves_load_all(struct expfs *ex, const struct curve_roots *roots, const char *only, struct curves *ret)
{
	_cleanup_curves_ struct curves c = { 0 };
	struct collect k = { .c = &c, .only = only };
	int r = 0;

	for (; k.root < roots->n && r == 0; k.root++)
		r = read_root(ex, &k, &roots->v[k.root]);
	if (r < 0)
		return r;
	sort(&c);
	*ret = c;
	c = (struct curves){ 0 };
	return 0;
}

int curves_load(struct expfs *ex, uint64_t run, const char *only, struct curves *ret)
{
	struct curve_root root = { .run = run };
	int r = signal_paths_load(ex, run, &root.files);

	if (r == 0)
		r = curves_load_all(ex, &(struct curve_roots){ &root, 1 }, only, ret);
	signal_paths_free(&root.files);
	return r;
}

void curves_free(struct curves *c)
{
	for (size_t i = 0; i < c->n_names; i++)
		free(c->names[i]);
	free(c->names);
	free(c->v);
	*c = (struct curves){ 0 };
}
