/* Work in the background: what nobody waits for.
 *
 * Five threads. The reaper removes inodes that lost their last name and their
 * last user. The keeper, every two seconds, syncs what was closed, gives up the
 * contents that this took the place of, syncs the names, and then removes the
 * objects that nothing names; it moves the database's log,
 * holds the reserve, and after a disorderly end
 * removes object files that no row names. The sealer seals contents that were left
 * alone. The judge, every two seconds, finds out what became of checkpoints that
 * changed, and to which experiment they belong; the weigher, at once where one is
 * found complete, which weights they hold. */
#ifndef EXPFS_KEEPER_H
#define EXPFS_KEEPER_H

#include "exp/expfs.h"

int keeper_start(struct expfs *ex);
void keeper_stop(struct expfs *ex); /* ends what is under way in good order */

/* An inode that has no name any more is not known to the kernel any more. */
void keeper_forgotten(struct expfs *ex, uint64_t ino);

/* An object has no row any more: its file is removed once that is on the disk. */
void keeper_remove(struct expfs *ex, uint64_t object);

/* There are more checkpoints whose weights are to be read. */
void keeper_unread(struct expfs *ex);

/* Takes what was deleted out of the database, now, so that sums are right. */
void keeper_settle(struct expfs *ex);

/* Removes what waits to be removed, now, from the disk too; whether there was
 * anything. If not, what is being written is synced as it is, so that nothing need be
 * kept of what it took the place of. */
bool keeper_reap(struct expfs *ex);

/* How many objects, and inodes without a name, wait to be removed. */
uint64_t keeper_waiting(struct expfs *ex);

#endif
