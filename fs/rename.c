/* Renaming: one transaction, which reads what it depends on. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "exp/leaving.h"
#include "exp/track.h"
#include "exp/undo.h"
#include "names.h"
#include "view.h"

/* Is the directory dir the directory ino, or below it? */
static int is_below(struct db *db, uint64_t dir, uint64_t ino)
{
	while (dir != ino && dir != META_ROOT) {
		_cleanup_free_ char *name = NULL;
		struct dirent_row d;
		int r = dirent_of(db, dir, &d, &name);

		if (r < 0)
			return r;
		dir = d.parent;
	}
	return dir == ino;
}

/* May what stands at the new name be replaced? */
static int check_target(struct db *db, struct names *n, const struct dirent_row *from, const struct dirent_row *to)
{
	int r;

	if (n->flags & RENAME_NOREPLACE)
		return -EEXIST;
	if (from->type == DT_DIR && to->type != DT_DIR)
		return -ENOTDIR;
	if (from->type != DT_DIR && to->type == DT_DIR)
		return -EISDIR;
	if (to->type == DT_DIR) {
		r = dirent_is_empty(db, to->ino);
		if (r <= 0)
			return r < 0 ? r : -ENOTEMPTY;
	}
	return 0;
}

/* It makes room. */
static int replace_target(struct db *db, struct names *n, const struct dirent_row *to, int64_t now)
{
	int r = names_drop(db, to->ino, now, &n->unlinked);

	if (r == 0 && to->type == DT_DIR)
		r = inode_touch_dir(db, n->newparent, now, -1);
	return r == 0 && to->type == DT_DIR ? tx_track_dir_removed(n->fs->ex, db, to->ino, &n->drop) : r;
}

/* Lets the entry at lead to what from leads to, under its name. A name that gives a
 * role now and gave another before is a new checkpoint at this moment; one that gave
 * the same keeps its place in the order. */
static struct dirent_row led_to(struct names *n, const struct dirent_row *at, const char *name,
				const struct dirent_row *from)
{
	struct dirent_row d = *from;

	d.parent = at->parent;
	d.id = at->id;
	d.class = role_class(n->fs->ex->config->rules, name, strlen(name), d.type == DT_DIR);
	if (d.class != from->class)
		d.order = meta_id(n->fs->ex->meta);
	if (d.class && d.class != from->class && d.type == DT_REG)
		n->got_role = d.ino;
	return d;
}

/* What left a name, or got it, is to be tracked. */
static int track(struct db *db, struct names *n, uint64_t parent, const char *name, const struct dirent_row *d)
{
	int r;

	if (d && d->type != DT_DIR)
		return tx_track_name(n->fs->ex, db, parent, name, &n->drop);
	/* No file has the name any more, and a checkpoint around it has other files. */
	r = tx_track_gone(n->fs->ex, db, parent, name, &n->drop);
	return r < 0 || !d ? r : tx_track_dir_renamed(n->fs->ex, db, d->ino, name, &n->drop);
}

static int touch_inode(struct db *db, uint64_t ino, int64_t now)
{
	struct inode_row row;
	int r = inode_get(db, ino, &row);

	row.ctime = now;
	return r < 0 ? r : inode_update(db, &row);
}

/* Moves an entry. One that is there already keeps its place in the directory, so
 * that whoever is reading it sees the name in any case. */
static int move_entry(struct db *db, struct names *n, const struct dirent_row *from, const struct dirent_row *there,
		      int64_t now)
{
	struct dirent_row place = { .parent = n->newparent };
	struct dirent_row to;
	int up = from->type == DT_DIR && from->parent != n->newparent;
	int r = dirent_delete(db, from);

	if (!there)
		place.id = meta_id(n->fs->ex->meta);
	to = led_to(n, there ? there : &place, n->newname, from);
	if (r == 0)
		r = there ? dirent_set_ino(db, &to) : dirent_insert(db, &to, n->newname);
	if (r == 0)
		r = touch_inode(db, from->ino, now);
	if (r == 0)
		r = inode_touch_dir(db, from->parent, now, -up);
	if (r == 0)
		r = track(db, n, n->parent, n->name, NULL);
	if (r == 0)
		r = track(db, n, n->newparent, n->newname, from);
	return r < 0 ? r : inode_touch_dir(db, n->newparent, now, up);
}

/* How a directory's count of subdirectories changes when b takes the place of a in it. */
static int difference(const struct dirent_row *a, const struct dirent_row *b)
{
	return a->parent == b->parent ? 0 : (b->type == DT_DIR) - (a->type == DT_DIR);
}

