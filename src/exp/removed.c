#include "exp/removed.h"

#include <fnmatch.h>
#include <string.h>

#include "exp/judge.h"
#include "exp/path.h"
#include "exp/track_path.h"
#include "exp/tracked_dir.h"
#include "meta/root.h"

#define BATCH 64

int removed_is_run(struct db *db, uint64_t id)
{
	struct tracked_row t;
	int r = tracked_get(db, id, &t);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = t.is_dir && t.ino == 0 && t.run == id ? root_has(db, id) : 1;
	return r < 0 ? r : r == 0;
}

int tx_removed_run(struct expfs *ex, struct db *db, struct tracked_row *t)
{
	_cleanup_free_ char *path = NULL;
	struct tracked_row up;
	int r = root_has(db, t->id);

	if (r == 0)
		r = tracked_path(db, t->id, &path);
	else
		return MIN(r, 0);
	if (r == 0 && path_is_run(ex, path))
		return moved_put(db, t->id);
	if (r == 0)
		r = tracked_get(db, t->parent, &up);
	if (r == 0)
		t->run = up.run;
	return r;
}

/* A piece of the checkpoints of a removed run. */
struct piece {
	struct expfs *ex;
	uint64_t run, after; /* rows with an id above that */
	uint64_t last;
};

/* What nobody judged yet is. */
static int give_back(struct expfs *ex, struct db *db, struct tracked_row *t)
{
	struct version_row v;
	int r = version_before(db, t->id, t->n + 1, &v);

	if (r == 0 && v.complete == 1)
		r = tx_judge_set_good(db, t, &v, 0);
	else if (r == 0)
		t->changed = meta_id(ex->meta);
	return r == 0 ? tracked_update(db, t) : r == -ENOENT ? 0 : r;
}

/* 1: there may be more. */
static int tx_give_back(struct db *db, void *arg)
{
	struct tracked_row t[BATCH];
	struct piece *p = arg;
	int n = tracked_list_lost(db, p->run, p->after, t, BATCH), r = MIN(n, 0);

	for (int i = 0; i < n && r == 0; i++) {
		r = track_forgive(p->ex, give_back(p->ex, db, &t[i]));
		p->last = t[i].id;
	}
	if (r == 0 && n < BATCH)
		r = moved_delete(db, p->run);
	return r < 0 ? r : n == BATCH;
}

int removed_give_back(struct expfs *ex, uint64_t run)
{
	struct piece p = { .ex = ex, .run = run };
	int r;

	do {
		r = expfs_write(ex, tx_give_back, &p);
		p.after = p.last;
	} while (r == 1);
	return r;
}

/* Tracked directories whose names, as they were, fit one component of a pattern. */
struct matches {
	char component[256];
	struct id_list ids;
};

static int match_one(void *arg, const struct tracked_row *t, const char *name)
{
	struct matches *m = arg;
	char was[TRACKED_NAME];

	tracked_own_name(t, name, was);
	return fnmatch(m->component, was, FNM_PERIOD) == 0 ? id_list_add(&m->ids, t->id) : 0;
}

static void cleanup_matches(struct matches *m)
{
	id_list_free(&m->ids);
}

/* For whom they are, and how they are looked for. */
struct reach {
	struct expfs *ex;
	struct cred *cred;
	bool by_listing;
	struct id_list *found;
};

static int read_dir(struct expfs *ex, uint64_t id, struct inode_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;
	int r = tracked_get(db, id, &t);

	return r < 0 ? r : tracked_dir_row(db, &t, ret);
}

static int read_matches(struct expfs *ex, uint64_t dir, struct matches *m)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return tracked_list_dirs(db, dir, match_one, m);
}

static int add_if_removed(const struct reach *to, uint64_t id)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(to->ex->meta);
	int r = removed_is_run(db, id);

	return r > 0 ? id_list_add(to->found, id) : r;
}

static int expand(const struct reach *to, uint64_t dir, const char *pattern)
{
	_cleanup_(cleanup_matches) struct matches m = { .ids = { 0 } };
	size_t n = strcspn(pattern, "/");
	struct inode_row row;
	bool wild;
	int r = n < sizeof(m.component) ? read_dir(to->ex, dir, &row) : -ENOENT;

	if (r < 0)
		return r == -ESTALE || r == -ENOENT ? 0 : r;
	memcpy(m.component, pattern, n);
	pattern += n + (pattern[n] == '/');
	wild = strpbrk(m.component, "*?[") != NULL;
	if (!cred_permits(to->cred, &row, to->by_listing && wild ? R_OK | X_OK : X_OK))
		return 0;
	r = read_matches(to->ex, dir, &m);
	for (size_t i = 0; i < m.ids.n && r == 0; i++)
		r = *pattern ? expand(to, m.ids.v[i], pattern) : add_if_removed(to, m.ids.v[i]);
	return r;
}

static int id_compare(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* What was found by two patterns stays once. */
static void drop_repeats(struct id_list *l)
{
	size_t n = 0;

	if (l->n > 0)
		qsort(l->v, l->n, sizeof(*l->v), id_compare);
	for (size_t i = 0; i < l->n; i++)
		if (n == 0 || l->v[i] != l->v[n - 1])
			l->v[n++] = l->v[i];
	l->n = n;
}

int removed_list(struct expfs *ex, struct cred *cred, bool by_listing, struct id_list *ret)
{
	struct id_list l = { 0 };
	const struct reach to = { .ex = ex, .cred = cred, .by_listing = by_listing, .found = &l };
	int r = 0;

	for (char **p = ex->config->runs; *p && r == 0; p++)
		r = expand(&to, TRACKED_TOP, *p + (**p == '/'));
	if (r < 0) {
		id_list_free(&l);
		return r;
	}
	drop_repeats(&l);
	*ret = l;
	return 0;
}

int removed_by_path(struct expfs *ex, const char *path, uint64_t *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;
	int r = tracked_by_path(db, path, &t);

	if (r == 0)
		r = removed_is_run(db, t.id);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret = t.id;
	return 0;
}
