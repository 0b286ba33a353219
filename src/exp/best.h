/* The best checkpoint of a set by a metric (spec sections 6 and 11).
 *
 * The first metric of best.metric that any of the set has decides, and who does not have it takes no part: values
 * of different metrics are never compared. Those that take part are the complete versions of checkpoints whose path
 * is there, so that an overwritten one may be the best, in history. Where values come from: exp/metric.h,
 * exp/signal.h; for which checkpoint they speak: exp/ranking.h.
 *
 * How the versions of a run stand is kept in memory (exp/standings.h). Not to be called with a lock or a reader. */
#ifndef EXPFS_BEST_H
#define EXPFS_BEST_H

#include "exp/checkpoint.h"

struct best {
	struct checkpoint checkpoint; /* to be freed */
	const char *metric;           /* of the configuration */
	double value;
};

/* -ENOENT: none has a metric. */
int checkpoint_best(const struct checkpoint_set *s, struct best *ret);

#endif
