/* The step of a checkpoint stands in its name; where it does not, the file tells it (exp/inside.h), once it is found
 * complete. */
#ifndef EXPFS_STEP_H
#define EXPFS_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The one in the name of a tracked path, or NO_STEP (meta/tracked.h). */
int64_t step_in_name(const char *tracked, bool is_dir);

/* Whether there is one in it, which is len bytes long. */
bool step_is_in_name(const char *tracked, size_t len, bool is_dir);

#endif
