/* Copying files and trees, holes as holes; a version out of a history view so that it appears whole or not at all. */
#ifndef EXPFS_SYNC_COPY_H
#define EXPFS_SYNC_COPY_H

#include <sys/types.h>

#include "store/digest.h"
#include "util/progress.h"
#include "util/util.h"

/* Copies the file or directory tree from into the directory dir, under a name beside name that has
 * no role (*ret_name, to be freed), and syncs it. mode: of the top, as views show no permission to write;
 * what is below it gets as much of that as it shows of the others. times: keep those of
 * modification. Owners are kept where the process may. On failure nothing is left. */
int copy_beside(const char *from, int dir, const char *name, mode_t mode, bool times, char **ret_name);

/* Copies the first size bytes, holes as holes; run, if not NULL, takes them in. -EIO: there are less. -ECANCELED: stop, if not NULL,
 * said so. */
int copy_content(int from, int to, uint64_t size, struct digest_run *run, bool (*stop)(void));

/* The same, as a part of what p tells of. 1: they could not be read. */
int copy_part(int from, int to, uint64_t size, struct progress *p);

/* Removes a file or a directory tree. */
int copy_remove(int dir, const char *name);

#endif
