/* The path whose versions an operation is about. */
#ifndef EXPFS_OP_VERSIONS_H
#define EXPFS_OP_VERSIONS_H

#include "exp/history.h"
#include "op/op.h"

/* Takes the path out of the arguments, to be freed, and loads its history; else *ret is set, as by
 * reply_error(). */
enum op_exit versions_load(struct expfs *ex, const json_t *args, char **ret_path, struct history *ret_history,
			   json_t **ret);

/* The selection that named a version. */
struct versions_selection {
	json_t *head; /* selection_head(), or NULL: none did */
	int64_t step; /* that it was selected under, or NO_STEP */
};
void versions_selection_free(struct versions_selection *s);
#define _cleanup_versions_selection_ _cleanup_(versions_selection_free)

/* Into what an answer tells of the version: {"selection": the head, or null}. */
int versions_selection_put(const struct versions_selection *s, json_t *to);

/* The arguments with the path and number of a version in them, where they name a selection, which goes to *ret_selection, or a
 * path in a view history/; as they are otherwise. Likewise. */
enum op_exit versions_place(struct expfs *ex, const json_t *args, json_t **ret_args, struct versions_selection *ret_selection,
			    json_t **ret);

/* The version that {"path", "n"} names: of number n, or with 0 the last one; of a checkpoint only complete ones; or
 * {"hash", "step"}, or {"selection"} (op/selection.h). Likewise. */
enum op_exit versions_find(struct expfs *ex, const json_t *args, char **ret_path, enum role *ret_role, struct version_row *ret,
			   struct versions_selection *ret_selection, json_t **ret_answer);

#endif
