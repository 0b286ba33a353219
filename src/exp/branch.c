#include "exp/branch.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "exp/branch_part.h"
#include "exp/derive.h"
#include "exp/entries.h"
#include "exp/path.h"
#include "exp/track.h"
#include "exp/tracked_dir.h"
#include "meta/dirent.h"

void branch_free(struct branch *b)
{
	free(b->name);
	free(b->path);
	*b = (struct branch){ 0 };
}

void branch_list_free(struct branch_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		branch_free(&l->v[i]);
	free(l->v);
	*l = (struct branch_list){ 0 };
}

char *branch_path_name(const char *path)
{
	char *name = strdup(*path ? path : "main");

	for (char *p = name; p && *p; p++)
		if (*p == '/')
			*p = '.';
	return name;
}

char *branch_run_name(const char *path)
{
	const char *slash = strchr(path, '/');

	if (slash && strncmp(path, "runs/", 5) == 0 && !strchr(slash + 1, '/') && strcmp(slash + 1, "main") != 0)
		return strdup(slash + 1);
	return branch_path_name(path);
}

int branch_list_add(struct branch_list *l, struct branch *b)
{
	struct branch *v = b->name && b->path ? array_grow(l->v, l->n, sizeof(*v)) : NULL;

	if (!v) {
		branch_free(b);
		return -ENOMEM;
	}
	l->v = v;
	v[l->n++] = *b;
	return 0;
}

static int add_run(struct branch_list *l, const char *path, uint64_t ino)
{
	struct branch b = { .name = branch_run_name(path), .path = strdup(path), .ino = ino };

	return branch_list_add(l, &b);
}

/* Subdirectories that fit one component of a pattern. */
struct expand {
	char component[256]; /* what its entries are held against */
	char **found;        /* names */
	struct inode_row *row;
	size_t n;
};

static int match_one(void *arg, const struct dirent_row *d, const char *name, const struct inode_row *row)
{
	struct expand *x = arg;
	char **found;
	struct inode_row *rows;

	if (!S_ISDIR(row->mode) || fnmatch(x->component, name, FNM_PERIOD) != 0)
		return 0;
	found = realloc(x->found, (x->n + 1) * sizeof(*found));
	if (found)
		x->found = found;
	rows = realloc(x->row, (x->n + 1) * sizeof(*rows));
	if (rows)
		x->row = rows;
	if (!found || !rows || !(found[x->n] = strdup(name)))
		return -ENOMEM;
	rows[x->n++] = *row;
	return 0;
}

static bool has_wildcard(const char *component)
{
	return strpbrk(component, "*?[") != NULL;
}

static void cleanup_expand(struct expand *x)
{
	for (size_t i = 0; i < x->n; i++)
		free(x->found[i]);
	free(x->found);
	free(x->row);
}

static int read_matches(struct expfs *ex, uint64_t dir, struct expand *x)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return dirent_list_below(db, dir, true, match_one, x);
}

/* For whom the runs are, and how they are looked for. */
struct reach {
	struct expfs *ex;
	struct cred *cred;
	bool by_listing; /* their names are not known to him */
};

static int expand(const struct reach *to, const char *pattern, const struct inode_row *dir, const char *path,
		  struct branch_list *l)
{
	_cleanup_(cleanup_expand) struct expand x = { .n = 0 };
	size_t n = strcspn(pattern, "/");
	int r;

	if (n >= sizeof(x.component))
		return 0;
	memcpy(x.component, pattern, n);
	pattern += n + (pattern[n] == '/');
	if (!cred_permits(to->cred, dir, to->by_listing && has_wildcard(x.component) ? R_OK | X_OK : X_OK))
		return 0;
	r = read_matches(to->ex, dir->ino, &x);
	for (size_t i = 0; i < x.n && r == 0; i++) {
		_cleanup_free_ char *sub = NULL;

		if (asprintf(&sub, "%s%s%s", path, *path ? "/" : "", x.found[i]) < 0)
			return -ENOMEM;
		if (*pattern)
			r = expand(to, pattern, &x.row[i], sub, l);
		else if (path_is_run(to->ex, sub))
			r = add_run(l, sub, x.row[i].ino);
	}
	return r;
}

