/* What put.c and put_dir.c share. Inside a transaction; functions return 0 or -errno. */
#ifndef EXPFS_PUT_PART_H
#define EXPFS_PUT_PART_H

#include "exp/put.h"

/* p->path is where it failed; gives r back. */
int put_fail_at(struct put *p, int r, const char *path);

/* Who asks may give things any owner. */
bool put_is_owner(const struct put *p);

/* May he make a name in the directory, or (not NULL) take it from what has it? */
int put_check_write(const struct put *p, const struct inode_row *dir, const struct inode_row *was);

/* The directory in which a path lies, below base; -ENOENT. */
int put_find_dir(struct put *p, struct db *db, uint64_t base, const char *path, struct inode_row *ret);

/* May what is there lose its name? It may have to be sealed before (put_check_sealed()). */
int put_check_old(struct put *p, const struct inode_row *was);

/* Is it as the file is to be? */
bool put_is_same(const struct put *p, const struct inode_row *row, const struct put_file *f);

/* A name leads to something else, of which the kernel is to be told. */
int put_add_change(struct put *p, uint64_t dir, const char *name, uint64_t was, bool last);

#endif
