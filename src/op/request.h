/* A request as the control socket brings it (fs/control.c), and its answer. */
#ifndef EXPFS_REQUEST_H
#define EXPFS_REQUEST_H

#include "op/op.h"

/* Runs the operation that a line of len bytes asks for, hostile bytes too. The
 * answer, one line with its line break, is to be freed; NULL where memory is short. */
char *request_answer(struct expfs *ex, const struct op_caller *caller, const char *line, size_t len, size_t *ret_len);

#endif
