/* Versions whose weights wait to be read: what each holds, and whether that agrees with its label. */
#ifndef EXPFS_WEIGH_H
#define EXPFS_WEIGH_H

#include "exp/weights.h"

/* Reads those of a run or root (0: of all), the oldest first. 0, or the first error of one that is to be tried again;
 * -ECANCELED: as stop says. */
int weigh_waiting(struct expfs *ex, uint64_t run, weights_stop stop, void *arg);

/* The run, or the root, that a version counts for. */
int weigh_run_of(struct db *db, const struct version_row *v, uint64_t *ret);

#endif
