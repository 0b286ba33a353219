/* From live to sealed and back.
 *
 * Sealing: digest (kept while writing, else read) → sealed objects of the same
 * size and digest → compare bytes → share, or keep the own object. The bytes
 * are compared outside any transaction; the transaction then makes sure that
 * what was compared is still what it was, that no other equal object was sealed
 * meanwhile, and is tried again otherwise.
 *
 * Writing to a sealed content: in place where nobody else needs the old bytes,
 * else into a copy.
 *
 * Order on the disk: a new object's file is there before its row; a row is gone
 * before its object's file. So a crash leaves files without a row at most. */
#include <string.h>

#include "exp/file_state.h"
#include "exp/keeper.h"
#include "exp/path.h"
#include "exp/settle.h"
#include "exp/undo.h"
#include "meta/content.h"
#include "util/io.h"
#include "util/log.h"

#define EQUAL_MAX 8 /* objects of one digest and size that differ: none, if XXH3 is any good */
#define SEAL_TRIES 8
#define HOLES_MAX (1ll << 30)

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

void file_drop_finish(struct expfs *ex, const struct file_drop *drop)
{
	for (int i = 0; i < drop->n; i++)
		keeper_remove(ex, drop->object[i]);
}

/* What a transaction of this file needs and gives. */
struct change {
	struct file *f;
	uint64_t old;    /* object before, 0: none */
	uint64_t object; /* object after, 0: none */
	struct stat st;  /* of the backing file, to be frozen */
	bool closed;     /* a writer closed it */
	uint64_t order;
	uint64_t seal;
	uint8_t digest[DIGEST_SIZE];
	uint64_t equal[EQUAL_MAX]; /* sealed objects of the digest that were compared */
	int equal_count;
	bool keep_own; /* whatever else is equal */
	bool was_whole; /* on the disk, as sealed */
	struct file_drop drop;
};

static struct change change_of(struct file *f)
{
	return (struct change){ .f = f, .old = f->obj ? object_id(f->obj) : 0 };
}

static void freeze(struct inode_row *row, const struct change *c)
{
	int64_t ctime = timespec_ns(&c->st.st_ctim);

	row->size = (uint64_t)c->st.st_size;
	row->blocks = (uint64_t)c->st.st_blocks;
	row->mtime = timespec_ns(&c->st.st_mtim);
	row->ctime = MAX(row->ctime, ctime);
	row->flags &= ~(uint32_t)INODE_LIVE;
	if (!c->f->times_set)
		row->flags &= ~(uint32_t)INODE_IMPORTED;
	if (c->closed) {
		row->flags |= INODE_CLOSED;
		row->order = c->order;
	}
}

/* A content that the disk may have in an older state, and nothing to go back to, is
 * not one for others: -EAGAIN, until it is synced. */
static int is_shareable(struct db *db, uint64_t object)
{
	struct content_row row;
	int r = content_get(db, object, &row);

	return r < 0 ? r : row.synced == CONTENT_CHANGED ? -EAGAIN : 0;
}

static int tx_seal(struct db *db, void *arg)
{
	struct change *c = arg;
	uint64_t now_equal[EQUAL_MAX];
	struct inode_row row;
	int n, r = 0;

	c->drop.n = 0;
	n = content_equal(db, (uint64_t)c->st.st_size, c->digest, c->old, now_equal, EQUAL_MAX);
	if (n < 0)
		return n;
	if (c->object && !c->keep_own && (n != c->equal_count || memcmp(now_equal, c->equal, (size_t)n * sizeof(now_equal[0]))))
		return -EAGAIN;
	if (c->object && c->object != c->old)
		r = is_shareable(db, c->object);
	if (r == 0)
		r = inode_get(db, c->f->ino, &row);
	if (r < 0)
		return r;
	freeze(&row, c);
	r = inode_update(db, &row);
	if (r == 0 && c->object != c->old)
		r = inode_set_object(db, row.ino, c->object);
	if (r < 0)
		return r;
	if (c->object == c->old)
		return content_set_sealed(db, c->old, c->seal, (uint64_t)c->st.st_size, c->digest);
	return undo_replaced(db, row.ino, c->old, c->object, &c->drop);
}

