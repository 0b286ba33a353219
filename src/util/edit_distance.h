/* How far two names are apart, to tell which one may have been meant. */
#ifndef EXPFS_UTIL_EDIT_DISTANCE_H
#define EXPFS_UTIL_EDIT_DISTANCE_H

#include <stddef.h>

/* How many letters have to be put in, taken out or changed to make one of the other; SIZE_MAX where one is
 * longer than EDIT_DISTANCE_NAME_MAX. */
#define EDIT_DISTANCE_NAME_MAX 32
size_t edit_distance(const char *a, const char *b);

/* The name that a mistyped word may have meant: word is set, nearest_try() called with each that there is. */
struct nearest {
	const char *word;
	const char *name; /* the nearest of those tried, NULL: none is near */
	size_t distance;
};
void nearest_try(struct nearest *n, const char *name);

#endif
