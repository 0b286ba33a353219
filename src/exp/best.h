/* The best checkpoint of a set: that which was selected under this name (exp/nominee.h), or else the best by a metric (spec
 * sections 6 and 11).
 *
 * The first metric of best.metric that any of the set has decides, and who does not have it takes no part: values
 * of different metrics are never compared. Those that take part are the complete versions of checkpoints whose path
 * is there, so that an overwritten one may be the best, in history. Where values come from: exp/metric.h,
 * exp/signal.h; for which checkpoint they speak: exp/ranking.h.
 *
 * How the versions of a run stand is kept in memory (exp/standings.h). Not to be called with a lock or a reader. */
#ifndef EXPFS_BEST_H
#define EXPFS_BEST_H

#include "exp/nominee.h"

struct best {
	struct checkpoint checkpoint;
	struct ledger_row selection; /* that it is by; its id is 0 where it is by the metric */
	const char *metric;          /* of the configuration */
	double value;
};
void best_free(struct best *b);
#define _cleanup_best_ _cleanup_(best_free)

/* *ret is to be freed. -ENOENT: none was selected, and none has a metric; or *ret has the selection, and what was selected
 * is lost. */
int checkpoint_best(const struct checkpoint_set *s, struct best *ret);

#endif
