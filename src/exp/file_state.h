/* struct file, for file.c, rw.c, shown.c, live.c, seal.c and share.c.
 *
 * lock is held through every change of the content, long ones too (copying,
 * reading a whole file for its digest). point guards the pointer obj and its
 * flags alone and is held for their time, so that readers never wait for a
 * change: they take a reference to the object and go. Who changes obj or live
 * holds both. The row is first read under point: until then nobody can know
 * the content. */
#ifndef EXPFS_FILE_STATE_H
#define EXPFS_FILE_STATE_H

#include "exp/file.h"
#include "store/digest.h"

struct file {
	struct expfs *ex;
	uint64_t ino;
	struct file *next; /* in the table's bucket */
	unsigned refs;     /* under the table's lock */

	pthread_mutex_t lock;
	/* The next five are changed under the table's lock, too. */
	atomic_uint writers;      /* handles that may write and are not gone */
	atomic_uint unflushed;    /* of these, those that were never closed by anybody */
	atomic_uint idle;         /* handles that were opened after the last write */
	_Atomic uint64_t epoch;   /* changes with the first write after one was opened */
	_Atomic int64_t closed_at; /* monotonic: the last close that left none unflushed; 0: written since */
	_Atomic int64_t begun_at;  /* monotonic: when the first of the writers came, or the content was begun anew */
	_Atomic int64_t written_at; /* monotonic: the last write by one of them; 0: none */
	atomic_bool manifest; /* INODE_MANIFEST */
	atomic_bool fresh;  /* written from empty; set before the content is there */
	bool dirty;         /* written since the last sealing */
	uint64_t begin;     /* number that the first byte of what is being written got; 0: none of it is there */
	uint64_t missing;   /* offset of bytes that could not be written; UINT64_MAX: none */
	bool marked;        /* live, and the row says that its writer closed it */
	bool again;         /* sealed while a handle was left: a write through that one goes on with the same save */
	bool times_set;     /* the mtime was set by hand after the last write */
	struct digest_run *run;

	pthread_mutex_t point;
	struct object *obj; /* NULL: empty */
	bool live;
	struct shown *shown; /* of a MANIFEST that is being written: shown.c */
	bool settled; /* known: obj was synced once, and there is no undo row (exp/undo.h) */
	int load_error; /* set once: the row could not be read */
};

/* With f->lock held: */

/* Before a change of the content: others go on seeing what it is now, until file_end_shown(), if
 * it is a MANIFEST; a failure is logged. */
void file_keep_shown(struct file *f);
void file_end_shown(struct file *f);
bool file_is_shown(const struct file *f); /* is the content of the file the one that others see? */

/* Under f->point: the content that others see, or NULL for an empty one. */
struct object *file_seen_object(const struct file *f);

/* Notes a write: what was sealed or closed before is so no longer. */
void file_set_written(struct file *f);

/* Seals what was written if nobody is left to write more; last: for sure. */
int file_end_writing(struct file *f, bool last);

/* Is the content of the file without a byte? */
bool file_is_empty(struct file *f);

/* Makes the content one that may be written in place. */
int file_make_live(struct file *f);

/* Makes obj (taken over; or NULL) the empty content of the file. */
int file_replace_empty(struct file *f, struct object *obj);

/* Seals a live content whose last writer is done, if it is one to be sealed. */
int file_seal(struct file *f);

/* Seals a live content that was left alone. 1: it is not what is known. */
int file_seal_as_it_is(struct file *f);
int file_seal_by_digest(struct file *f, const struct file_known *known);

/* Records that a writer closed a content that is sealed already, or stays live; or
 * that one writes it again. */
int file_mark_closed(struct file *f, bool closed);

/* In a transaction: 0, or -EAGAIN for a content that the disk may have in an older
 * state with nothing to go back to: it is to be synced before others get it. */
int file_is_shareable(struct db *db, uint64_t object);

/* Makes the sealed content of in, or obj, the content of the empty f: 1 if it did, with
 * its size; 0 where it cannot. */
int file_share_object(struct file *f, struct object *obj, uint64_t max, uint64_t *ret_size);
int file_share_whole(struct file *f, struct file *in, uint64_t max, uint64_t *ret_size);

/* Pins an object that the database names; its file must be there, else -EIO. */
int file_pin_content(const struct file *f, struct object *obj, int *ret_fd);

void file_set_content(struct file *f, struct object *obj, bool live); /* takes obj, drops the old */

#endif
