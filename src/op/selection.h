/* Selections in the arguments and answers of operations (exp/selection.h). */
#ifndef EXPFS_OP_SELECTION_H
#define EXPFS_OP_SELECTION_H

#include "exp/selection.h"
#include "op/op.h"

/* The selection that {"selection": text, "near": {"path": the working directory, where it is in the store}} names; *ret_is: it
 * does. Where there is a path, too, that counts if it is there and has a version, or no selection is. OP_NO: there is none,
 * or several; *ret says so. */
enum op_exit selection_named(struct expfs *ex, const json_t *args, struct ledger_row *row, bool *ret_is, json_t **ret);

/* Says why selection_find() found none. */
enum op_exit selection_say_none(struct expfs *ex, int r, const char *text, const char *near, const char *names, json_t **ret);

/* The same arguments for who stands beside a path. */
json_t *selection_args_beside(const json_t *args, const char *path);

/* {"selection": sel-NUMBER, "name", "branch", "current": bool}, by which an answer tells which selection was meant. */
int selection_head(struct expfs *ex, const struct ledger_row *row, json_t **ret);

/* The same with {"path", "version": n, "held": the store has that version, "found": path where it is read, or null,
 * "label": what is wrong with its label or null (op/labels.h), "step", "metric": {"name", "value"}, "selected_at",
 * "captured_at", "completed_at", "capture", "sha256", "model", "tensors", "experiment", "source", "software": {name:
 * version}}, each null where it is not known. */
int selection_json(struct expfs *ex, const struct ledger_row *row, json_t **ret);

/* The same with "decisions": [{"decision", "by", "note", "time"}]; and a list of the other selections of its name, those
 * that were superseded or the one that counts. */
int selection_ledger(struct expfs *ex, const struct ledger_row *row, json_t **ret, json_t **ret_others);

/* That which had the name before it, or null. */
int selection_superseded(struct expfs *ex, const struct ledger_row *row, json_t **ret);

/* Of a version, or of all versions of a path: [{"selection", "name", "branch", "version": n, "current"}]. */
int selection_list_of(struct expfs *ex, const struct version_row *v, json_t *list);

/* The same, with "path", of those that count and have checkpoints of an experiment, where who asks could find these. */
struct cred;
int selection_list_experiment(struct expfs *ex, struct cred *cred, uint64_t experiment, json_t *list);

/* All that count, up to SELECTIONS_MAX, in the order in which they were made: as of selection_json(), with "decisions" as of
 * selection_ledger(); where who asks could find the checkpoint, and "label" only where he may read it. */
#define SELECTIONS_MAX 1000
int selection_list_all(struct expfs *ex, struct cred *cred, json_t *list);

/* The step of its record; -1: none. */
int64_t selection_step(const struct ledger_row *row);

/* Why nothing could be added to the ledger. */
const char *selection_put_fault(int r);

#endif
