/* The content of a regular file in use.
 *
 * There is one struct file an inode, shared by all who have it open; its state
 * belongs to the inode, not to a handle, for the kernel writes back mapped
 * pages through any of them and after the close.
 *
 * Calling order: file_get(); for each handle that may write file_open_writer(),
 * then writes, file_flush() at each close of a descriptor, and
 * file_close_writer() when the handle is gone; file_put(). Reading needs only
 * file_get(). All from any thread; functions return 0 or -errno.
 *
 * A content is live (changed in place, owned by one inode) or sealed (immutable,
 * with a digest, shared with equal files). It is sealed when the last writer
 * closes it if it was written from empty or has a role; otherwise later, by the
 * keeper, when it has been left alone. */
#ifndef EXPFS_FILE_H
#define EXPFS_FILE_H

#include "exp/expfs.h"
#include "store/object.h"

struct file;

int file_table_new(struct file_table **ret);
void file_table_free(struct file_table *t);

/* -ESTALE: no such inode; -EINVAL: not a regular file. */
int file_get(struct expfs *ex, uint64_t ino, struct file **ret);
void file_put(struct file *f);

/* Is the inode in the table? Has anybody a handle to write it? The latter waits a moment for a handle whose close has
 * returned, since the kernel tells of the end of a handle only after that. */
bool file_in_use(struct expfs *ex, uint64_t ino);
bool file_is_written(struct expfs *ex, uint64_t ino);
bool file_has_writer(struct expfs *ex, uint64_t ino); /* does not wait */

/* Whether a content is done, for who does not hold the file. */
struct file_use {
	bool fresh;         /* it was begun empty */
	int64_t begun_at;   /* monotonic, ns: when the first writer came, or it was begun */
	int64_t written_at; /* monotonic, ns: the last write by one who has a handle, or 0 */
};
void file_get_use(struct expfs *ex, uint64_t ino, struct file_use *ret);

/* An object that no row names yet. */
int file_new_object(struct expfs *ex, struct object **ret);
int file_new_object_precious(struct expfs *ex, struct object **ret); /* may use the reserve */
void file_abandon(struct expfs *ex, struct object *obj);             /* takes obj */

/* A file that is about to be made, with this content and one handle to write: the
 * caller inserts both rows, or undoes it. It comes first, so that nobody finds the rows
 * and takes the file for one that is written by nobody. */
int file_new(struct expfs *ex, uint64_t ino, struct object *obj, struct file **ret); /* takes obj */
void file_new_failed(struct file *f);                                               /* takes f */

/* What belongs to a handle that may write: all 0 for the one of file_new(). */
struct file_writer {
	bool flushed;
	uint64_t epoch; /* of the writes when it was opened */
};
void file_open_writer(struct file *f, struct file_writer *ret);
int file_flush(struct file *f, struct file_writer *w);
void file_close_writer(struct file *f, const struct file_writer *w);

/* The object to read from, as a writer or another sees the file, with a descriptor that is good until
 * file_read_end(); *ret_obj is NULL for an empty file. */
int file_read_begin(struct file *f, bool writer, struct object **ret_obj, int *ret_fd);
void file_read_end(struct object *obj);

/* A MANIFEST file is never seen half written: from its first change until its last writer closed it, those
 * who do not write it see what it was. Once a close has returned it is seen as it was closed: these wait a moment
 * for the handle's end.
 * file_pin_seen(): the content that others see, which stays as it is until file_read_end(); NULL for an empty one.
 * 0: there is none to stay; it was never closed, and is seen as it is.
 * file_get_seen(): its attributes, likewise. */
bool file_is_manifest(const struct file *f);
int file_pin_seen(struct file *f, struct object **ret); /* 1, 0 */
int file_get_seen(struct expfs *ex, uint64_t ino, struct inode_row *ret);

/* In a transaction: the row of the inode has INODE_MANIFEST now. */
void file_set_manifest(struct expfs *ex, uint64_t ino);

/* The bytes written; less than n only where the disk is full. append: to the end of a MANIFEST file, which
 * the kernel does not know while others see another size. */
ssize_t file_write(struct file *f, const void *buf, size_t n, uint64_t off, bool append);
int file_truncate(struct file *f, uint64_t size);
int file_fallocate(struct file *f, int mode, uint64_t off, uint64_t len);

/* Copies up to len bytes; a whole file into an empty one becomes shared. */
ssize_t file_copy(struct file *in, uint64_t off_in, struct file *out, uint64_t off_out, uint64_t len);

/* The same of a content, as of a version, that the caller has a reference of; only of the whole, else -EOPNOTSUPP. */
ssize_t file_copy_object(struct object *in, struct file *out, uint64_t len);

/* Sets the modification time, in ns, together with what else f changes in the
 * row: f is run in the same transaction. */
int file_set_mtime(struct file *f, int64_t mtime, meta_fn set, void *arg);

/* Content and everything committed until now are on the disk afterwards. A
 * failure ends all writing to the store. */
int file_sync(struct file *f, bool data_only);

/* The same for what nobody asked to be on the disk, but what is to be done with the
 * file needs to be there (exp/undo.h); not what was committed. */
int file_settle(struct file *f);

/* Seals a live content that nobody has open to write, if it has a role: its name
 * may have given it one just now. */
void file_seal_left_alone(struct expfs *ex, uint64_t ino);

/* Seals what is changed in place, and nobody has open to write, before its name goes: history then has it. Large
 * holes are not kept. */
void file_seal_at_end(struct expfs *ex, uint64_t ino);

/* The same for any file, with the digest of what it is known to hold: the first size
 * bytes, last changed in any way at ctime (ns). 1: it is another by now. */
struct file_known {
	uint64_t object, size;
	int64_t ctime;
	uint8_t digest[16];
};
int file_seal_known(struct file *f, const struct file_known *known);

/* Reading terabytes of zeros for a digest would take hours: such a content stays live. */
static inline bool file_has_large_holes(const struct stat *st)
{
	return st->st_size - (int64_t)st->st_blocks * 512 > 1ll << 30;
}

/* Removes what an inode without names and users held: the rows in the
 * transaction, then, with the ids collected, the objects. */
#define FILE_DROP_MAX 512
struct file_drop {
	bool keeps; /* versions that end stay in history, even if the run does not record such (exp/kept.h) */
	int n;
	uint64_t object[FILE_DROP_MAX];
};
int file_drop_object(struct db *db, uint64_t object, struct file_drop *drop);
int file_drop_inode(struct db *db, const struct inode_row *row, struct file_drop *drop);
void file_drop_finish(struct expfs *ex, const struct file_drop *drop);

static inline void cleanup_file(struct file **f)
{
	if (*f)
		file_put(*f);
}

#endif
