/* An open store: bytes (room store) and database (room meta) brought together.
 *
 * Calling order: expfs_open(); the rest from any thread; expfs_close(). One
 * process has a store open for writing at a time. Functions return 0 or -errno.
 *
 * Locks of the process, in the order in which they are taken:
 *   settle_lock → that of exp/standings.h → that of exp/inside.c → file->lock (exp/file_state.h) → the keeper's of
 *   reaping and of rounds → the database's write lock → the table of files' → the object table's
 * and beside them, never with another taken inside: the inode table's, the
 * view table's, the gate's, the keeper's lists', that of exp/kept.h, config_lock. No SQL and no I/O under the latter. */
#ifndef EXPFS_EXPFS_H
#define EXPFS_EXPFS_H

#include <stdatomic.h>
#include <sys/statvfs.h>

#include "exp/config.h"
#include "format/role.h"
#include "meta/inode.h"
#include "meta/mend.h"
#include "meta/meta.h"
#include "store/store.h"
#include "util/mounts.h"

struct file_table;
struct keeper;

/* Files that were not whole on the disk after a power cut. */
struct recovered {
	unsigned back; /* have the content from before again */
	unsigned gone; /* were new */
	unsigned kept; /* were changed in place, and are as the disk has them */
};

/* What a name led to that leads to something else now, without the kernel having asked for it. */
struct expfs_change {
	uint64_t dir;
	char *name;
	uint64_t was; /* inode, 0: none */
	bool last;    /* that was its last name */
};

struct expfs {
	struct store *store;
	struct meta *meta;
	struct config *_Atomic config; /* that is in force (exp/settings.h) */
	char *config_error; /* what is the matter with config.yaml, or NULL; under config_lock */
	pthread_mutex_t config_lock;
	struct file_table *files; /* exp/file.h */
	struct keeper *keeper;    /* exp/keeper.h */
	struct ancestries *ancestries; /* exp/ancestry.h */
	struct manifests *manifests;   /* exp/manifests.h */
	struct standings *standings;   /* exp/standings.h */
	struct kept *kept;             /* exp/kept.h */
	atomic_uint track_faults;      /* exp/track.h */
	atomic_uint experiment_faults; /* checkpoints whose experiment could not be found out */
	_Atomic uint64_t leaving[64];  /* exp/leaving.h */
	atomic_uint untold;            /* names that lead to something else, which the kernel does not know yet */
	pthread_mutex_t settle_lock;   /* one at a time finds out experiments; before all other locks */
	char *mountpoint;   /* absolute, or NULL while not mounted */
	char device[MOUNTS_DEVICE]; /* of the mount, or empty */
	enum meta_end last_end; /* of the last process that had it */
	struct recovered recovered;
	atomic_bool read_only;
	char *read_only_reason; /* written once, before read_only is set */
	pthread_mutex_t read_only_lock;

	/* Does the kernel know the inode? Such a one is not removed though it has
	 * no name. NULL while nothing is mounted. Takes no lock but its own. */
	bool (*is_known)(void *arg, uint64_t ino);
	void *is_known_arg;

	/* Returns when the kernel knows of changes that were committed. The same argument; NULL while nothing is mounted.
	 * Not to be called with a lock, nor by more than a few at a time. */
	void (*changed)(void *arg, const struct expfs_change *v, size_t n);
};

/* Opens a store. who: a line for others that want it meanwhile (as "mounted on
 * /mnt"). With a failure *ret_error, to be freed, is the message for the user:
 * the thing, the reason, what to do. */
int expfs_open(const char *path, const char *who, struct expfs **ret, char **ret_error);
int expfs_close(struct expfs *ex);

/* mend_database() of a store that expfs_open() finds damaged (-EUCLEAN), likewise. */
int expfs_mend(const char *path, const char *who, bool repair, mend_fn f, void *arg, char **ret_error);

/* Makes a store, likewise. */
int expfs_init(const char *path, char **ret_error);

/* meta_write(), but -EROFS once the store is read-only. */
int expfs_write(struct expfs *ex, meta_fn f, void *arg);
int expfs_write_freeing(struct expfs *ex, meta_fn f, void *arg); /* meta_write_freeing() */

/* Does an errno say that there is no space? */
static inline bool expfs_is_full(int r)
{
	return r == -ENOSPC || r == -EDQUOT;
}

/* Does it say that nothing can be noted now? What is only kept for later look-ups is then left. */
static inline bool expfs_takes_nothing(int r)
{
	return r == -EROFS || expfs_is_full(r);
}

/* Ends all writing, for good, because the disk failed. The reason is a
 * complete sentence without full stop. */
void expfs_fail(struct expfs *ex, const char *reason);

/* Is nothing to be written, because of that, or for the kernel lets nothing through? That
 * is another matter from one remount to the next. */
bool expfs_is_read_only(struct expfs *ex);

/* Hands on the result of a sync; one that failed ends all writing, but not where
 * none was made, for want of memory or descriptors or because a file cannot be opened. */
int expfs_sync_result(struct expfs *ex, int r);

/* Frees what is waiting to be freed, then, for what is small and precious, a
 * piece of the reserve; whether anything came of it. */
bool expfs_make_space(struct expfs *ex, bool precious);

/* What statfs says: the backing store's own numbers. */
int expfs_statvfs(struct expfs *ex, struct statvfs *ret);

/* Attributes of an inode as they are now: those of a live object are taken
 * from its backing file. */
int expfs_stat_live(struct expfs *ex, struct inode_row *row);
int expfs_inode_get(struct expfs *ex, struct db *db, uint64_t ino, struct inode_row *ret);

static inline void cleanup_expfs(struct expfs **ex)
{
	if (*ex)
		expfs_close(*ex);
}

#endif
