/* Keeping versions of what has a role (spec sections 4 to 6): each change of a
 * name or a content tells, in its own transaction, which names it was about, and
 * the rows of these are brought in line with what is there now.
 *
 *   a file that has a role, and was closed   its content becomes a version
 *   a file in a checkpoint directory         the directory is to be judged again
 *   a name that is gone, or has no role      its last version ends
 *
 * What cannot be told at that moment (is it complete?) is noted in the row and
 * found out by exp/judge.h, at the next look-up or in the background. Below a directory that was renamed all
 * is tracked anew by track_moved(), later.
 *
 * Directories below one that was renamed wait in the table moved, the order of which does not
 * matter, for a name says all that is to be known of it.
 *
 * Damaged rows fail nothing: they are counted (track_faults of struct expfs), and status tells.
 *
 * Functions named tx_* are for transactions; they collect in drop what nothing needs any
 * more. SIGNALS files, which grow line by line, have their last version only, and only while
 * nobody writes them: they are changed in place, and each line would be a copy of the file. */
#ifndef EXPFS_TRACK_H
#define EXPFS_TRACK_H

#include "exp/expfs.h"
#include "exp/file.h"
#include "meta/tracked.h"
#include "meta/version.h"

/* The name in the directory dir, or each name of the inode whose row is this, may lead to something else
 * now. */
int tx_track_name(struct expfs *ex, struct db *db, uint64_t dir, const char *name, struct file_drop *drop);
int tx_track_inode(struct expfs *ex, struct db *db, const struct inode_row *row, struct file_drop *drop);

/* The name in the directory leads to nothing now. */
int tx_track_gone(struct expfs *ex, struct db *db, uint64_t dir, const char *name, struct file_drop *drop);

/* A file was made in the directory with that name and row, which holds nothing yet. */
int tx_track_made(struct expfs *ex, struct db *db, uint64_t dir, const char *name, const struct inode_row *row);

/* The content of a file is about to be changed in place. again: by a handle that was
 * closed once, as by a forked child: the version of then was none. */
int tx_track_written(struct expfs *ex, struct db *db, uint64_t ino, bool again);

/* A checkpoint holds what its version v holds, and was begun with that number. 1: it was saved again, perhaps under
 * another experiment, and is another version until that is found out (tx_point_join()); the last one ends with
 * the next, which has its metrics, too. */
int tx_track_saves_again(struct db *db, const struct tracked_row *t, const struct version_row *v, uint64_t begin);
int tx_track_end_by(struct db *db, struct version_row last, uint64_t next);

/* The last version of a path ends here. */
int tx_track_end_version(struct expfs *ex, struct db *db, struct tracked_row *t, struct file_drop *drop);

/* It is to be found out to which experiment a version of the path belongs, and of a complete checkpoint, which weights it
 * holds. */
int tx_track_due(struct db *db, const struct tracked_row *t, const struct version_row *v);

/* The order of checkpoints: that of the commits that completed them, name_order that of the name's
 * role; what came with an old time stands before all others, in the order of those times. */
int64_t track_rank(const struct inode_row *row, uint64_t name_order);

/* 1: a file that gets this time, which is before its birth here, was moved here when it had just been saved elsewhere, as by
 * a program that saves into the directory of temporary files first: that is a save, and no copy of something older. */
int tx_track_moved_here(struct expfs *ex, struct db *db, const struct inode_row *row, int64_t mtime);

/* A content is not to be had any more: versions that held it were none. */
int tx_track_lost(struct expfs *ex, struct db *db, uint64_t object);

/* Versions of a path were forgotten: of one of a removed run perhaps the last complete one. */
int tx_track_forgotten(struct expfs *ex, struct db *db, struct tracked_row *t);

/* A directory got a place with that name instead of the one that it had; it was removed. The history of a checkpoint
 * stays with its path, as that of a file does; other directories, runs above all, take along what is below them. */
int tx_track_dir_renamed(struct expfs *ex, struct db *db, uint64_t ino, const char *name, struct file_drop *drop);
int tx_track_dir_removed(struct expfs *ex, struct db *db, uint64_t ino, struct file_drop *drop);

/* Files that were being written when the last process died hold no version. */
int track_left_open(struct expfs *ex);

/* Tracks what lies below directories that were renamed, as far as the disk takes it. What was saved in a run that they
 * leave belongs to what that run held. */
int track_moved(struct expfs *ex);

#endif
