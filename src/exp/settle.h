/* Getting contents onto the disk, so that they need nothing to go back to
 * (exp/undo.h). Functions return 0 or -errno; a sync that fails ends all writing to
 * the store. */
#ifndef EXPFS_SETTLE_H
#define EXPFS_SETTLE_H

#include "exp/expfs.h"

/* Syncs objects, each as of a sealing, and notes it in their rows. */
struct settle_content {
	uint64_t id, seal;
};
int settle_contents(struct expfs *ex, struct settle_content *v, size_t n);

/* Syncs those of the objects that are sealed and were not yet. */
int settle_objects(struct expfs *ex, const uint64_t *object, size_t n);

/* Syncs what is in a directory, and all names: fsync of the directory. */
int settle_dir(struct expfs *ex, uint64_t dir);

/* Syncs the sealed contents that there are now; but for whatever not those that may
 * be in the midst of a save. */
int settle_sealed(struct expfs *ex, bool whatever);

/* Syncs the live contents that nobody has open to write, and logs; whatever: all. */
int settle_live(struct expfs *ex, bool whatever);

/* Lets go of the contents that files had before, where what they have now is on the
 * disk. */
int settle_let_go(struct expfs *ex);

#endif
