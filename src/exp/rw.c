/* Reading and writing the content of a file in use. Readers take the object that
 * the file has at the moment and go on; who changes the content holds f->lock. */
#include <fcntl.h>
#include <string.h>

#include "exp/file_state.h"
#include "exp/undo.h"
#include "meta/content.h"
#include "util/io.h"
#include "util/log.h"

#define COPY_MAX 0x7ffff000ull /* as of copy_file_range(2); the reply has 32 bits */
#define SPACE_TRIES 4
#define SMALL (256u << 10)     /* a file that may use the reserve of a full disk */

int file_pin_content(const struct file *f, struct object *obj, int *ret_fd)
{
	int r = object_pin(obj, ret_fd);

	if (r != -ENOENT)
		return r;
	log_msg("inode %llu: its content, object %llx, is not in the store; run expfs fsck on it",
		(unsigned long long)f->ino, (unsigned long long)object_id(obj));
	return -EIO;
}

int file_read_begin(struct file *f, bool writer, struct object **ret_obj, int *ret_fd)
{
	uint64_t last = 0;

	for (;;) {
		_cleanup_(cleanup_object) struct object *obj = NULL;
		int r;

		pthread_mutex_lock(&f->point);
		obj = writer ? f->obj : file_seen_object(f);
		if (obj)
			object_ref(obj);
		pthread_mutex_unlock(&f->point);
		if (!obj) {
			*ret_obj = NULL;
			return 0;
		}
		/* Not there: replaced by another since we looked, or lost. */
		r = object_id(obj) == last ? file_pin_content(f, obj, ret_fd) : object_pin(obj, ret_fd);
		if (r == 0) {
			*ret_obj = steal(&obj);
			return 0;
		}
		if (r != -ENOENT)
			return r;
		last = object_id(obj);
	}
}

void file_read_end(struct object *obj)
{
	if (!obj)
		return;
	object_unpin(obj);
	object_put(obj);
}

/* Pins the live content for a change; with f->lock held. */
static int begin_change(struct file *f, int *ret_fd)
{
	int r;

	if (atomic_load(&f->ex->read_only))
		return -EROFS;
	file_keep_shown(f);
	r = !f->live || file_is_shown(f) ? file_make_live(f) : f->marked ? file_mark_closed(f, false) : 0;
	if (r < 0)
		return r;
	r = file_pin_content(f, f->obj, ret_fd);
	if (r == 0 && object_is_read_only(f->obj)) {
		object_unpin(f->obj);
		r = -EROFS;
	}
	return r;
}

/* A save that the disk refused is not complete when it is closed, unless the bytes
 * came later. */
static void note_missing(struct file *f, uint64_t off, size_t n, ssize_t done)
{
	uint64_t end = off + (done > 0 ? (uint64_t)done : 0);

	if (off <= f->missing && end > f->missing)
		f->missing = UINT64_MAX;
	if (done < 0 || (size_t)done < n)
		f->missing = MIN(f->missing, end);
}

/* Is it worth to try again what failed for want of space? */
static bool made_space(struct file *f, ssize_t r, bool precious, int *tries)
{
	return r < 0 && expfs_is_full((int)r) && (*tries)++ < SPACE_TRIES && expfs_make_space(f->ex, precious);
}

static int get_end(int fd, uint64_t *ret)
{
	struct stat st;
	int r = io_stat(fd, &st);

	if (r == 0)
		*ret = (uint64_t)st.st_size;
	return r;
}

ssize_t file_write(struct file *f, const void *buf, size_t n, uint64_t off, bool append)
{
	ssize_t done;
	int fd, r;

	scoped_lock(&f->lock);
	r = begin_change(f, &fd);
	if (r < 0)
		return r;
	file_set_written(f);
	if (append && f->manifest)
		get_end(fd, &off);
	done = io_pwrite(fd, buf, n, off);
	for (int i = 0; ((done < 0 && expfs_is_full((int)done)) || (done >= 0 && (size_t)done < n)) && i < SPACE_TRIES; i++) {
		uint64_t from = done < 0 ? 0 : (uint64_t)done;
		ssize_t more;

		if (!expfs_make_space(f->ex, off + n <= SMALL))
			break;
		more = io_pwrite(fd, (const char *)buf + from, n - from, off + from);
		if (more > 0)
			done = (ssize_t)from + more;
	}
	object_unpin(f->obj);
	note_missing(f, off, n, done);
	if (f->run && done > 0)
		digest_run_write(f->run, buf, (size_t)done, off);
	return done;
}

