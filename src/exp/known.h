/* What was found out about a content is kept with it, so that it is read once. Functions
 * return 0 or -errno. */
#ifndef EXPFS_KNOWN_H
#define EXPFS_KNOWN_H

#include "exp/expfs.h"
#include "meta/experiment.h"
#include "meta/version.h"

/* What is kept, to be freed; -ENOENT: nothing, and *ret_seal is the sealing that known_keep() is to be told when it
 * was found out. */
int known_get(struct expfs *ex, uint64_t object, enum fact kind, char **ret, uint64_t *ret_seal);

/* Keeps it if it is not too long, the content is still of that sealing, and the configuration by which it was found out (NULL:
 * any) still in force. */
void known_keep(struct expfs *ex, const struct config *by, uint64_t object, uint64_t seal, enum fact kind, const char *value);

/* The size bytes of an object, with a NUL behind them; to be freed. -EIO: there are fewer. */
int known_read_object(struct expfs *ex, uint64_t object, size_t size, char **ret);

/* The bytes of a version, with a NUL behind them; to be freed. -EFBIG: more than max. */
int known_read(struct expfs *ex, const struct version_row *v, size_t max, char **ret);

#endif
