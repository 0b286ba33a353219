/* How far two names are apart, to tell which one may have been meant. */
#ifndef EXPFS_UTIL_EDIT_DISTANCE_H
#define EXPFS_UTIL_EDIT_DISTANCE_H

#include <stddef.h>

/* How many letters have to be put in, taken out or changed to make one of the other; SIZE_MAX where one is
 * longer than EDIT_DISTANCE_NAME_MAX. */
#define EDIT_DISTANCE_NAME_MAX 32
size_t edit_distance(const char *a, const char *b);

#endif
