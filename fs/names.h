/* What the operations on names share. */
#ifndef EXPFS_FS_NAMES_H
#define EXPFS_FS_NAMES_H

#include "fs.h"
#include "meta/dirent.h"

/* The argument of a transaction on names. */
struct names {
	struct fs *fs;
	uint64_t ino;
	uint64_t parent, newparent;
	const char *name, *newname;
	unsigned flags;
	bool is_dir;       /* rmdir */
	uint64_t unlinked; /* inode that lost its last name, 0: none */
	uint64_t got_role; /* file whose new name can give it a role, 0: none */
	struct inode_row row;
	uint64_t unsynced; /* the file that SYNC_FIRST or SEAL_FIRST is about */
	uint64_t synced;   /* the one that was synced, or sealed, for it */
	struct file_drop drop;
};

/* What such a transaction gives instead of a change that a power cut could not
 * undo: the file is to be synced, and the transaction tried again. */
#define SYNC_FIRST 1

/* The same: the file is one that is changed in place, and history is to keep what it held. */
#define SEAL_FIRST 2

/* Runs a transaction by expfs_write() or its like, syncs or seals first where it says so, and
 * removes what it dropped. */
int names_write(struct names *n, int (*write)(struct expfs *, meta_fn, void *), meta_fn f);

/* In the transaction: is the inode one to be synced first? */
int names_check_synced(struct db *db, struct names *n, uint64_t ino);

/* The directory that is to get an entry: not one that was removed. */
int names_get_parent(struct db *db, uint64_t ino, struct inode_row *ret);

/* Takes one name from an inode; *ret_unlinked is its number if it was the last. */
int names_drop(struct db *db, uint64_t ino, int64_t now, uint64_t *ret_unlinked);

/* After a change of the entries of a directory. */
void names_changed(struct fs *fs, uint64_t parent);

/* The end of taking a name away: what is seen in branches/ and has no entry is a
 * view, and cannot be. */
void names_reply_taken(fuse_req_t req, int r, uint64_t parent, const char *name, uint64_t unlinked);

#endif
