/* The table of files in use; reading and writing.
 *
 * The end of a handle comes in two steps: FLUSH, which close(2) waits for, and
 * RELEASE, which comes after close(2) has returned. A content is sealed at the
 * FLUSH of the last handle, so that what close(2) acknowledged is final; but
 * FLUSH also comes when a forked child closes its copy of a descriptor, so a
 * content sealed by it may be written again, and counts as being written until
 * the RELEASE is here. Views wait for that RELEASE for a moment. */
#include "exp/file.h"

#include <fcntl.h>
#include <string.h>

#include "exp/file_state.h"
#include "exp/keeper.h"
#include "util/io.h"
#include "util/log.h"

#define BUCKETS 1024
#define COPY_MAX 0x7ffff000ull     /* as of copy_file_range(2); the reply has 32 bits */
#define SMALL (256u << 10)         /* a file that may use the reserve of a full disk */
#define WAITERS_MAX 8              /* of the threads that serve the kernel */
#define RELEASE_WAIT_NS 500000000  /* from close(2) to the end of the handle, on a busy machine */

struct file_table {
	pthread_mutex_t lock;
	pthread_cond_t released;
	unsigned waiters;
	struct file *bucket[BUCKETS];
};

int file_table_new(struct file_table **ret)
{
	struct file_table *t = calloc(1, sizeof(*t));
	pthread_condattr_t attr;

	if (!t)
		return -ENOMEM;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->released, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&t->lock, NULL);
	*ret = t;
	return 0;
}

void file_table_free(struct file_table *t)
{
	pthread_cond_destroy(&t->released);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static struct file **find(struct file_table *t, uint64_t ino)
{
	struct file **p = &t->bucket[ino % BUCKETS];

	while (*p && (*p)->ino != ino)
		p = &(*p)->next;
	return p;
}

static void file_free(struct file *f)
{
	if (f->obj)
		object_put(f->obj);
	digest_run_free(f->run);
	pthread_mutex_destroy(&f->lock);
	pthread_mutex_destroy(&f->point);
	free(f);
}

static struct file *file_alloc(struct expfs *ex, uint64_t ino)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->ex = ex;
	f->ino = ino;
	f->refs = 1;
	pthread_mutex_init(&f->lock, NULL);
	pthread_mutex_init(&f->point, NULL);
	return f;
}

static int file_load(struct file *f)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(f->ex->meta);
	struct inode_row row;
	int r = inode_get(db, f->ino, &row);

	if (r < 0)
		return r;
	if (!S_ISREG(row.mode))
		return -EINVAL;
	f->live = row.flags & INODE_LIVE;
	f->times_set = true;
	return row.object ? object_get(f->ex->store, row.object, &f->obj) : 0;
}

static int wait_loaded(struct file *f)
{
	scoped_lock(&f->point);
	return f->load_error;
}

/* A new file stands in the table, with its locks held, before its row is read:
 * so nobody can have changed the row in between. */
int file_get(struct expfs *ex, uint64_t ino, struct file **ret)
{
	struct file_table *t = ex->files;
	struct file **p, *f;
	bool found;
	int r;

	pthread_mutex_lock(&t->lock);
	p = find(t, ino);
	found = *p != NULL;
	f = found ? *p : file_alloc(ex, ino);
	if (!f) {
		pthread_mutex_unlock(&t->lock);
		return -ENOMEM;
	}
	if (found) {
		f->refs++;
	} else {
		pthread_mutex_lock(&f->point);
		*p = f;
	}
	pthread_mutex_unlock(&t->lock);
	if (found) {
		r = wait_loaded(f);
	} else {
		r = f->load_error = file_load(f);
		pthread_mutex_unlock(&f->point);
	}
	if (r < 0) {
		file_put(f);
		return r;
	}
	*ret = f;
	return 0;
}

void file_put(struct file *f)
{
	struct file_table *t = f->ex->files;

	pthread_mutex_lock(&t->lock);
	if (--f->refs > 0) {
		pthread_mutex_unlock(&t->lock);
		return;
	}
	*find(t, f->ino) = f->next;
	pthread_mutex_unlock(&t->lock);
	/* If it was unlinked and forgotten while it was in use, it goes now. */
	if (f->ex->is_known && !f->ex->is_known(f->ex->is_known_arg, f->ino))
		keeper_forgotten(f->ex, f->ino);
	file_free(f);
}

bool file_in_use(struct expfs *ex, uint64_t ino)
{
	scoped_lock(&ex->files->lock);
	return *find(ex->files, ino) != NULL;
}

bool file_is_written(struct expfs *ex, uint64_t ino)
{
	struct file_table *t = ex->files;

	scoped_lock(&t->lock);
	for (;;) {
		struct file *f = *find(t, ino);
		struct timespec until;
		int64_t closed;

		if (!f || f->writers == 0)
			return false;
		closed = f->closed_at;
		if (!closed || monotonic_ns() > closed + RELEASE_WAIT_NS || t->waiters == WAITERS_MAX)
			return true;
		until = ns_timespec(closed + RELEASE_WAIT_NS);
		t->waiters++;
		pthread_cond_timedwait(&t->released, &t->lock, &until);
		t->waiters--;
	}
}

