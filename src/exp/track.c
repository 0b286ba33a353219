#include "exp/track.h"

#include <stdio.h>
#include <string.h>

#include "exp/ancestry.h"
#include "exp/entries.h"
#include "exp/inode_names.h"
#include "exp/kept.h"
#include "exp/metric.h"
#include "exp/path.h"
#include "exp/root.h"
#include "exp/track_path.h"
#include "meta/content.h"
#include "meta/dirent.h"
#include "meta/ledger.h"
#include "meta/tracked.h"
#include "meta/version.h"
#include "util/log.h"

#define BATCH 256
#define MOVED_WITHIN (60 * UINT64_C(1000000000)) /* ns in which what was just saved is moved, with its copying */

int track_forgive(struct expfs *ex, int r)
{
	switch (-r) {
	case EUCLEAN:
	case ENOENT:
	case ESTALE:
	case EEXIST:
	case E2BIG:
		if (atomic_fetch_add(&ex->track_faults, 1) == 0)
			log_msg("%s: versions cannot be kept as they should be: %s; unmount the store and run expfs fsck on it",
				store_path(ex->store), strerror(-r));
		return 0;
	}
	return r;
}

int track_displace(struct db *db, uint64_t parent, const char *name)
{
	struct tracked_row old, other;
	char own[TRACKED_NAME], aside[TRACKED_NAME];
	int r = tracked_by_name(db, parent, name, &old);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	tracked_own_name(&old, name, own);
	for (unsigned k = 1; r == 0; k++) {
		snprintf(aside, sizeof(aside), "%.255s~%u", own, k);
		r = tracked_by_name(db, parent, aside, &other);
	}
	if (r == -ENOENT)
		r = tracked_move(db, old.id, parent, aside);
	if (r < 0 || !old.is_dir || old.ino)
		return r;
	old.mode |= TRACKED_ASIDE;
	return tracked_update(db, &old);
}

bool track_is_as_closed(struct db *db, uint64_t ino, const struct tracked_row *gone)
{
	struct inode_row dir;

	return inode_get(db, ino, &dir) == 0 && dir.uid == gone->uid && dir.gid == gone->gid &&
	       (dir.mode & 0555 & ~gone->mode) == 0;
}

int track_dir(struct expfs *ex, struct db *db, const struct ancestry *a, size_t i, struct tracked_row *ret)
{
	_cleanup_free_ char *path = NULL;
	struct tracked_row up, t;
	const char *name;
	bool is_run, again;
	int r = tracked_by_dir(db, a->dir[i].ino, ret);

	if (r != -ENOENT)
		return r;
	if (i == 0)
		return -EUCLEAN;
	path = ancestry_path(a, i);
	if (!path)
		return -ENOMEM;
	r = track_dir(ex, db, a, i - 1, &up);
	if (r < 0)
		return r;
	name = path_last(path);
	is_run = path_is_run(ex, path);
	r = tracked_by_name(db, up.id, name, &t);
	again = r == 0 && t.ino == 0 && !is_run && !(t.mode & TRACKED_ASIDE) &&
		(!t.is_dir || track_is_as_closed(db, a->dir[i].ino, &t));
	if (again) {
		t.ino = a->dir[i].ino;
		t.role = t.is_dir ? t.role : ROLE_NONE;
		t.is_dir = true;
		t.run = root_is(ex, db, t.id, path) ? t.id : up.run;
		*ret = t;
		ancestry_forget(ex);
		return tracked_update(db, &t);
	}
	if (r == 0)
		r = track_displace(db, up.id, name);
	if (r < 0 && r != -ENOENT)
		return r;
	t = (struct tracked_row){ .id = meta_id(ex->meta), .parent = up.id, .ino = a->dir[i].ino, .run = up.run,
				  .is_dir = true, .step = NO_STEP };
	if (is_run)
		t.run = t.id;
	*ret = t;
	ancestry_forget(ex);
	return tracked_insert(db, &t, name);
}

_Static_assert((int)ROLE_WEIGHTS == TRACKED_CHECKPOINT, "roles are stored by their numbers");

/* A name that is no path of its own now. */
static int end_name(struct expfs *ex, struct db *db, const struct ancestry *a, const char *name, struct file_drop *drop)
{
	struct tracked_row t;
	int r = a->tracked ? tracked_by_name(db, a->tracked, name, &t) : -ENOENT;

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return t.is_dir || (t.ino == 0 && t.good == 0) ? 0 : track_end_path(ex, db, &t, drop);
}

