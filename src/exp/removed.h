/* Runs that were removed: their branches stay (spec section 2).
 *
 * The tracked path of such a run is its own run still, and has the name by which its branch is called: its own until
 * another run takes that, then NAME~1 (exp/track_path.h). Of each of its checkpoints' paths the last complete version
 * counts that it held, whenever it went: the rows are given good, step and rank back, from which the same indexes
 * answer as for any run. This is done in pieces, by track_moved(), for the id of a removed run stands in the table moved
 * among the inodes of directories: numbers are of one sequence.
 *
 * cred: who asks. For him such a run is there if he could walk to it when it was. */
#ifndef EXPFS_REMOVED_H
#define EXPFS_REMOVED_H

#include "exp/cred.h"
#include "exp/expfs.h"
#include "meta/tracked.h"
#include "util/list.h"

/* 1: the number is that of a removed run's tracked path. */
int removed_is_run(struct db *db, uint64_t id);

/* In the transaction that removes the directory of a path that is its own run: if that is a run, its checkpoints are to
 * be given back. What was moved away is none. */
int tx_removed_run(struct expfs *ex, struct db *db, struct tracked_row *t);

/* Gives them back, and takes the removed run out of the table moved. */
int removed_give_back(struct expfs *ex, uint64_t run);

/* The ids of all that he could find, ascending; to be freed. Where he may go through a directory but not list it, he has
 * to know the name: by_listing is false if he does. */
int removed_list(struct expfs *ex, struct cred *cred, bool by_listing, struct id_list *ret);

/* The one at that path, in tracked names; -ENOENT. */
int removed_by_path(struct expfs *ex, const char *path, uint64_t *ret);

#endif
