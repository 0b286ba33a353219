/* Objects: the content of one regular file is one plain file of the store.
 *
 * A struct object is a reference-counted handle on such a file. Its descriptor
 * is opened when somebody needs it and closed when too many are open, so a
 * descriptor may be used between object_pin() and object_unpin() only. All
 * functions are thread-safe and return 0 or -errno.
 *
 * Ids come from the caller and are never used twice. An object file is made
 * before the database row that names it and removed after that row is gone. */
#ifndef EXPFS_OBJECT_H
#define EXPFS_OBJECT_H

#include <sys/stat.h>

#include "store/store.h"

struct object;
struct object_cache;

/* Used by store.c. */
int object_init_dirs(int dirfd);
int object_cache_new(struct store *s, struct object_cache **ret);
void object_cache_free(struct object_cache *c);
struct object_cache *store_objects(const struct store *s);

/* Makes an empty object; -EEXIST where the id has a file. */
int object_create(struct store *s, uint64_t id, struct object **ret);

/* A handle on an object; the file itself is looked for at the first pin. */
int object_get(struct store *s, uint64_t id, struct object **ret);
struct object *object_ref(struct object *o);
bool object_in_use(struct store *s, uint64_t id); /* has anybody a handle? Before object_create() makes the file it has. */
void object_put(struct object *o);

uint64_t object_id(const struct object *o);

/* A descriptor open for reading and writing, or for reading alone where the disk
 * has become read-only; -ENOENT where the file is gone. */
int object_pin(struct object *o, int *ret_fd);
bool object_is_read_only(struct object *o); /* of a pinned one */
void object_unpin(struct object *o);

/* Syncs the content and, where it was not yet, the object's directory entry. Where
 * it fails without store_sync_failed() it may be tried again. */
int object_sync(struct object *o, bool data_only);

/* stat of an object by its id, without a handle; when it was made, in ns, or where
 * the disk does not know, when it was last written. */
int object_stat(struct store *s, uint64_t id, struct stat *ret);
int object_birth(struct store *s, uint64_t id, int64_t *ret);

/* Removes an object's file. Handles that are open go on working. */
int object_unlink(struct store *s, uint64_t id);

/* Calls f for each object file; names that are no object's are told with id 0.
 * Ends early with what f returns other than 0. */
typedef int (*object_iter)(void *arg, uint64_t id, const char *name);
int object_each(struct store *s, object_iter f, void *arg);

static inline void cleanup_object(struct object **o)
{
	if (*o)
		object_put(*o);
}

#endif
