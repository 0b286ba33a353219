/* Which directories are runs, and what roles paths so have, by the configuration alone (spec sections 1 and 4).
 *
 * A path is one in the mount, as of exp/path.h. */
#ifndef EXPFS_RUN_H
#define EXPFS_RUN_H

#include "exp/config.h"

bool run_is(const struct config *c, const char *path);

/* Length of the path of the deepest run above path (0: the top). */
size_t run_prefix(const struct config *c, const char *path);

/* The role of what stands at a path whose part from base on is relative to its run; of any path. */
enum role run_role_below(const struct config *c, const char *path, size_t base, bool is_dir);
enum role run_role(const struct config *c, const char *path, bool is_dir);

#endif
