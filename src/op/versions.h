/* The path whose versions an operation is about. */
#ifndef EXPFS_OP_VERSIONS_H
#define EXPFS_OP_VERSIONS_H

#include "exp/history.h"
#include "op/op.h"

/* Takes the path out of the arguments, to be freed, and loads its history; else *ret is set, as by
 * reply_error(). */
enum op_exit versions_load(struct expfs *ex, const json_t *args, char **ret_path, struct history *ret_history,
			   json_t **ret);

#endif
