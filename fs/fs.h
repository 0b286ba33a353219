/* The FUSE side of one mount: what its handlers share.
 *
 * A handler replies to its request exactly once. Handlers run in several
 * threads; what one file's content needs is ordered by exp/file.h, what names
 * and attributes need by the database's transactions. Nothing here notifies the
 * kernel from a handler.
 *
 * Node ids below VIEW_BIT are inodes, the rest are views (view.h). */
#ifndef EXPFS_FS_H
#define EXPFS_FS_H

#include "config.h"

#include <fuse_lowlevel.h>

#include "exp/expfs.h"
#include "exp/file.h"
#include "itable.h"
#include "meta/dirent.h"
#include "meta/inode.h"

#define FS_TIMEOUT 3600.0 /* nothing changes but through this mount */
#define FS_NAME_MAX 255
#define FS_DOT ".expfs"

/* The top's directories in which views stand beside what users made. */
enum fs_family { FAMILY_NONE, FAMILY_BRANCHES, FAMILY_EXPERIMENTS, FAMILY_MODELS, FAMILY_HP, FAMILY_DATA, FAMILIES };

struct gate;
struct handle;
struct notifier;
struct session_options;
struct view_kept;
struct view_table;

struct fs {
	struct expfs *ex;
	const struct session_options *options;
	struct fuse_session *session;
	struct itable *inodes;
	struct view_table *views;
	struct view_kept *kept;
	struct gate *gate;
	pthread_mutex_t handles_lock;
	struct handle *handles; /* open ones: file.c */
	_Atomic uint64_t family[FAMILIES]; /* see fs_family_of() */
	struct notifier *notifier;
	atomic_uint loads;            /* that writes to HEAD make now */
	atomic_bool has_capabilities; /* any file has a security.capability */
};

static inline struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* Replies with a negative errno. */
static inline void fs_reply_err(fuse_req_t req, int r)
{
	fuse_reply_err(req, -r);
}

/* 0, or why a name cannot be given to something new or taken from something. */
int fs_check_name(const char *name);

/* The attributes of an inode; those of a MANIFEST file are not to be kept, for they depend on who asks and
 * on who writes it. */
int fs_get_row(struct fs *fs, uint64_t ino, struct inode_row *ret);
double fs_attr_timeout(const struct inode_row *row);

/* file.c: with the size that it has for the holder of a handle. */
int fs_get_row_by_handle(struct fs *fs, uint64_t ino, struct fuse_file_info *fi, struct inode_row *ret);

/* An entry of a real inode; the kernel knows it once more when it got it. */
struct fuse_entry_param fs_entry(const struct inode_row *row);
void fs_reply_entry(fuse_req_t req, const struct inode_row *row);

/* An inode lost its last name. */
void fs_unlinked(struct fs *fs, uint64_t ino);

/* The kernel was told of an inode fewer times. */
void fs_forget(struct fs *fs, uint64_t ino, uint64_t n);

/* name.c: which of the top's directories is it? -errno where that cannot be found out. */
int fs_family_of(struct fs *fs, uint64_t ino);
void fs_forget_families(struct fs *fs); /* at the beginning, and after a change at the top */

/* The handlers, by file. */
/* attr.c */
void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int valid, struct fuse_file_info *fi);
void fs_readlink(fuse_req_t req, fuse_ino_t ino);
void fs_statfs(fuse_req_t req, fuse_ino_t ino);
/* dir.c */
void fs_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void fs_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void fs_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
/* file.c */
void fs_drop_handles(struct fs *fs); /* at the end: those that nobody will release */
void fs_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi);
#ifdef HAVE_STRUCT_FUSE_LOWLEVEL_OPS_TMPFILE
void fs_tmpfile(fuse_req_t req, fuse_ino_t parent, mode_t mode, struct fuse_file_info *fi);
#endif
void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi);
void fs_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off, struct fuse_file_info *fi);
void fs_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi);
void fs_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t len, struct fuse_file_info *fi);
void fs_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi);
void fs_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in, struct fuse_file_info *fi_in,
			fuse_ino_t ino_out, off_t off_out, struct fuse_file_info *fi_out, size_t len, int flags);
/* name.c */
void fs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void fs_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev);
void fs_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void fs_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name);
void fs_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name);
void fs_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void fs_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void fs_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent, const char *newname,
	       unsigned int flags);
void fs_forget_one(fuse_req_t req, fuse_ino_t ino, uint64_t n);
void fs_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets);
/* xattr.c */
void fs_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags);
void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size);
void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size);
void fs_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name);

/* Making an inode: name.c, for file.c too. */
struct fs_make {
	struct fs *fs;
	uint64_t parent;
	const char *name;   /* NULL: an unnamed one (O_TMPFILE) */
	uint32_t mode;
	uint64_t rdev;
	const char *target; /* of a symbolic link */
	uint32_t uid, gid;
	uint64_t object;    /* id of a new live object, 0: none */
	struct inode_row row; /* of what was made; its number can be given */
};
int fs_make(fuse_req_t req, struct fs_make *m);

#endif
