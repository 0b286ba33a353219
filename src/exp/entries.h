/* The names in a directory, read into memory, so that the database's reader is
 * free again while they are looked at. */
#ifndef EXPFS_ENTRIES_H
#define EXPFS_ENTRIES_H

#include "exp/expfs.h"
#include "meta/dirent.h"
#include "util/list.h"

struct entry {
	struct dirent_row d;
	struct inode_row row;
	char *path; /* that of the directory and the name */
};

struct entries {
	struct entry *v;
	size_t n;
	const char *dir;
};

#define ENTRIES_DEPTH 64 /* directories below each other that are looked into */

/* All entries of the directory ino at path, or those only that could have a role
 * and the subdirectories. -ENAMETOOLONG: paths there are not looked at. *ret is
 * to be given to entries_free() in any case. */
int entries_read(struct expfs *ex, uint64_t ino, const char *path, bool roles_only, struct entries *ret);
void entries_free(struct entries *e);

/* Adds one, as dirent_list_below() gives them; arg is the struct entries. */
int entries_add(void *arg, const struct dirent_row *d, const char *name, const struct inode_row *row);

#define _cleanup_entries_ _cleanup_(entries_free)

char *path_join(const char *dir, const char *name); /* to be freed */
const char *path_last(const char *path); /* the last component */

#endif
