/* Reading directories.
 *
 * The cookie of an entry is its row's id plus 2 ("." and ".." have 1 and 2): it
 * stays good whatever is made or removed meanwhile, and ids are never used
 * again. In branches/ and its like the views follow, with cookies of their own range, from a
 * list that a handle makes when it gets there and keeps until it rewinds. */
#include <string.h>

#include "exp/settle.h"
#include "fs.h"
#include "gate.h"
#include "view.h"

#define DOTS 2

struct dir {
	pthread_mutex_t lock; /* of what follows */
	uint64_t end; /* entries younger than the beginning of the listing are not in it:
	               * renaming what is listed would else never come to an end */
	struct view_list list;
	bool listed;
};

static struct dir *dir_of(const struct fuse_file_info *fi)
{
	return (struct dir *)(uintptr_t)fi->fh;
}

static void dir_free(struct dir *d)
{
	view_list_free(&d->list);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

void fs_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct dir *d = calloc(1, sizeof(*d));

	if (!d) {
		fs_reply_err(req, -ENOMEM);
		return;
	}
	pthread_mutex_init(&d->lock, NULL);
	d->end = UINT64_MAX >> 1; /* a listing that goes on with a cookie from elsewhere */
	fi->fh = (uintptr_t)d;
	if (fuse_reply_open(req, fi) < 0)
		dir_free(d);
}

void fs_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	dir_free(dir_of(fi));
	fs_reply_err(req, 0);
}

void fs_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	fs_reply_err(req, view_is(ino) ? 0 : settle_dir(fs_of(req)->ex, ino));
}

/* A reply that is being filled. */
struct fill {
	fuse_req_t req;
	struct fs *fs;
	struct dir *dir;
	uint64_t ino;
	bool plus;
	char *buf;
	size_t size, used;
	int error;
};

/* Adds an entry; 1 where it does not fit any more. */
static int add(struct fill *f, const char *name, const struct fuse_entry_param *e, off_t next)
{
	size_t left = f->size - f->used;
	size_t n = f->plus ? fuse_add_direntry_plus(f->req, f->buf + f->used, left, name, e, next) :
			     fuse_add_direntry(f->req, f->buf + f->used, left, name, &e->attr, next);

	if (n > left)
		return 1;
	f->used += n;
	return 0;
}

/* An entry without an inode that the kernel is told of. */
static int add_plain(struct fill *f, const char *name, uint64_t ino, mode_t mode, off_t next)
{
	struct fuse_entry_param e = { .attr = { .st_ino = ino, .st_mode = mode } };

	return add(f, name, &e, next);
}

static int add_row(void *arg, const struct dirent_row *d, const char *name, const struct inode_row *attr)
{
	struct fill *f = arg;
	off_t next = (off_t)(d->id + DOTS);
	struct inode_row row;
	struct fuse_entry_param e;
	int r;

	if (!f->plus)
		return add_plain(f, name, d->ino, (mode_t)d->type << 12, next);
	row = *attr;
	/* Not for others, or sealed meanwhile: the kernel asks again. */
	if ((row.flags & INODE_MANIFEST) && ((row.flags & INODE_LIVE) || file_in_use(f->fs->ex, row.ino)))
		return add_plain(f, name, d->ino, (mode_t)d->type << 12, next);
	if ((row.flags & INODE_LIVE) && expfs_stat_live(f->fs->ex, &row) < 0)
		return add_plain(f, name, d->ino, (mode_t)d->type << 12, next);
	e = fs_entry(&row);
	r = itable_add(f->fs->inodes, row.ino);
	if (r < 0)
		return r;
	r = add(f, name, &e, next);
	if (r != 0)
		fs_forget(f->fs, row.ino, 1);
	return r;
}

/* What ".." shows; a view shows itself, as the top of a file system does. */
static uint64_t parent_of(struct fs *fs, uint64_t ino)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	_cleanup_free_ char *name = NULL;
	struct dirent_row d;

	if (view_is(ino) || ino == META_ROOT)
		return ino;
	db = meta_reader(fs->ex->meta);
	return dirent_of(db, ino, &d, &name) == 0 ? d.parent : META_ROOT;
}

static int add_dots(struct fill *f, off_t off)
{
	int r = off < 1 ? add_plain(f, ".", f->ino, S_IFDIR, 1) : 0;

	return r != 0 ? r : add_plain(f, "..", parent_of(f->fs, f->ino), S_IFDIR, DOTS);
}

static int add_real(struct fill *f, off_t off)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	uint64_t end;

	pthread_mutex_lock(&f->dir->lock);
	if (off == 0)
		f->dir->end = meta_id(f->fs->ex->meta);
	end = f->dir->end;
	pthread_mutex_unlock(&f->dir->lock);
	db = meta_reader(f->fs->ex->meta);
	return dirent_list(db, f->ino, off < DOTS ? 0 : (uint64_t)off - DOTS, end, f->plus, add_row, f);
}

static int add_views(struct fill *f, int family, off_t off)
{
	struct dir *d = f->dir;
	size_t i = off > VIEW_COOKIE ? (size_t)(off - VIEW_COOKIE) : 0;
	int r = 0;

	scoped_lock(&d->lock);
	if (!d->listed || i == 0) {
		view_list_free(&d->list);
		r = view_list(f->req, f->ino, family, &d->list);
		d->listed = r == 0;
	}
	for (; r == 0 && i < d->list.n; i++)
		r = add_plain(f, d->list.v[i].name, d->list.v[i].ino, d->list.v[i].mode, VIEW_COOKIE + (off_t)i + 1);
	return r;
}

static int fill(struct fill *f, off_t off)
{
	bool real = !view_is(f->ino);
	int r = 0;

	if (off < DOTS)
		r = add_dots(f, off);
	if (r == 0 && real && off < VIEW_COOKIE)
		r = add_real(f, off);
	if (r != 0)
		return r; /* 1: the reply is full */
	r = real ? fs_family_of(f->fs, f->ino) : FAMILY_NONE;
	return r < 0 || (real && r == FAMILY_NONE) ? r : add_views(f, r, off);
}

static int serve(fuse_req_t req, const struct gate_call *c)
{
	_cleanup_free_ char *buf = malloc(c->size);
	struct fill f = { .req = req, .fs = fs_of(req), .dir = dir_of(&c->fi), .ino = c->ino, .plus = c->how, .buf = buf,
			  .size = c->size };
	int r = buf ? fill(&f, c->off) : -ENOMEM;

	/* What was added counts as told, even where the rest failed. */
	if (r < 0 && f.used == 0)
		return r;
	fuse_reply_buf(req, buf, f.used);
	return 0;
}

static void read_dir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi, bool plus)
{
	const struct gate_call c = { .serve = serve, .ino = ino, .size = size, .off = off, .how = plus, .fi = *fi };
	struct fs *fs = fs_of(req);
	int r = 0;

	if (view_is(ino) || fs_family_of(fs, ino) != FAMILY_NONE)
		gate_serve(fs->gate, req, &c);
	else
		r = serve(req, &c);
	if (r < 0)
		fs_reply_err(req, r);
}

void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	read_dir(req, ino, size, off, fi, false);
}

void fs_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	read_dir(req, ino, size, off, fi, true);
}
