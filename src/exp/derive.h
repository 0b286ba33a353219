/* The branches of an experiment root (spec section 2), from what WeightsLab writes, in the order in which it was
 * closed: manifests, state files and weights, of which the names, never the contents, tell the hash.
 *
 * A hash is an experiment once a manifest lists it or weights have it in their name. It continues the branch whose
 * last experiment came before it; it begins a branch of its own where another one did, as after a load of an
 * older state. What came before it is what a state file says of it: of hashes that were pending only, what came
 * before those. State files are written late in a save, so that without a word of one it comes after what the
 * last one named, or else after the last one of the root.
 *
 * Versions wait in the table event until somebody asks. */
#ifndef EXPFS_DERIVE_H
#define EXPFS_DERIVE_H

#include "exp/experiment.h"

/* Reads what was written since the last call, as far as the disk takes it. Not to be called with a lock. */
int root_settle(struct expfs *ex);

/* What the state file names that is no experiment yet, for the branch that it came from; to be settled before. */
int root_pending(struct expfs *ex, uint64_t branch, struct pending *ret);

#endif