int file_new_object(struct expfs *ex, struct object **ret)
{
	int r;

	do /* a file without a row may be left from a time before a crash */
		r = object_create(ex->store, meta_id(ex->meta), ret);
	while (r == -EEXIST);
	return r;
}

int file_new_object_precious(struct expfs *ex, struct object **ret)
{
	int r = file_new_object(ex, ret);

	return expfs_is_full(r) && expfs_make_space(ex, true) ? file_new_object(ex, ret) : r;
}

void file_abandon(struct expfs *ex, struct object *obj)
{
	object_unlink(ex->store, object_id(obj));
	object_put(obj);
}

static void set_fresh(struct file *f)
{
	f->fresh = true;
	f->dirty = true;
	f->times_set = false;
	if (!f->run)
		f->run = digest_run_new();
}

/* Somebody may have found the name, and got the file, already. */
int file_adopt(struct expfs *ex, uint64_t ino, struct object *obj, struct file **ret)
{
	struct file_table *t = ex->files;
	struct file **p, *f = file_alloc(ex, ino);
	bool found;

	if (!f) {
		object_put(obj);
		return -ENOMEM;
	}
	f->obj = obj;
	f->live = true;
	set_fresh(f);
	pthread_mutex_lock(&t->lock);
	p = find(t, ino);
	found = *p != NULL;
	if (found)
		(*p)->refs++;
	else
		*p = f;
	*ret = *p;
	pthread_mutex_unlock(&t->lock);
	if (!found)
		return 0;
	file_free(f);
	f = *ret;
	if (wait_loaded(f) < 0) {
		file_put(f);
		return -EIO;
	}
	scoped_lock(&f->lock);
	set_fresh(f);
	return 0;
}

/* Counts of handles are read by views under the table's lock alone. */
static void set_closed(struct file *f, int writers, int unflushed)
{
	struct file_table *t = f->ex->files;

	scoped_lock(&t->lock);
	f->writers += (unsigned)writers;
	f->unflushed += (unsigned)unflushed;
	f->closed_at = f->unflushed == 0 ? monotonic_ns() : 0;
	if (f->writers == 0)
		pthread_cond_broadcast(&t->released);
}

static void set_written(struct file *f)
{
	f->dirty = true;
	f->times_set = false;
	f->synced = false;
	if (f->closed_at) {
		scoped_lock(&f->ex->files->lock);
		f->closed_at = 0;
	}
}

void file_open_writer(struct file *f)
{
	scoped_lock(&f->lock);
	set_closed(f, +1, +1);
}

static int end_writing(struct file *f)
{
	if (!f->dirty || f->unflushed > 0)
		return 0;
	return f->live ? file_seal(f, true) : file_mark_closed(f);
}

int file_flush(struct file *f, bool *flushed)
{
	int r;

	scoped_lock(&f->lock);
	set_closed(f, 0, *flushed ? 0 : -1);
	*flushed = true;
	r = end_writing(f);
	if (f->unflushed == 0)
		set_closed(f, 0, 0);
	return r;
}

void file_close_writer(struct file *f, bool flushed)
{
	int r;

	scoped_lock(&f->lock);
	set_closed(f, 0, flushed ? 0 : -1);
	r = end_writing(f);
	if (r < 0)
		log_msg("inode %llu: could not be sealed when it was closed: %s", (unsigned long long)f->ino, strerror(-r));
	set_closed(f, -1, 0);
}

int file_pin_content(const struct file *f, struct object *obj, int *ret_fd)
{
	int r = object_pin(obj, ret_fd);

	if (r != -ENOENT)
		return r;
	log_msg("inode %llu: its content, object %llx, is not in the store; run expfs fsck on it",
		(unsigned long long)f->ino, (unsigned long long)object_id(obj));
	return -EIO;
}

