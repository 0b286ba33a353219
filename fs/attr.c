/* Attributes of inodes and the file system. */
#include <string.h>

#include "exp/closed.h"
#include "exp/leaving.h"
#include "exp/track.h"
#include "fs.h"
#include "gate.h"
#include "view.h"

int fs_get_row(struct fs *fs, uint64_t ino, struct inode_row *ret)
{
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);

		r = expfs_inode_get(fs->ex, db, ino, ret);
	}
	return r == 0 && (ret->flags & INODE_MANIFEST) ? file_get_seen(fs->ex, ino, ret) : r;
}

double fs_attr_timeout(const struct inode_row *row)
{
	return row->flags & INODE_MANIFEST ? 0 : FS_TIMEOUT;
}

static int getattr_view(fuse_req_t req, const struct gate_call *c)
{
	struct stat st;
	int r = view_stat(req, c->ino, &st);

	if (r >= 0)
		fuse_reply_attr(req, &st, 0);
	return r;
}

void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct inode_row row;
	struct stat st;
	int r;

	if (view_is(ino)) {
		gate_serve(fs->gate, req, &(struct gate_call){ .serve = getattr_view, .ino = ino });
		return;
	}
	r = fi ? fs_get_row_by_handle(fs, ino, fi, &row) : fs_get_row(fs, ino, &row);
	if (r < 0) {
		fs_reply_err(req, r);
		return;
	}
	inode_stat(&row, &st);
	fuse_reply_attr(req, &st, fs_attr_timeout(&row));
}

#define PERMITS (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)
#define TRACKED (FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW | PERMITS)

struct set {
	struct expfs *ex;
	uint64_t ino;
	const struct stat *attr;
	int valid;
	int64_t now;
	struct file_drop drop;
};

static int set_mtime(struct db *db, struct inode_row *row, const struct set *s)
{
	int moved;

	row->mtime = s->valid & FUSE_SET_ATTR_MTIME_NOW ? s->now : timespec_ns(&s->attr->st_mtim);
	row->flags &= ~(uint32_t)INODE_IMPORTED;
	if (row->mtime >= row->btime)
		return 0;
	moved = tx_track_moved_here(s->ex, db, row, row->mtime);
	if (moved == 0) /* an explicit time before the file's birth here: it is a copy of something older */
		row->flags |= INODE_IMPORTED;
	return moved < 0 ? moved : 0;
}

static int tx_set(struct db *db, void *arg)
{
	struct set *s = arg;
	struct inode_row row;
	int r = inode_get(db, s->ino, &row);

	if (r < 0)
		return r;
	if (s->valid & FUSE_SET_ATTR_MODE)
		row.mode = (row.mode & S_IFMT) | (s->attr->st_mode & 07777);
	if (s->valid & FUSE_SET_ATTR_UID)
		row.uid = s->attr->st_uid;
	if (s->valid & FUSE_SET_ATTR_GID)
		row.gid = s->attr->st_gid;
	if (s->valid & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_ATIME_NOW))
		row.atime = s->valid & FUSE_SET_ATTR_ATIME_NOW ? s->now : timespec_ns(&s->attr->st_atim);
	if (s->valid & (FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW))
		r = set_mtime(db, &row, s);
	row.ctime = s->now;
	r = r < 0 ? r : inode_update(db, &row);
	s->drop.n = 0;
	if (r == 0 && (s->valid & PERMITS))
		r = tx_closed(s->ex, db, &row);
	/* Its time decides where it stands among checkpoints, its mode who may read its versions. */
	if (r == 0 && S_ISREG(row.mode) && (s->valid & TRACKED) && (row.flags & INODE_CLOSED))
		r = tx_track_inode(s->ex, db, &row, &s->drop);
	return r;
}

static int is_regular(struct fs *fs, uint64_t ino)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);
	struct inode_row row;
	int r = inode_get(db, ino, &row);

	return r < 0 ? r : S_ISREG(row.mode);
}

static int set_attr(struct fs *fs, struct set *s)
{
	_cleanup_(cleanup_file) struct file *f = NULL;
	bool mtime = s->valid & (FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW);
	bool size = s->valid & FUSE_SET_ATTR_SIZE;
	int r = size || mtime ? is_regular(fs, s->ino) : 0;

	if (r > 0)
		r = file_get(fs->ex, s->ino, &f);
	if (r == 0 && size)
		leaving_judge_written(fs->ex, s->ino);
	if (r == 0 && size)
		r = f ? file_truncate(f, (uint64_t)s->attr->st_size) : -EINVAL;
	if (r < 0 || (s->valid & ~FUSE_SET_ATTR_SIZE) == 0)
		return r;
	if (f && mtime)
		r = file_set_mtime(f, s->valid & FUSE_SET_ATTR_MTIME_NOW ? s->now : timespec_ns(&s->attr->st_mtim),
				   tx_set, s);
	else
		r = expfs_write(fs->ex, tx_set, s);
	if (r == 0)
		file_drop_finish(fs->ex, &s->drop);
	return r;
}

void fs_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int valid, struct fuse_file_info *fi)
{
	struct set s = { .ex = fs_of(req)->ex, .ino = ino, .attr = attr, .valid = valid, .now = now_ns() };
	struct fs *fs = fs_of(req);
	int r = view_is(ino) ? -EROFS : set_attr(fs, &s);

	if (r < 0)
		fs_reply_err(req, r);
	else
		fs_getattr(req, ino, fi);
}

static int readlink_view(fuse_req_t req, const struct gate_call *c)
{
	_cleanup_free_ char *target = NULL;
	int r = view_target(req, c->ino, &target);

	if (r >= 0)
		fuse_reply_readlink(req, target);
	return r;
}

void fs_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct fs *fs = fs_of(req);
	_cleanup_free_ char *target = NULL;
	int r;

	if (view_is(ino)) {
		gate_serve(fs->gate, req, &(struct gate_call){ .serve = readlink_view, .ino = ino });
		return;
	}
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);

		r = inode_target(db, ino, &target);
	}
	if (r < 0)
		fs_reply_err(req, r);
	else
		fuse_reply_readlink(req, target);
}

void fs_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st;
	int r = expfs_statvfs(fs_of(req)->ex, &st);

	if (r < 0) {
		fs_reply_err(req, r);
		return;
	}
	st.f_namemax = FS_NAME_MAX;
	fuse_reply_statfs(req, &st);
}