int track_member(struct expfs *ex, struct db *db, const struct ancestry *a)
{
	struct tracked_row t;
	int r = track_dir(ex, db, a, a->checkpoint, &t);

	if (r < 0)
		return r;
	r = t.head && !t.changed ? tx_metric_end(db, t.ino) : 0;
	if (r < 0)
		return r;
	t.role = ROLE_WEIGHTS;
	t.changed = meta_id(ex->meta);
	return tracked_update(db, &t);
}

static int track_file(struct expfs *ex, struct db *db, const struct ancestry *a, const char *name,
		      const struct dirent_row *d, const struct inode_row *row, enum role role, struct file_drop *drop)
{
	struct tracked_row up, t;
	uint64_t run, head;
	bool new;
	int r = track_dir(ex, db, a, a->n - 1, &up);

	if (r < 0)
		return r;
	r = tracked_by_name(db, up.id, name, &t);
	if (r < 0 && r != -ENOENT)
		return r;
	new = r < 0 || (t.is_dir && t.ino);
	if (new && r == 0) /* exchanged with a directory that is to be moved yet */
		r = track_displace(db, up.id, name);
	if (r < 0 && r != -ENOENT)
		return r;
	if (new)
		t = (struct tracked_row){ .id = meta_id(ex->meta), .parent = up.id, .step = NO_STEP };
	if (role == ROLE_MANIFEST && !(row->flags & INODE_MANIFEST)) {
		r = inode_set_manifest(db, row->ino);
		if (r < 0)
			return r;
		file_set_manifest(ex, row->ino);
	}
	r = tx_root_run(db, &up, name, t.run, &run);
	if (r < 0)
		return r;
	head = t.run == run ? t.head : 0;
	if (role == ROLE_HP) {
		kept_forget(ex, t.run); /* from which it came */
		kept_forget(ex, run);
	}
	t.is_dir = false;
	t.ino = row->ino;
	t.run = run;
	t.role = (int)role;
	if (role != ROLE_WEIGHTS) {
		t.changed = 0;
		track_no_good(&t);
	}
	r = track_content(ex, db, &t, name, row, d->order, drop);
	if (r == 0 && t.head != head && (role == ROLE_MANIFEST || role == ROLE_WEIGHTS))
		r = tx_root_version(db, run, t.head);
	if (r < 0)
		return r;
	return new ? tracked_insert(db, &t, name) : tracked_update(db, &t);
}

/* What a tracker names is complete. */
static int track_beside_tracker(struct expfs *ex, struct db *db, uint64_t dir)
{
	struct tracked_row t;
	int r = tracked_by_dir(db, dir, &t);

	return r == -ENOENT ? 0 : r < 0 ? r : tracked_judge_again(db, t.id, meta_id(ex->meta));
}

/* Files whose names say something of what is around them. */
static int track_around(struct expfs *ex, struct db *db, const struct ancestry *a, const char *name)
{
	uint64_t dir = a->dir[a->n - 1].ino;

	if (role_is_tracker(name))
		return track_beside_tracker(ex, db, dir);
	if (!role_is_marker(name) || !role_digit_dir(path_last(a->path)))
		return 0;
	/* It makes its directory, or the one that it left, another thing. */
	ancestry_forget(ex);
	return moved_put(db, dir);
}

static int track_name(struct expfs *ex, struct db *db, uint64_t dir, const char *name, struct file_drop *drop);

/* A file there shows that the i-th directory is a root's checkpoints/. */
static int track_root(struct expfs *ex, struct db *db, const struct ancestry *a, size_t i, struct file_drop *drop)
{
	uint64_t dir = a->dir[i].ino, above = a->dir[i - 1].ino;
	struct tracked_row t;
	int r = track_dir(ex, db, a, i, &t);

	if (r < 0 || t.run == t.id)
		return r;
	t.run = t.id;
	r = tracked_update(db, &t);
	if (r == 0)
		r = root_insert(db, t.id);
	if (r == 0)
		r = moved_put(db, dir);
	if (r == 0)
		r = track_name(ex, db, above, ROOT_STATE, drop);
	return r == -ENOENT ? 0 : r;
}

