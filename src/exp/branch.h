/* Branches: in this version one for each run (spec section 2).
 *
 * The top of the mount is branch main; a directory directly in runs/ is the
 * branch of its name; runs/main, and a run by another pattern, is called by its
 * path with "." for "/". Of two with one name (runs/a.b, a/b) the first pattern's
 * is seen. A branch is there once its run holds a file with a role. */
#ifndef EXPFS_BRANCH_H
#define EXPFS_BRANCH_H

#include "exp/checkpoint.h"

struct branch {
	char *name;
	char *path;   /* of the run */
	uint64_t ino; /* of the run */
};

struct branch_list {
	struct branch *v; /* main first, then by name */
	size_t n;
};

int branch_list(struct expfs *ex, struct branch_list *ret);
void branch_list_free(struct branch_list *l);

/* The branch of that name, or of that run; -ENOENT. */
int branch_by_name(struct expfs *ex, const char *name, struct branch *ret);
int branch_by_run(struct expfs *ex, uint64_t ino, struct branch *ret);
void branch_free(struct branch *b);

/* The checkpoints of a branch. */
int branch_checkpoints(struct expfs *ex, const struct branch *b, struct checkpoint_list *ret);

#endif
