/* What is said of a path that lies in no mount. */
#ifndef EXPFS_CMD_OUTSIDE_H
#define EXPFS_CMD_OUTSIDE_H

#include "cmd/place.h"

/* p: what of the path is there. by_store: the command takes --store, too. What the path is, if it can be told: in a store, in a
 * directory on which nothing is mounted; else false, and nothing was said. */
bool outside_say(const struct place *p, const char *path, bool by_store);

#endif
