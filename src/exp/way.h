/* Which versions of checkpoints led to a version of a run: those that were begun since the load before, and completed
 * no later; and what led to the one that was loaded then. Functions return 0 or -errno, or what f returned that is not 0. */
#ifndef EXPFS_WAY_H
#define EXPFS_WAY_H

#include "meta/version.h"

/* Those that were begun from that number on, and are of that rank at most, are on the way. */
typedef int (*way_fn)(void *arg, struct db *db, uint64_t from, int64_t rank);

/* Calls f for each stretch of the way to v. Of v only begin and rank count. */
int way_to(struct db *db, uint64_t run, struct version_row v, way_fn f, void *arg);

/* The way to the point at which an experiment began, if that is one of the run's. */
int way_to_experiment(struct db *db, uint64_t run, uint64_t experiment, way_fn f, void *arg);

/* All that is on the line of a run by now. way_free() also after an error. */
struct way {
	struct stretch *v;
	size_t n;
};
int way_load(struct db *db, uint64_t run, struct way *ret);
bool way_has(const struct way *w, uint64_t begin, int64_t rank);
void way_free(struct way *w);

#endif
