/* Versions whose weights wait to be read: what each holds, and whether that agrees with its label. */
#ifndef EXPFS_WEIGH_H
#define EXPFS_WEIGH_H

#include "exp/weights.h"

/* Reads those of a run or root (0: of all), the oldest first. 0, or the first error of one that is to be tried again;
 * -ECANCELED: as stop says. */
int weigh_waiting(struct expfs *ex, uint64_t run, weights_stop stop, void *arg);

/* Reads that one, whether it waits or not; errors as above. */
int weigh_version(struct expfs *ex, uint64_t version, weights_stop stop, void *arg);

/* All of them; but after one of a number below old it rests as long as that took, and the kernel lets go of what it has
 * cached of such a one, unless somebody has it open. */
int weigh_at_leisure(struct expfs *ex, uint64_t old, weights_stop stop, void *arg);

/* The calling thread takes processor and disk only when nobody else wants them. */
void weigh_give_way(void);

/* The run, or the root, that a version counts for. */
int weigh_run_of(struct db *db, const struct version_row *v, uint64_t *ret);

#endif
