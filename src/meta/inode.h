/* Rows of the table inode. See schema.c for what each column means. */
#ifndef EXPFS_META_INODE_H
#define EXPFS_META_INODE_H

#include <sys/stat.h>

#include "meta/meta.h"

/* A file: its last writer closed it and nobody wrote since. A directory: it was
 * found to be a complete checkpoint, and none of its entries changed since; its
 * order is then that of its newest file. */
#define INODE_CLOSED 1
#define INODE_IMPORTED 2 /* given a time before its birth here: a copy of something older */
#define INODE_LIVE 4     /* its object is live: size, blocks, mtime are the backing file's */
#define INODE_MANIFEST 8 /* one of its names had the role MANIFEST when its writer had closed it */
#define INODE_COPIED 16  /* its object came whole from another file, by copy_file_range(2) */

struct inode_row {
	uint64_t ino;
	uint32_t mode, nlink, uid, gid;
	uint64_t rdev;
	uint64_t size, blocks;
	int64_t atime, mtime, ctime, btime; /* ns since 1970 */
	uint64_t object;                    /* 0: none */
	uint64_t order;
	uint32_t flags;
	uint64_t begin; /* number of the change that began its content anew, of a file; 0: not known */
};

/* target is NUL-terminated, of a symbolic link only, else NULL. */
int inode_insert(struct db *db, const struct inode_row *row, const char *target);
int inode_get(struct db *db, uint64_t ino, struct inode_row *ret); /* -ESTALE: no such row */
int inode_update(struct db *db, const struct inode_row *row); /* all but ino, rdev, btime, object, INODE_MANIFEST */
int inode_set_object(struct db *db, uint64_t ino, uint64_t object);
int inode_set_manifest(struct db *db, uint64_t ino);

/* Sets mtime and ctime of a directory whose entries changed, and adds to its
 * link count; the
 * directory is not known to be complete any more. */
int inode_touch_dir(struct db *db, uint64_t ino, int64_t now, int nlink_delta);

int inode_target(struct db *db, uint64_t ino, char **ret); /* to be freed */
int inode_delete(struct db *db, uint64_t ino);             /* with its xattrs */

/* Up to max inodes without a name and greater than after; the count. */
int inode_unlinked(struct db *db, uint64_t after, uint64_t *ret, int max);

int inode_count(struct db *db, uint64_t *ret);

/* The form that system calls want; size and times as they stand in the row. */
void inode_stat(const struct inode_row *row, struct stat *ret);

#endif
