/* What an export remembers of a folder outside: which files it put there.
 *
 * It is a memory only: where it is lost, unreadable, or cannot be written, what the folder holds is found out by reading it. In the
 * order of calls: memory_open(), the rest, memory_free(). From memory_open() to memory_free() no other export of the store is at work
 * on that folder. Functions return 0 or -errno. */
#ifndef EXPFS_SYNC_MEMORY_H
#define EXPFS_SYNC_MEMORY_H

#include <jansson.h>
#include <sys/stat.h>

#include "store/digest.h"
#include "util/util.h"

#define MEMORY_DIR "exports" /* in the store */

struct memory;

/* dest: absolute, real. -EWOULDBLOCK: another one is at work, *ret_pid is its process or 0. */
int memory_open(const char *store, const char *dest, struct memory **ret, long *ret_pid);
void memory_free(struct memory *m);

/* Of what the folder is a copy, as memory_set_origin() was told, which takes it over; NULL: that is not known. */
const json_t *memory_origin(const struct memory *m);
int memory_set_origin(struct memory *m, json_t *origin);

struct memory_file {
	uint64_t size;
	uint8_t digest[DIGEST_SIZE];
	int64_t mtime; /* of the file as it was left, with its inode: */
	uint64_t ino;
	const char *stamp; /* tells whether what it was copied from is the same, "": nothing does */
};

/* Was the file st left there by an export under that name? Then *ret is what is known of it. */
bool memory_find(const struct memory *m, const char *name, const struct stat *st, struct memory_file *ret);

/* Did an export leave a file of that content there? */
bool memory_has_content(const struct memory *m, const char *name, uint64_t size, const uint8_t digest[DIGEST_SIZE]);

/* The last of what may stand there; how many there are, 0: nothing is known. */
size_t memory_newest(const struct memory *m, const char *name, struct memory_file *ret);

/* Whether anything is known under that name; of what lies in that directory, or of the directory itself. */
bool memory_has(const struct memory *m, const char *name);
bool memory_has_below(const struct memory *m, const char *dir);

/* The file of that name may be that one from now on, beside what was known, of which the first and the last are kept; or is it, and
 * only that. Empty directories and links
 * are noted as files without size. */
int memory_expect(struct memory *m, const char *name, const struct memory_file *f);
int memory_settle(struct memory *m, const char *name, const struct memory_file *f);
void memory_forget(struct memory *m, const char *name);

/* Calls f for all names, in any order; f may forget the one that it is called for. */
typedef int (*memory_fn)(void *arg, const char *name);
int memory_each(struct memory *m, memory_fn f, void *arg);

/* To the disk, if something changed. */
int memory_save(struct memory *m);

static inline void cleanup_memory(struct memory **m)
{
	if (*m)
		memory_free(*m);
}
#define _cleanup_memory_ _cleanup_(cleanup_memory)

#endif
