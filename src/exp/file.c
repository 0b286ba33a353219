/* The table of files in use, and the ends of their handles.
 *
 * The end of a handle comes in two steps: FLUSH, which close(2) waits for, and
 * RELEASE, which comes after close(2) has returned. A content is sealed at the
 * FLUSH of the last handle, so that what close(2) acknowledged is final; but
 * FLUSH also comes when a forked child closes its copy of a descriptor, so a
 * content sealed by it may be written again, and counts as being written until
 * the RELEASE is here. Views wait for that RELEASE for a moment. */
#include "exp/file.h"

#include <string.h>

#include "exp/file_state.h"
#include "exp/keeper.h"
#include "exp/undo.h"
#include "meta/content.h"
#include "util/log.h"

#define BUCKETS 1024
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
	file_end_shown(f);
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
	f->missing = UINT64_MAX;
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
	f->live = row.object && (row.flags & INODE_LIVE);
	f->marked = f->live && (row.flags & INODE_CLOSED);
	f->times_set = true;
	if (row.flags & INODE_MANIFEST)
		f->manifest = true;
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
	int64_t end = 0; /* of the first close that was seen: a child that inherited a handle may close it at any time */

	scoped_lock(&t->lock);
	for (;;) {
		struct file *f = *find(t, ino);
		struct timespec until;

		if (!f || f->writers == 0)
			return false;
		if (!end)
			end = f->closed_at + RELEASE_WAIT_NS;
		if (!f->closed_at || monotonic_ns() > end || t->waiters == WAITERS_MAX)
			return true;
		until = ns_timespec(end);
		t->waiters++;
		pthread_cond_timedwait(&t->released, &t->lock, &until);
		t->waiters--;
	}
}

bool file_has_writer(struct expfs *ex, uint64_t ino)
{
	struct file *f;

	scoped_lock(&ex->files->lock);
	f = *find(ex->files, ino);
	return f && f->writers > 0;
}

void file_get_use(struct expfs *ex, uint64_t ino, struct file_use *ret)
{
	struct file *f;

	scoped_lock(&ex->files->lock);
	f = *find(ex->files, ino);
	*ret = (struct file_use){ 0 };
	if (f)
		*ret = (struct file_use){
			.fresh = f->fresh,
			.begun_at = f->begun_at,
			.written_at = f->written_at,
		};
}

void file_set_manifest(struct expfs *ex, uint64_t ino)
{
	struct file *f;

	scoped_lock(&ex->files->lock);
	f = *find(ex->files, ino);
	if (f)
		f->manifest = true;
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
	if (object_unlink(ex->store, object_id(obj)) < 0)
		meta_left_garbage(ex->meta);
	object_put(obj);
}

int file_new(struct expfs *ex, uint64_t ino, struct object *obj, struct file **ret)
{
	struct file *f = file_alloc(ex, ino);

	if (!f) {
		file_abandon(ex, obj);
		return -ENOMEM;
	}
	f->obj = obj;
	f->live = f->dirty = true;
	f->fresh = true;
	f->run = digest_run_new();
	f->writers = f->unflushed = 1;
	f->epoch = 1; /* its handle counts as one that has written */
	f->begun_at = f->written_at = monotonic_ns();
	scoped_lock(&ex->files->lock);
	*find(ex->files, ino) = f;
	*ret = f;
	return 0;
}

void file_new_failed(struct file *f)
{
	file_abandon(f->ex, object_ref(f->obj));
	file_put(f);
}

void file_set_content(struct file *f, struct object *obj, bool live)
{
	struct object *old;

	pthread_mutex_lock(&f->point);
	old = f->obj;
	f->obj = obj;
	f->live = live;
	f->settled = false;
	pthread_mutex_unlock(&f->point);
	if (old)
		object_put(old);
}

int file_drop_object(struct db *db, uint64_t object, struct file_drop *drop)
{
	int r;

	if (!object)
		return 0;
	r = content_refs(db, object);
	if (r != 0)
		return MIN(r, 0);
	if (drop->n == FILE_DROP_MAX)
		return -E2BIG;
	r = content_delete(db, object);
	if (r == 0)
		drop->object[drop->n++] = object;
	return r;
}

int file_drop_inode(struct db *db, const struct inode_row *row, struct file_drop *drop)
{
	int r = inode_delete(db, row->ino);

	if (r == 0)
		r = undo_forget(db, row->ino, drop);
	return r < 0 ? r : file_drop_object(db, row->object, drop);
}

