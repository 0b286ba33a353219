/* Finding out which tracked checkpoints are complete (spec section 6), of those that
 * changed since somebody looked. A file is asked for its format, a directory for its
 * files; one that is being written, or may get more files, is asked again the next time.
 *
 * A directory that is complete becomes a version then: the files that it has. */
#ifndef EXPFS_JUDGE_H
#define EXPFS_JUDGE_H

#include "exp/expfs.h"
#include "meta/tracked.h"

/* All of a run (its tracked path), or of the store (0), that changed before the call: afterwards
 * their rows tell what they are. */
int judge_changed(struct expfs *ex, uint64_t run);

/* What keeps a checkpoint as it stands now from being complete, as text that continues
 * "PATH: "; *ret is NULL if nothing does. To be freed. */
enum judge_kind { JUDGE_TORN, JUDGE_PASSING /* for now only */, JUDGE_MIXED };
int judge_explain(struct expfs *ex, const struct tracked_row *t, char **ret, enum judge_kind *ret_kind);

#endif
