/* Whether what is imported as one run holds several. */
#ifndef EXPFS_CMD_IMPORT_RUNS_H
#define EXPFS_CMD_IMPORT_RUNS_H

#include "cmd/import_where.h"
#include "sync/import.h"

/* {"count", "names": directories in it that each have a configuration and checkpoints, "command": what makes a branch of each, or
 * null}; count is 0 where it holds one run, or where each becomes one. */
json_t *import_runs(const struct import_where *w, const struct import *im);

/* The same for people, if there are any. */
#define IMPORT_RUNS_SHOWN 5
void import_runs_print(const json_t *runs);

#endif
