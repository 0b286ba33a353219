/* Experiments: which state of configuration, model and data a checkpoint belongs to, and
 * through which states a branch went (spec section 5).
 *
 * A checkpoint that completes is put into the table due in the transaction that finds it complete; with commit:
 * immediate a configuration, model or data file too, in the one that closes it. What is due is resolved in the order
 * in which the contents were begun: the state of the run at the checkpoint's first byte (exp/state.h) gives the hash,
 * a hash that the branch is not at gives a new point of its line. Nothing of this is done by the operation of a user
 * on a file: the keeper does it, and whoever asks, before he is answered.
 *
 * branch: id of a branch: the tracked path of a run, or of a derived branch of an experiment root.
 * Functions return 0 or -errno; none is to be called with a lock. */
#ifndef EXPFS_EXPERIMENT_H
#define EXPFS_EXPERIMENT_H

#include "exp/expfs.h"
#include "meta/experiment.h"
#include "meta/line.h"
#include "meta/version.h"

/* Judges what changed, and resolves what is due, of a branch or (0) of all, as far as the disk takes it. stop: asked
 * between two, whether to give up; NULL: never. */
int experiment_settle(struct expfs *ex, uint64_t branch);
int experiment_settle_until(struct expfs *ex, uint64_t branch, bool (*stop)(void *arg), void *arg);

/* The same, with directories that were renamed as if they were not yet. */
int experiment_settle_known(struct expfs *ex, uint64_t branch);

/* The experiment that a branch is at; -ENOENT: none yet. */
struct experiment_head {
	struct line_row line;
	struct experiment_row experiment;
};
int experiment_head(struct expfs *ex, uint64_t branch, struct experiment_head *ret);

/* What differs now from the head. */
struct pending {
	bool changed[SEGMENTS];
	char hash[EXPERIMENT_HASH + 1]; /* that it would give; "": nothing is pending */
	char *fault, *fault_path;       /* why a configuration, at a path from the top, does not parse; NULL: none */
};
int experiment_pending(struct expfs *ex, uint64_t branch, struct pending *ret);
void pending_free(struct pending *p);
#define _cleanup_pending_ _cleanup_(pending_free)

/* Makes what is pending an experiment; *ret_hash: the one that the branch then is at. 1: nothing was pending.
 * -ENOENT: there is nothing that makes one. */
int experiment_commit(struct expfs *ex, uint64_t branch, char ret_hash[EXPERIMENT_HASH + 1]);

/* The experiment whose hash this is, or the only one whose hash begins so; -ENOENT, -EEXIST: several. */
int experiment_find(struct expfs *ex, const char *hash, struct experiment_row *ret);

/* Calls f for the files of a role that an experiment consists of, at the first point of a line that has it: with
 * their paths from the top, in names that may be gone. Ends early with what it returns other than 0. */
typedef int (*experiment_file_fn)(void *arg, const char *path, const struct version_row *v);
int experiment_files(struct expfs *ex, uint64_t experiment, enum role role, experiment_file_fn f, void *arg);

/* The hash of what has a role, as it is now: of a checkpoint that of its version, else that of the last point of
 * the line at which it counted. -ENOENT: it has none. */
int experiment_of_inode(struct expfs *ex, uint64_t ino, char ret_hash[EXPERIMENT_HASH + 1]);

#endif