/* Compares a sealed object with the content, opened as fd: 1 equal, 0 not. */
static int is_equal(struct file *f, int fd, uint64_t size, uint64_t id)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	int other, r;

	r = object_get(f->ex->store, id, &o);
	if (r < 0)
		return r;
	r = object_pin(o, &other);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = io_compare(fd, other, size);
	object_unpin(o);
	return r < 0 ? r : r == 0;
}

/* Looks for an equal object; c->object becomes it, or stays the own one. */
static int find_equal(struct file *f, struct change *c, int fd)
{
	int n, r = 0;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(f->ex->meta);

		n = content_equal(db, (uint64_t)c->st.st_size, c->digest, c->old, c->equal, EQUAL_MAX);
	}
	if (n < 0)
		return n;
	c->equal_count = n;
	c->object = c->old;
	for (int i = 0; i < n && r == 0; i++) {
		r = is_equal(f, fd, (uint64_t)c->st.st_size, c->equal[i]);
		if (r == 1)
			c->object = c->equal[i];
		else if (r < 0)
			log_msg("object %llx: cannot be compared: %s", (unsigned long long)c->equal[i], strerror(-r));
		if (r < 0)
			r = 0; /* damaged: the own bytes are kept */
	}
	return 0;
}

static int get_digest(struct file *f, struct change *c, int fd)
{
	if (f->run && digest_run_get(f->run, (uint64_t)c->st.st_size, c->digest))
		return 0;
	return digest_file(fd, (uint64_t)c->st.st_size, c->digest);
}

/* The handle of an equal object; that one is synced if it must be before it is shared. */
static int take_equal(struct file *f, uint64_t id, struct object **ret)
{
	struct content_row row;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(f->ex->meta);

		r = content_get(db, id, &row);
	}
	if (r == -ESTALE)
		return -EAGAIN;
	if (r == 0 && row.synced == CONTENT_CHANGED)
		r = settle_content(f->ex, &row);
	return r < 0 ? r : object_get(f->ex->store, id, ret);
}

/* Mostly nothing is equal, and the first transaction finds that out by itself.
 * *ret is the object that the file has now, a new handle. */
static int commit_seal(struct file *f, struct change *c, int fd, struct object **ret)
{
	int r;

	c->object = c->st.st_size > 0 ? c->old : 0;
	for (int i = 0;; i++) {
		_cleanup_(cleanup_object) struct object *obj = NULL;

		if (c->object == c->old)
			obj = object_ref(f->obj);
		r = c->object && !obj ? take_equal(f, c->object, &obj) : 0;
		if (r == 0)
			r = expfs_write(f->ex, tx_seal, c);
		if (r == 0)
			*ret = steal(&obj);
		if (r != -EAGAIN)
			return r;
		c->keep_own = i == SEAL_TRIES;
		r = c->keep_own ? 0 : find_equal(f, c, fd);
		if (c->keep_own)
			c->object = c->old;
		if (r < 0)
			return r;
	}
}

/* A file in a checkpoint directory has one, too, as part of it. */
static bool has_role(struct file *f)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(f->ex->meta);

	return path_role_of_inode(f->ex, db, f->ino) != ROLE_NONE || path_inode_in_checkpoint(f->ex, db, f->ino);
}

/* Reading terabytes of zeros for a digest would take hours: such a file stays live. */
static bool has_large_holes(const struct stat *st)
{
	return st->st_size - (int64_t)st->st_blocks * 512 > HOLES_MAX;
}

int file_seal(struct file *f, bool by_close)
{
	struct change c = change_of(f);
	struct object *obj = NULL;
	int fd, r;

	if (by_close && !f->fresh && !has_role(f))
		return file_mark_closed(f);
	r = file_pin_content(f, f->obj, &fd);
	if (r < 0)
		return r;
	c.closed = by_close && f->missing == UINT64_MAX;
	c.order = meta_id(f->ex->meta);
	c.seal = meta_id(f->ex->meta);
	r = fstat(fd, &c.st) < 0 ? -errno : 0;
	if (r == 0 && has_large_holes(&c.st)) {
		object_unpin(f->obj);
		return by_close ? file_mark_closed(f) : 0;
	}
	if (r == 0 && c.st.st_size > 0)
		r = get_digest(f, &c, fd);
	if (r == 0)
		r = commit_seal(f, &c, fd, &obj);
	object_unpin(f->obj);
	if (r < 0)
		return r;
	file_set_content(f, obj, false);
	file_drop_finish(f->ex, &c.drop);
	f->dirty = false;
	f->fresh = false;
	digest_run_free(steal(&f->run));
	return 0;
}

