/* Sealing contents that were left alone: files that are changed in place, such as
 * databases and logs, once nobody has changed them for a minute.
 *
 * Reading them for their digest may take long; it holds no lock meanwhile, and ends
 * when somebody opens the file, or when stop says so. */
#ifndef EXPFS_IDLE_H
#define EXPFS_IDLE_H

#include "exp/expfs.h"

typedef bool (*idle_stop)(void *arg);
void idle_seal(struct expfs *ex, idle_stop stop, void *arg);

#endif