static void spoil_digest(struct file *f)
{
	digest_run_free(steal(&f->run));
}

/* A new object for what comes now, and the old one is left as it is. */
static int truncate_to_empty(struct file *f)
{
	struct object *obj;
	int r;

	if (atomic_load(&f->ex->read_only))
		return -EROFS;
	r = file_new_object_precious(f->ex, &obj);
	if (r < 0)
		return r;
	file_keep_shown(f);
	file_set_written(f);
	return file_replace_empty(f, obj);
}

static int truncate_in_place(struct file *f, uint64_t size)
{
	int fd, r;

	r = begin_change(f, &fd);
	if (r < 0)
		return r;
	file_set_written(f);
	r = io_truncate(fd, size);
	object_unpin(f->obj);
	if (f->run && !digest_run_covers(f->run, size))
		spoil_digest(f);
	return r;
}

int file_truncate(struct file *f, uint64_t size)
{
	int r;

	scoped_lock(&f->lock);
	r = size == 0 ? truncate_to_empty(f) : truncate_in_place(f, size);
	if (f->writers > 0)
		return r;
	/* By truncate(2) there is no handle whose close would end the writing. */
	r = r == 0 ? file_end_writing(f, true) : r;
	file_end_shown(f);
	return r;
}

int file_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
	int tries = 0, fd, r;

	scoped_lock(&f->lock);
	r = begin_change(f, &fd);
	if (r < 0)
		return r;
	file_set_written(f);
	do
		r = io_allocate(fd, mode, off, len);
	while (made_space(f, r, false, &tries));
	object_unpin(f->obj);
	if (mode & ~FALLOC_FL_KEEP_SIZE)
		spoil_digest(f);
	return r;
}

/* Copies between backing files, with out->lock held. */
static ssize_t copy_bytes(struct file *in, uint64_t off_in, struct file *out, uint64_t off_out, uint64_t len)
{
	struct object *from;
	ssize_t n = 0;
	int tries = 0, fd_in, fd_out, r;

	r = begin_change(out, &fd_out);
	if (r < 0)
		return r;
	file_set_written(out);
	spoil_digest(out);
	r = file_read_begin(in, true, &from, &fd_in);
	if (r == 0 && from) {
		do
			n = io_copy_range(fd_in, off_in, fd_out, off_out, (size_t)MIN(len, COPY_MAX));
		while (made_space(out, n, false, &tries));
		file_read_end(from);
	}
	object_unpin(out->obj);
	return r < 0 ? r : n;
}

static int has_bytes_at(struct file *f, uint64_t off)
{
	struct object *obj;
	struct stat st;
	int fd, r;

	r = file_read_begin(f, true, &obj, &fd);
	if (r < 0 || !obj)
		return r;
	r = io_stat(fd, &st);
	if (r == 0)
		r = (uint64_t)st.st_size > off;
	file_read_end(obj);
	return r;
}

ssize_t file_copy(struct file *in, uint64_t off_in, struct file *out, uint64_t off_out, uint64_t len)
{
	uint64_t size;
	int r;

	r = has_bytes_at(in, off_in);
	if (r <= 0)
		return r;
	scoped_lock(&out->lock);
	file_keep_shown(out);
	r = 0;
	if (in != out && off_in == 0 && off_out == 0)
		r = file_share_whole(out, in, MIN(len, (uint64_t)UINT32_MAX), &size);
	if (r == 1) {
		file_set_written(out);
		return (ssize_t)size;
	}
	return r < 0 ? r : copy_bytes(in, off_in, out, off_out, len);
}

