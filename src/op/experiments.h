/* Experiments as JSON, for commands and for the files that show the same in views. */
#ifndef EXPFS_OP_EXPERIMENTS_H
#define EXPFS_OP_EXPERIMENTS_H

#include "exp/branch_line.h"
#include "op/op.h"

/* Who asks, and for which branches: of others nothing is named. */
struct experiments {
	struct expfs *ex;
	struct cred *cred;
	const struct branch *branches;
	size_t n;
};

/* {"branches": [{"name", "run": path or null if it was removed, "head": hash or null, "pending": {"components": [name], "hash": that they would give
 * or null}}], "experiments": [as of experiments_entry(), with "branches": [name] that went through it, "head_of":
 * [name]]}, the one that a branch came to last first. Its steps and latest are those of the checkpoints of these branches' own
 * runs, if there are any, and else of all. */
int experiments_log(const struct experiments *e, json_t **ret);

/* {"experiments": [{"hash", "parent", "time", "branches", "steps"}]}, likewise. */
int experiments_lineage(const struct experiments *e, json_t **ret);

/* {"hash", "parent": hash or null, "time", "changed": ["HP" …] against the parent, "hp": [{"key", "from": JSON text
 * or null, "from_type": as of hp_type(), "to", "to_type"}] where both configurations are to be had, "steps": [n], "latest": {"path", "step": n or null, "time"}
 * or null, "labels": [{"path", "text"}] of checkpoints that hold another step's weights, "selections": as of
 * selection_list_experiment() (op/selection.h)}. */
int experiments_entry(struct expfs *ex, struct cred *cred, const struct experiment_row *row, json_t **ret);

/* The pending ones, as text: a line for each component, then the hash; "" where there is none. */
int experiments_pending_text(struct expfs *ex, const struct branch *b, char **ret);

/* The log of one branch as a manifest in WeightsLab's schema; to be freed. */
int experiments_manifest(const json_t *log, char **ret, size_t *ret_len);

/* The log as expfs log prints it; to be freed, NULL where memory is short. */
char *experiments_text(const json_t *log);

extern const char *const experiments_segment[SEGMENTS]; /* their names */

#endif
