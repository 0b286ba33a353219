/* What status says, for who asks. */
#ifndef EXPFS_OP_STATUS_H
#define EXPFS_OP_STATUS_H

#include <jansson.h>

#include "exp/cred.h"
#include "exp/expfs.h"

/* Of the directory at path, one of the room exp. cred: he is told of runs that he could find by himself and may
 * look into; NULL: of all. 0 or -errno. */
int status_json(struct expfs *ex, struct cred *cred, const char *path, json_t **ret);

#endif