static int tx_mark_closed(struct db *db, void *arg)
{
	struct change *c = arg;
	struct inode_row row;
	int r = inode_get(db, c->f->ino, &row);

	if (r < 0)
		return r;
	row.flags |= INODE_CLOSED;
	row.order = c->order;
	return inode_update(db, &row);
}

int file_mark_closed(struct file *f)
{
	struct change c = change_of(f);
	int r;

	if (f->missing != UINT64_MAX)
		return 0;

	c.order = meta_id(f->ex->meta);
	r = expfs_write(f->ex, tx_mark_closed, &c);
	if (r == 0)
		f->dirty = false;
	return r;
}

/* Points the inode at a live object that stands in no row yet. */
static int tx_new_live(struct db *db, void *arg)
{
	struct change *c = arg;
	struct inode_row row;
	int r;

	c->drop.n = 0;
	r = inode_get(db, c->f->ino, &row);
	if (r == 0)
		r = content_insert_live(db, c->object);
	if (r < 0)
		return r;
	row.flags = (row.flags | INODE_LIVE) & ~(uint32_t)INODE_CLOSED;
	row.ctime = now_ns();
	r = inode_update(db, &row);
	if (r == 0)
		r = inode_set_object(db, row.ino, c->object);
	return r < 0 ? r : undo_replaced(db, row.ino, c->old, c->object, &c->drop);
}

static int become_new_live(struct file *f, struct object *obj, bool fresh)
{
	struct change c = change_of(f);
	int r;

	c.object = object_id(obj);
	r = expfs_write(f->ex, tx_new_live, &c);
	if (r < 0) {
		file_abandon(f->ex, obj);
		return r;
	}
	file_set_content(f, obj, true);
	file_drop_finish(f->ex, &c.drop);
	f->missing = fresh ? UINT64_MAX : f->missing;
	digest_run_free(f->run);
	f->run = fresh ? digest_run_new() : NULL;
	f->fresh = fresh;
	return 0;
}

int file_replace_empty(struct file *f, struct object *obj)
{
	return become_new_live(f, obj, true);
}

/* 1: others need the sealed content; 0: it is live now. */
static int tx_unseal(struct db *db, void *arg)
{
	struct change *c = arg;
	struct content_row content;
	struct inode_row row;
	int r = content_refs(db, c->old);

	if (r < 0)
		return r;
	if (r > 1)
		return 1;
	r = inode_get(db, c->f->ino, &row);
	if (r == 0)
		r = content_get(db, c->old, &content);
	if (r == 0)
		r = content_set_live(db, c->old);
	if (r < 0)
		return r;
	c->was_whole = content.synced == CONTENT_WHOLE;
	row.flags = (row.flags | INODE_LIVE) & ~(uint32_t)INODE_CLOSED;
	c->st.st_mtim = ns_timespec(row.mtime);
	return inode_update(db, &row);
}

/* The backing file of a live content carries its mtime. */
static void set_backing_mtime(int fd, struct timespec mtime)
{
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, mtime };

	if (futimens(fd, ts) < 0)
		log_msg("a backing file's time cannot be set: %s", strerror(errno));
}

static int read_row(struct file *f, struct inode_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(f->ex->meta);

	return inode_get(db, f->ino, ret);
}

static int copy_content(struct file *f, struct object *copy, const struct inode_row *row)
{
	int from, to, r;

	r = object_pin(copy, &to);
	if (r < 0)
		return r;
	r = file_pin_content(f, f->obj, &from);
	if (r == 0) {
		r = io_copy(from, to, row->size);
		if (expfs_is_full(r) && expfs_make_space(f->ex, false))
			r = io_copy(from, to, row->size);
		set_backing_mtime(to, ns_timespec(row->mtime));
		object_unpin(f->obj);
	}
	object_unpin(copy);
	return r;
}

