/* What waits in the tables for work in the background, counted. */
#ifndef EXPFS_META_WAITING_H
#define EXPFS_META_WAITING_H

#include "meta/meta.h"

struct waiting {
	uint64_t unjudged; /* checkpoints that changed since somebody looked (tracked.changed) */
	uint64_t due;      /* versions of which it is to be found out what experiment they belong to */
	uint64_t moved;    /* directories that are to be tracked anew, and removed runs */
	uint64_t events;   /* versions in experiment roots that nobody read yet */
	uint64_t unread;   /* checkpoints whose weights are to be read */
	uint64_t unsynced; /* contents that are to be synced: sealed ones, and live ones that are in their first writing */
};

int waiting_count(struct db *db, struct waiting *ret);

#endif
