/* Rows of the tables root, fork, succession and event: experiment roots in WeightsLab's layout, the
 * branches that are derived of them, and what is still to be read of them.
 *
 * A root is known by the tracked path of its directory checkpoints/, which stands in the column
 * tracked.run of what lies in it, and is the id of its first branch. The others are forks. */
#ifndef EXPFS_META_ROOT_H
#define EXPFS_META_ROOT_H

#include "meta/experiment.h"
#include "meta/line.h"

struct root_row {
	uint64_t id;
	char current[EXPERIMENT_HASH + 1]; /* that its last state file named; "": none did */
	uint64_t guess; /* the point of its lines, made last, before which nothing told where it belongs; 0: something did */
	bool listed;    /* a manifest was read */
};
int root_get(struct db *db, uint64_t id, struct root_row *ret); /* -ENOENT */
int root_insert(struct db *db, uint64_t id);
int root_update(struct db *db, const struct root_row *row);
typedef int (*root_fn)(void *arg, uint64_t id);
int root_list(struct db *db, root_fn f, void *arg);

/* Branches of a root after the first, numbered from 2. */
struct fork_row {
	uint64_t id, root, n;
};
int fork_get(struct db *db, uint64_t id, struct fork_row *ret); /* -ENOENT */
int fork_insert(struct db *db, const struct fork_row *row);
int fork_count(struct db *db, uint64_t root, uint64_t *ret);
typedef int (*fork_fn)(void *arg, const struct fork_row *row);
int fork_list(struct db *db, uint64_t root, fork_fn f, void *arg);

/* 1 if a run (tracked.run) is a root or a fork, 0 if not. */
int root_has(struct db *db, uint64_t run);

/* What the first state file that named a hash, which was no experiment yet, said came before it. */
int succession_put(struct db *db, uint64_t root, const char *hash, const char *previous);
int succession_get(struct db *db, uint64_t root, const char *hash, char ret[EXPERIMENT_HASH + 1]); /* -ENOENT */

/* Versions in a root that nobody read yet; the first of all. */
int event_put(struct db *db, uint64_t version, uint64_t root);
int event_first(struct db *db, uint64_t *ret_version, uint64_t *ret_root); /* -ENOENT */
int event_delete(struct db *db, uint64_t version); /* -ENOENT */

#endif
