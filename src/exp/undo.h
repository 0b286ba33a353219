/* What a file had before, for the time after a power cut.
 *
 * A commit of the database may outlive a power cut without the bytes of the
 * object that it names. So an object is known to be on the disk (column synced of
 * its row) only once it was synced, directory entry and all; and until then the
 * content that it took the place of is kept, by a row of the table undo for the
 * inode. There are three kinds of inode:
 *
 *   settled  its object was synced once, or it has none: what the disk has is good
 *   replaced its object was not synced; the undo row tells what it had before
 *   new      its object was not synced and there is no row: it had nothing
 *
 * After a power cut recover.c looks at each object that was not synced. What is
 * sealed and has its size and digest is whole. Otherwise a replaced inode gets
 * back what it had, and a new one loses its names. A settled file that is changed
 * in place keeps what the disk has of it.
 *
 * An empty file that somebody has open to write may keep its row: a shell that opens
 * a file to write into it closes a copy of its descriptor first, and what the file
 * had is not to be given up for that.
 *
 * A row goes with fsync of the file; when the keeper has synced the sealed object;
 * or when a live one was not closed for a minute (keeper.c). The order on the disk
 * is: content synced → row gone → log of the database synced → old content gone.
 *
 * The functions work inside a transaction and collect in drop what nothing needs
 * any more. */
#ifndef EXPFS_UNDO_H
#define EXPFS_UNDO_H

#include "exp/file.h"

/* The row of the inode names the object new (0: none) instead of old since now. */
int undo_replaced(struct db *db, uint64_t ino, uint64_t old, uint64_t new, struct file_drop *drop);

/* The file is not settled: 1, and it is not to get a second name, or to be
 * exchanged, before it is synced. 0: it has no row afterwards. */
int undo_check_settled(struct db *db, uint64_t ino, struct file_drop *drop);

/* The inode gets a name now, one that the inode over had (0: nobody had it). A
 * file that is new then goes back to what that name led to. 1: that cannot be noted,
 * or the file has something of its own to go back to; it is to be synced first. */
int undo_renamed(struct db *db, uint64_t ino, uint64_t over, struct file_drop *drop);

/* Is the inode a file that is not settled? */
int undo_is_open(struct db *db, uint64_t ino);

/* The object of the inode (0: it is empty) was synced, as of that sealing (0: live),
 * and if it is still so the inode is settled. 1: it is another by now. */
int undo_settle(struct db *db, uint64_t ino, uint64_t object, uint64_t seal, struct file_drop *drop);

/* Takes away the row of an inode that goes. */
int undo_forget(struct db *db, uint64_t ino, struct file_drop *drop);

#endif
