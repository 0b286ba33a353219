/* A checkpoint directory that is to have exactly the files of a version. */
#include <dirent.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/put_part.h"
#include "exp/track.h"
#include "meta/dirent.h"
#include "meta/tracked.h"

/* Directories of e, which were made in the same call, come after what is in them. */
static int read_tree(struct db *db, uint64_t ino, const char *path, unsigned depth, struct entries *e)
{
	size_t from = e->n;
	int r;

	if (depth == ENTRIES_DEPTH)
		return -ENAMETOOLONG;
	e->dir = path;
	r = dirent_list_below(db, ino, false, entries_add, e);
	for (size_t i = from, to = e->n; r == 0 && i < to; i++)
		if (S_ISDIR(e->v[i].row.mode))
			r = read_tree(db, e->v[i].row.ino, e->v[i].path, depth + 1, e);
	return r;
}

/* Are the regular files of the tree these? */
static bool has_files(const struct put *p, const struct entries *e, const struct put_file *files, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < e->n; i++) {
		const struct put_file *f;

		if (!S_ISREG(e->v[i].row.mode))
			continue;
		f = put_file_find(files, n, e->v[i].path);
		if (!f || !put_is_same(p, &e->v[i].row, f))
			return false;
		found++;
	}
	return found == n;
}

/* What is in a checkpoint directory that is no version of it, as a save that did not come to its end, becomes one that is
 * not complete. */
static int keep_state(struct put *p, struct db *db, const struct inode_row *dir, const struct entries *e, size_t skip)
{
	struct version_row v = { .is_dir = true, .mode = dir->mode & 07777, .uid = dir->uid, .gid = dir->gid,
				 .mtime = dir->mtime, .step = NO_STEP };
	struct tracked_row t;
	int r = tracked_by_dir(db, dir->ino, &t);

	if (r < 0 || t.role != ROLE_WEIGHTS || (t.head && !t.changed))
		return r == -ENOENT ? 0 : r;
	r = tx_track_end_version(p->ex, db, &t, &p->drop);
	v.id = v.until = meta_id(p->ex->meta);
	v.tracked = t.id;
	v.n = ++t.n;
	if (r == 0)
		r = version_insert(db, &v);
	for (size_t i = 0; i < e->n && r == 0; i++) {
		struct member_row m = member_of(&e->v[i].row);

		if (S_ISREG(e->v[i].row.mode))
			r = member_insert(db, v.id, &m, e->v[i].path + skip);
	}
	return r < 0 ? r : tracked_update(db, &t);
}

/* All that is to lose its name, before anything does. Only what is in a checkpoint directory is kept in its history. */
static int check_tree(struct put *p, struct db *db, uint64_t dir, const struct entries *e, const struct put_file *files,
		      size_t n)
{
	struct tracked_row t = { .role = ROLE_NONE };
	int r = dir ? tracked_by_dir(db, dir, &t) : 0;

	if (r < 0 && r != -ENOENT)
		return r;
	for (size_t i = 0; i < e->n; i++) {
		const struct inode_row *row = &e->v[i].row;
		const struct put_file *f = put_file_find(files, n, e->v[i].path);

		if (!S_ISREG(row->mode) || (f && put_is_same(p, row, f)))
			continue;
		r = t.role == ROLE_WEIGHTS ? put_check_old(p, row) : -EOPNOTSUPP;
		if (r < 0)
			return put_fail_at(p, r, e->v[i].path);
	}
	return 0;
}

static int remove_empty(struct put *p, struct db *db, const struct entry *e)
{
	struct inode_row above;
	int64_t now = now_ns();
	int r = dirent_is_empty(db, e->row.ino);
	struct inode_row was;

	if (r <= 0)
		return r;
	r = inode_get(db, e->d.parent, &above);
	if (r == 0)
		r = inode_get(db, e->row.ino, &was);
	if (r == 0)
		r = put_check_write(p, &above, &was);
	if (r == 0)
		r = dirent_delete(db, &e->d);
	was.nlink = 0;
	was.ctime = now;
	if (r == 0)
		r = inode_update(db, &was);
	if (r == 0)
		r = inode_touch_dir(db, above.ino, now, -1);
	if (r == 0)
		r = tx_track_dir_removed(p->ex, db, was.ino, &p->drop);
	return r < 0 ? r : put_add_change(p, above.ino, path_last(e->path), was.ino, true);
}

