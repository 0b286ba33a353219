/* The VFS (https://sqlite.org/vfs.html) of the connections: "unix-excl", in a program
 * with fault injection (util/fault.h) behind one whose calls are fault points. */
#ifndef EXPFS_META_FAULT_VFS_H
#define EXPFS_META_FAULT_VFS_H

#include "config.h"

#define DB_VFS "unix-excl"

#ifdef FAULT_INJECTION
const char *fault_vfs(void);
#else
static inline const char *fault_vfs(void)
{
	return DB_VFS;
}
#endif

#endif