ssize_t file_copy_object(struct object *in, struct file *out, uint64_t len)
{
	uint64_t size;
	int r;

	scoped_lock(&out->lock);
	file_keep_shown(out);
	r = file_share_object(out, in, MIN(len, (uint64_t)UINT32_MAX), &size);
	if (r == 1)
		file_set_written(out);
	return r == 1 ? (ssize_t)size : r < 0 ? r : -EOPNOTSUPP;
}

int file_set_mtime(struct file *f, int64_t mtime, meta_fn set, void *arg)
{
	int fd, r;

	scoped_lock(&f->lock);
	if (f->live) {
		r = file_pin_content(f, f->obj, &fd);
		if (r < 0)
			return r;
		r = io_set_mtime(fd, ns_timespec(mtime));
		object_unpin(f->obj);
		if (r < 0)
			return r;
	}
	f->times_set = true;
	return expfs_write(f->ex, set, arg);
}

struct settle {
	struct file *f;
	struct content_row content;
	enum content_synced live; /* what it is then if it is live */
	struct file_drop drop;
};

static int tx_settle(struct db *db, void *arg)
{
	struct settle *s = arg;

	s->drop.n = 0;
	return undo_settle(db, s->f->ino, s->content.id, s->content.seal, s->live, &s->drop);
}

static int get_content(struct file *f, uint64_t object, struct content_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(f->ex->meta);

	return content_get(db, object, ret);
}

/* Syncs the object once and notes it, unless both was done and it is as it was.
 * 1: the file has another content, or it was sealed, meanwhile. */
static int sync_and_settle(struct file *f, struct object *obj, bool data_only, bool wanted)
{
	struct settle s = { .f = f, .live = !wanted && f->fresh ? CONTENT_BEGUN : CONTENT_CHANGED };
	int r = get_content(f, object_id(obj), &s.content);

	if (r < 0)
		return r;
	if (s.content.synced == CONTENT_WHOLE)
		return 0;
	r = expfs_sync_result(f->ex, object_sync(obj, data_only));
	if (r == 0)
		r = expfs_write(f->ex, tx_settle, &s);
	if (r != 0)
		return r;
	file_drop_finish(f->ex, &s.drop);
	scoped_lock(&f->point);
	if (f->obj == obj && f->live && s.content.state == CONTENT_LIVE && s.live == CONTENT_CHANGED)
		f->settled = true;
	return 0;
}

/* To be empty is what the file is to come back to, too. */
static int settle_empty(struct file *f)
{
	struct settle s = { .f = f };
	int r = expfs_write(f->ex, tx_settle, &s);

	if (r == 0)
		file_drop_finish(f->ex, &s.drop);
	return r;
}

/* The content that the file has now; wanted: by its user. */
static int sync_content(struct file *f, bool data_only, bool wanted)
{
	uint64_t lost = 0;
	int r = 1;

	while (r == 1) {
		struct object *obj;
		bool settled;
		int fd;

		r = file_read_begin(f, true, &obj, &fd);
		if (r < 0)
			return r;
		if (!obj) {
			r = settle_empty(f);
			continue;
		}
		pthread_mutex_lock(&f->point);
		settled = f->settled && f->obj == obj;
		pthread_mutex_unlock(&f->point);
		r = settled ? expfs_sync_result(f->ex, object_sync(obj, data_only)) : sync_and_settle(f, obj, data_only, wanted);
		/* No row: replaced by another, which the file will have when its lock is free, or lost. */
		if (r == -ESTALE) {
			r = object_id(obj) == lost ? -EIO : 1;
			lost = object_id(obj);
			pthread_mutex_lock(&f->lock);
			pthread_mutex_unlock(&f->lock);
		}
		file_read_end(obj);
	}
	return r;
}

int file_sync(struct file *f, bool data_only)
{
	int r = atomic_load(&f->ex->read_only) ? -EIO : sync_content(f, data_only, true);

	if (r == 0)
		r = expfs_sync_result(f->ex, meta_sync(f->ex->meta));
	/* One that failed meanwhile may have taken the error of this one's bytes. */
	return r == 0 && atomic_load(&f->ex->read_only) ? -EIO : r;
}

int file_settle(struct file *f)
{
	return atomic_load(&f->ex->read_only) ? -EROFS : sync_content(f, true, false);
}
