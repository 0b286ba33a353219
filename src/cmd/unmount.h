/* Taking a mount away. */
#ifndef EXPFS_CMD_UNMOUNT_H
#define EXPFS_CMD_UNMOUNT_H

#include "util/util.h"

/* Unmounts what is mounted at an absolute path, by the system call or, where
 * that is not permitted, by fusermount3. lazy: what is in use goes on until it
 * is closed. -EBUSY: in use. With any other failure *ret_reason, to be freed,
 * may be set to the reason that fusermount3 gave. */
int unmount(const char *point, bool lazy, char **ret_reason);

/* The path of fusermount3, to be freed, or NULL: it is not installed. */
char *find_fusermount(void);

#endif
