/* Directories that get another place or go: what lies below them is tracked anew, in pieces, by the queue of the
 * table moved. */
#include "exp/track.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "exp/ancestry.h"
#include "exp/entries.h"
#include "exp/experiment.h"
#include "exp/path.h"
#include "exp/removed.h"
#include "exp/root.h"
#include "exp/track_path.h"
#include "meta/dirent.h"
#include "meta/ledger.h"
#include "meta/root.h"
#include "meta/tracked.h"
#include "meta/version.h"

#define BATCH 256

static int add_file(void *arg, const struct tracked_row *t, const char *name)
{
	return t->is_dir || (t->ino == 0 && t->good == 0) ? 0 : id_list_add(arg, t->id);
}

/* Files that counted for themselves until their directory became a checkpoint, which nobody has
 * looked at since. */
static int end_files(struct expfs *ex, struct db *db, uint64_t dir, struct file_drop *drop)
{
	_cleanup_id_list_ struct id_list l = { 0 };
	struct tracked_row t;
	int r = tracked_list(db, dir, add_file, &l);

	for (size_t i = 0; i < l.n && r == 0; i++) {
		r = tracked_get(db, l.v[i], &t);
		if (r == 0)
			r = track_end_path(ex, db, &t, drop);
	}
	return r;
}

/* It is remembered who could look into it. */
static int end_dir(struct expfs *ex, struct db *db, struct tracked_row *t, struct file_drop *drop)
{
	struct inode_row dir = { 0 };
	int r = inode_get(db, t->ino, &dir);

	if (r == 0 || r == -ESTALE)
		r = t->role == ROLE_WEIGHTS ? end_files(ex, db, t->id, drop) : 0;
	if (r == 0)
		r = track_end_path(ex, db, t, drop);
	t->ino = 0;
	if (r == 0 && t->run == t->id)
		r = tx_removed_run(ex, db, t);
	t->mode = dir.mode & 07777;
	t->uid = dir.uid;
	t->gid = dir.gid;
	return r < 0 ? r : tracked_update(db, t);
}

static int is_any(void *arg, const struct tracked_row *t, const char *name)
{
	return 1;
}

/* The directory t is about to get a name. If that is one of a checkpoint, by now gone or exchanged, its
 * history goes on with t. */
static int take_history(struct expfs *ex, struct db *db, struct tracked_row *t, uint64_t parent, const char *name,
			struct file_drop *drop)
{
	struct tracked_row old;
	int r = tracked_by_name(db, parent, name, &old);

	if (r < 0 || !old.is_dir || old.role != ROLE_WEIGHTS || old.n == 0 || t->n > 0)
		return r == -ENOENT ? 0 : r;
	r = old.ino ? end_dir(ex, db, &old, drop) : 0;
	if (r < 0 || !track_is_as_closed(db, t->ino, &old))
		return r;
	r = version_move(db, old.id, t->id);
	t->n = old.n;
	old.n = 0;
	if (r == 0)
		r = tracked_list(db, old.id, is_any, NULL);
	if (r == 0)
		return tracked_delete(db, old.id);
	return r < 0 ? r : tracked_update(db, &old);
}

/* It may be a root, which at the top has its selections together with the run there. */
static int move_dir(struct db *db, uint64_t id, uint64_t parent, const char *name)
{
	uint64_t before;
	int r = ledger_run(db, id, &before);

	if (r == 0)
		r = tracked_move(db, id, parent, name);
	return r < 0 ? r : ledger_move_root(db, id, before);
}

