/* Branches: in this version one for each run (spec section 2).
 *
 * The top of the mount is branch main; a directory directly in runs/ is the
 * branch of its name; runs/main, and a run by another pattern, is called by its
 * path with "." for "/". Of two with one name (runs/a.b, a/b) the first pattern's
 * is seen. A branch is there once its run holds a file with a role.
 *
 * cred: who asks. For him a branch is there if he can walk to its run, whether he
 * may look into that or not. */
#ifndef EXPFS_BRANCH_H
#define EXPFS_BRANCH_H

#include "exp/checkpoint.h"

struct branch {
	char *name;
	char *path;   /* of the run */
	uint64_t ino; /* of the run */
	uint64_t id;  /* exp/experiment.h */
};

struct branch_list {
	struct branch *v; /* main first, then by name */
	size_t n;
};

/* Those whose runs he could find by himself. Where he may go through a directory
 * but not list it, he has to know the name. */
int branch_list(struct expfs *ex, struct cred *cred, struct branch_list *ret);
void branch_list_free(struct branch_list *l);

/* The branch of that name, or of that run; -ENOENT. */
int branch_by_name(struct expfs *ex, struct cred *cred, const char *name, struct branch *ret);
int branch_by_run(struct expfs *ex, struct cred *cred, uint64_t ino, struct branch *ret);
void branch_free(struct branch *b);

#endif
