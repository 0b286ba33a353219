/* The name space: looking up, making, linking, removing.
 *
 * Each change is one transaction, which also reads what it depends on; nothing
 * is decided on what was read before. The kernel holds the directories' locks
 * meanwhile, so that no other change of the same names is under way, but a
 * handle opened by open_by_handle_at() can come at any time. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "exp/keeper.h"
#include "exp/leaving.h"
#include "exp/track.h"
#include "exp/undo.h"
#include "fs.h"
#include "gate.h"
#include "meta/content.h"
#include "names.h"
#include "view.h"

#define GENERATION 1 /* inode numbers are never used again */

int fs_check_name(const char *name)
{
	return strlen(name) > FS_NAME_MAX ? -ENAMETOOLONG : strcmp(name, FS_DOT) == 0 ? -EROFS : 0;
}

struct fuse_entry_param fs_entry(const struct inode_row *row)
{
	struct fuse_entry_param e = {
		.ino = row->ino,
		.generation = GENERATION,
		.attr_timeout = fs_attr_timeout(row),
		.entry_timeout = FS_TIMEOUT,
	};

	inode_stat(row, &e.attr);
	return e;
}

void fs_reply_entry(fuse_req_t req, const struct inode_row *row)
{
	struct fs *fs = fs_of(req);
	struct fuse_entry_param e = fs_entry(row);
	int r = itable_add(fs->inodes, row->ino);

	if (r < 0)
		fs_reply_err(req, r);
	else if (fuse_reply_entry(req, &e) < 0)
		fs_forget(fs, row->ino, 1);
}

void fs_unlinked(struct fs *fs, uint64_t ino)
{
	if (!itable_mark_unlinked(fs->inodes, ino))
		keeper_forgotten(fs->ex, ino);
}

void fs_forget(struct fs *fs, uint64_t ino, uint64_t n)
{
	if (view_is(ino))
		view_forget(fs, ino, n);
	else if (itable_forget(fs->inodes, ino, n))
		keeper_forgotten(fs->ex, ino);
}

void fs_forget_one(fuse_req_t req, fuse_ino_t ino, uint64_t n)
{
	fs_forget(fs_of(req), ino, n);
	fuse_reply_none(req);
}

void fs_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		fs_forget(fs_of(req), forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

/* fs->family are the inodes, 0 where there is none, or, with this bit, not known, and
 * another number each time, so that no look from before is taken for one after. */
#define UNKNOWN (1ull << 63)

void fs_forget_families(struct fs *fs)
{
	for (int i = FAMILY_NONE + 1; i < FAMILIES; i++)
		atomic_store(&fs->family[i], UNKNOWN | meta_id(fs->ex->meta));
}

static int find_family(struct fs *fs, int family, uint64_t *ret)
{
	static const char *const names[] = { "", "branches", "experiments", "models", "HP", "data" };
	_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);
	struct dirent_row d;
	int r = dirent_get(db, META_ROOT, names[family], &d);

	if (r < 0 && r != -ENOENT)
		return r;
	*ret = r == 0 && d.type == DT_DIR ? d.ino : 0;
	return 0;
}

int fs_family_of(struct fs *fs, uint64_t ino)
{
	for (int i = FAMILY_NONE + 1; i < FAMILIES; i++) {
		uint64_t known = atomic_load(&fs->family[i]), found = known;
		int r = known & UNKNOWN ? find_family(fs, i, &found) : 0;

		if (r < 0)
			return r;
		if (known & UNKNOWN)
			atomic_compare_exchange_strong(&fs->family[i], &known, found);
		if (ino == found)
			return i;
	}
	return FAMILY_NONE;
}

void names_changed(struct fs *fs, uint64_t parent)
{
	if (parent == META_ROOT)
		fs_forget_families(fs);
}

/* The family in which there can be a view of that name, or -errno. */
static int family_with(struct fs *fs, uint64_t parent, const char *name)
{
	int family = fs_family_of(fs, parent);

	return family < 0 || view_may_exist(family, name) ? family : FAMILY_NONE;
}

