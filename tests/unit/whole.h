/* Asking whether a file is whole. */
#ifndef EXPFS_TEST_WHOLE_H
#define EXPFS_TEST_WHOLE_H

#include "bytes.h"

/* Why n bytes of a file of this name are not whole; NULL if they are. */
const char *why(const char *name, const void *p, size_t n);

void assert_whole(const char *name, const struct bytes *b);
void assert_torn(const char *name, const struct bytes *b, const char *reason);

/* Turns each of n bytes around, one at a time; none may be whole then. */
void assert_each_counts(const char *name, struct bytes *b, size_t at, size_t n);

#endif