static int track_dir_renamed(struct expfs *ex, struct db *db, uint64_t ino, const char *name, struct file_drop *drop)
{
	_cleanup_ancestry_ struct ancestry a = { 0 };
	struct tracked_row t, up;
	int r;

	ancestry_forget(ex);
	r = ancestry_load(ex, db, ino, &a);
	if (r < 0) /* deeper than paths go */
		return r == -ENAMETOOLONG ? 0 : r;
	r = tracked_by_dir(db, ino, &t);
	if (r == 0 && t.role == ROLE_WEIGHTS)
		r = end_dir(ex, db, &t, drop);
	else if (r == 0)
		r = 1;
	if (r <= 0)
		return r < 0 && r != -ENOENT ? r : moved_put(db, ino);
	r = track_dir(ex, db, &a, a.n - 2, &up);
	if (r == 0)
		r = take_history(ex, db, &t, up.id, name, drop);
	if (r == 0)
		r = track_displace(db, up.id, name);
	if (r == 0)
		r = move_dir(db, t.id, up.id, name);
	if (r == 0)
		r = tracked_update(db, &t);
	if (r < 0 || (t.run == t.id && path_is_run(ex, a.path)))
		return r;
	return moved_put(db, ino);
}

static int track_dir_removed(struct expfs *ex, struct db *db, uint64_t ino, struct file_drop *drop)
{
	struct tracked_row t;
	int r = tracked_by_dir(db, ino, &t);

	ancestry_forget(ex); /* it may wait in the queue of directories, where it is not to be found any more */
	return r == 0 ? end_dir(ex, db, &t, drop) : r == -ENOENT ? 0 : r;
}

/* What it was in was a checkpoint, the history of which stayed. */
static int move_below(struct db *db, const struct tracked_row *t, uint64_t parent, const char *name)
{
	int r = track_displace(db, parent, name);

	return r < 0 ? r : tracked_move(db, t->id, parent, name);
}

/* A directory below one that was renamed: which run is it in, is it a checkpoint? 1: it is
 * nowhere, and nothing in it is. */
static int retrack_dir(struct expfs *ex, struct db *db, uint64_t ino, bool *ret_all, struct file_drop *drop)
{
	const struct ancestry *a;
	struct tracked_row t, up;
	bool is_checkpoint;
	int r = ancestry_get(ex, db, ino, &a);

	*ret_all = r == 0 && (a->gives_role || a->tracked);
	if (r < 0)
		return r == -ENOENT || r == -ENAMETOOLONG ? 1 : r;
	is_checkpoint = a->checkpoint && a->checkpoint == a->n - 1;
	if (is_checkpoint)
		r = track_member(ex, db, a);
	if (r == 0)
		r = tracked_by_dir(db, ino, &t);
	if (r == 0 && a->n > 1)
		r = track_dir(ex, db, a, a->n - 2, &up);
	if (r == 0 && a->n > 1 && t.parent != up.id)
		r = move_below(db, &t, up.id, path_last(a->path));
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	t.run = a->n == 1 || path_is_run(ex, a->path) || root_is(ex, db, t.id, a->path) ? t.id : up.run;
	if (t.role == ROLE_NONE || is_checkpoint)
		return tracked_update(db, &t);
	t.role = ROLE_NONE;
	return track_end_path(ex, db, &t, drop);
}

int tx_track_dir_removed(struct expfs *ex, struct db *db, uint64_t ino, struct file_drop *drop)
{
	return track_forgive(ex, track_dir_removed(ex, db, ino, drop));
}

int tx_track_dir_renamed(struct expfs *ex, struct db *db, uint64_t ino, const char *name, struct file_drop *drop)
{
	return track_forgive(ex, track_dir_renamed(ex, db, ino, name, drop));
}

/* A piece of one directory that is tracked anew. */
struct retrack {
	struct expfs *ex;
	uint64_t dir, after; /* entries with an id above that */
	bool all;            /* also those whose names alone give no role */
	struct file_drop drop;
	struct {
		uint64_t id, ino;
		bool is_dir;
		char name[256];
	} v[BATCH];
	size_t n;
};

