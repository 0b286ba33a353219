/* What names a version of a checkpoint, or of another file with a role, on the command line: PATH[@N], HASH@STEP, a SELECTION,
 * a file outside of the store. */
#ifndef EXPFS_CMD_OPERAND_H
#define EXPFS_CMD_OPERAND_H

#include "cmd/ask.h"

enum operand {
	OPERAND_HASH = 1, /* HASH@STEP may be given */
	OPERAND_FILE = 2, /* a file outside of the mount, too */
};

/* Puts what an operand names into the arguments to (op/op.h), which may be a->args. The first one also tells the store, in
 * a->target; others have to lie in that. What is wrong was told. */
enum op_exit operand_put(struct ask *a, const char *arg, unsigned kinds, json_t *to);

/* Puts a text that may name a selection into the arguments to, and the working directory, in whose branch that is looked for
 * first, if it lies in the store a->target. -1: it is no UTF-8. */
int operand_put_selection(struct ask *a, const char *text, json_t *to);

/* A new object of the arguments a->args. */
json_t *operand_object(struct ask *a, const char *key);

/* NAME=VALUE taken apart, to be freed; NULL: it is none. Both are in UTF-8. */
char *operand_split(const char *arg, const char **ret_value);

/* The number of a text of digits; -1: it is none. */
json_int_t operand_step(const char *text);

#endif
