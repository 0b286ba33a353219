#include "exp/curve_roots.h"

#include <string.h>

#include "exp/branch.h"
#include "exp/entries.h"
#include "exp/root.h"
#include "meta/tracked.h"

void curve_roots_free(struct curve_roots *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].path);
		signal_paths_free(&l->v[i].files);
	}
	free(l->v);
	*l = (struct curve_roots){ 0 };
}

/* Is path at or below dir? */
static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return n == 0 || (!strncmp(path, dir, n) && (path[n] == 0 || path[n] == '/'));
}

static int add(struct curve_roots *l, const char *path, uint64_t run)
{
	struct curve_root *v;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].path, path)) {
			l->v[i].run = run ? run : l->v[i].run;
			return 0;
		}
	v = array_grow(l->v, l->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n] = (struct curve_root){ .path = strdup(path), .run = run };
	return v[l->n++].path ? 0 : -ENOMEM;
}

static int add_all(struct expfs *ex, struct cred *cred, const char *dir, const struct branch_list *branches,
		   struct curve_roots *l)
{
	_cleanup_root_list_ struct root_list roots = { 0 };
	size_t effective;
	int r = root_list_below(ex, cred, dir, &roots, &effective);

	for (size_t i = 0; i < roots.n && r == 0; i++)
		r = add(l, roots.v[i].path, 0);
	for (size_t i = 0; i < branches->n && r == 0; i++)
		if (branch_run(&branches->v[i]) && is_below(branches->v[i].path, dir))
			r = add(l, branches->v[i].path, branch_run(&branches->v[i]));
	return r;
}

/* Where a file of a run goes. */
struct deal {
	struct expfs *ex;
	const char *dir;
	struct curve_roots *l;
};

static struct curve_root *deepest(const struct curve_roots *l, const char *path)
{
	struct curve_root *found = NULL;

	for (size_t i = 0; i < l->n; i++)
		if (is_below(path, l->v[i].path) && (!found || strlen(l->v[i].path) > strlen(found->path)))
			found = &l->v[i];
	return found;
}

static int deal_out(struct deal *d, const struct signal_path *p)
{
	_cleanup_free_ char *path = NULL;
	struct curve_root *root;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(d->ex->meta);

		r = tracked_path(db, p->tracked, &path);
	}
	if (r < 0 || !is_below(path, d->dir))
		return r == -ENOENT ? 0 : r;
	root = deepest(d->l, path);
	if (!root) {
		r = add(d->l, d->dir, 0);
		root = deepest(d->l, path);
	}
	return r < 0 ? r : signal_paths_add(&root->files, p, p->name);
}

static int deal_run(struct deal *d, uint64_t run)
{
	_cleanup_signal_paths_ struct signal_paths paths = { 0 };
	int r = signal_paths_load(d->ex, run, &paths);

	for (size_t i = 0; i < paths.n && r == 0; i++)
		r = deal_out(d, &paths.v[i]);
	return r;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct curve_root *)a)->path, ((const struct curve_root *)b)->path);
}

int curve_roots_below(struct expfs *ex, struct cred *cred, const char *dir, struct curve_roots *ret)
{
	_cleanup_curve_roots_ struct curve_roots l = { 0 };
	struct deal d = { .ex = ex, .dir = dir, .l = &l };
	struct branch_list branches = { 0 };
	int r = branch_list_open(ex, cred, &branches);

	if (r == 0)
		r = add_all(ex, cred, dir, &branches, &l);
	for (size_t i = 0; i < branches.n && r == 0; i++)
		if (branch_run(&branches.v[i]) && (is_below(branches.v[i].path, dir) || is_below(dir, branches.v[i].path)))
			r = deal_run(&d, branch_run(&branches.v[i]));
	branch_list_free(&branches);
	if (r < 0)
		return r;
	if (l.n > 0)
		qsort(l.v, l.n, sizeof(*l.v), compare);
	*ret = l;
	l = (struct curve_roots){ 0 };
	return 0;
}
