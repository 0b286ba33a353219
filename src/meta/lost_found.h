/* /lost+found: the directory in which a repair gives names to what has none. For the
 * files of this room, in one transaction. */
#ifndef EXPFS_META_LOST_FOUND_H
#define EXPFS_META_LOST_FOUND_H

#include "meta/meta.h"

struct lost_found {
	uint64_t ino; /* 0 until it is needed */
};

/* Gives the inode, of a type as in a directory entry, the name "#" and its number. */
int lost_found_add(struct db *db, struct lost_found *l, uint64_t ino, uint8_t type);

/* To be called at the end. */
int lost_found_done(struct db *db, const struct lost_found *l);

#endif