static int reply_no_entry(fuse_req_t req, const struct gate_call *c)
{
	int r = view_exists(req, c->how, c->name);

	return r < 0 ? r : r ? -EROFS : -ENOENT;
}

void names_reply_taken(fuse_req_t req, int r, uint64_t parent, const char *name, uint64_t unlinked)
{
	struct fs *fs = fs_of(req);
	struct gate_call c = { .serve = reply_no_entry, .name = name };

	c.how = r == -ENOENT ? family_with(fs, parent, name) : FAMILY_NONE;
	if (c.how > FAMILY_NONE) {
		gate_serve(fs->gate, req, &c);
		return;
	}
	if (c.how < 0)
		r = c.how;
	if (r == 0 && unlinked)
		fs_unlinked(fs, unlinked);
	if (r == 0)
		names_changed(fs, parent);
	fs_reply_err(req, r);
}

/* "." and "..", asked for by open_by_handle_at(). */
static int lookup_dots(struct fs *fs, struct db *db, uint64_t ino, bool up, struct inode_row *ret)
{
	_cleanup_free_ char *name = NULL;
	struct dirent_row d;
	int r = 0;

	if (up && ino != META_ROOT) {
		r = dirent_of(db, ino, &d, &name);
		ino = d.parent;
	}
	if (r == 0)
		r = expfs_inode_get(fs->ex, db, ino, ret);
	return r < 0 || ret->nlink == 0 ? -ESTALE : 0;
}

static int lookup_row(struct fs *fs, uint64_t parent, const char *name, struct inode_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	struct dirent_row d;
	int r;

	db = meta_reader(fs->ex->meta);
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return lookup_dots(fs, db, parent, name[1] == '.', ret);
	r = dirent_get(db, parent, name, &d);
	if (r == 0)
		r = expfs_inode_get(fs->ex, db, d.ino, ret);
	return r == -ESTALE ? -ENOENT : r;
}

static int lookup(struct fs *fs, uint64_t parent, const char *name, struct inode_row *ret)
{
	int r = strlen(name) > FS_NAME_MAX ? -ENAMETOOLONG : lookup_row(fs, parent, name, ret);

	return r == 0 && (ret->flags & INODE_MANIFEST) ? file_get_seen(fs->ex, ret->ino, ret) : r;
}

static int lookup_view(fuse_req_t req, const struct gate_call *c)
{
	return view_lookup(req, c->ino, c->how, c->name);
}

void fs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct fuse_entry_param none = { .entry_timeout = FS_TIMEOUT };
	struct gate_call c = { .serve = lookup_view, .ino = parent, .name = name };
	struct inode_row row;
	int r;

	if (view_is(parent)) {
		gate_serve(fs->gate, req, &c);
		return;
	}
	if (!strcmp(name, FS_DOT)) { /* the kernel has the directory locked meanwhile */
		r = view_lookup(req, parent, FAMILY_NONE, name);
		if (r < 0)
			fs_reply_err(req, r);
		return;
	}
	r = lookup(fs, parent, name, &row);
	c.how = r == -ENOENT ? family_with(fs, parent, name) : FAMILY_NONE;
	if (c.how < 0)
		r = c.how;
	if (c.how > FAMILY_NONE)
		gate_serve(fs->gate, req, &c);
	else if (r == -ENOENT)
		fuse_reply_entry(req, &none); /* the kernel may keep that there is none */
	else if (r < 0)
		fs_reply_err(req, r);
	else
		fs_reply_entry(req, &row);
}

static int insert_entry(struct db *db, struct fs *fs, uint64_t parent, const char *name, const struct inode_row *row)
{
	bool is_dir = S_ISDIR(row->mode);
	struct dirent_row d = {
		.parent = parent,
		.id = meta_id(fs->ex->meta),
		.ino = row->ino,
		.type = (uint8_t)((row->mode & S_IFMT) >> 12),
		.class = role_class(fs->ex->config->rules, name, strlen(name), is_dir),
	};

	return dirent_insert(db, &d, name);
}

