/* What kinds of views there are: for view.c, which keeps their ids, and the files that
 * implement them. */
#ifndef EXPFS_VIEW_KIND_H
#define EXPFS_VIEW_KIND_H

#include "exp/cred.h"
#include "view.h"

enum view_kind {
	VIEW_BRANCH,        /* branches/<name>/; dir: inode of the run */
	VIEW_BRANCH_LATEST,
	VIEW_BRANCH_STEPS,  /* step/ */
	VIEW_BRANCH_STEP,   /* n: the step */
	VIEW_BRANCH_RUN,
	VIEW_DOT,           /* .expfs/; dir: inode of the directory that it is in */
	VIEW_DOT_LATEST,
	VIEW_DOT_STEPS,
	VIEW_DOT_STEP,
	VIEW_HISTORY,        /* .expfs/history/, and the paths in it; n: id of a tracked path */
	VIEW_VERSION,        /* of a file; n: id of the version */
	VIEW_VERSION_DIR,    /* of a directory; part: as of VIEW_MEMBER_DIR, 0 for all of it */
	VIEW_MEMBER,         /* part: which file of the version, from 1 */
	VIEW_KINDS
};

/* What a view shows; without padding, for its bytes are hashed. */
struct view_key {
	uint64_t kind;
	uint64_t dir;
	uint64_t n;
	uint64_t part;
};

/* A request for a view. */
struct view_req {
	struct fs *fs;
	struct cred cred;
};

/* The functions of a kind; those that make no sense for its type are NULL. */
struct view_ops {
	mode_t type; /* S_IFDIR, S_IFLNK, S_IFREG */

	/* Mode, owner, times and, of a file, size and blocks; that it is there at all. */
	int (*stat)(struct view_req *q, const struct view_key *key, struct stat *ret);
	int (*target)(struct view_req *q, const struct view_key *key, char **ret);
	int (*lookup)(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret);
	int (*list)(struct view_req *q, const struct view_key *key, struct view_list *ret);
	int (*open)(struct view_req *q, const struct view_key *key, struct object **ret);
};

extern const struct view_ops view_branch_ops[VIEW_DOT_STEP + 1]; /* from VIEW_BRANCH */
extern const struct view_ops view_history_ops[VIEW_KINDS - VIEW_HISTORY];

/* Adds an entry to a list. */
int view_list_add(struct view_list *l, const char *name, const struct view_key *key);

/* view_branch.c: the branch of that name; all of them. */
int view_branch_by_name(struct view_req *q, const char *name, struct view_key *ret);
int view_branch_list(struct view_req *q, uint64_t ino, struct view_list *l);

/* view_history.c: .expfs/history of a directory. */
int view_history_of(struct view_req *q, uint64_t dir, struct view_key *ret);

#endif
