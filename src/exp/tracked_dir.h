/* Directories of tracked paths, which may be gone: what they show to whom. Functions return 0 or -errno. */
#ifndef EXPFS_TRACKED_DIR_H
#define EXPFS_TRACKED_DIR_H

#include "exp/cred.h"
#include "meta/tracked.h"

/* A directory as it is seen itself or, when it is gone, was seen then; of that mode and owner alone. */
int tracked_dir_row(struct db *db, const struct tracked_row *t, struct inode_row *ret); /* -ESTALE */

/* 1: he has these permissions (as of cred_permits()) for all directories above t, up to the one with the id top. */
int tracked_dirs_permit(struct db *db, struct cred *cred, const struct tracked_row *t, uint64_t top, unsigned want);

#endif
