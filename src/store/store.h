/* A store: the backing directory with everything that a mount keeps.
 *
 * Calling order: store_init() once in a store's life; then store_open(),
 * store_lock() by whoever writes, store_close(). Objects are in object.h; the
 * database file in it is the room meta's. This room knows
 * no names and no SQL. Functions return 0 or -errno. */
#ifndef EXPFS_STORE_H
#define EXPFS_STORE_H

#include <sys/statvfs.h>

#include "util/util.h"

#define STORE_FORMAT 5
#define STORE_RESERVE (8u << 20)

struct store;

/* Makes the directory (which may be there, empty) and its files; -EEXIST where
 * it is a store already, -ENOTEMPTY where something else is in it. Nothing of
 * it is left where it fails. config is the text of config.yaml; more makes what
 * other rooms need in the directory. */
int store_init(const char *path, const char *config, int (*more)(const char *path));

/* Opens a store, of an older format too. -ENOENT, -ENOTDIR: no such directory;
 * -EMEDIUMTYPE: it is not a store; -EPROTONOSUPPORT: of a format that this program
 * does not know, which *ret_format then tells. */
int store_open(const char *path, struct store **ret, unsigned *ret_format);
void store_close(struct store *s);

/* Is that directory a store, of any format? */
bool store_is(const char *path);

/* Takes the store for this process, until store_close(). who is a line that
 * others are shown. -EWOULDBLOCK: somebody has it, *ret_who (to be freed) says
 * who. */
int store_lock(struct store *s, const char *who, char **ret_who);

/* Says in the file format that all of the store is of STORE_FORMAT now. */
int store_set_format(struct store *s);

/* A number for the time in which the disk loses nothing that was written to it: one
 * boot of the machine and one mount of the disk's file system. Never 0. */
int store_session(const struct store *s, uint64_t *ret);

const char *store_path(const struct store *s); /* absolute */
int store_dirfd(const struct store *s);        /* owned by the store */
char *store_file(const struct store *s, const char *name); /* path of a file in it, to be freed */

/* Does the disk take no more writes? Asked by trying: a file system that stopped
 * for an error need not say so otherwise. */
bool store_is_read_only(const struct store *s);

/* Syncs the disk's file system. */
int store_sync(struct store *s);

/* Did a sync of this process fail, other than for want of what it takes to make one?
 * What the kernel dropped then does not come back. */
bool store_sync_failed(const struct store *s);
void store_note_sync_failed(struct store *s); /* used by object.c */

int store_statvfs(const struct store *s, struct statvfs *ret);

/* The reserve: space that is held for the moment when the disk is full, so
 * that names and small files can still be written. Giving returns true if
 * something was given; holding takes it again while the disk has space. The last
 * half is given only to what frees space: without it nothing could be deleted. */
bool store_reserve_give(struct store *s, bool frees);
void store_reserve_hold(struct store *s);

static inline void cleanup_store(struct store **s)
{
	if (*s)
		store_close(*s);
}

#endif
