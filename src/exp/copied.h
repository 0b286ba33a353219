/* Checkpoints that were copied here, and not saved: what their run was at when they came says little of them.
 *
 * A file tells so itself: it came whole from another one by copy_file_range(2), as cp and expfs restore do it, or has a time from
 * before it came, as by cp -a, rsync -a, tar and expfs import. Of a directory the largest file speaks for all. */
#ifndef EXPFS_COPIED_H
#define EXPFS_COPIED_H

#include "meta/tracked.h"
#include "meta/version.h"

/* 1: it was, as far as what the path holds still tells; 0. *ret_experiment: that of the last version of the same path with the
 * same content, which has come back, of the last COPIED_LOOK_BACK ones; 0: none. -errno. */
#define COPIED_LOOK_BACK 1000
int copied_look(struct db *db, const struct tracked_row *t, const struct version_row *v, uint64_t *ret_experiment);

#endif
