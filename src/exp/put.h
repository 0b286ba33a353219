/* Putting contents of versions under names of the tree, in a transaction of the caller's.
 *
 * No byte is copied: a new inode gets the content, and what stood under the name loses that, as if the new one had
 * been renamed over it. So who has the old one open, or by another name, keeps it. What was there must be
 * in history, and in no one's hands:
 *
 *   -EBUSY             put->ino is open to write
 *   -EAGAIN            contents are not what they were
 *   -EACCES, -EPERM    who asks may not do it, by the rules of rename(2) and unlink(2)
 *   -EISDIR, -ENOTDIR, -EEXIST  something of another type stands there
 *
 * and put->path tells where. All but the results are set by the caller, who asks cred_ask() before. */
#ifndef EXPFS_PUT_H
#define EXPFS_PUT_H

#include "exp/cred.h"
#include "exp/expfs.h"
#include "exp/file.h"
#include "meta/version.h"
#include "util/list.h"

struct put {
	struct expfs *ex;
	struct cred *cred; /* who asks; NULL: the owner of the store, who gives all things the owners that they had */
	struct id_list sealed; /* as far as they can be */

	char *path; /* of the last error, below the directory base */
	uint64_t ino;
	struct expfs_change *changes;
	size_t n;
	struct id_list unsealed;
	struct file_drop drop;
};
void put_begin(struct put *p); /* of the transaction: which may be run again */
void put_free(struct put *p);

/* Before the end of the transaction: -EAGAIN where files are to be sealed first. That is done by put_seal(), outside
 * of it. */
int put_check_sealed(const struct put *p);
void put_seal(struct put *p);

/* A file that is to be. Owner, mode, time and, of a checkpoint, rank are those of its version. Directories above it
 * that are not there are made as those above the tracked path are, or were. */
struct put_file {
	char *path; /* below the directory base */
	uint64_t tracked; /* path that it had, or the checkpoint directory in which it was */
	unsigned depth;   /* components of path to there */
	uint64_t object, size, blocks;
	uint32_t mode, uid, gid;
	int64_t mtime, rank;
	uint64_t begin;
};

int put_file_compare(const void *a, const void *b); /* by path, for qsort() */
const struct put_file *put_file_find(const struct put_file *files, size_t n, const char *path); /* in that order; NULL */

/* Where it stands now. */
struct put_place {
	uint64_t dir, ino;
	bool changed; /* it was not there, as it is */
};
int tx_put_file(struct put *p, struct db *db, uint64_t base, const struct put_file *f, struct put_place *ret);
int tx_put_gone(struct put *p, struct db *db, uint64_t base, const char *path);

/* A directory that is to have exactly these files, by path, and is like v; what is no regular file stays. */
int tx_put_dir(struct put *p, struct db *db, uint64_t base, const char *path, const struct version_row *v,
	       const struct put_file *files, size_t n, struct put_place *ret);

/* Makes a directory that is not there, of an owner. -EEXIST. */
int tx_put_new_dir(struct put *p, struct db *db, uint64_t base, const char *name, uint32_t uid, uint32_t gid,
		   uint64_t *ret_ino);

#endif
