/* Branches (spec section 2): one for each run, also for those that were removed (exp/removed.h), and those that are derived of
 * experiment roots (exp/root.h).
 *
 * The top of the mount is branch main; a directory directly in runs/ is the
 * branch of its name; runs/main, and a run by another pattern, is called by its
 * path with "." for "/". Of two with one name (runs/a.b, a/b) the first pattern's
 * is seen, and a run before one that was removed. A branch is there once its run holds a file with a role.
 *
 * The first branch of a root is called by its path likewise, the others that and .2, .3 … after it. Where that
 * is also the name of a run at the same path, as at the top, one branch is both.
 *
 * cred: who asks. For him a branch is there if he can walk to its run, whether he
 * may look into that or not. */
#ifndef EXPFS_BRANCH_H
#define EXPFS_BRANCH_H

#include "exp/checkpoint.h"

struct branch {
	char *name;
	char *path;   /* of the run or root; of a run that was removed the tracked one */
	uint64_t ino; /* of the run or root, 0: it was removed */
	uint64_t id;  /* the tracked path of the run; the root (meta/root.h), or a fork of it */
	uint64_t run; /* tracked path of a run that it is, too; 0: none */
	uint64_t top; /* tracked path of the run or root */
};

struct branch_list {
	struct branch *v; /* main first, then by name */
	size_t n;
};

/* Those whose runs he could find by himself. Where he may go through a directory
 * but not list it, he has to know the name. */
int branch_list(struct expfs *ex, struct cred *cred, struct branch_list *ret);
void branch_list_free(struct branch_list *l);

/* Those of them into whose runs he may look. */
int branch_list_open(struct expfs *ex, struct cred *cred, struct branch_list *ret);

/* The branch of that name, of the run ino, or of that id; -ENOENT. */
int branch_by_name(struct expfs *ex, struct cred *cred, const char *name, struct branch *ret);
int branch_by_run(struct expfs *ex, struct cred *cred, uint64_t ino, struct branch *ret);
int branch_by_id(struct expfs *ex, struct cred *cred, uint64_t id, struct branch *ret);
void branch_free(struct branch *b);

/* A branch that was found by one of the two that it is becomes both. */
int branch_join(struct expfs *ex, struct branch *b);

/* The run that it is, alone or too; 0: the line of any other is only derived, of what a program says of itself. */
static inline uint64_t branch_run(const struct branch *b)
{
	return b->id == b->top ? b->id : b->run;
}

/* Was its run removed? It then takes nothing any more. */
static inline bool branch_is_removed(const struct branch *b)
{
	return b->ino == 0;
}

/* Its checkpoints. */
int branch_checkpoints(struct expfs *ex, struct cred *cred, const struct branch *b, struct checkpoint_set *ret);

#endif
