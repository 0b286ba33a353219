/* Mounting, for the command and for mount(8)'s helper. */
#ifndef EXPFS_CMD_MOUNT_H
#define EXPFS_CMD_MOUNT_H

#include "cmd/cmd.h"

/* Mounts a store; options as after -o, or NULL. Returns when the mount is
 * usable, in the foreground when it has ended. */
enum op_exit mount_store(const char *store, const char *point, const char *options, bool foreground);

#endif