int file_read_begin(struct file *f, struct object **ret_obj, int *ret_fd)
{
	uint64_t last = 0;

	for (;;) {
		_cleanup_(cleanup_object) struct object *obj = NULL;
		int r;

		pthread_mutex_lock(&f->point);
		if (f->obj)
			obj = object_ref(f->obj);
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
	if (!f->live) {
		r = file_make_live(f);
		if (r < 0)
			return r;
	}
	r = file_pin_content(f, f->obj, ret_fd);
	if (r == 0 && object_is_read_only(f->obj)) {
		object_unpin(f->obj);
		r = -EROFS;
	}
	return r;
}

ssize_t file_write(struct file *f, const void *buf, size_t n, uint64_t off)
{
	ssize_t done;
	int fd, r;

	scoped_lock(&f->lock);
	r = begin_change(f, &fd);
	if (r < 0)
		return r;
	set_written(f);
	done = io_pwrite(fd, buf, n, off);
	for (int i = 0; ((done < 0 && expfs_is_full((int)done)) || (done >= 0 && (size_t)done < n)) && i < 4; i++) {
		uint64_t from = done < 0 ? 0 : (uint64_t)done;
		ssize_t more;

		if (!expfs_make_space(f->ex, off + n <= SMALL))
			break;
		more = io_pwrite(fd, (const char *)buf + from, n - from, off + from);
		if (more > 0)
			done = (ssize_t)from + more;
	}
	object_unpin(f->obj);
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
	set_written(f);
	return file_replace_empty(f, obj);
}

static int truncate_in_place(struct file *f, uint64_t size)
{
	int fd, r;

	r = begin_change(f, &fd);
	if (r < 0)
		return r;
	set_written(f);
	if (ftruncate(fd, (off_t)size) < 0)
		r = -errno;
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
	/* By truncate(2) there is no handle whose close would end the writing. */
	return r < 0 || f->writers > 0 ? r : end_writing(f);
}

int file_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
	int fd, r;

	scoped_lock(&f->lock);
	r = begin_change(f, &fd);
	if (r < 0)
		return r;
	set_written(f);
	if (fallocate(fd, mode, (off_t)off, (off_t)len) < 0)
		r = -errno;
	if (expfs_is_full(r) && expfs_make_space(f->ex, false))
		r = fallocate(fd, mode, (off_t)off, (off_t)len) < 0 ? -errno : 0;
	object_unpin(f->obj);
	if (mode & ~FALLOC_FL_KEEP_SIZE)
		spoil_digest(f);
	return r;
}

int file_lseek(struct file *f, uint64_t off, int whence, uint64_t *ret)
{
	struct object *obj;
	off_t pos;
	int fd, r;

	r = file_read_begin(f, &obj, &fd);
	if (r < 0)
		return r;
	if (!obj)
		return -ENXIO;
	pos = lseek(fd, (off_t)off, whence);
	r = pos < 0 ? -errno : 0;
	file_read_end(obj);
	if (r == 0)
		*ret = (uint64_t)pos;
	return r;
}

/* Copies between backing files, with out->lock held. */
static ssize_t copy_bytes(struct file *in, uint64_t off_in, struct file *out, uint64_t off_out, uint64_t len)
{
	struct object *from;
	loff_t oi = (loff_t)off_in, oo = (loff_t)off_out;
	ssize_t n = 0;
	int fd_in, fd_out, r;

	r = begin_change(out, &fd_out);
	if (r < 0)
		return r;
	set_written(out);
	spoil_digest(out);
	r = file_read_begin(in, &from, &fd_in);
	if (r == 0 && from) {
		n = copy_file_range(fd_in, &oi, fd_out, &oo, (size_t)MIN(len, COPY_MAX), 0);
		if (n < 0)
			n = -errno;
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

	r = file_read_begin(f, &obj, &fd);
	if (r < 0 || !obj)
		return r;
	r = fstat(fd, &st) < 0 ? -errno : (uint64_t)st.st_size > off;
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
	r = 0;
	if (in != out && off_in == 0 && off_out == 0)
		r = file_share_whole(out, in, MIN(len, (uint64_t)UINT32_MAX), &size);
	if (r == 1) {
		set_written(out);
		return (ssize_t)size;
	}
	return r < 0 ? r : copy_bytes(in, off_in, out, off_out, len);
}

int file_set_mtime(struct file *f, int64_t mtime, meta_fn set, void *arg)
{
	int fd, r;

	scoped_lock(&f->lock);
	if (f->live) {
		struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, ns_timespec(mtime) };

		r = file_pin_content(f, f->obj, &fd);
		if (r < 0)
			return r;
		r = futimens(fd, ts) < 0 ? -errno : 0;
		object_unpin(f->obj);
		if (r < 0)
			return r;
	}
	f->times_set = true;
	return expfs_write(f->ex, set, arg);
}

static int sync_content(struct file *f, bool data_only)
{
	struct object *obj;
	int fd, r;

	r = file_read_begin(f, &obj, &fd);
	if (r < 0 || !obj)
		return r;
	/* Before the sync: a write from here on clears it again. */
	pthread_mutex_lock(&f->lock);
	f->synced = true;
	pthread_mutex_unlock(&f->lock);
	r = expfs_sync_result(f->ex, object_sync(obj, data_only));
	file_read_end(obj);
	return r;
}

int file_sync(struct file *f, bool data_only)
{
	int r = atomic_load(&f->ex->read_only) ? -EIO : sync_content(f, data_only);

	if (r == 0)
		r = expfs_sync_result(f->ex, meta_sync(f->ex->meta));
	/* One that failed meanwhile may have taken the error of this one's bytes. */
	return r == 0 && atomic_load(&f->ex->read_only) ? -EIO : r;
}

int file_seal_idle(struct file *f)
{
	scoped_lock(&f->lock);
	if (!f->live || f->writers > 0)
		return 0;
	return file_seal(f, false);
}
