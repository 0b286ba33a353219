/* Checkpoints: which there are, which is the newest complete one, which is nearest to a
 * step (spec section 6). Answers come from the rows of tracked paths, by index; what
 * changed since somebody asked is judged first. */
#ifndef EXPFS_CHECKPOINT_H
#define EXPFS_CHECKPOINT_H

#include "exp/cred.h"
#include "exp/expfs.h"
#include "meta/experiment.h"
#include "meta/tracked.h"
#include "meta/version.h"

/* Those of runs or derived branches; those below a directory, runs there and all; those of experiments. */
struct checkpoint_set {
	struct expfs *ex;
	struct cred *cred; /* who asks; he is told of what he could find by himself. NULL: of all */
	enum tracked_scope scope;
	uint64_t *ids; /* as of tracked.run; of tracked directories, or experiments */
	size_t n;
	size_t there; /* so many experiments have some that are there, and come first; of the others those of removed runs count */
	uint64_t top; /* tracked path below which they lie */
	const uint64_t *runs; /* of experiments: those of these runs alone; the caller's. NULL: of all */
	size_t n_runs;
};

/* Of those with an id in ids; below the directory ino: what has nothing tracked has an empty set. */
int checkpoint_set_of(struct expfs *ex, struct cred *cred, const uint64_t *ids, size_t n, uint64_t top,
		      struct checkpoint_set *ret);
int checkpoint_set_below(struct expfs *ex, struct cred *cred, uint64_t ino, struct checkpoint_set *ret);

/* Of one experiment; of all that have that segment (its eight characters). They are found out before (exp/experiment.h). */
int checkpoint_set_of_experiment(struct expfs *ex, struct cred *cred, uint64_t experiment, struct checkpoint_set *ret);
int checkpoint_set_of_segment(struct expfs *ex, struct cred *cred, enum segment which, const char *text,
			      struct checkpoint_set *ret);

/* Of the set of an experiment only those of these runs stay, if there are any: those that are there, or else those that removed
 * ones of the runs had. runs has to last as long as the set. */
int checkpoint_set_prefer(struct checkpoint_set *s, const uint64_t *runs, size_t n);
void checkpoint_set_free(struct checkpoint_set *s);
#define _cleanup_checkpoint_set_ _cleanup_(checkpoint_set_free)

/* A complete one. */
struct checkpoint {
	char *path; /* of it, from the top of the mount, in names that may be gone */
	struct tracked_row tracked;
	struct version_row version;
	bool in_history; /* the path does not hold it any more, or is being written */
};
void checkpoint_free(struct checkpoint *c);
#define _cleanup_checkpoint_ _cleanup_(checkpoint_free)

/* The one that was completed last; the one nearest to a step, of two as near the higher, of
 * those with one step one that has it in its name, of two alike the newer. -ENOENT: none. */
int checkpoint_latest(const struct checkpoint_set *s, struct checkpoint *ret);
int checkpoint_nearest(const struct checkpoint_set *s, uint64_t step, struct checkpoint *ret);

/* The steps, ascending, each once; to be freed. */
int checkpoint_steps(const struct checkpoint_set *s, uint64_t **ret, size_t *ret_n);

/* The tracked path of a file or directory with a role, by one of its names; -ENOENT. */
int checkpoint_tracked(struct expfs *ex, uint64_t ino, struct tracked_row *ret);

/* May who asks look into all directories from that of the set to the checkpoint? 1, 0 or -errno. */
int checkpoint_is_visible(const struct checkpoint_set *s, struct db *db, const struct tracked_row *t);

/* A complete version of a checkpoint and where it is found; -ENOENT. */
int checkpoint_resolve(struct expfs *ex, const struct tracked_row *t, uint64_t version, struct checkpoint *ret);

/* What is known of a file or directory as a checkpoint, by one of its names; -ENOENT: it is none. */
struct checkpoint_state {
	bool complete;
	int64_t step; /* or NO_STEP */
};
int checkpoint_state_of(struct expfs *ex, uint64_t ino, struct checkpoint_state *ret);

/* The number of the version that a file or directory with a role holds, by one of its names; -ENOENT: none that is
 * whole, for it is being written. */
int checkpoint_version_of(struct expfs *ex, uint64_t ino, uint64_t *ret_n);

/* 1 if the path holds that version, as it was closed; of a file somebody may have begun to
 * write it again (file_is_written()). */
int checkpoint_is_there(struct db *db, const struct tracked_row *t, const struct version_row *v);

/* Where a checkpoint is found, from the top of the mount; to be freed. */
char *checkpoint_place(const struct checkpoint *c);

/* Where a version is found below a directory history/: PATH/<n> with the extension of
 * PATH; to be freed. */
char *checkpoint_history_path(const char *path, const struct version_row *v);

#endif
