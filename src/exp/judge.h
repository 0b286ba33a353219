/* Finding out which tracked checkpoints are complete (spec section 6), of those that
 * changed since somebody looked. A file is asked for its format, a directory for its
 * files; one that is being written, or may get more files, is asked again the next time.
 *
 * A directory that is complete becomes a version then: the files that it has. */
#ifndef EXPFS_JUDGE_H
#define EXPFS_JUDGE_H

#include "exp/expfs.h"
#include "meta/tracked.h"
#include "meta/version.h"

/* All of a run (its tracked path), or of the store (0), that changed before the call: afterwards
 * their rows tell what they are. */
int judge_changed(struct expfs *ex, uint64_t run);

/* In a transaction: the version is the last complete one of a path, which is to be written with the row. What was begun before
 * the last load is not on the line that goes on from there. was: the last complete one of before, of which that is
 * known unless it was saved again. */
int tx_judge_set_good(struct db *db, struct tracked_row *t, const struct version_row *v, uint64_t was);

/* The number up to which all that is in the last complete version of a path, or in another version, was begun. What was begun
 * later is of a later save, though perhaps the version was only made when that had begun. */
uint64_t judge_good_since(const struct tracked_row *t);
uint64_t judge_version_since(const struct version_row *v);

/* One path. */
int judge_path(struct expfs *ex, const struct tracked_row *t);

/* A directory as it is without what was made from the number before on: a version if that is complete. It stays to be judged. */
int judge_dir_before(struct expfs *ex, const struct tracked_row *t, uint64_t before);

/* What keeps a checkpoint as it stands now from being complete, as text that continues
 * "PATH: "; *ret is NULL if nothing does. To be freed. */
enum judge_kind { JUDGE_TORN, JUDGE_PASSING /* for now only */, JUDGE_MIXED };
int judge_explain(struct expfs *ex, const struct tracked_row *t, char **ret, enum judge_kind *ret_kind);

#endif
