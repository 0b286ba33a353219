/* Operations on a store: by its daemon while it is mounted, here otherwise. */
#ifndef EXPFS_CMD_CLIENT_H
#define EXPFS_CMD_CLIENT_H

#include "op/op.h"

/* Runs an operation. A failure (OP_USAGE, OP_FAILED) has been told on standard
 * error, and *ret is not set; else it is a new reference. */
enum op_exit client_run(const char *store, const char *op, const json_t *args, json_t **ret);

/* A connection to the daemon of a store; -ENOENT, -ECONNREFUSED: there is none. */
int client_connect(const char *store);

/* The process at the other end of one, 0: not known. */
pid_t client_daemon(int sock);

#endif
