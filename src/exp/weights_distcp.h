/* Checkpoints of torch.distributed.checkpoint (format/distcp.h), for exp/weights.c. */
#ifndef EXPFS_WEIGHTS_DISTCP_H
#define EXPFS_WEIGHTS_DISTCP_H

#include "exp/weights.h"

/* Is a file of that name one of it? */
bool weights_is_distcp(const char *name);

/* Gives the tensors of such files the names that .metadata has for them; where it has none the file cannot be read, as a
 * part of this checkpoint. -ENOMEM, errors of reading. */
int weights_name_distcp(struct expfs *ex, struct weights *w);

#endif