static int compare(const void *pa, const void *pb)
{
	const struct branch *a = pa, *b = pb;

	if (!*a->path != !*b->path)
		return *a->path ? 1 : -1;
	return strverscmp(a->name, b->name);
}

static int read_top(struct expfs *ex, struct inode_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return inode_get(db, META_ROOT, ret);
}

/* All runs, whatever is in them. */
static int all_runs(struct expfs *ex, struct cred *cred, bool by_listing, struct branch_list *l)
{
	const struct reach to = { .ex = ex, .cred = cred, .by_listing = by_listing };
	struct inode_row top;
	int r = add_run(l, "", META_ROOT);

	if (r == 0)
		r = read_top(ex, &top);
	for (char **p = ex->config->runs; *p && r == 0; p++)
		r = expand(&to, *p + (**p == '/'), &top, "", l);
	return r;
}

/* Has the run anything with a role, or had it? Its tracked path, 0 where it has not. */
static int has_role(struct expfs *ex, uint64_t ino, uint64_t *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;
	int r = tracked_by_dir(db, ino, &t);

	if (r == 0)
		r = tracked_any_role(db, t.id);
	*ret = r > 0 ? t.id : 0;
	return r == -ENOENT ? 0 : MIN(r, 0);
}

/* Takes out what is there twice (by two patterns, or under one name) and what has
 * no role in it. */
static int keep_runs(struct expfs *ex, struct branch_list *l)
{
	size_t out = 0;
	int r = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct branch *b = &l->v[i];
		bool any = false;

		for (size_t j = 0; j < out; j++)
			any = any || l->v[j].ino == b->ino || !strcmp(l->v[j].name, b->name);
		if (!any && r == 0)
			r = has_role(ex, b->ino, &b->id);
		b->top = b->id;
		if (b->id)
			l->v[out++] = *b;
		else
			branch_free(b);
	}
	l->n = out;
	return r;
}

struct branch *branch_list_find(struct branch_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			return &l->v[i];
	return NULL;
}

int branch_list(struct expfs *ex, struct cred *cred, struct branch_list *ret)
{
	struct branch_list l = { 0 };
	int r = track_moved(ex);

	if (r == 0)
		r = root_settle(ex);
	if (r == 0)
		r = all_runs(ex, cred, true, &l);
	if (r == 0)
		r = keep_runs(ex, &l);
	if (r == 0)
		r = branch_removed_add(ex, cred, &l);
	if (r == 0)
		r = branch_root_add(ex, cred, &l);
	if (r < 0) {
		branch_list_free(&l);
		return r;
	}
	if (l.n > 0)
		qsort(l.v, l.n, sizeof(*l.v), compare);
	*ret = l;
	return 0;
}

int branch_list_open(struct expfs *ex, struct cred *cred, struct branch_list *ret)
{
	size_t n = 0;
	int r = branch_list(ex, cred, ret);

	for (size_t i = 0; r == 0 && i < ret->n; i++) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
		struct tracked_row t;
		struct inode_row dir;

		if (tracked_get(db, ret->v[i].top, &t) == 0 && tracked_dir_row(db, &t, &dir) == 0 &&
		    cred_permits(cred, &dir, R_OK | X_OK))
			ret->v[n++] = ret->v[i];
		else
			branch_free(&ret->v[i]);
	}
	if (r == 0)
		ret->n = n;
	return r;
}

static int find_run(struct expfs *ex, struct cred *cred, uint64_t ino, char **ret_path)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = path_of(db, ino, ret_path);

	if (r == 0 && !path_is_run(ex, *ret_path))
		r = -ENOENT;
	return r < 0 ? r : path_may_walk(db, cred, ino, X_OK);
}

int branch_by_run(struct expfs *ex, struct cred *cred, uint64_t ino, struct branch *ret)
{
	struct branch b = { .ino = ino };
	int r = track_moved(ex);

	if (r == 0)
		r = find_run(ex, cred, ino, &b.path);
	if (r == 0)
		r = has_role(ex, ino, &b.id);
	if (r == 0 && b.id)
		b.name = branch_run_name(b.path);
	if (r < 0 || !b.name) {
		branch_free(&b);
		return r < 0 ? r : b.id ? -ENOMEM : -ENOENT;
	}
	b.top = b.id;
	*ret = b;
	return 0;
}

