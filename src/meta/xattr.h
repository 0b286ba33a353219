/* Rows of the table xattr. Names are whole, as "user.note". */
#ifndef EXPFS_META_XATTR_H
#define EXPFS_META_XATTR_H

#include "meta/meta.h"

/* The value, to be freed; -ENODATA. */
int xattr_get(struct db *db, uint64_t ino, const char *name, void **ret, size_t *ret_len);

enum xattr_set { XATTR_ANY, XATTR_NEW, XATTR_OLD };

/* -EEXIST, -ENODATA as the way of setting says. */
int xattr_set(struct db *db, uint64_t ino, const char *name, const void *value, size_t len, enum xattr_set how);
int xattr_remove(struct db *db, uint64_t ino, const char *name); /* -ENODATA */

/* All names of an inode, each with its NUL, in one buffer to be freed. */
int xattr_list(struct db *db, uint64_t ino, char **ret, size_t *ret_len);

/* 1 if any inode has the name, else 0. */
int xattr_any(struct db *db, const char *name);

#endif
