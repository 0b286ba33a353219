/* Which checkpoint versions of a run have which metrics, the best first. Pure: no I/O.
 *
 * A value that was measured at some step (a row of a curve) speaks for the first checkpoint at or after
 * that step, whether it is still there or not; of several, the last counts. So one that was measured
 * between two checkpoints is never taken for one of the older, and one that was saved without a
 * measurement has no value. A row that has an epoch and no step speaks for the checkpoint of just that number, for
 * who counts steps has none of it. What belongs to the version itself goes before curves. NaN is no value.
 *
 * Calling order: ranking_add_version() for all versions that the run ever had; ranking_add_own() right after
 * that of its version; ranking_begin(); ranking_add_curve(), ranking_add_epoch() for the rows of curves; ranking_end(). */
#ifndef EXPFS_RANKING_H
#define EXPFS_RANKING_H

#include "meta/metric.h"

struct ranked {
	uint64_t tracked, parent, version, experiment;
	int64_t step, rank;
	int complete; /* as of struct version_row */
	bool off;     /* the line of its branch */
	bool named;   /* its name has the step */
};

struct ranking;
int ranking_new(int choices, bool highest, struct ranking **ret);
void ranking_free(struct ranking *k);
size_t ranking_size(const struct ranking *k); /* bytes of memory */

/* may_win: it is one of those that are ranked, else only its step counts. */
int ranking_add_version(struct ranking *k, const struct ranked *v, bool may_win);
int ranking_add_own(struct ranking *k, int choice, int64_t at, double value); /* of the last one added; at: a step, or METRIC_SET */

/* Takes away the versions from the n-th on; how many there are. */
size_t ranking_count(const struct ranking *k);
void ranking_cut(struct ranking *k, size_t n);

int ranking_begin(struct ranking *k);
void ranking_add_curve(struct ranking *k, int choice, int64_t step, double value);
void ranking_add_epoch(struct ranking *k, int choice, int64_t epoch, double value);
int ranking_end(struct ranking *k);

/* The i-th best of those that have the metric, from 0; NULL: there are not so many. */
struct ranked *ranking_at(struct ranking *k, int choice, size_t i, double *ret_value);

/* Is a, with that value, better than b? Of two as good the higher step, then one whose name has it, then the later one. */
bool ranking_is_better(bool highest, const struct ranked *a, double va, const struct ranked *b, double vb);

#endif