void file_drop_finish(struct expfs *ex, const struct file_drop *drop)
{
	for (int i = 0; i < drop->n; i++)
		keeper_remove(ex, drop->object[i]);
}

/* Counts of handles are read by views under the table's lock alone. */
static void set_closed(struct file *f, int writers, int unflushed)
{
	struct file_table *t = f->ex->files;

	scoped_lock(&t->lock);
	if (f->writers == 0)
		f->begun_at = monotonic_ns();
	f->writers += (unsigned)writers;
	f->unflushed += (unsigned)unflushed;
	f->closed_at = f->unflushed == 0 ? monotonic_ns() : 0;
	if (f->writers == 0)
		pthread_cond_broadcast(&t->released);
}

/* A handle is gone. If none of those that are left has written, what was written is
 * closed: the next one may be open before the kernel tells of the end of the last. */
static void end_handle(struct file *f, const struct file_writer *w)
{
	scoped_lock(&f->ex->files->lock);
	if (w->epoch == f->epoch)
		f->idle--;
	if (f->writers != f->idle)
		return;
	f->written_at = 0;
	f->begun_at = monotonic_ns();
}

void file_set_written(struct file *f)
{
	if (!f->begin || (!f->dirty && !f->again))
		f->begin = meta_id(f->ex->meta);
	f->dirty = true;
	f->written_at = f->writers > 0 ? monotonic_ns() : 0;
	f->times_set = false;
	if (f->closed_at || f->idle) {
		scoped_lock(&f->ex->files->lock);
		f->closed_at = 0;
		f->epoch++;
		f->idle = 0;
	}
}

void file_open_writer(struct file *f, struct file_writer *ret)
{
	set_closed(f, +1, +1);
	scoped_lock(&f->ex->files->lock);
	f->idle++;
	*ret = (struct file_writer){ .epoch = f->epoch };
}

int file_end_writing(struct file *f, bool last)
{
	if (!f->dirty || f->unflushed > 0)
		return 0;
	/* A shell that opens a file for a command closes a copy of its descriptor first, and
	 * a file that is sealed as empty could not be told from one that is to be so. */
	if (!last && f->live && file_is_empty(f))
		return 0;
	return f->live ? file_seal(f) : file_mark_closed(f, true);
}

int file_flush(struct file *f, struct file_writer *w)
{
	int r;

	scoped_lock(&f->lock);
	set_closed(f, 0, w->flushed ? 0 : -1);
	w->flushed = true;
	r = file_end_writing(f, false);
	if (f->unflushed == 0)
		set_closed(f, 0, 0);
	return r;
}

void file_close_writer(struct file *f, const struct file_writer *w)
{
	int r;

	scoped_lock(&f->lock);
	set_closed(f, 0, w->flushed ? 0 : -1);
	r = file_end_writing(f, f->writers == 1);
	if (r < 0)
		log_msg("inode %llu: could not be sealed when it was closed: %s", (unsigned long long)f->ino, strerror(-r));
	set_closed(f, -1, 0);
	end_handle(f, w);
	f->again = f->again && f->writers > 0;
	if (f->writers == 0)
		file_end_shown(f);
	if (f->writers == 0 && !f->dirty) {
		f->fresh = false;
		digest_run_free(steal(&f->run));
	}
}

/* Seals what nobody writes; when: it was renamed or removed. */
static void seal_at(struct expfs *ex, uint64_t ino, int (*seal)(struct file *f), const char *when)
{
	_cleanup_(cleanup_file) struct file *f = NULL;
	int r = file_get(ex, ino, &f);

	if (r < 0)
		return;
	scoped_lock(&f->lock);
	if (f->live && f->writers == 0)
		r = seal(f);
	if (r < 0)
		log_msg("inode %llu: could not be sealed when it was %s: %s", (unsigned long long)ino, when, strerror(-r));
}

void file_seal_left_alone(struct expfs *ex, uint64_t ino)
{
	seal_at(ex, ino, file_seal, "renamed");
}

void file_seal_at_end(struct expfs *ex, uint64_t ino)
{
	seal_at(ex, ino, file_seal_as_it_is, "removed");
}

int file_seal_known(struct file *f, const struct file_known *known)
{
	scoped_lock(&f->lock);
	return f->live && f->writers == 0 ? file_seal_by_digest(f, known) : 1;
}
