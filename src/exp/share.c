/* A whole file copied by copy_file_range(2) into an empty one: the sealed content
 * becomes that of both. */
#include "exp/file_state.h"
#include "exp/undo.h"
#include "meta/content.h"
#include "util/io.h"

struct share {
	struct file *f;
	uint64_t from;   /* inode */
	uint64_t object; /* its content */
	uint64_t old;    /* object that f has, 0: none */
	uint64_t max;
	uint64_t size;
	struct file_drop drop;
};

/* -EAGAIN: cannot be shared as it is. */
static int tx_share(struct db *db, void *arg)
{
	struct share *s = arg;
	struct inode_row from, row;
	int r;

	s->drop.n = 0;
	r = inode_get(db, s->from, &from);
	if (r == 0)
		r = inode_get(db, s->f->ino, &row);
	if (r < 0)
		return r;
	if (from.object != s->object || (from.flags & INODE_LIVE) || from.size > s->max)
		return -EAGAIN;
	r = file_is_shareable(db, from.object);
	if (r < 0)
		return r;
	s->size = row.size = from.size;
	row.blocks = from.blocks;
	row.mtime = row.ctime = now_ns();
	row.flags &= ~(uint32_t)(INODE_LIVE | INODE_CLOSED | INODE_IMPORTED);
	r = inode_update(db, &row);
	if (r == 0)
		r = inode_set_object(db, row.ino, from.object);
	return r < 0 ? r : undo_replaced(db, row.ino, s->old, from.object, &s->drop);
}

bool file_is_empty(struct file *f)
{
	struct stat st;
	bool empty;
	int fd;

	if (!f->obj)
		return true;
	if (!f->live || object_pin(f->obj, &fd) < 0)
		return false;
	empty = io_stat(fd, &st) == 0 && st.st_size == 0;
	object_unpin(f->obj);
	return empty;
}

int file_share_whole(struct file *f, struct file *in, uint64_t max, uint64_t *ret_size)
{
	struct share s = { .f = f, .from = in->ino, .old = f->obj ? object_id(f->obj) : 0, .max = max };
	_cleanup_(cleanup_object) struct object *obj = NULL;
	int r;

	if (!file_is_empty(f))
		return 0;
	pthread_mutex_lock(&in->point);
	if (in->obj && !in->live)
		obj = object_ref(in->obj);
	pthread_mutex_unlock(&in->point);
	if (!obj)
		return 0;
	s.object = object_id(obj);
	r = expfs_write(f->ex, tx_share, &s);
	if (r < 0)
		return r == -EAGAIN ? 0 : r;
	file_set_content(f, steal(&obj), false);
	file_drop_finish(f->ex, &s.drop);
	digest_run_free(steal(&f->run));
	f->fresh = false;
	*ret_size = s.size;
	return 1;
}
