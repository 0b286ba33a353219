/* The path whose versions an operation is about. */
#ifndef EXPFS_OP_VERSIONS_H
#define EXPFS_OP_VERSIONS_H

#include "exp/history.h"
#include "op/op.h"

/* Takes the path out of the arguments, to be freed, and loads its history; else *ret is set, as by
 * reply_error(). */
enum op_exit versions_load(struct expfs *ex, const json_t *args, char **ret_path, struct history *ret_history,
			   json_t **ret);

/* The arguments with the path and number of a version in them, where they name a selection, of which *ret_step is the step
 * (else NO_STEP), or a path in a view history/; as they are otherwise. Likewise. */
enum op_exit versions_place(struct expfs *ex, const json_t *args, json_t **ret_args, int64_t *ret_step, json_t **ret);

/* The version that {"path", "n"} names: of number n, or with 0 the last one; of a checkpoint only complete ones; or
 * {"hash", "step"}, or {"selection"} (op/selection.h). Likewise. */
enum op_exit versions_find(struct expfs *ex, const json_t *args, char **ret_path, enum role *ret_role,
			   struct version_row *ret, json_t **ret_answer);

#endif
