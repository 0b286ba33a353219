/* The database of a store: namespace, attributes, and which object holds what.
 *
 * Calling order: meta_create() once; meta_open(); then any number of
 * meta_write() and meta_reader()/meta_reader_done(), from any thread;
 * meta_close(). The tables have headers of their own (inode.h, dirent.h,
 * xattr.h, content.h); their functions take a struct db, which is either a
 * reader or the one writer inside of a transaction.
 *
 * One connection writes, and it alone checkpoints. A transaction that returned
 * 0 survives the death of the process; meta_sync() makes it survive a power
 * cut. Functions return 0 or -errno: -ENOSPC, -EDQUOT, -EIO from the disk,
 * -EUCLEAN where the database is damaged, -EEXIST for a name that is there. */
#ifndef EXPFS_META_H
#define EXPFS_META_H

#include "util/util.h"

#define META_ROOT 1 /* inode of the top directory, as FUSE wants it */
#define META_ID_MAX (1ll << 61) /* far below the numbers that views have */

struct meta;
struct db;

/* Makes the database with an empty top directory owned by uid and gid. */
int meta_create(const char *path, unsigned uid, unsigned gid);

/* On a full disk the log is moved into the database, and then give_space is asked
 * for space and returns whether it gave some; the transaction is run again each
 * time. frees: the transaction is one that frees more than it takes. May be NULL. */
typedef bool (*meta_space_fn)(void *arg, bool frees);
int meta_open(const char *path, meta_space_fn give_space, void *arg, struct meta **ret);
int meta_close(struct meta *m);

/* Runs f in one transaction and commits it; a negative result of f rolls it
 * back. f may be run more than once, so it must not act on anything but the
 * database and its argument. Not nested. */
typedef int (*meta_fn)(struct db *db, void *arg);
int meta_write(struct meta *m, meta_fn f, void *arg);
int meta_write_freeing(struct meta *m, meta_fn f, void *arg); /* takes the last space too */

/* How many transactions were rolled back before this one, in which db is the writer. */
uint64_t meta_rollbacks(const struct db *db);

/* How many transactions changed which checkpoints there are, or what is known of them: what was read after
 * the count was, is still so while the count is the same. */
uint64_t meta_checkpoints(struct meta *m);

/* Were versions added to those whose weights are to be read (meta/weights.h) since the last call? */
bool meta_take_unread(struct meta *m);

/* A connection that sees all that was committed before it is used; few are
 * there, so it is given back soon. */
struct db *meta_reader(struct meta *m);
void meta_reader_done(struct db *db);

/* Numbers that the store keeps by name; 0 where none was set. */
int meta_get_value(struct db *db, const char *key, int64_t *ret);
int meta_set_value(struct db *db, const char *key, int64_t value);

/* A number never given before: inodes, dirents, objects and the order of
 * commits all take theirs from this one sequence. */
uint64_t meta_id(struct meta *m);

/* Returns when everything committed before the call is on the disk. Calls at
 * one time share a sync. After one that failed all later ones fail: what the
 * kernel dropped does not come back. */
int meta_sync(struct meta *m);

/* Did a sync fail, inside of a transaction too? */
bool meta_sync_failed(struct meta *m);

/* Moves the log into the database file when it has grown; to be called now and
 * then by one thread. A failure other than of space is one of a sync. */
int meta_checkpoint(struct meta *m);

/* How the last process to have it open for writing ended. */
enum meta_end {
	META_CLEAN,  /* in good order */
	META_KILLED, /* in disorder, but what it wrote is all there */
	META_CUT,    /* in disorder, and the disk may have lost what was not synced */
};

/* From here to meta_close() a death counts as disorder. session: a number of the
 * time for which the disk loses nothing (store_session()). After META_CUT the
 * caller brings contents in order and then says so by meta_set_session(). Disorder
 * lasts until meta_recovered() says that all garbage it can have left is gone. */
int meta_begin_use(struct meta *m, uint64_t session, enum meta_end *ret);
int meta_set_session(struct meta *m, uint64_t session);
void meta_recovered(struct meta *m);
void meta_left_garbage(struct meta *m); /* the end will be in disorder after all */

/* The disk failed: whatever follows, the next process finds META_CUT. */
void meta_distrust(struct meta *m);

static inline void cleanup_reader(struct db **db)
{
	if (*db)
		meta_reader_done(*db);
}

static inline void cleanup_meta(struct meta **m)
{
	if (*m)
		meta_close(*m);
}

#endif
