/* Getting a content that may be written: a new object, the own sealed one in place,
 * or a copy of one that others need.
 *
 * Order on the disk: a new object's file is there before its row; a row is gone
 * before its object's file. So a crash leaves files without a row at most. */
#include <string.h>

#include "exp/file_state.h"
#include "exp/track.h"
#include "exp/undo.h"
#include "meta/content.h"
#include "util/io.h"
#include "util/log.h"

struct change {
	struct file *f;
	uint64_t old;    /* object before, 0: none */
	uint64_t object; /* object after */
	bool was_whole;  /* old is on the disk, as sealed */
	bool truncates;  /* a new save begins */
	struct file_drop drop;
};

static struct change change_of(struct file *f)
{
	return (struct change){ .f = f, .old = f->obj ? object_id(f->obj) : 0 };
}

/* Points the inode at a live object that stands in no row yet. */
static int tx_new_live(struct db *db, void *arg)
{
	struct change *c = arg;
	struct inode_row row;
	int r;

	c->drop.n = 0;
	r = tx_track_written(c->f->ex, db, c->f->ino, c->f->again && !c->truncates);
	if (r == 0)
		r = inode_get(db, c->f->ino, &row);
	if (r == 0)
		r = content_insert_live(db, c->object);
	if (r < 0)
		return r;
	row.flags = (row.flags | INODE_LIVE) & ~(uint32_t)(INODE_CLOSED | INODE_COPIED);
	row.ctime = now_ns();
	r = inode_update(db, &row);
	if (r == 0)
		r = inode_set_object(db, row.ino, c->object);
	return r < 0 ? r : undo_replaced(db, row.ino, c->old, c->object, &c->drop);
}

static int become_new_live(struct file *f, struct object *obj, bool fresh, bool truncates)
{
	struct change c = change_of(f);
	int r;

	c.object = object_id(obj);
	c.truncates = truncates;
	r = expfs_write(f->ex, tx_new_live, &c);
	if (r < 0) {
		file_abandon(f->ex, obj);
		return r;
	}
	f->fresh = fresh;
	f->begun_at = monotonic_ns();
	file_set_content(f, obj, true);
	file_drop_finish(f->ex, &c.drop);
	digest_run_free(f->run);
	f->run = fresh ? digest_run_new() : NULL;
	f->missing = fresh ? UINT64_MAX : f->missing;
	f->begin = truncates ? 0 : f->begin;
	return 0;
}

int file_replace_empty(struct file *f, struct object *obj)
{
	return become_new_live(f, obj, true, true);
}

/* 1: others need the sealed content; 0: it is live now. */
static int tx_unseal(struct db *db, void *arg)
{
	struct change *c = arg;
	struct content_row content;
	struct inode_row row;
	int r = tx_track_written(c->f->ex, db, c->f->ino, c->f->again);

	if (r == 0)
		r = content_refs(db, c->old);
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
	row.flags = (row.flags | INODE_LIVE) & ~(uint32_t)(INODE_CLOSED | INODE_COPIED);
	return inode_update(db, &row);
}

/* The backing file of a live content carries its mtime. */
static void set_backing_mtime(int fd, int64_t mtime)
{
	int r = io_set_mtime(fd, ns_timespec(mtime));

	if (r < 0)
		log_msg("a backing file's time cannot be set: %s", strerror(-r));
}

static int read_row(struct file *f, struct inode_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(f->ex->meta);

	return expfs_inode_get(f->ex, db, f->ino, ret);
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
		set_backing_mtime(to, row->mtime);
		object_unpin(f->obj);
	}
	object_unpin(copy);
	return r;
}

static int copy_up(struct file *f, const struct inode_row *row)
{
	struct object *copy;
	int r = file_new_object(f->ex, &copy);

	if (r < 0)
		return r;
	r = copy_content(f, copy, row);
	if (r < 0) {
		file_abandon(f->ex, copy);
		return r;
	}
	return become_new_live(f, copy, false, false);
}

/* A content that is on the disk as sealed is changed there only after the disk has
 * that it is live: nobody would look at it after a power cut. */
static int unseal(struct file *f, const struct inode_row *row)
{
	struct change c = change_of(f);
	int fd, r = file_pin_content(f, f->obj, &fd);

	if (r < 0)
		return r;
	set_backing_mtime(fd, row->mtime);
	object_unpin(f->obj);
	r = expfs_write(f->ex, tx_unseal, &c);
	if (r == 0 && c.was_whole)
		r = expfs_sync_result(f->ex, meta_sync(f->ex->meta));
	if (r == 0)
		file_set_content(f, object_ref(f->obj), true);
	return r;
}

int file_make_live(struct file *f)
{
	struct inode_row row;
	struct object *obj;
	int r;

	if (!f->obj) {
		r = file_new_object(f->ex, &obj);
		return r < 0 ? r : become_new_live(f, obj, true, false);
	}
	r = read_row(f, &row);
	if (r == 0)
		r = file_is_shown(f) ? 1 : unseal(f, &row);
	return r == 1 ? copy_up(f, &row) : r;
}
