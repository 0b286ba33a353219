/* What `expfs mount` shows without arguments. */
#ifndef EXPFS_CMD_MOUNTED_H
#define EXPFS_CMD_MOUNTED_H

#include "op/op.h"

/* Prints the mounts of stores that there are, {"mounts": [{"mount", "store", "options", "state": "healthy", "dead", "hangs",
 * "closed" (to who asks) or "unknown" (there is no process to look), "pid" and "since": of its daemon, or null}]}. OP_NO: there is none. */
enum op_exit mounted_print(bool json);

#endif
