/* A whole file, or a version of one, copied by copy_file_range(2) into an empty one: the sealed content
 * becomes that of both. */
#include "exp/file_state.h"
#include "exp/undo.h"
#include "meta/content.h"
#include "util/io.h"

struct share {
	struct file *f;
	uint64_t object;
	uint64_t blocks; /* of it */
	uint64_t old;    /* object that f has, 0: none */
	uint64_t max;
	uint64_t size;
	struct file_drop drop;
};

/* -EAGAIN: cannot be shared as it is. */
static int tx_share(struct db *db, void *arg)
{
	struct share *s = arg;
	struct content_row content;
	struct inode_row row;
	int r;

	s->drop.n = 0;
	r = content_get(db, s->object, &content);
	if (r == 0)
		r = inode_get(db, s->f->ino, &row);
	if (r < 0)
		return r;
	if (content.state != CONTENT_SEALED || content.size > s->max || content_is_behind(content.synced))
		return -EAGAIN;
	s->size = row.size = content.size;
	row.blocks = s->blocks;
	row.mtime = row.ctime = now_ns();
	row.flags = (row.flags | INODE_COPIED) & ~(uint32_t)(INODE_LIVE | INODE_CLOSED | INODE_IMPORTED);
	r = inode_update(db, &row);
	if (r == 0)
		r = inode_set_object(db, row.ino, s->object);
	return r < 0 ? r : undo_replaced(db, row.ino, s->old, s->object, &s->drop);
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

static int get_blocks(struct object *obj, uint64_t *ret)
{
	struct stat st;
	int fd, r = object_pin(obj, &fd);

	if (r < 0)
		return r;
	r = io_stat(fd, &st);
	object_unpin(obj);
	*ret = r == 0 ? (uint64_t)st.st_blocks : 0;
	return r;
}

int file_share_object(struct file *f, struct object *obj, uint64_t max, uint64_t *ret_size)
{
	struct share s = { .f = f, .object = object_id(obj), .old = f->obj ? object_id(f->obj) : 0, .max = max };
	int r;

	if (!file_is_empty(f))
		return 0;
	r = get_blocks(obj, &s.blocks);
	if (r == 0)
		r = expfs_write(f->ex, tx_share, &s);
	if (r < 0)
		return r == -EAGAIN ? 0 : r;
	file_set_content(f, object_ref(obj), false);
	file_drop_finish(f->ex, &s.drop);
	digest_run_free(steal(&f->run));
	f->fresh = false;
	*ret_size = s.size;
	return 1;
}

int file_share_whole(struct file *f, struct file *in, uint64_t max, uint64_t *ret_size)
{
	_cleanup_(cleanup_object) struct object *obj = NULL;

	pthread_mutex_lock(&in->point);
	if (in->obj && !in->live)
		obj = object_ref(in->obj);
	pthread_mutex_unlock(&in->point);
	return obj ? file_share_object(f, obj, max, ret_size) : 0;
}
