/* How the versions of runs stand by the metrics of the configuration: their metrics and curves, read and ranked.
 *
 * What was found out of a run is kept in memory until one of its checkpoints or curves changes. Not to be called
 * with a lock or a reader: others wait here for files to be read. */
#ifndef EXPFS_STANDINGS_H
#define EXPFS_STANDINGS_H

#include "exp/expfs.h"
#include "exp/ranking.h"

struct standings;
int standings_new(struct standings **ret);
void standings_free(struct standings *all);

/* Calls f, with the lock of standings, with the ranking of a run (its tracked path), which it may note in what it found
 * out itself, and the configuration by whose metrics it is; returns what it does. */
typedef int (*standing_fn)(void *arg, struct ranking *ranking, const struct config *by);
int standings_look(struct expfs *ex, uint64_t run, standing_fn f, void *arg);

#endif