/* 1: it is a root's; 0: it is a run, *ret_ino, 0 if that was removed. */
static int find_id(struct expfs *ex, uint64_t id, struct fork_row *ret, uint64_t *ret_ino)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;
	struct root_row root;
	int r = fork_get(db, id, ret);

	if (r != -ENOENT)
		return r < 0 ? r : 1;
	*ret = (struct fork_row){ .id = id, .root = id, .n = 1 };
	r = root_get(db, id, &root);
	if (r != -ENOENT)
		return r < 0 ? r : 1;
	r = tracked_get(db, id, &t);
	*ret_ino = t.ino;
	return MIN(r, 0);
}

int branch_by_id(struct expfs *ex, struct cred *cred, uint64_t id, struct branch *ret)
{
	struct fork_row row;
	uint64_t ino;
	int r = find_id(ex, id, &row, &ino);

	if (r == 1)
		return branch_root_get(ex, cred, &row, ret);
	if (r == 0 && !ino)
		return branch_removed_get(ex, cred, id, ret);
	return r < 0 ? r : branch_by_run(ex, cred, ino, ret);
}

int branch_checkpoints(struct expfs *ex, struct cred *cred, const struct branch *b, struct checkpoint_set *ret)
{
	const uint64_t ids[] = { b->id, b->run };

	return checkpoint_set_of(ex, cred, ids, b->run ? 2 : 1, b->top, ret);
}

/* The run that has the name by the first pattern: main, or runs/NAME. */
static int find_first(struct expfs *ex, const char *name, uint64_t *ret_ino)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	_cleanup_free_ char *path = NULL;

	*ret_ino = META_ROOT;
	if (!strcmp(name, "main"))
		return 0;
	if (asprintf(&path, "runs/%s", name) < 0)
		return -ENOMEM;
	db = meta_reader(ex->meta);
	return path_is_run(ex, path) ? path_lookup(db, path, ret_ino) : -ENOENT;
}

/* The others may have any; all are looked at. */
static int find_any(struct expfs *ex, struct cred *cred, const char *name, uint64_t *ret_ino)
{
	struct branch_list l = { 0 };
	int r = all_runs(ex, cred, false, &l);
	uint64_t id = 0;

	for (size_t i = 0; i < l.n && r == 0 && !id; i++) {
		if (strcmp(l.v[i].name, name) != 0)
			continue;
		*ret_ino = l.v[i].ino;
		r = has_role(ex, l.v[i].ino, &id);
	}
	branch_list_free(&l);
	return r < 0 ? r : id ? 0 : -ENOENT;
}

static int run_by_name(struct expfs *ex, struct cred *cred, const char *name, struct branch *ret)
{
	bool others = ex->config->runs[1] != NULL;
	uint64_t ino;
	int r = -ENOENT;

	/* Only names with a dot can be those of two runs, of which the older one is seen. */
	if (strcmp(name, "runs.main") != 0 && !(others && strchr(name, '.'))) {
		r = find_first(ex, name, &ino);
		if (r == 0)
			r = branch_by_run(ex, cred, ino, ret);
		if (!others || (r < 0 && r != -ENOENT && r != -ENAMETOOLONG))
			return r == -ENAMETOOLONG ? -ENOENT : r;
	}
	if (r == 0)
		return 0;
	r = find_any(ex, cred, name, &ino);
	return r < 0 ? r : branch_by_run(ex, cred, ino, ret);
}

int branch_by_name(struct expfs *ex, struct cred *cred, const char *name, struct branch *ret)
{
	int r = track_moved(ex);

	if (r == 0)
		r = root_settle(ex);
	if (r == 0)
		r = run_by_name(ex, cred, name, ret);
	if (r == -ENOENT)
		r = branch_removed_by_name(ex, cred, name, ret);
	if (r == 0 && !branch_is_removed(ret))
		r = branch_join(ex, ret);
	return r == -ENOENT ? branch_root_by_name(ex, cred, name, ret) : r;
}
