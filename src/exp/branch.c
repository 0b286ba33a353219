#include "exp/branch.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "exp/path.h"
#include "exp/track.h"
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

/* The name of the branch of the run at path. It follows from the path alone, so
 * that it does not change when another run comes or goes. */
static char *branch_name(const char *path)
{
	const char *slash = strchr(path, '/');
	char *name;

	if (*path == 0)
		return strdup("main");
	if (slash && strncmp(path, "runs/", 5) == 0 && !strchr(slash + 1, '/') && strcmp(slash + 1, "main") != 0)
		return strdup(slash + 1);
	name = strdup(path);
	for (char *p = name; p && *p; p++)
		if (*p == '/')
			*p = '.';
	return name;
}

static int add_branch(struct branch_list *l, const char *path, uint64_t ino)
{
	struct branch b = { .name = branch_name(path), .path = strdup(path), .ino = ino };
	struct branch *v = realloc(l->v, (l->n + 1) * sizeof(*v));

	if (v)
		l->v = v;
	if (!v || !b.name || !b.path) {
		branch_free(&b);
		return -ENOMEM;
	}
	v[l->n++] = b;
	return 0;
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
			r = add_branch(l, sub, x.row[i].ino);
	}
	return r;
}

static int compare(const void *pa, const void *pb)
{
	const struct branch *a = pa, *b = pb;

	if (!*a->path || !*b->path)
		return *a->path ? 1 : *b->path ? -1 : 0;
	return strcmp(a->name, b->name);
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
	int r = add_branch(l, "", META_ROOT);

	if (r == 0)
		r = read_top(ex, &top);
	for (char **p = ex->config->runs; *p && r == 0; p++)
		r = expand(&to, *p + (**p == '/'), &top, "", l);
	return r;
}

/* Has the run anything with a role, or had it? */
static int has_role(struct expfs *ex, uint64_t ino, uint64_t *ret_id, bool *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;
	int r = tracked_by_dir(db, ino, &t);

	if (r == 0)
		r = tracked_any_role(db, t.id);
	*ret = r > 0;
	if (r > 0)
		*ret_id = t.id;
	return r == -ENOENT ? 0 : MIN(r, 0);
}

/* Takes out what is there twice (by two patterns, or under one name) and what has
 * no role in it. */
static int keep_branches(struct expfs *ex, struct branch_list *l)
{
	size_t out = 0;
	int r = 0;

	for (size_t i = 0; i < l->n; i++) {
		bool any = false;

		for (size_t j = 0; j < out; j++)
			any = any || l->v[j].ino == l->v[i].ino || !strcmp(l->v[j].name, l->v[i].name);
		if (any)
			any = false;
		else if (r == 0)
			r = has_role(ex, l->v[i].ino, &l->v[i].id, &any);
		if (any)
			l->v[out++] = l->v[i];
		else
			branch_free(&l->v[i]);
	}
	l->n = out;
	return r;
}

int branch_list(struct expfs *ex, struct cred *cred, struct branch_list *ret)
{
	struct branch_list l = { 0 };
	int r = track_moved(ex);

	if (r == 0)
		r = all_runs(ex, cred, true, &l);
	if (r == 0)
		r = keep_branches(ex, &l);
	if (r < 0) {
		branch_list_free(&l);
		return r;
	}
	qsort(l.v, l.n, sizeof(*l.v), compare);
	*ret = l;
	return 0;
}

/* Can who asks walk to the directory? */
static int may_walk(struct db *db, struct cred *cred, uint64_t ino)
{
	int r = 0;

	while (cred && r == 0 && ino != META_ROOT) {
		struct inode_row dir;
		struct dirent_row d;

		r = dirent_of(db, ino, &d, NULL);
		if (r == 0)
			r = inode_get(db, d.parent, &dir);
		if (r == 0 && !cred_permits(cred, &dir, X_OK))
			r = -ENOENT;
		ino = d.parent;
	}
	return r == -ESTALE ? -ENOENT : r;
}

static int find_run(struct expfs *ex, struct cred *cred, uint64_t ino, char **ret_path)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = path_of(db, ino, ret_path);

	if (r == 0 && !path_is_run(ex, *ret_path))
		r = -ENOENT;
	return r < 0 ? r : may_walk(db, cred, ino);
}

int branch_by_run(struct expfs *ex, struct cred *cred, uint64_t ino, struct branch *ret)
{
	_cleanup_free_ char *path = NULL;
	struct branch_list l = { 0 };
	uint64_t id = 0;
	bool any = false;
	int r = track_moved(ex);

	if (r == 0)
		r = find_run(ex, cred, ino, &path);
	if (r == 0)
		r = has_role(ex, ino, &id, &any);
	if (r < 0 || !any)
		return r < 0 ? r : -ENOENT;
	r = add_branch(&l, path, ino);
	if (r == 0) {
		*ret = l.v[0];
		ret->id = id;
	}
	free(l.v);
	return r;
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
	bool any = false;

	for (size_t i = 0; i < l.n && r == 0 && !any; i++) {
		if (strcmp(l.v[i].name, name) != 0)
			continue;
		*ret_ino = l.v[i].ino;
		r = has_role(ex, l.v[i].ino, &l.v[i].id, &any);
	}
	branch_list_free(&l);
	return r < 0 ? r : any ? 0 : -ENOENT;
}

int branch_by_name(struct expfs *ex, struct cred *cred, const char *name, struct branch *ret)
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
