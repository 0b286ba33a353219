/* From live to sealed: digest (kept while writing, else read) → sealed objects of the same
 * size and digest → compare bytes → share, or keep the own object. The bytes
 * are compared outside any transaction; the transaction then makes sure that
 * what was compared is still what it was, that no other equal object was sealed
 * meanwhile, and is tried again otherwise. */
#include <string.h>

#include "exp/file_state.h"
#include "exp/path.h"
#include "exp/settle.h"
#include "exp/track.h"
#include "exp/undo.h"
#include "meta/content.h"
#include "meta/version.h"
#include "util/io.h"
#include "util/log.h"

#define EQUAL_MAX 8 /* objects of one digest and size that differ: none, if XXH3 is any good */
#define SEAL_TRIES 8
#define SLACK (64u << 10)

/* What a transaction of this file needs and gives. */
struct change {
	struct file *f;
	uint64_t old;    /* object before, 0: none */
	uint64_t object; /* object after, 0: none */
	struct stat st;  /* of the backing file, to be frozen */
	bool closed;     /* a writer closed it */
	uint8_t digest[DIGEST_SIZE];
	uint64_t equal[EQUAL_MAX]; /* sealed objects of the digest that were compared */
	int equal_count;
	bool keep_own; /* whatever else is equal */
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
	row->begin = c->f->begin ? c->f->begin : row->begin;
	if (!c->f->times_set)
		row->flags &= ~(uint32_t)INODE_IMPORTED;
	if (c->closed) {
		row->flags |= INODE_CLOSED;
		row->order = meta_id(c->f->ex->meta);
	}
}

int file_is_shareable(struct db *db, uint64_t object)
{
	struct content_row row;
	int r = content_get(db, object, &row);

	return r < 0 ? r : content_is_behind(row.synced) ? -EAGAIN : 0;
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
		r = file_is_shareable(db, c->object);
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
	row.object = c->object;
	if (c->object == c->old)
		r = content_set_sealed(db, c->old, meta_id(c->f->ex->meta), (uint64_t)c->st.st_size, c->digest);
	else /* a version that held it while it was live */
		r = version_replace_object(db, c->old, c->object);
	if (r == 0)
		r = tx_track_inode(c->f->ex, db, &row, &c->drop);
	return r < 0 || c->object == c->old ? r : undo_replaced(db, row.ino, c->old, c->object, &c->drop);
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
	if (r == 0 && content_is_behind(row.synced))
		r = settle_contents(f->ex, &(struct settle_content){ .id = id, .seal = row.seal }, 1);
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

/* A file in a checkpoint directory has a role, too, as part of it. SIGNALS grow line by
 * line: they are treated like a log. */
static enum role role_of_file(struct file *f)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(f->ex->meta);

	return path_inode_in_checkpoint(f->ex, db, f->ino) ? ROLE_WEIGHTS : path_role_of_inode(f->ex, db, f->ino);
}

/* XFS gives more blocks than are written, and takes them back later. */
static void trim(int fd, struct stat *st)
{
	if ((uint64_t)st->st_blocks * 512 > (uint64_t)st->st_size + SLACK && io_truncate(fd, (uint64_t)st->st_size) == 0)
		io_stat(fd, st);
}

/* With the content pinned as fd; c->digest is known, or asked for here. */
static int seal_pinned(struct file *f, struct change *c, int fd, bool known)
{
	struct object *obj = NULL;
	int r = known || c->st.st_size == 0 ? 0 : get_digest(f, c, fd);

	if (r == 0)
		r = commit_seal(f, c, fd, &obj);
	if (r < 0)
		return r;
	file_set_content(f, obj, false);
	file_drop_finish(f->ex, &c->drop);
	f->dirty = f->marked = false;
	/* A forked child's close does not end a save: what is known of it stays of use. */
	f->again = f->writers > 0;
	if (f->writers == 0 || !obj || object_id(obj) != c->old) {
		f->fresh = false;
		digest_run_free(steal(&f->run));
	}
	return 0;
}

int file_seal(struct file *f)
{
	_cleanup_(cleanup_object) struct object *own = object_ref(f->obj);
	struct change c = change_of(f);
	enum role role;
	int fd, r;

	role = f->fresh ? ROLE_WEIGHTS : role_of_file(f);
	if (role == ROLE_SIGNALS)
		return file_mark_closed(f, true);
	if (role == ROLE_NONE) {
		f->dirty = false; /* a database, a log: sealed when it was left alone */
		return 0;
	}
	r = file_pin_content(f, own, &fd);
	if (r < 0)
		return r;
	c.closed = f->missing == UINT64_MAX;
	r = io_stat(fd, &c.st);
	if (r == 0 && file_has_large_holes(&c.st)) {
		object_unpin(own);
		return file_mark_closed(f, true);
	}
	trim(fd, &c.st);
	if (r == 0)
		r = seal_pinned(f, &c, fd, false);
	object_unpin(own);
	return r;
}

int file_seal_as_it_is(struct file *f)
{
	_cleanup_(cleanup_object) struct object *own = object_ref(f->obj);
	struct change c = change_of(f);
	int fd, r = file_pin_content(f, own, &fd);

	if (r < 0)
		return r;
	r = io_stat(fd, &c.st);
	if (r == 0 && !file_has_large_holes(&c.st))
		r = seal_pinned(f, &c, fd, false);
	object_unpin(own);
	return r;
}

int file_seal_by_digest(struct file *f, const struct file_known *known)
{
	_cleanup_(cleanup_object) struct object *own = object_ref(f->obj);
	struct change c = change_of(f);
	int fd, r;

	r = file_pin_content(f, own, &fd);
	if (r < 0)
		return r;
	r = io_stat(fd, &c.st);
	if (r == 0 && (c.old != known->object || (uint64_t)c.st.st_size != known->size ||
		       timespec_ns(&c.st.st_ctim) != known->ctime))
		r = 1;
	memcpy(c.digest, known->digest, DIGEST_SIZE);
	if (r == 0)
		r = seal_pinned(f, &c, fd, true);
	object_unpin(own);
	return r;
}

struct mark {
	struct file *f;
	bool closed;
	struct file_drop drop;
};

static int tx_mark_closed(struct db *db, void *arg)
{
	struct mark *m = arg;
	struct inode_row row;
	int r = inode_get(db, m->f->ino, &row);

	if (r < 0)
		return r;
	row.flags &= ~(uint32_t)INODE_CLOSED;
	if (m->closed) {
		row.begin = m->f->begin ? m->f->begin : row.begin;
		row.flags |= INODE_CLOSED;
		row.order = meta_id(m->f->ex->meta);
	}
	m->drop.n = 0;
	if (!m->closed)
		r = tx_track_written(m->f->ex, db, row.ino, false);
	if (r == 0)
		r = inode_update(db, &row);
	return r < 0 || !m->closed ? r : tx_track_inode(m->f->ex, db, &row, &m->drop);
}

int file_mark_closed(struct file *f, bool closed)
{
	struct mark m = { .f = f, .closed = closed && f->missing == UINT64_MAX };
	int r = expfs_write(f->ex, tx_mark_closed, &m);

	if (r < 0)
		return r;
	file_drop_finish(f->ex, &m.drop);
	f->dirty = f->dirty && !closed;
	f->marked = f->live && m.closed;
	return 0;
}
