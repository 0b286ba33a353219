/* What is said of a path of which nothing is known: what may be wrong with it, and what to give instead. */
#ifndef EXPFS_OP_UNKNOWN_H
#define EXPFS_OP_UNKNOWN_H

#include "op/op.h"

/* Of one that has no version. selection: nor is it the name of a selection. OP_NO; {"displaced": path} too, where that has what was
 * there before its directory was made anew. */
enum op_exit unknown_say(struct expfs *ex, const char *path, bool selection, json_t **ret);

/* Is it in the tree of files, and so in front of a view of that name? */
bool unknown_is_there(struct expfs *ex, const char *path);

/* Does it lie in a view, or is it one? Then *ret says so, and what to give. */
bool unknown_is_view(struct expfs *ex, const char *path, json_t **ret);

#endif
