/* The checkpoint that somebody selected under the name "best" (spec sections 6 and 7), as that of a set.
 *
 * A selection speaks for its branch, and for each directory, experiment or model of which the selected checkpoint is one;
 * where several branches have selected one of these, that which was selected last counts. It is the version that was
 * frozen, whatever its path holds by now. What who asks may not look into is passed over. */
#ifndef EXPFS_NOMINEE_H
#define EXPFS_NOMINEE_H

#include "exp/checkpoint.h"
#include "meta/ledger.h"

#define NOMINEE "best"

/* 1: there is one, and *ret_selection is by what; 0: there is none. -ENOENT: *ret_selection is that of the branch, and the
 * version lost, as by damage; no other is put in its place. Both to be freed. Not to be called with a reader. */
int nominee_of(const struct checkpoint_set *s, struct ledger_row *ret_selection, struct checkpoint *ret);

#endif