int names_get_parent(struct db *db, uint64_t ino, struct inode_row *ret)
{
	int r = inode_get(db, ino, ret);

	if (r < 0)
		return r == -ESTALE ? -ENOENT : r;
	if (!S_ISDIR(ret->mode))
		return -ENOTDIR;
	return ret->nlink == 0 ? -ENOENT : 0;
}

static int tx_make(struct db *db, void *arg)
{
	struct fs_make *m = arg;
	bool is_dir = S_ISDIR(m->mode);
	struct inode_row parent;
	int64_t now = now_ns();
	int r = names_get_parent(db, m->parent, &parent);

	if (r < 0)
		return r;
	m->row = (struct inode_row){
		.ino = m->row.ino ? m->row.ino : meta_id(m->fs->ex->meta),
		.mode = m->mode | (is_dir ? parent.mode & S_ISGID : 0),
		.nlink = m->name ? (is_dir ? 2 : 1) : 0,
		.uid = m->uid,
		.gid = parent.mode & S_ISGID ? parent.gid : m->gid,
		.rdev = m->rdev,
		.size = m->target ? strlen(m->target) : is_dir ? 4096 : 0,
		.blocks = is_dir ? 8 : 0,
		.atime = now, .mtime = now, .ctime = now, .btime = now,
		.object = m->object,
		.flags = m->object ? INODE_LIVE : 0,
	};
	r = inode_insert(db, &m->row, m->target);
	if (r == 0 && m->object)
		r = content_insert_live(db, m->object);
	if (r == 0 && m->name)
		r = insert_entry(db, m->fs, m->parent, m->name, &m->row);
	if (r == 0 && m->name)
		r = inode_touch_dir(db, m->parent, now, is_dir);
	return r == 0 && m->name && m->object ? tx_track_made(m->fs->ex, db, m->parent, m->name, &m->row) : r;
}

int fs_make(fuse_req_t req, struct fs_make *m)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	int r = view_is(m->parent) ? -EROFS : m->name ? fs_check_name(m->name) : 0;

	m->fs = fs_of(req);
	m->uid = ctx->uid;
	m->gid = ctx->gid;
	if (r == 0)
		r = expfs_write(m->fs->ex, tx_make, m);
	if (r == 0 && m->name)
		names_changed(m->fs, m->parent);
	return r;
}

static void make(fuse_req_t req, struct fs_make *m)
{
	int r = fs_make(req, m);

	if (r < 0)
		fs_reply_err(req, r);
	else
		fs_reply_entry(req, &m->row);
}

void fs_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	make(req, &(struct fs_make){ .parent = parent, .name = name, .mode = mode, .rdev = rdev });
}

void fs_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	make(req, &(struct fs_make){ .parent = parent, .name = name, .mode = S_IFDIR | (mode & 07777) });
}

void fs_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	make(req, &(struct fs_make){ .parent = parent, .name = name, .mode = S_IFLNK | 0777, .target = target });
}

int names_check_synced(struct db *db, struct names *n, uint64_t ino)
{
	int r = undo_check_settled(db, ino, &n->drop);

	n->unsynced = ino;
	return r > 0 ? SYNC_FIRST : r;
}

int names_write(struct names *n, int (*write)(struct expfs *, meta_fn, void *), meta_fn f)
{
	struct expfs *ex = n->fs->ex;
	int r;

	while ((r = write(ex, f, n)) > 0) {
		_cleanup_(cleanup_file) struct file *file = NULL;

		file_drop_finish(ex, &n->drop); /* it was committed */
		n->synced = n->unsynced;
		if (r == SEAL_FIRST) {
			file_seal_at_end(ex, n->unsynced);
			continue;
		}
		r = file_get(ex, n->unsynced, &file);
		if (r == 0)
			r = file_settle(file);
		if (r < 0)
			return r;
	}
	if (r == 0)
		file_drop_finish(ex, &n->drop);
	return r;
}