static int copy_up(struct file *f)
{
	struct inode_row row;
	struct object *copy;
	int r;

	r = read_row(f, &row);
	if (r == 0)
		r = file_new_object(f->ex, &copy);
	if (r < 0)
		return r;
	r = copy_content(f, copy, &row);
	if (r < 0) {
		file_abandon(f->ex, copy);
		return r;
	}
	return become_new_live(f, copy, false);
}

/* A content that is on the disk as sealed is changed there only after the disk has
 * that it is live: nobody would look at it after a power cut. */
static int unseal(struct file *f)
{
	struct change c = change_of(f);
	int fd, r;

	r = expfs_write(f->ex, tx_unseal, &c);
	if (r == 0 && c.was_whole)
		r = expfs_sync_result(f->ex, meta_sync(f->ex->meta));
	if (r != 0)
		return r;
	file_set_content(f, object_ref(f->obj), true);
	if (object_pin(f->obj, &fd) == 0) {
		set_backing_mtime(fd, c.st.st_mtim);
		object_unpin(f->obj);
	}
	return 0;
}

int file_make_live(struct file *f)
{
	struct object *obj;
	int r;

	if (!f->obj) {
		r = file_new_object(f->ex, &obj);
		return r < 0 ? r : become_new_live(f, obj, true);
	}
	r = unseal(f);
	return r == 1 ? copy_up(f) : r;
}

struct share {
	struct change c;
	uint64_t from; /* inode */
	uint64_t max;
};

/* -EAGAIN: cannot be shared as it is. */
static int tx_share(struct db *db, void *arg)
{
	struct share *s = arg;
	struct inode_row from, row;
	int r;

	s->c.drop.n = 0;
	r = inode_get(db, s->from, &from);
	if (r == 0)
		r = inode_get(db, s->c.f->ino, &row);
	if (r < 0)
		return r;
	if (from.object != s->c.object || (from.flags & INODE_LIVE) || from.size > s->max)
		return -EAGAIN;
	r = is_shareable(db, from.object);
	if (r < 0)
		return r;
	s->c.st.st_size = (off_t)from.size;
	row.size = from.size;
	row.blocks = from.blocks;
	row.mtime = row.ctime = now_ns();
	row.flags &= ~(uint32_t)(INODE_LIVE | INODE_CLOSED | INODE_IMPORTED);
	r = inode_update(db, &row);
	if (r == 0)
		r = inode_set_object(db, row.ino, from.object);
	return r < 0 ? r : undo_replaced(db, row.ino, s->c.old, from.object, &s->c.drop);
}

/* Is the content of the file without a byte? */
static bool is_empty(struct file *f)
{
	struct stat st;
	bool empty;
	int fd;

	if (!f->obj)
		return true;
	if (!f->live || object_pin(f->obj, &fd) < 0)
		return false;
	empty = fstat(fd, &st) == 0 && st.st_size == 0;
	object_unpin(f->obj);
	return empty;
}

int file_share_whole(struct file *f, struct file *in, uint64_t max, uint64_t *ret_size)
{
	struct share s = { .c = change_of(f), .from = in->ino, .max = max };
	_cleanup_(cleanup_object) struct object *obj = NULL;
	int r;

	if (!is_empty(f))
		return 0;
	pthread_mutex_lock(&in->point);
	if (in->obj && !in->live)
		obj = object_ref(in->obj);
	pthread_mutex_unlock(&in->point);
	if (!obj)
		return 0;
	s.c.object = object_id(obj);
	r = expfs_write(f->ex, tx_share, &s);
	if (r < 0)
		return r == -EAGAIN ? 0 : r;
	file_set_content(f, steal(&obj), false);
	file_drop_finish(f->ex, &s.c.drop);
	digest_run_free(steal(&f->run));
	f->fresh = false;
	*ret_size = (uint64_t)s.c.st.st_size;
	return 1;
}