/* The name d (NULL: there is none) leads to row. */
static int track(struct expfs *ex, struct db *db, uint64_t dir, const char *name, const struct dirent_row *d,
		 const struct inode_row *row, struct file_drop *drop)
{
	const struct ancestry *a;
	enum role role = ROLE_NONE;
	size_t root;
	int r = ancestry_get(ex, db, dir, &a);

	if (r == 0) {
		r = track_around(ex, db, a, name);
		if (r == 0)
			r = ancestry_get(ex, db, dir, &a);
		root = r == 0 && d && S_ISREG(row->mode) && !a->checkpoint ? root_shown_by(a, name) : 0;
		if (root)
			r = track_root(ex, db, a, root, drop);
		if (r == 0 && root)
			r = ancestry_get(ex, db, dir, &a);
	}
	if (r < 0)
		return r == -ENOENT || r == -ENAMETOOLONG ? 0 : r;
	if (a->checkpoint) {
		r = end_name(ex, db, a, name, drop);
		return r < 0 ? r : track_member(ex, db, a);
	}
	if (d && S_ISREG(row->mode))
		role = ancestry_role(ex, a, name, d->class);
	return role == ROLE_NONE ? end_name(ex, db, a, name, drop) : track_file(ex, db, a, name, d, row, role, drop);
}

static int track_name(struct expfs *ex, struct db *db, uint64_t dir, const char *name, struct file_drop *drop)
{
	struct inode_row row;
	struct dirent_row d;
	int r = dirent_get(db, dir, name, &d);

	if (r == 0)
		r = inode_get(db, d.ino, &row);
	return r < 0 ? r : track(ex, db, dir, name, &d, &row, drop);
}

static int track_gone(struct expfs *ex, struct db *db, uint64_t dir, const char *name, struct file_drop *drop)
{
	return track(ex, db, dir, name, NULL, NULL, drop);
}

/* Metrics count while they are being written, which may take as long as the training does. */
static int track_made(struct expfs *ex, struct db *db, uint64_t dir, const char *name, const struct inode_row *row)
{
	struct file_drop drop = { .n = 0 }; /* a name that was not there holds no version that could end */
	const struct ancestry *a;
	struct dirent_row d;
	int r = ancestry_get(ex, db, dir, &a);

	if (r == 0 && a->checkpoint)
		return track_member(ex, db, a);
	if (r == 0)
		r = dirent_get(db, dir, name, &d);
	if (r < 0)
		return r == -ENOENT || r == -ENAMETOOLONG ? 0 : r;
	if ((d.class == 0 && !a->gives_role) || ancestry_role(ex, a, name, d.class) != ROLE_SIGNALS)
		return 0;
	return track_file(ex, db, a, name, &d, row, ROLE_SIGNALS, &drop);
}

static int track_inode(struct expfs *ex, struct db *db, const struct inode_row *row, struct file_drop *drop)
{
	_cleanup_inode_names_ struct inode_names l = { .n = 0 };
	int r = inode_names_read(db, row->ino, &l);

	for (size_t i = 0; i < l.n && r == 0; i++)
		r = track(ex, db, l.v[i].d.parent, l.v[i].name, &l.v[i].d, row, drop);
	return r;
}

struct written {
	const struct inode_row *row;
	bool live, again;
};

/* 1: the version was made by a close in the midst of the save that goes on. It stays what it is if it was there before,
 * with the same content, or if somebody selected it. */
static int is_of_save(struct db *db, const struct version_row *v, const struct written *w)
{
	int r;

	if (!w->again || v->id < w->row->begin)
		return 0;
	r = ledger_needs(db, v->id, NULL);
	return r < 0 ? r : r == 0;
}

static int name_written(struct expfs *ex, struct db *db, uint64_t dir, const char *name, const struct written *w)
{
	const struct ancestry *a;
	struct tracked_row t;
	struct version_row v;
	int r = ancestry_get(ex, db, dir, &a);

	if (r == 0 && a->checkpoint)
		return track_member(ex, db, a);
	if (r == 0)
		r = a->tracked ? tracked_by_name(db, a->tracked, name, &t) : -ENOENT;
	if (r == 0)
		r = t.head ? version_get(db, t.head, &v) : -ENOENT;
	if (r < 0)
		return r == -ENOENT || r == -ENAMETOOLONG ? 0 : r;
	if (v.object != w->row->object)
		return 0;
	r = w->live || t.role == ROLE_SIGNALS ? 1 : is_of_save(db, &v, w);
	return r <= 0 ? r : track_unmake_version(ex, db, &t);
}

