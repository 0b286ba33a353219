/* The texts stats.json and metrics of the top's .expfs/. */
#ifndef EXPFS_OP_STATS_H
#define EXPFS_OP_STATS_H

#include <jansson.h>

#include "exp/cred.h"
#include "exp/expfs.h"

/* {"time", "raw", "unique", "stored", "files", "contents": of the store, as status has them; "disk_size", "disk_free";
 * "branches": [{"name", "run": path or null, "files", "contents", "raw", "unique", "stored"}], "rest": likewise, of what lies in
 * no branch}. A branch has what lies in its run and in no other one, and its history; those of one root have one directory.
 * cred: he is told of what he could find by himself. 0 or -errno. */
int stats_json(struct expfs *ex, struct cred *cred, json_t **ret);

/* The state of the store as Prometheus reads it, likewise; to be freed. */
int metrics_text(struct expfs *ex, struct cred *cred, char **ret);

#endif
