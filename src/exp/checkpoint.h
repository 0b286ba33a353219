/* Checkpoints below a directory: which there are, which are complete, which is
 * the newest, which is nearest to a step (spec sections 4 and 6).
 *
 * The list is made from the names and rows as they are at the call; nothing is
 * kept. Its cost is that of the directories and of the names with a role below
 * the one that is asked about, not of other files. */
#ifndef EXPFS_CHECKPOINT_H
#define EXPFS_CHECKPOINT_H

#include "exp/cred.h"
#include "exp/expfs.h"

struct members;

struct checkpoint {
	char *path; /* from the top of the mount */
	uint64_t ino;
	bool is_dir;
	bool hidden; /* stands in, or is, a directory that who asks may not list */
	bool has_step;
	uint64_t step;
	bool judged;     /* the next three are known */
	bool complete;
	const char *why; /* why it is not complete, static, or NULL */
	bool passing;    /* for now only: it is being written, may get more files, or is gone */
	bool imported;   /* given an old time: older than all that was written here */
	uint64_t order;  /* number of the commit that completed it */
	int64_t mtime;   /* ns */
	/* Of a directory, while the list is being made: */
	struct members *members;
	uint32_t flags;
	uint64_t dir_order;
	int64_t dir_mtime;
};

struct checkpoint_list {
	struct expfs *ex;
	struct checkpoint *v; /* oldest first */
	size_t n;
};

/* All checkpoints below the directory dir at path. nested: also those of runs
 * below it; otherwise what belongs to the run dir alone. cred: who asks; he may list dir. */
int checkpoint_scan(struct expfs *ex, struct cred *cred, uint64_t dir, const char *path, bool nested,
		    struct checkpoint_list *ret);
void checkpoint_list_free(struct checkpoint_list *l);

/* Finds out of each whether it is complete; the functions below find out what
 * they need. */
void checkpoint_judge(struct checkpoint_list *l);

/* The complete one that was completed last; the complete one nearest to a step,
 * of two as near the higher, of two with one step the newer. NULL: none that is
 * not hidden. */
const struct checkpoint *checkpoint_latest(struct checkpoint_list *l);
const struct checkpoint *checkpoint_nearest(struct checkpoint_list *l, uint64_t step);

/* The steps of complete checkpoints that are not hidden, ascending, each once; to
 * be freed. */
int checkpoint_steps(struct checkpoint_list *l, uint64_t **ret, size_t *ret_n);

/* What stands at a path, looked at as a checkpoint; -ENOENT where it is none. */
int checkpoint_at(struct expfs *ex, uint64_t ino, const char *path, struct checkpoint *ret);

/* Whether anything that belongs to the run has a role; checkpoint directories do. */
int checkpoint_any_role(struct expfs *ex, uint64_t dir, const char *path, bool *ret);

#endif
