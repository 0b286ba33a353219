/* A database that cannot be taken into use (meta_open() says -EUCLEAN): what is wrong
 * with it, and the making anew of what can be, so that it can. For fsck; the caller
 * holds the store's lock. */
#ifndef EXPFS_META_MEND_H
#define EXPFS_META_MEND_H

#include "meta/meta.h"

/* Told of each thing wrong, and what to do. */
typedef void (*mend_fn)(void *arg, const char *text, bool mended);

/* With repair, either everything is mended or nothing is touched. -EUCLEAN: it does not
 * even open, -ENOENT: it is not there. Of what f is never told, nothing is known. */
int mend_database(const char *path, bool repair, mend_fn f, void *arg);

#endif
