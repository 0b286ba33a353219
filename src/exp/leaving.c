#include "exp/leaving.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "exp/complete.h"
#include "exp/file.h"
#include "exp/inode_names.h"
#include "exp/judge.h"
#include "meta/dirent.h"
#include "util/list.h"
#include "util/log.h"

#define LEAVING ARRAY_SIZE(((struct expfs *)NULL)->leaving)
#define DEPTH_MAX 4096 /* damaged rows may go round in a circle */

/* The checkpoint that the directory is, or is in. */
static int find_checkpoint(struct db *db, uint64_t dir, struct tracked_row *ret)
{
	struct dirent_row d = { .parent = dir };
	int r = 0;

	for (unsigned depth = 0; r == 0 && d.parent != META_ROOT; depth++) {
		r = tracked_by_dir(db, d.parent, ret);
		if (r == 0 && ret->role == ROLE_WEIGHTS)
			return 0;
		if (r == 0 || r == -ENOENT)
			r = depth < DEPTH_MAX ? dirent_of(db, d.parent, &d, NULL) : -EUCLEAN;
	}
	return r < 0 ? r : -ENOENT;
}

/* The path, or the checkpoint directory in which it is (1), if that was changed. */
static int find(struct expfs *ex, uint64_t dir, const char *name, struct tracked_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;
	int r = tracked_list_changed(db, 0, 0, ret, 1);

	if (r <= 0) /* mostly nothing is unjudged */
		return r < 0 ? r : -ENOENT;
	r = tracked_by_dir(db, dir, &t);
	if (r == 0)
		r = tracked_by_name(db, t.id, name, ret);
	if (r == 0 && ret->ino && ret->changed)
		return 0;
	r = r == 0 || r == -ENOENT ? find_checkpoint(db, dir, ret) : r;
	return r < 0 ? r : ret->changed ? 1 : -ENOENT;
}

/* Did it come last? */
static int is_last(struct expfs *ex, const struct tracked_row *t, uint64_t ino)
{
	_cleanup_members_ struct members m = { 0 };
	uint64_t own = 0, last = 0;
	int r = members_load(ex, t->ino, &m);

	for (size_t i = 0; i < m.n && r == 0; i++) {
		uint64_t at = MAX(m.v[i].row.order, m.v[i].row.ino); /* one sequence numbers both */

		own = m.v[i].row.ino == ino ? at : own;
		last = MAX(last, at);
	}
	return r < 0 ? r : own == last;
}

/* Is it no part of a new checkpoint: left from the last complete version, which has it, or from a save that another has
 * written over, whose NAME.tmp is to take its place; or made after all others and neither a marker nor weights? */
static int is_passing(struct expfs *ex, const struct tracked_row *t, uint64_t dir, const char *name)
{
	char heir[NAME_MAX + sizeof(".tmp")];
	struct inode_row row;
	struct dirent_row d, next;
	int r, heirless = 1;

	snprintf(heir, sizeof(heir), "%s.tmp", name);
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = dirent_get(db, dir, name, &d);
		if (r == 0)
			r = inode_get(db, d.ino, &row);
		if (r == 0)
			heirless = dirent_get(db, dir, heir, &next);
	}
	if (r < 0)
		return r;
	if (row.begin <= judge_good_since(t) || heirless == 0)
		return 1;
	return role_is_marker(name) || role_weights_suffix(name, strlen(name)) ? 0 : is_last(ex, t, d.ino);
}

static void tell(int r, const char *name)
{
	if (r < 0 && r != -ENOENT && !expfs_takes_nothing(r))
		log_msg("%s: could not be judged before it was taken away or changed: %s", name, strerror(-r));
}

static void judge(struct expfs *ex, const struct tracked_row *t, const char *name)
{
	tell(judge_path(ex, t), name);
}

uint64_t leaving_judge(struct expfs *ex, uint64_t dir, const char *name)
{
	struct tracked_row t;
	int r = find(ex, dir, name, &t);

	if (r == 1 && t.changed == atomic_load(&ex->leaving[t.id % LEAVING]))
		return t.id;
	if (r < 0 || (r == 1 && is_passing(ex, &t, dir, name) != 0))
		return 0;
	judge(ex, &t, name);
	return r == 1 ? t.id : 0;
}

void leaving_judge_dir(struct expfs *ex, uint64_t dir, const char *name)
{
	struct tracked_row t;

	if (find(ex, dir, name, &t) == 0 && t.is_dir)
		judge(ex, &t, name);
}

void leaving_taken(struct expfs *ex, uint64_t checkpoint)
{
	_cleanup_(cleanup_reader) struct db *db = checkpoint ? meta_reader(ex->meta) : NULL;
	struct tracked_row t;

	if (db && tracked_get(db, checkpoint, &t) == 0)
		atomic_store(&ex->leaving[t.id % LEAVING], t.changed);
}

static bool is_any_unjudged(struct db *db)
{
	struct tracked_row t;

	return tracked_list_changed(db, 0, 0, &t, 1) > 0;
}

/* Those that are to be judged of which the closed content of the file is a part that no version has. */
static int list_checkpoints(struct db *db, uint64_t ino, struct id_list *ret)
{
	_cleanup_inode_names_ struct inode_names l = { .n = 0 };
	struct inode_row row;
	int r = inode_get(db, ino, &row);

	if (r < 0 || !row.object || !(row.flags & INODE_CLOSED))
		return r;
	r = inode_names_read(db, ino, &l);
	for (size_t i = 0; i < l.n && r == 0; i++) {
		struct tracked_row t;

		r = find_checkpoint(db, l.v[i].d.parent, &t);
		if (r == 0 && t.changed && row.begin > judge_good_since(&t))
			r = id_list_add(ret, t.id);
		r = r == -ENOENT ? 0 : r;
	}
	return r;
}

/* before: 0, or as of judge_dir_before(). */
static void judge_parts(struct expfs *ex, uint64_t ino, uint64_t before)
{
	_cleanup_id_list_ struct id_list l = { 0 };
	int r = 0;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		if (is_any_unjudged(db))
			r = list_checkpoints(db, ino, &l);
	}
	if (r < 0 || l.n == 0 || file_is_written(ex, ino))
		return;
	for (size_t i = 0; i < l.n; i++)
		tell(judge_dir_before(ex, &(struct tracked_row){ .id = l.v[i] }, before), "a checkpoint directory");
}

void leaving_judge_written(struct expfs *ex, uint64_t ino)
{
	judge_parts(ex, ino, 0);
}

void leaving_judge_replaced(struct expfs *ex, uint64_t dir, const char *name, const char *by)
{
	struct dirent_row d, next;
	struct inode_row row;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = is_any_unjudged(db) ? dirent_get(db, dir, name, &d) : -ENOENT;
		if (r == 0)
			r = dirent_get(db, dir, by, &next);
		if (r == 0)
			r = inode_get(db, d.ino, &row);
	}
	if (r == 0 && d.ino != next.ino)
		judge_parts(ex, d.ino, next.ino > MAX(row.ino, row.begin) ? next.ino : 0);
}
