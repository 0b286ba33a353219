/* The names of an inode, read into memory, so that each can be acted upon. */
#ifndef EXPFS_INODE_NAMES_H
#define EXPFS_INODE_NAMES_H

#include "meta/dirent.h"

#define INODE_NAMES_MAX 1000 /* of one inode that are looked at */

struct inode_name {
	struct dirent_row d;
	char *name;
};

struct inode_names {
	struct inode_name *v;
	size_t n;
};

/* 0 or -errno; *ret is to be freed in any case. */
int inode_names_read(struct db *db, uint64_t ino, struct inode_names *ret);
void inode_names_free(struct inode_names *l);
#define _cleanup_inode_names_ _cleanup_(inode_names_free)

#endif
