/* How many rows of a kind a run has. */
#ifndef EXPFS_META_COUNTS_H
#define EXPFS_META_COUNTS_H

#include "meta/meta.h"

/* Checkpoints of a run that are complete and on its line, or are there and not known to be complete as they are, by
 * directory: n, and the tracked path of one of them. */
typedef int (*checkpoints_fn)(void *arg, uint64_t one, uint64_t n);
int count_checkpoints(struct db *db, uint64_t run, bool complete, checkpoints_fn f, void *arg);

/* How many experiments there are on the line of a run. */
int count_experiments(struct db *db, uint64_t run, uint64_t *ret);

#endif
