/* Paths in the mount: where an inode stands, to which run it belongs, and what
 * role that gives it (spec sections 1 and 4).
 *
 * A path is bytes without a leading or trailing slash, "" for the top. */
#ifndef EXPFS_PATH_H
#define EXPFS_PATH_H

#include "exp/cred.h"
#include "exp/expfs.h"

#define PATH_BOUND 4096 /* longer ones, which no system call takes, have no role and belong to no run */

/* The path of an inode, by one of its names; to be freed. -ENOENT: it has none. */
int path_of(struct db *db, uint64_t ino, char **ret);

/* Does it lie at dir or below it? */
bool path_is_below(const char *path, const char *dir);

/* Can who asks go to the directory: X_OK, or R_OK too, if he does not know the names? -ENOENT: he cannot. */
int path_may_walk(struct db *db, struct cred *cred, uint64_t ino, unsigned want);

/* The inode at a path. */
int path_lookup(struct db *db, const char *path, uint64_t *ret_ino);

/* Is a directory with this path a run? */
bool path_is_run(const struct expfs *ex, const char *path);

/* Length of the path of the deepest run above path (0: the top). */
size_t path_run_prefix(const struct expfs *ex, const char *path);

/* Where in the paths below the directory at path the part begins that is
 * relative to the run that they belong to. */
size_t path_run_base(const struct expfs *ex, const char *path);

/* The role of what stands at a path, with that base or without. */
enum role path_role_below(const struct expfs *ex, const char *path, size_t base, bool is_dir);
enum role path_role(const struct expfs *ex, const char *path, bool is_dir);
enum role path_role_of_inode(struct expfs *ex, struct db *db, uint64_t ino);

/* Is it in a directory that is a checkpoint by its name? */
bool path_inode_in_checkpoint(struct expfs *ex, struct db *db, uint64_t ino);

#endif
