/* The names in a directory, read into memory, so that the database's reader is
 * free again while they are looked at. */
#ifndef EXPFS_ENTRIES_H
#define EXPFS_ENTRIES_H

#include "exp/expfs.h"
#include "meta/dirent.h"

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

/* Room for one more in an array of n elements that doubles; NULL: no memory,
 * and the array is as it was. */
void *array_grow(void *v, size_t n, size_t size);

/* Numbers of rows, as queries give them; arg of id_list_add() is the list. */
struct id_list {
	uint64_t *v;
	size_t n;
};
int id_list_add(void *arg, uint64_t id);
void id_list_free(struct id_list *l);

char *path_join(const char *dir, const char *name); /* to be freed */
const char *path_last(const char *path); /* the last component */

#endif