/* What is too much in the tree goes, the deepest directories first. */
static int prune(struct put *p, struct db *db, uint64_t base, const struct entries *e, const struct put_file *files,
		 size_t n)
{
	int r = 0;

	for (size_t i = 0; i < e->n && r == 0; i++)
		if (S_ISREG(e->v[i].row.mode) && !put_file_find(files, n, e->v[i].path))
			r = tx_put_gone(p, db, base, e->v[i].path);
	for (size_t i = e->n; i > 0 && r == 0; i--)
		if (S_ISDIR(e->v[i - 1].row.mode))
			r = remove_empty(p, db, &e->v[i - 1]);
	return r;
}

static int set_dir(struct put *p, struct db *db, uint64_t ino, const struct version_row *v)
{
	struct inode_row row;
	int r = inode_get(db, ino, &row);

	if (r < 0 || (!put_is_owner(p) && p->cred->uid != row.uid))
		return r;
	row.mtime = v->mtime;
	row.mode = S_IFDIR | v->mode;
	if (put_is_owner(p)) {
		row.uid = v->uid;
		row.gid = v->gid;
	}
	return inode_update(db, &row);
}

/* The tree at a path, or nothing; *ret_dir.ino is 0 then. */
static int find_tree(struct put *p, struct db *db, uint64_t base, const char *path, struct inode_row *ret_dir,
		     struct entries *ret)
{
	struct inode_row above;
	struct dirent_row d;
	int r = put_find_dir(p, db, base, path, &above);

	if (r == 0)
		r = dirent_get(db, above.ino, path_last(path), &d);
	if (r == 0)
		r = d.type == DT_DIR ? inode_get(db, d.ino, ret_dir) : -ENOTDIR;
	if (r == 0 && !cred_permits(p->cred, ret_dir, X_OK))
		r = -EACCES;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return read_tree(db, d.ino, path, 0, ret);
}

static int put_dir(struct put *p, struct db *db, uint64_t base, const char *path, const struct version_row *v,
		   const struct put_file *files, size_t n, struct put_place *ret)
{
	_cleanup_entries_ struct entries e = { 0 };
	_cleanup_free_ char *inside = path_join(path, "");
	struct inode_row dir = { 0 };
	int r = inside ? find_tree(p, db, base, path, &dir, &e) : -ENOMEM;

	*ret = (struct put_place){ .ino = dir.ino, .changed = true };
	if (r == 0 && dir.ino && has_files(p, &e, files, n)) {
		ret->changed = false;
		return 0;
	}
	if (r == 0)
		r = check_tree(p, db, dir.ino, &e, files, n);
	if (r == 0 && dir.ino)
		r = keep_state(p, db, &dir, &e, strlen(path) + 1);
	for (size_t i = 0; i < n && r == 0; i++) {
		struct put_place place;

		r = tx_put_file(p, db, base, &files[i], &place);
	}
	if (r == 0)
		r = prune(p, db, base, &e, files, n);
	if (r == 0)
		r = put_find_dir(p, db, base, inside, &dir);
	ret->ino = dir.ino;
	return r < 0 ? r : set_dir(p, db, dir.ino, v);
}

int tx_put_dir(struct put *p, struct db *db, uint64_t base, const char *path, const struct version_row *v,
	       const struct put_file *files, size_t n, struct put_place *ret)
{
	int r = put_dir(p, db, base, path, v, files, n, ret);

	return r < 0 && !p->path ? put_fail_at(p, r, path) : r;
}
