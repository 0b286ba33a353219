/* What import tells. */
#ifndef EXPFS_CMD_IMPORT_TOLD_H
#define EXPFS_CMD_IMPORT_TOLD_H

#include "cmd/import_where.h"
#include "sync/import.h"

/* Of what there is to bring: {"source", "dest": path in the store, "mount", "files", "bytes", "new": files, "new_bytes",
 * "there": files, "differs": {"count", "paths"}, "foreign": name or null, "places": [{"path", "kind": "root" or "run",
 * "checkpoints", "steps": [lowest, highest] or null, "experiments": count or null}], "runs": as of import_runs(), "given_back": {"count", "names":
 * [{"from", "to"}]}, "left_out": {"count", "paths": [{"path", "why", "kind": "left out", or "failed": it should have
 * come}]}}; of lists the first IMPORT_TOLD_MAX. NULL: memory is short. */
#define IMPORT_TOLD_MAX 1000
json_t *import_told(const struct import_where *w, const struct import *im);

/* The same for people; done: it was brought. */
void import_print(const json_t *told, bool done);

#endif
