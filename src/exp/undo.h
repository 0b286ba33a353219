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
 * Who synced makes a difference. What is sealed and was synced was there as a
 * whole, and what its user synced is what its user wanted there: neither is ever
 * given up for something older (CONTENT_WHOLE, CONTENT_CHANGED). But a file in the
 * midst of its first writing is synced by us, too: because its directory was synced,
 * which is to keep its name, or because it has been open for a minute, as logs are.
 * It is settled, for it is better than nothing; but it is not better than a whole
 * file (CONTENT_BEGUN). So when it is renamed over one, it is not settled any more,
 * and goes back to that. A content of the first kind that is renamed over another is
 * synced first, as it is then; what is written after the rename is changed in place.
 *
 * FLUSH, at which contents are sealed, also comes when a forked child closes its copy
 * of a descriptor in the midst of a save. Until the last handle is gone, or nobody has
 * written for a minute, the keeper does not let such a content count as whole, whatever
 * its digest says (CONTENT_HELD); but for a log, which has been open for a minute and is no save.
 *
 * A row goes with fsync of the file; when the keeper has synced the sealed object, or
 * a live one that nobody has open to write; or, where the file has no role of an
 * experiment and so is no save, when it has been open for a minute (settle.c). The order
 * on the disk is: content synced → row gone → log of the database synced → old content
 * gone.
 *
 * The functions work inside a transaction and collect in drop what nothing needs
 * any more. */
#ifndef EXPFS_UNDO_H
#define EXPFS_UNDO_H

#include "exp/file.h"
#include "meta/content.h"

/* The row of the inode names the object new (0: none) instead of old since now. */
int undo_replaced(struct db *db, uint64_t ino, uint64_t old, uint64_t new, struct file_drop *drop);

/* The file is not settled, or sealed and not on the disk so: 1, and it is not to get a
 * second name, or to be exchanged, before it is synced. 0: it has no row afterwards. */
int undo_check_settled(struct db *db, uint64_t ino, struct file_drop *drop);

/* The inode gets a name now, one that the inode over had (0: nobody had it). A
 * file that is new then goes back to what that name led to. 1: that cannot be noted,
 * or the file has something of its own to go back to; it is to be synced first.
 * synced: that was just done. */
int undo_renamed(struct db *db, uint64_t ino, uint64_t over, bool synced, struct file_drop *drop);

/* The object of the inode (0: it is empty) was synced, as of that sealing (0: live,
 * which makes it what live says), and if it is still so the inode is settled. 1: it is
 * another by now. */
int undo_settle(struct db *db, uint64_t ino, uint64_t object, uint64_t seal, enum content_synced live,
		struct file_drop *drop);

/* Takes away the row of an inode that goes. */
int undo_forget(struct db *db, uint64_t ino, struct file_drop *drop);

#endif
