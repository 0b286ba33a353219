/* What a checkpoint file says of itself. It is found out in one reading, without running anything from the file, and
 * kept with the content; one at a time is read, for what that may take of memory (format/tensors.h). */
#ifndef EXPFS_INSIDE_H
#define EXPFS_INSIDE_H

#include "exp/expfs.h"
#include "format/distcp.h"
#include "meta/tracked.h"

/* The structure of the model (format/structure.h) without its first line; "" where the file tells none. To be freed. */
int inside_structure(struct expfs *ex, uint64_t object, char **ret);

/* The step that it was saved at (format/tensors.h); NO_STEP where the file tells none, or cannot be read now. */
int64_t inside_step(struct expfs *ex, uint64_t object);

/* tensors_read(), or what is the like of it for format/distcp.h, one at a time, too. */
int inside_tensors(int fd, uint64_t size, struct tensors **ret, const char **ret_why);
int inside_distcp(int fd, uint64_t size, struct tensors **ret, const char **ret_why);
int inside_distcp_names(int fd, uint64_t size, struct distcp_names **ret, const char **ret_why);

#endif
