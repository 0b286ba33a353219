/* Whose curves lie at and below a directory: the runs and experiment roots there, each with the files that tell its
 * curves. A file belongs to the deepest of them above it; one that lies above them all belongs to the directory itself.
 * Who asks sees those that he could find by himself; NULL: all. */
#ifndef EXPFS_CURVE_ROOTS_H
#define EXPFS_CURVE_ROOTS_H

#include "exp/cred.h"
#include "exp/signal.h"

struct curve_root {
	char *path;
	uint64_t run; /* whose recorded values are its own: tracked path, 0: none's */
	struct signal_paths files;
};

struct curve_roots {
	struct curve_root *v; /* by path */
	size_t n;
};

/* dir: a path. Those without any file, or recorded value, are among them. */
int curve_roots_below(struct expfs *ex, struct cred *cred, const char *dir, struct curve_roots *ret);
void curve_roots_free(struct curve_roots *l);
#define _cleanup_curve_roots_ _cleanup_(curve_roots_free)

#endif
