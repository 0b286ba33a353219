/* The structure of the model in a checkpoint (format/structure.h), as a digest. */
#ifndef EXPFS_STRUCTURE_H
#define EXPFS_STRUCTURE_H

#include "exp/expfs.h"
#include "meta/experiment.h"
#include "meta/version.h"

/* "" where the checkpoint tells none. init_step: at which the branch was initialised. */
int structure_of_version(struct expfs *ex, const struct version_row *v, uint64_t init_step, char ret[SEGMENT_DIGEST + 1]);

#endif