static int track_written(struct expfs *ex, struct db *db, uint64_t ino, bool again)
{
	_cleanup_inode_names_ struct inode_names l = { .n = 0 };
	struct content_row content = { .state = CONTENT_SEALED };
	struct inode_row row;
	struct written w = { .row = &row, .again = again };
	int r = inode_get(db, ino, &row);

	if (r < 0 || (!row.object && !again))
		return r;
	r = row.object ? content_get(db, row.object, &content) : 0;
	if (r == 0)
		r = inode_names_read(db, ino, &l);
	w.live = r == 0 && content.state == CONTENT_LIVE;
	for (size_t i = 0; i < l.n && r == 0; i++)
		r = name_written(ex, db, l.v[i].d.parent, l.v[i].name, &w);
	return r;
}

int tx_track_name(struct expfs *ex, struct db *db, uint64_t dir, const char *name, struct file_drop *drop)
{
	return track_forgive(ex, track_name(ex, db, dir, name, drop));
}

int tx_track_gone(struct expfs *ex, struct db *db, uint64_t dir, const char *name, struct file_drop *drop)
{
	return track_forgive(ex, track_gone(ex, db, dir, name, drop));
}

int tx_track_made(struct expfs *ex, struct db *db, uint64_t dir, const char *name, const struct inode_row *row)
{
	return track_forgive(ex, track_made(ex, db, dir, name, row));
}

int tx_track_inode(struct expfs *ex, struct db *db, const struct inode_row *row, struct file_drop *drop)
{
	return track_forgive(ex, track_inode(ex, db, row, drop));
}

int tx_track_written(struct expfs *ex, struct db *db, uint64_t ino, bool again)
{
	int r = tx_metric_end(db, ino);

	return track_forgive(ex, r < 0 ? r : track_written(ex, db, ino, again));
}

/* The last checkpoint of a run that is not the file itself. */
static int last_but(struct db *db, uint64_t run, uint64_t ino, struct version_row *ret)
{
	struct tracked_row t, own;
	int r = tracked_latest(db, TRACKED_RUN, run, NULL, &t);

	if (r == 0 && t.ino == ino) {
		own = t;
		r = tracked_latest(db, TRACKED_RUN, run, &own, &t);
	}
	return r < 0 ? r : version_get(db, t.good, ret);
}

int tx_track_moved_here(struct expfs *ex, struct db *db, const struct inode_row *row, int64_t mtime)
{
	struct tracked_row dir;
	struct version_row last;
	struct dirent_row d;
	int r;

	if (!S_ISREG(row->mode) || (uint64_t)row->btime - (uint64_t)mtime > MOVED_WITHIN)
		return 0;
	r = dirent_of(db, row->ino, &d, NULL);
	if (r == 0)
		r = tracked_by_dir(db, d.parent, &dir);
	if (r == 0)
		r = last_but(db, dir.run, row->ino, &last);
	if (r == -ENOENT)
		return 0;
	return r < 0 ? track_forgive(ex, r) : mtime >= last.mtime;
}

struct left_open {
	struct expfs *ex;
	uint64_t object[BATCH];
	int n;
	struct file_drop drop;
};

static int tx_left_open(struct db *db, void *arg)
{
	struct left_open *l = arg;
	int r = 0;

	l->drop.n = 0;
	for (int i = 0; i < l->n && r == 0; i++) {
		uint64_t ino;

		struct inode_row row;

		r = content_owner(db, l->object[i], &ino);
		if (r == 0)
			r = inode_get(db, ino, &row);
		r = r == 0 ? tx_track_inode(l->ex, db, &row, &l->drop) : r == -ENOENT ? 0 : r;
	}
	return r;
}

int track_left_open(struct expfs *ex)
{
	struct left_open l = { .ex = ex };
	uint64_t after = 0;
	int r = 0;

	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

			l.n = content_list_live(db, after, l.object, BATCH);
		}
		if (l.n <= 0)
			return l.n;
		after = l.object[l.n - 1];
		r = meta_write_freeing(ex->meta, tx_left_open, &l);
	} while (r == 0 && l.n == BATCH);
	return r; /* what was dropped goes with the garbage of the mount */
}
