/* Where what is imported goes: a directory in a mount. */
#ifndef EXPFS_CMD_IMPORT_WHERE_H
#define EXPFS_CMD_IMPORT_WHERE_H

#include "op/op.h"

struct import_where {
	char *source; /* the directory outside, absolute and without links */
	char *store;
	char *point;  /* the mount of it */
	char *below;  /* below that what the source becomes, "": all of it */
	char *path;   /* the same in the store */
	struct config *config; /* of the store */
	bool chosen;  /* by who asks: others may have put something there before */
};

/* dest is NULL or a path in a mount; store is NULL, or as --store names it. What is wrong was told. */
enum op_exit import_where_find(const char *source, const char *dest, const char *store, struct import_where *ret);
void import_where_free(struct import_where *w);
#define _cleanup_import_where_ _cleanup_(import_where_free)

#endif
