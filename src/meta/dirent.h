/* Rows of the table dirent: the names. */
#ifndef EXPFS_META_DIRENT_H
#define EXPFS_META_DIRENT_H

#include "meta/inode.h"
#include "meta/meta.h"

struct dirent_row {
	uint64_t parent, id, ino;
	uint8_t type;   /* DT_REG … */
	uint32_t class; /* roles that the name alone could have (format/role.h) */
	uint64_t order;
};

int dirent_insert(struct db *db, const struct dirent_row *row, const char *name); /* -EEXIST */
int dirent_get(struct db *db, uint64_t parent, const char *name, struct dirent_row *ret); /* -ENOENT */
int dirent_delete(struct db *db, const struct dirent_row *row);
int dirent_set_ino(struct db *db, const struct dirent_row *row); /* all but its name and place */

/* 1: the directory is empty, 0: it is not. */
int dirent_is_empty(struct db *db, uint64_t parent);

/* Calls f for the entries with an id above after and below before, in order of
 * id; the name holds until f returns. attr is NULL unless with_attr. Ends early with
 * what f returns other than 0. */
typedef int (*dirent_fn)(void *arg, const struct dirent_row *row, const char *name, const struct inode_row *attr);
int dirent_list(struct db *db, uint64_t parent, uint64_t after, uint64_t before, bool with_attr, dirent_fn f,
		void *arg);

/* The same, with attributes, for who looks into the directories below too: each of
 * those stands in one directory only. roles_only: without files whose name could
 * have no role. */
int dirent_list_below(struct db *db, uint64_t parent, bool roles_only, dirent_fn f, void *arg);

/* Without attributes: directories, and what could have a role by its name. */
int dirent_list_roles(struct db *db, uint64_t parent, uint64_t after, dirent_fn f, void *arg);

/* Gives every entry the class that f says, where it has another; order, the
 * number of this change, counts as the moment at which the name got it. */
typedef uint32_t (*dirent_class_fn)(void *arg, const char *name, bool is_dir);
int dirent_reclass(struct db *db, uint64_t order, dirent_class_fn f, void *arg);

/* One of an inode's names (a directory has just one): 0 or -ENOENT. *ret_name
 * is to be freed; ret_name may be NULL. */
int dirent_of(struct db *db, uint64_t ino, struct dirent_row *ret, char **ret_name);

/* Calls f, without attributes, for all names of an inode. */
int dirent_names_of(struct db *db, uint64_t ino, dirent_fn f, void *arg);

#endif
