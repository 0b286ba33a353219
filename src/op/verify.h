/* What verify and select have in common. */
#ifndef EXPFS_OP_VERIFY_H
#define EXPFS_OP_VERIFY_H

#include "exp/verify.h"
#include "op/op.h"
#include "op/versions.h"

/* The version that {"path"} holds and nobody writes, complete or not, or which {"path", "n"}, {"hash", "step"} or {"selection"}
 * name. The path is to be freed. */
enum op_exit verify_candidate(struct expfs *ex, const json_t *args, char **ret_path, struct version_row *v,
			      struct versions_selection *ret_selection, json_t **ret);

/* Holds v->candidate against what {"path", "n"}, {"hash", "step"}, {"selection"} or {"file"} in {"against"} name (nothing: its
 * label). The answer is that of verify (op/op.h). */
enum op_exit verify_run(struct expfs *ex, const struct op_caller *caller, const char *path, const json_t *args, struct verify *v,
			json_t **ret);

#endif
