/* What a branch went through (exp/experiment.h). One that is an experiment root and a run, as main where both lie at the
 * top, has the lines of both: what the root's program says of itself, and what lies in the run's own files. Its head
 * is where either came last; what is pending, committed and loaded is the run's. Functions return 0 or -errno; none is to
 * be called with a lock. */
#ifndef EXPFS_BRANCH_LINE_H
#define EXPFS_BRANCH_LINE_H

#include "exp/branch.h"
#include "exp/experiment.h"

int branch_settle(struct expfs *ex, const struct branch *b);

/* -ENOENT: none yet. */
int branch_head(struct expfs *ex, const struct branch *b, struct experiment_head *ret);

/* Where the run has nothing pending what is with the root's program. */
int branch_pending(struct expfs *ex, const struct branch *b, struct pending *ret);

/* Calls f for the points of the lines, one line after the other. */
int branch_list_lines(struct expfs *ex, const struct branch *b, line_fn f, void *arg);

#endif
