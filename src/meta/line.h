/* Rows of the table line: through which experiments a run, or a branch of an experiment root, went, and in which
 * order. */
#ifndef EXPFS_META_LINE_H
#define EXPFS_META_LINE_H

#include "meta/meta.h"

/* A point of a run's line: from the commit of number at on it was in that state. at orders the line; a checkpoint
 * that began before an edit and completed after the next one stands behind that. */
#define LINE_LOADED 1  /* the state was loaded: what was on the line before does not count for what comes */
#define LINE_WEIGHTS 2 /* the MODEL is the structure of weights, not the content of files */
struct line_row {
	uint64_t id;         /* number of the commit that made the row */
	uint64_t run;        /* tracked path */
	uint64_t experiment;
	uint64_t version;    /* the checkpoint that committed it, 0: none did */
	uint64_t init_step;  /* the step at which the branch was initialised, for the MODEL of what comes */
	uint64_t at;
	unsigned flags;
};
int line_insert(struct db *db, const struct line_row *row);
int line_last(struct db *db, uint64_t run, struct line_row *ret); /* -ENOENT */
typedef int (*line_fn)(void *arg, const struct line_row *row);
int line_list(struct db *db, uint64_t run, line_fn f, void *arg); /* in its order */
int line_list_of(struct db *db, uint64_t experiment, line_fn f, void *arg); /* of all runs, the first one first */

/* The last point of a run up to number at, the first one after it; the last at which a version counted that was
 * there from the one to before the other number (0: still is); the first one of an experiment. -ENOENT. */
int line_at(struct db *db, uint64_t run, uint64_t at, struct line_row *ret);
int line_after(struct db *db, uint64_t run, uint64_t at, struct line_row *ret);
int line_between(struct db *db, uint64_t run, uint64_t from, uint64_t until, struct line_row *ret);
int line_of_experiment(struct db *db, uint64_t experiment, struct line_row *ret);

/* The point before one on its own line; -ENOENT. */
int line_before(struct db *db, const struct line_row *line, struct line_row *ret);

/* The last load before that number; -ENOENT. */
int line_load_before(struct db *db, uint64_t run, uint64_t before, struct line_row *ret);

/* 1 if the run was in the state between its last load up to number at, and at. */
int line_has(struct db *db, uint64_t run, uint64_t experiment, uint64_t at);

/* 1 if the version made a point of a line. */
int line_has_version(struct db *db, uint64_t version);

/* The runs on whose lines an experiment is, each once. */
typedef int (*line_run_fn)(void *arg, uint64_t run);
int line_list_runs(struct db *db, uint64_t experiment, line_run_fn f, void *arg);

/* A point of a line is another branch's of the same root; so are the checkpoints of its experiment, of run. */
int line_move(struct db *db, uint64_t id, uint64_t run);
int line_move_checkpoints(struct db *db, const struct line_row *line, uint64_t run);

/* The point of a root's lines at which an experiment came in; the last of all. -ENOENT */
int root_line_of(struct db *db, uint64_t root, uint64_t experiment, struct line_row *ret);
int root_line_last(struct db *db, uint64_t root, struct line_row *ret);

/* Calls f for the experiments of a root in the order in which they came in. */
typedef int (*root_experiment_fn)(void *arg, uint64_t experiment);
int root_list_experiments(struct db *db, uint64_t root, root_experiment_fn f, void *arg);

/* A root has no lines and forks any more; its experiments that are on no other line have no parents. */
int root_forget_lines(struct db *db, uint64_t root);

#endif
