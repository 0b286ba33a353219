/* What is closed to whom of versions. Who may not read a file, or could not when it was there, does not read what it had
 * before either: a version shows no more than the last one of its path, and this no more than the file itself does while
 * it is there. So it is with the files of a checkpoint directory; versions of these have no modes of the directories
 * between the two, so for whom one of those is closed the file is, instead. Functions return 0 or -errno. */
#ifndef EXPFS_CLOSED_H
#define EXPFS_CLOSED_H

#include "exp/expfs.h"
#include "meta/tracked.h"
#include "meta/version.h"

/* The mode of a file with that group below a directory. */
uint32_t closed_below(uint32_t mode, uint32_t gid, const struct inode_row *dir);

/* Takes from the mode of a version, or of a file of one, what nobody may see of it. */
int closed_version(struct db *db, struct version_row *v);
int closed_member(struct db *db, const struct version_row *v, const char *name, struct member_row *m);

/* In the transaction that gave what is in a checkpoint, a file or a directory, another mode or owner: what is closed now
 * is so at once, for nothing may be left of it when the checkpoint is judged; what is open now is so then. */
int tx_closed(struct expfs *ex, struct db *db, const struct inode_row *row);

#endif
