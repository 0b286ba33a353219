/* Branches that are derived of experiment roots. */
#include <stdio.h>
#include <string.h>

#include "exp/branch_part.h"
#include "exp/entries.h"
#include "exp/root.h"

/* The branch of a root with that number. */
static int make_derived(const struct root *root, uint64_t id, uint64_t n, struct branch *ret)
{
	_cleanup_free_ char *name = branch_path_name(root->path);
	struct branch b = { .path = strdup(root->path), .ino = root->ino, .id = id, .top = root->tracked };

	if (!name || asprintf(&b.name, n > 1 ? "%s.%llu" : "%s", name, (unsigned long long)n) < 0)
		b.name = NULL;
	if (!b.name || !b.path) {
		branch_free(&b);
		return -ENOMEM;
	}
	*ret = b;
	return 0;
}

/* The forks of a root. */
struct forks {
	struct fork_row *v;
	size_t n;
};

static void forks_free(struct forks *l)
{
	free(l->v);
}

static int add_fork(void *arg, const struct fork_row *row)
{
	struct forks *l = arg;
	struct fork_row *v = array_grow(l->v, l->n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n++] = *row;
	return 0;
}

static int list_forks(struct expfs *ex, uint64_t root, struct forks *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return fork_list(db, root, add_fork, ret);
}

/* Of two with one name the run is seen, but for that of the root's own directory, which is the same branch. */
static int add_derived(struct branch_list *l, const struct root *root, uint64_t id, uint64_t n)
{
	struct branch b, *other;
	int r = make_derived(root, id, n, &b);

	if (r < 0)
		return r;
	other = branch_list_find(l, b.name);
	if (!other)
		return branch_list_add(l, &b);
	if (other->ino == b.ino && n == 1) {
		other->run = other->id;
		other->id = b.id;
	}
	branch_free(&b);
	return 0;
}

static int add_root(struct expfs *ex, struct branch_list *l, const struct root *root)
{
	_cleanup_(forks_free) struct forks forks = { 0 };
	int r = add_derived(l, root, root->id, 1);

	if (r == 0)
		r = list_forks(ex, root->id, &forks);
	for (size_t i = 0; i < forks.n && r == 0; i++)
		r = add_derived(l, root, forks.v[i].id, forks.v[i].n);
	return r;
}

int branch_root_add(struct expfs *ex, struct cred *cred, struct branch_list *l)
{
	_cleanup_root_list_ struct root_list roots = { 0 };
	int r = root_list_there(ex, cred, R_OK | X_OK, &roots);

	for (size_t i = 0; i < roots.n && r == 0; i++)
		r = add_root(ex, l, &roots.v[i]);
	return r;
}

/* The run that is the same branch as the first one of a root, too. */
static int find_same_run(struct expfs *ex, struct cred *cred, struct branch *b)
{
	struct branch run;
	int r = branch_by_run(ex, cred, b->ino, &run);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	b->run = strcmp(run.name, b->name) == 0 ? run.id : 0;
	branch_free(&run);
	return 0;
}

int branch_root_get(struct expfs *ex, struct cred *cred, const struct fork_row *row, struct branch *ret)
{
	_cleanup_root_ struct root root = { 0 };
	int r = root_get_there(ex, cred, row->root, &root);

	if (r == 0)
		r = make_derived(&root, row->id, row->n, ret);
	return r < 0 || row->n > 1 ? r : find_same_run(ex, cred, ret);
}

/* The branch of a root in the directory of a run that is the same one. */
int branch_join(struct expfs *ex, struct branch *b)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	_cleanup_free_ char *name = branch_path_name(b->path);
	struct tracked_row t;
	struct root_row row;
	int r = name ? 0 : -ENOMEM;

	if (b->id != b->top)
		return 0;
	if (r == 0)
		r = strcmp(name, b->name) == 0 ? tracked_by_name(db, b->id, ROOT_DIR, &t) : -ENOENT;
	if (r == 0)
		r = t.run == t.id && t.ino ? root_get(db, t.id, &row) : -ENOENT;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	b->run = b->id;
	b->id = t.id;
	return 0;
}

int branch_root_by_name(struct expfs *ex, struct cred *cred, const char *name, struct branch *ret)
{
	_cleanup_root_list_ struct root_list roots = { 0 };
	int r = root_list_there(ex, cred, X_OK, &roots);

	for (size_t i = 0; i < roots.n && r == 0; i++) {
		struct branch_list l = { 0 };
		struct branch *b;

		r = add_root(ex, &l, &roots.v[i]);
		b = branch_list_find(&l, name);
		if (r == 0 && b)
			r = branch_by_id(ex, cred, b->id, ret) < 0 ? -ENOENT : 1;
		branch_list_free(&l);
	}
	return r < 0 ? r : r == 1 ? 0 : -ENOENT;
}
