/* Which inodes the kernel knows, and how often it was told of each.
 *
 * One entry of 16 bytes an inode, so that a million of them cost little. All
 * functions are thread-safe and leave the lock before they return. */
#ifndef EXPFS_ITABLE_H
#define EXPFS_ITABLE_H

#include "util/util.h"

struct itable;

int itable_new(struct itable **ret);
void itable_free(struct itable *t);

/* The kernel is told of the inode once more. -ENOMEM. */
int itable_add(struct itable *t, uint64_t ino);

/* The kernel forgets n of these; true when none is left and the inode was
 * marked unlinked. */
bool itable_forget(struct itable *t, uint64_t ino, uint64_t n);

bool itable_known(struct itable *t, uint64_t ino);

/* The inode lost its last name; false where the kernel does not know it. */
bool itable_mark_unlinked(struct itable *t, uint64_t ino);

#endif
