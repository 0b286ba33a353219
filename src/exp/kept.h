/* What a run records: by the section checkpoint_manager: of its configuration files of a role, or all, may be none that
 * versions are kept of (spec section 5).
 *
 * A transaction that closes a file cannot read a configuration. So it makes a version in any case, which is looked at
 * later: of a checkpoint when it is judged, by the options that were in force at its first byte; it is then as one that is
 * not complete. Of other files what a path holds has to be known, to tell what a run was at any moment; such a version
 * is shown to nobody, and goes when it ends (exp/experiment.h), in whose transaction it becomes due. That is so
 * for runs of which it is not known that they record all.
 *
 * What cannot be found out is kept. Not to be called with a lock, but for kept_forget() and kept_is_sure(). */
#ifndef EXPFS_KEPT_H
#define EXPFS_KEPT_H

#include "exp/expfs.h"
#include "meta/tracked.h"
#include "meta/version.h"

struct kept;
int kept_new(struct kept **ret);
void kept_free(struct kept *k);

/* Is a checkpoint of a run, that was begun at that number (0: now), to be recorded? */
bool kept_checkpoint(struct expfs *ex, uint64_t run, uint64_t begin);

/* Is a version of the path to be shown and, when it ends, to stay? One that did end and is there still is. */
bool kept_version(struct expfs *ex, const struct tracked_row *t, const struct version_row *v);
bool kept_when_ended(struct expfs *ex, const struct tracked_row *t, const struct version_row *v);

/* Is it known that the run records all now? A configuration that changes makes it unknown, in the transaction in which
 * it does (run 0: of all runs); who asks about a version finds it out again. */
bool kept_is_sure(struct expfs *ex, uint64_t run);
void kept_forget(struct expfs *ex, uint64_t run);

/* A version that ended goes. One of a configuration has told the run's options until then: it goes if the next one of
 * its path, which takes its place, tells the same. */
int kept_drop(struct expfs *ex, const struct tracked_row *t, const struct version_row *v);

#endif
