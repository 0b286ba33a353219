/* Getting contents onto the disk, so that they need nothing to go back to
 * (exp/undo.h). Functions return 0 or -errno; a sync that fails ends all writing to
 * the store. */
#ifndef EXPFS_SETTLE_H
#define EXPFS_SETTLE_H

#include "exp/expfs.h"

struct content_row;

/* Syncs an object and notes it in the row. */
int settle_content(struct expfs *ex, const struct content_row *row);

/* Syncs what is in a directory, and all names: fsync of the directory. */
int settle_dir(struct expfs *ex, uint64_t dir);

/* Syncs sealed contents; but for whatever not those of files that somebody has had
 * open to write for less than a minute. */
int settle_sealed(struct expfs *ex, bool whatever);

/* Syncs live contents that were not closed for a minute; whatever: all. */
void settle_left_open(struct expfs *ex, bool whatever);

/* Lets go of the contents that files had before, where what they have now is on the
 * disk; whatever: everywhere. How many. */
int settle_let_go(struct expfs *ex, bool whatever);

#endif
