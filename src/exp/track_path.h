/* Single tracked paths, for track.c and track_dir.c, and their versions, in track_version.c: inside a transaction. */
#ifndef EXPFS_TRACK_PATH_H
#define EXPFS_TRACK_PATH_H

#include "exp/ancestry.h"
#include "exp/track.h"

/* What users do to files never fails because of what is kept about them: 0 for a row that is not as it should be,
 * which is told. Errors of the disk go on, for the transaction has them too. */
int track_forgive(struct expfs *ex, int r);

/* What has the name in a directory of tracked paths gets another. */
int track_displace(struct db *db, uint64_t parent, const char *name);

/* May nobody look into the directory ino who could not look into the one that is gone? Else its
 * history is not shown there. */
bool track_is_as_closed(struct db *db, uint64_t ino, const struct tracked_row *gone);

/* The tracked path of the i-th directory, made if it is not there. */
int track_dir(struct expfs *ex, struct db *db, const struct ancestry *a, size_t i, struct tracked_row *ret);

/* Nothing stands at a tracked path any more, or nothing that counts for itself. Its role
 * tells of what it was. */
int track_end_path(struct expfs *ex, struct db *db, struct tracked_row *t, struct file_drop *drop);

/* It has no complete version, or none that is to be had; to be written with the row. */
void track_no_good(struct tracked_row *t);

/* The content of a closed file is a version of its path, a new one if it differs, or is a checkpoint's anew; to be
 * written with the row. name_order: as of track_rank(). */
int track_content(struct expfs *ex, struct db *db, struct tracked_row *t, const char *name, const struct inode_row *row,
		  uint64_t name_order, struct file_drop *drop);

/* The version that the path holds was none. */
int track_unmake_version(struct expfs *ex, struct db *db, struct tracked_row *t);

/* Something in a checkpoint directory changed. */
int track_member(struct expfs *ex, struct db *db, const struct ancestry *a);

#endif
