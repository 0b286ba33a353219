/* What a new run begins with, where a path says it; and what is said of a step that is not there. For op/load.c. */
#ifndef EXPFS_OP_LOAD_FROM_H
#define EXPFS_OP_LOAD_FROM_H

#include "exp/branch.h"
#include "exp/load.h"
#include "op/op.h"

/* {"path", "n"}: of a checkpoint, or version n of it, which stands for its experiment and step; of a run, or the view of a branch,
 * for where that is; of the view of an experiment. Sets name and from of *ret_load. */
enum op_exit load_from_path(struct expfs *ex, const json_t *args, struct load *ret_load, json_t **ret);

/* Why BRANCH or BRANCH@STEP is no state, with the steps that there are. */
enum op_exit load_from_say_none(struct expfs *ex, const char *text, json_t **ret);

#endif