static int exchange(struct db *db, struct names *n, const struct dirent_row *a, const struct dirent_row *b, int64_t now)
{
	struct dirent_row first, second;
	int r = a->type == DT_DIR ? is_below(db, n->newparent, a->ino) : 0;

	if (r == 0 && b->type == DT_DIR)
		r = is_below(db, n->parent, b->ino);
	if (r != 0)
		return r < 0 ? r : -EINVAL;
	if (a->ino == b->ino)
		return 0;
	r = names_check_synced(db, n, a->ino);
	if (r == 0)
		r = names_check_synced(db, n, b->ino);
	if (r != 0)
		return r;
	first = led_to(n, a, n->name, b);
	second = led_to(n, b, n->newname, a);
	r = dirent_set_ino(db, &first);
	if (r == 0)
		r = dirent_set_ino(db, &second);
	if (r == 0)
		r = touch_inode(db, a->ino, now);
	if (r == 0)
		r = touch_inode(db, b->ino, now);
	if (r == 0)
		r = inode_touch_dir(db, a->parent, now, difference(a, b));
	if (r == 0)
		r = track(db, n, n->parent, n->name, b);
	if (r == 0)
		r = track(db, n, n->newparent, n->newname, a);
	return r < 0 ? r : inode_touch_dir(db, b->parent, now, difference(b, a));
}

static int tx_rename(struct db *db, void *arg)
{
	struct names *n = arg;
	struct inode_row parent;
	struct dirent_row from, to;
	int64_t now = now_ns();
	int r, there;

	n->unlinked = n->got_role = 0;
	n->drop.n = 0;
	r = names_get_parent(db, n->newparent, &parent);
	if (r == 0)
		r = dirent_get(db, n->parent, n->name, &from);
	if (r < 0)
		return r;
	there = dirent_get(db, n->newparent, n->newname, &to);
	if (there < 0 && there != -ENOENT)
		return there;
	if (n->flags & RENAME_EXCHANGE)
		return there == 0 ? exchange(db, n, &from, &to, now) : -ENOENT;
	if (from.type == DT_DIR) {
		r = is_below(db, n->newparent, from.ino);
		if (r != 0)
			return r < 0 ? r : -EINVAL;
	}
	if (there == 0 && from.ino == to.ino && !(n->flags & RENAME_NOREPLACE))
		return 0;
	r = there == 0 ? check_target(db, n, &from, &to) : 0;
	if (r < 0)
		return r;
	n->unsynced = from.ino;
	r = undo_renamed(db, from.ino, there == 0 ? to.ino : 0, n->synced == from.ino, &n->drop);
	if (r != 0)
		return r;
	if (there == 0)
		r = replace_target(db, n, &to, now);
	return r < 0 ? r : move_entry(db, n, &from, there == 0 ? &to : NULL, now);
}

/* What leaves a directory by this, on both sides: perhaps for another run, or for a name that is no checkpoint's. */
static void judge_leaving(const struct names *n, uint64_t ret[2])
{
	if (n->newparent == n->parent) {
		leaving_judge_dir(n->fs->ex, n->parent, n->name);
		leaving_judge_replaced(n->fs->ex, n->parent, n->newname, n->name);
		if (n->flags & RENAME_EXCHANGE)
			leaving_judge_dir(n->fs->ex, n->newparent, n->newname);
		return;
	}
	ret[0] = leaving_judge(n->fs->ex, n->parent, n->name);
	ret[1] = leaving_judge(n->fs->ex, n->newparent, n->newname);
}

void fs_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent, const char *newname,
	       unsigned int flags)
{
	struct fs *fs = fs_of(req);
	struct names n = { .fs = fs, .parent = parent, .name = name, .newparent = newparent, .newname = newname,
			   .flags = flags };
	uint64_t leaving[2] = { 0 };
	int r = view_is(parent) || view_is(newparent) ? -EROFS : fs_check_name(name);

	if (r == 0)
		r = fs_check_name(newname);
	if (r == 0 && (flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE)))
		r = -EINVAL;
	if (r == 0)
		judge_leaving(&n, leaving);
	if (r == 0)
		r = names_write(&n, expfs_write, tx_rename);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(leaving); i++)
		leaving_taken(fs->ex, leaving[i]);
	if (r == 0 && n.got_role)
		file_seal_left_alone(fs->ex, n.got_role);
	if (r == 0 && newparent != parent)
		names_changed(fs, newparent);
	names_reply_taken(req, r, parent, name, n.unlinked);
}
