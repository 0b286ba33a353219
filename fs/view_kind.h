/* What kinds of views there are: for view.c, which keeps their ids, and the files that
 * implement them. */
#ifndef EXPFS_VIEW_KIND_H
#define EXPFS_VIEW_KIND_H

#include "exp/checkpoint.h"
#include "exp/cred.h"
#include "view.h"

enum view_kind {
	VIEW_BRANCH,        /* branches/<name>/; dir: inode of the run or root, 0: it was removed; part: id of the branch */
	VIEW_BRANCH_LATEST,
	VIEW_BRANCH_BEST,
	VIEW_BRANCH_STEPS,  /* step/ */
	VIEW_BRANCH_STEP,   /* n: the step */
	VIEW_BRANCH_RUN,
	VIEW_DOT,           /* .expfs/; dir: inode of the directory that it is in */
	VIEW_DOT_LATEST,
	VIEW_DOT_BEST,
	VIEW_DOT_STEPS,
	VIEW_DOT_STEP,
	VIEW_HISTORY,        /* .expfs/history/, and the paths in it; n: id of a tracked path */
	VIEW_VERSION,        /* of a file; n: id of the version */
	VIEW_VERSION_DIR,    /* of a directory; part: as of VIEW_MEMBER_DIR, 0 for all of it */
	VIEW_MEMBER,         /* part: which file of the version, from 1 */
	VIEW_BRANCH_HEAD,    /* texts of a branch; dir: inode of the run */
	VIEW_BRANCH_PENDING,
	VIEW_BRANCH_LOG,
	VIEW_BRANCH_MANIFEST,
	VIEW_DOT_LOG,        /* of all branches, in the top's .expfs/ */
	VIEW_DOT_LINEAGE,
	VIEW_DOT_REPORT,
	VIEW_DOT_STATS,      /* stats.json and metrics, likewise */
	VIEW_DOT_METRICS,
	VIEW_DOT_STATUS,     /* of any */
	VIEW_EXPERIMENT,         /* experiments/<hash>/; n: id of the experiment */
	VIEW_EXPERIMENT_FILES,   /* HP/, MODEL/, DATA/ in it, by dir, and what is below: part, id of a tracked path or 0 */
	VIEW_EXPERIMENT_FILE,    /* part: id of a version */
	VIEW_EXPERIMENT_LATEST,
	VIEW_EXPERIMENT_BEST,
	VIEW_EXPERIMENT_STEPS,
	VIEW_EXPERIMENT_STEP,    /* part: the step */
	VIEW_SEGMENT,            /* HP/<hp8>/, data/<data8>/; dir: which segment; n: its value; below it as above */
	VIEW_SEGMENT_FILES,
	VIEW_SEGMENT_FILE,
	VIEW_SEGMENT_EXPERIMENTS,
	VIEW_SEGMENT_EXPERIMENT, /* part: id of the experiment */
	VIEW_MODEL,              /* models/<model8>/; n: value of the segment */
	VIEW_MODEL_LATEST,
	VIEW_MODEL_BEST,
	VIEW_MODEL_STEPS,
	VIEW_MODEL_STEP,         /* part: the step */
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

typedef int (*view_lookup_fn)(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret);

typedef int (*view_text_fn)(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len);

/* The functions of a kind; those that make no sense for its type are NULL. */
struct view_ops {
	mode_t type; /* S_IFDIR, S_IFLNK, S_IFREG */

	/* Mode, owner, times and, of a file, size and blocks; that it is there at all. */
	int (*stat)(struct view_req *q, const struct view_key *key, struct stat *ret);
	int (*target)(struct view_req *q, const struct view_key *key, char **ret);
	view_lookup_fn lookup;
	int (*list)(struct view_req *q, const struct view_key *key, struct view_list *ret);
	int (*open)(struct view_req *q, const struct view_key *key, struct object **ret);
	view_text_fn text; /* in place of open */
	bool costly;       /* it is kept for a while: view_kept.h */
	int (*write)(struct view_req *q, const struct view_key *key, const char *line); /* of a text that takes lines */
};

extern const struct view_ops view_branch_ops[VIEW_HISTORY];
extern const struct view_ops view_history_ops[VIEW_BRANCH_HEAD - VIEW_HISTORY];
extern const struct view_ops view_text_ops[VIEW_EXPERIMENT - VIEW_BRANCH_HEAD];
extern const struct view_ops view_experiment_ops[VIEW_KINDS - VIEW_EXPERIMENT];

/* Adds an entry to a list. */
int view_list_add(struct view_list *l, const char *name, const struct view_key *key);

/* view_branch.c: the branch of that name; all of them. */
int view_branch_by_name(struct view_req *q, const char *name, struct view_key *ret);
int view_branch_list(struct view_req *q, struct view_list *l);

/* What of the directory that a branch, or a .expfs/, is about shows: mode, owner, time. */
int view_branch_stat(struct view_req *q, const struct view_key *key, struct stat *ret);

/* A step as the name of a link: any integer; one that is out of range is nearest to the end of it. And the list of
 * those that there are, by the function that looks them up. */
bool view_parse_step(const char *name, uint64_t *ret);
int view_list_steps(struct view_req *q, const struct view_key *key, const struct checkpoint_set *set,
		    view_lookup_fn lookup, struct view_list *l);
int view_best(const struct checkpoint_set *set, struct checkpoint *ret);

/* view_head.c: a line was written to HEAD. */
int view_head_write(struct view_req *q, const struct view_key *key, const char *line);

/* view_text.c: the texts in a branch, and in the top's .expfs/, by name; -ENOENT. */
int view_text_of(const struct view_key *dir, const char *name, struct view_key *ret);

/* view_experiment.c: in the directory of a family, can there be a view of that name; the view of such a name; all of them. */
bool view_experiment_is_name(enum fs_family family, const char *name);
int view_experiment_by_name(struct view_req *q, enum fs_family family, const char *name, struct view_key *ret);
int view_experiment_list(struct view_req *q, enum fs_family family, struct view_list *l);

/* view_history.c: .expfs/history of a directory. */
int view_history_of(struct view_req *q, uint64_t dir, struct view_key *ret);

#endif
