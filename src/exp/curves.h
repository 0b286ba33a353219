/* All curves of a run, or of several runs and roots, to be shown: what their files and the values recorded for them
 * (exp/signal.h) say, each step of a curve once for each of them. */
#ifndef EXPFS_CURVES_H
#define EXPFS_CURVES_H

#include "exp/curve_roots.h"

#define CURVES_ROWS_MAX (1u << 20) /* that are collected */

struct curves_row {
	const char *name; /* the same pointer for the same curve */
	int64_t step;
	size_t root; /* which of those that were asked for */
	double value;
	uint64_t number; /* in the order in which they were read */
};

struct curves {
	struct curves_row *v; /* by name, step and root */
	size_t n;
	char **names;
	size_t n_names;
};

/* run: its tracked path. only: the curve that is wanted, or NULL. -E2BIG: more than CURVES_ROWS_MAX rows. */
int curves_load_all(struct expfs *ex, const struct curve_roots *roots, const char *only, struct curves *ret);
int curves_load(struct expfs *ex, uint64_t run, const char *only, struct curves *ret);
void curves_free(struct curves *c);
#define _cleanup_curves_ _cleanup_(curves_free)

#endif