static int tx_link(struct db *db, void *arg)
{
	struct names *n = arg;
	struct inode_row parent;
	int64_t now = now_ns();
	int r = names_get_parent(db, n->newparent, &parent);

	n->drop.n = 0;
	if (r == 0)
		r = inode_get(db, n->ino, &n->row);
	if (r < 0)
		return r;
	if (S_ISDIR(n->row.mode))
		return -EPERM;
	n->unsynced = n->ino;
	r = n->row.nlink > 0 ? names_check_synced(db, n, n->ino) : undo_renamed(db, n->ino, 0, n->synced == n->ino, &n->drop);
	if (r != 0)
		return r;
	n->row.nlink++;
	n->row.ctime = now;
	r = inode_update(db, &n->row);
	if (r == 0)
		r = insert_entry(db, n->fs, n->newparent, n->newname, &n->row);
	if (r == 0)
		r = tx_track_name(n->fs->ex, db, n->newparent, n->newname, &n->drop);
	return r < 0 ? r : inode_touch_dir(db, n->newparent, now, 0);
}

void fs_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct names n = { .fs = fs, .ino = ino, .newparent = parent, .newname = name };
	int r = view_is(ino) || view_is(parent) ? -EROFS : fs_check_name(name);

	if (r == 0)
		r = names_write(&n, expfs_write, tx_link);
	if (r == 0)
		fs_get_row(fs, ino, &n.row); /* the name is made, whatever this says */
	if (r < 0)
		fs_reply_err(req, r);
	else
		fs_reply_entry(req, &n.row);
}

int names_drop(struct db *db, uint64_t ino, int64_t now, uint64_t *ret_unlinked)
{
	struct inode_row row;
	int r = inode_get(db, ino, &row);

	if (r < 0)
		return r;
	row.nlink = S_ISDIR(row.mode) || row.nlink == 0 ? 0 : row.nlink - 1;
	row.ctime = now;
	*ret_unlinked = row.nlink == 0 ? ino : 0;
	return inode_update(db, &row);
}

/* Metrics are whole, though they were never sealed. */
static int check_sealed(struct db *db, struct names *n, uint64_t ino)
{
	struct inode_row row;
	int r = inode_get(db, ino, &row);

	n->unsynced = ino;
	return r < 0 || n->synced == ino ? r : (row.flags & INODE_LIVE) && (row.flags & INODE_CLOSED) ? SEAL_FIRST : 0;
}

static int tx_remove(struct db *db, void *arg)
{
	struct names *n = arg;
	struct dirent_row d;
	int64_t now = now_ns();
	int r = dirent_get(db, n->parent, n->name, &d);

	n->drop.n = 0;
	if (r < 0)
		return r;
	if (n->is_dir && d.type != DT_DIR)
		return -ENOTDIR;
	if (!n->is_dir && d.type == DT_DIR)
		return -EISDIR;
	if (n->is_dir) {
		r = dirent_is_empty(db, d.ino);
		if (r <= 0)
			return r < 0 ? r : -ENOTEMPTY;
	}
	r = check_sealed(db, n, d.ino);
	if (r != 0)
		return r;
	r = dirent_delete(db, &d);
	if (r == 0)
		r = names_drop(db, d.ino, now, &n->unlinked);
	if (r == 0)
		r = n->is_dir ? tx_track_dir_removed(n->fs->ex, db, d.ino, &n->drop) :
				tx_track_gone(n->fs->ex, db, n->parent, n->name, &n->drop);
	return r < 0 ? r : inode_touch_dir(db, n->parent, now, n->is_dir ? -1 : 0);
}

static void remove_name(fuse_req_t req, fuse_ino_t parent, const char *name, bool is_dir)
{
	struct fs *fs = fs_of(req);
	struct names n = { .fs = fs, .parent = parent, .name = name, .is_dir = is_dir };
	int r = view_is(parent) ? -EROFS : fs_check_name(name);

	uint64_t leaving = r == 0 && !is_dir ? leaving_judge(fs->ex, parent, name) : 0;

	if (r == 0)
		r = names_write(&n, expfs_write_freeing, tx_remove);
	if (r == 0)
		leaving_taken(fs->ex, leaving);
	names_reply_taken(req, r, parent, name, n.unlinked);
}

void fs_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	remove_name(req, parent, name, false);
}

void fs_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	remove_name(req, parent, name, true);
}
