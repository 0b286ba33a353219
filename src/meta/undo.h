/* Rows of the table undo: for an inode whose content is not known to be on the
 * disk, the content that it had before. What they are for is in exp/undo.h. */
#ifndef EXPFS_META_UNDO_H
#define EXPFS_META_UNDO_H

#include "meta/meta.h"

struct undo_row {
	uint64_t ino;
	uint64_t old; /* object, 0: it was empty */
};

int undo_get(struct db *db, uint64_t ino, struct undo_row *ret); /* 1; 0: no row */
int undo_put(struct db *db, uint64_t ino, uint64_t old);         /* instead of what is there */
int undo_delete(struct db *db, uint64_t ino);

/* Up to max rows of inodes above after, with a name in dir (0: anywhere): those that
 * are of no use any more, for what the inode has now is on the disk. The count. */
int undo_list_settled(struct db *db, uint64_t dir, uint64_t after, struct undo_row *ret, int max);

#endif