static int add_entry(void *arg, const struct dirent_row *d, const char *name, const struct inode_row *row)
{
	struct retrack *k = arg;

	if (k->n == BATCH)
		return 1;
	k->v[k->n].id = d->id;
	k->v[k->n].ino = d->ino;
	k->v[k->n].is_dir = d->type == DT_DIR;
	snprintf(k->v[k->n++].name, 256, "%s", name);
	return 0;
}

/* Damaged rows may give a directory several names, by which it would be its own ancestor. */
static int put_below(struct db *db, uint64_t dir, uint64_t ino)
{
	struct dirent_row d;
	int r = ino == META_ROOT ? -ENOENT : dirent_of(db, ino, &d, NULL);

	return r == 0 && d.parent == dir ? moved_put(db, ino) : r == -ENOENT ? 0 : r;
}

/* 1: there may be more. Directories are put into the queue before this one leaves it. */
static int tx_retrack(struct db *db, void *arg)
{
	struct retrack *k = arg;
	int r;

	k->drop.n = 0;
	k->n = 0;
	r = k->after == 0 ? retrack_dir(k->ex, db, k->dir, &k->all, &k->drop) : 0;
	if (r == 0)
		r = k->all ? dirent_list(db, k->dir, k->after, UINT64_MAX >> 1, false, add_entry, k) :
			     dirent_list_roles(db, k->dir, k->after, add_entry, k);
	for (size_t i = 0; i < k->n && r >= 0; i++)
		r = k->v[i].is_dir ? put_below(db, k->dir, k->v[i].ino) :
				     tx_track_name(k->ex, db, k->dir, k->v[i].name, &k->drop);
	if (r >= 0 && k->n < BATCH)
		r = moved_delete(db, k->dir);
	return r < 0 ? r : k->n == BATCH;
}

static int retrack(struct expfs *ex, uint64_t dir)
{
	_cleanup_free_ struct retrack *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return -ENOMEM;
	k->ex = ex;
	k->dir = dir;
	do {
		r = expfs_write(ex, tx_retrack, k);
		if (r < 0)
			return r;
		file_drop_finish(ex, &k->drop);
		k->after = k->n > 0 ? k->v[k->n - 1].id : 0;
	} while (r == 1);
	return 0;
}

/* The run of what is below the directory will be another; *ret: the one that it was until now, or 0. That of an
 * experiment root is none. */
static int run_to_leave(struct expfs *ex, struct db *db, uint64_t dir, uint64_t *ret)
{
	_cleanup_ancestry_ struct ancestry a = { 0 };
	struct tracked_row t, up;
	bool stays;
	int r = tracked_by_dir(db, dir, &t);

	*ret = 0;
	if (r == 0)
		r = tracked_get(db, t.parent, &up);
	if (r == 0)
		r = ancestry_load(ex, db, dir, &a);
	if (r < 0)
		return r == -ENOENT || r == -ESTALE || r == -ENAMETOOLONG ? 0 : r;
	stays = t.run == t.id ? path_is_run(ex, a.path) : t.run == up.run;
	r = stays ? 1 : root_has(db, t.run);
	if (r == 0)
		*ret = t.run;
	return MIN(r, 0);
}

/* What waits: a directory, or (1) a removed run. */
static int next_moved(struct expfs *ex, uint64_t *ret, uint64_t *ret_leaves)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = moved_first(db, ret);

	if (r == 0)
		r = run_to_leave(ex, db, *ret, ret_leaves);
	return r < 0 ? r : removed_is_run(db, *ret);
}

int track_moved(struct expfs *ex)
{
	uint64_t dir, run, settled = 0;

	for (;;) {
		int removed = next_moved(ex, &dir, &run), r = 0;

		if (removed < 0)
			return removed == -ENOENT ? 0 : removed;
		if (run && run != settled)
			r = experiment_settle_known(ex, run);
		settled = run ? run : settled;
		if (r == 0)
			r = removed ? removed_give_back(ex, dir) : retrack(ex, dir);
		if (r < 0)
			return expfs_takes_nothing(r) ? 0 : r;
	}
}
