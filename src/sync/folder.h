/* A folder outside of the store, which a sync tool may watch: nothing in it is written in place. What is new is written beside, at the
 * folder's top under PORTABLE_PART (sync/portable.h), and renamed; a directory takes another's place by RENAME_EXCHANGE or, where the
 * file system cannot do that, by way of FOLDER_OLD, which folder_mend() knows what to do with after a kill.
 *
 * Names are relative to the folder and may have slashes. Functions return 0 or -errno. */
#ifndef EXPFS_SYNC_FOLDER_H
#define EXPFS_SYNC_FOLDER_H

#include <sys/stat.h>

#include "store/digest.h"
#include "util/util.h"

#define FOLDER_OLD ".expfs-old-"

struct folder {
	int fd;
	char *path; /* absolute, real */
	bool made;  /* by folder_open() */
	long type;  /* of its file system, as of statfs() */
};

/* Makes the directory if it is not there, but none above it. */
int folder_open(const char *path, struct folder *ret);
void folder_close(struct folder *f);

/* Opens it again where another directory, or another mount, is at its path by now. -ENOENT: there is none; -ENODEV: another file system,
 * as where what was mounted there is not. */
int folder_follow(struct folder *f);

/* Until it is closed nobody else has it; -EWOULDBLOCK: somebody has. Where the file system knows no locks, it is not locked. */
int folder_lock(const struct folder *f);

/* Removes what an export that was killed left, and gives a directory back its name. Where another has that by now, it is asked whether
 * that is what was to take its place: else both stay, as a sync tool may have made it anew, and folder_has_old(). */
typedef bool (*folder_placed_fn)(void *arg, const char *name, const struct stat *st);
int folder_mend(const struct folder *f, folder_placed_fn placed, void *arg);
bool folder_has_old(const struct folder *f, const char *name);

/* The name under which something is written before it gets its own, where that lies below the folder's top with a number that tells it
 * from others; to be freed. */
char *folder_part(const char *name, size_t number);

/* What is written under the name part, synced, becomes name, whose directory is made where it is not there; then folder_sync(). What
 * stood there is gone then, also where it is a directory with all that is in it. -ENOTDIR: one of the directories is a file. */
int folder_place(const struct folder *f, const char *part, const char *name, bool is_dir);
int folder_sync(const struct folder *f, const char *name); /* the directory in which it lies */

int folder_make_above(const struct folder *f, const char *name); /* the directories above it */

/* -ELOOP: one of the directories above it is a link, which may lead out of the folder. */
int folder_stat(const struct folder *f, const char *name, struct stat *ret);
int folder_digest(const struct folder *f, const char *name, uint64_t size, uint8_t ret[DIGEST_SIZE]);

/* Removes a file, and the directories above it that are empty then. */
int folder_remove(const struct folder *f, const char *name);

/* Removes a directory and those above it, as far as they are empty. */
void folder_remove_empty(const struct folder *f, const char *name);

/* Calls f for all that lies in the directory name and below it and is no directory, or an empty one, by names that begin with it; ""
 * is the folder. Ends early with what it returns other than 0. */
typedef int (*folder_fn)(void *arg, const char *name, const struct stat *st);
int folder_each(const struct folder *f, const char *name, folder_fn fn, void *arg);

/* Bytes that can be written there; -EOPNOTSUPP: it does not say. */
int folder_free(const struct folder *f, uint64_t *ret);

/* Is it a failure of what such a folder need not know: modes, times, syncs of directories? */
static inline bool folder_cannot(int r)
{
	return r == -EPERM || r == -EINVAL || r == -ENOSYS || r == -EOPNOTSUPP || r == -ENOTTY;
}

#endif
