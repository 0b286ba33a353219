/* What others see of a MANIFEST file while somebody writes it: what it held before.
 *
 * It is kept from the first change of what a close left, before that change, until
 * the last handle that may write is gone. Its object is never changed meanwhile:
 * file_make_live() copies one that is shown. So a reader keeps the object that it saw
 * when it opened the file, and needs nothing else.
 *
 * What has never been closed by its writer has nothing to be shown instead: it is
 * seen as it is. */
#include "exp/file_state.h"

#include <string.h>

#include "util/log.h"

struct shown {
	struct object *obj; /* pinned; NULL: empty */
	uint64_t size, blocks;
	int64_t mtime;
};

static int pin(const struct file *f, struct object *obj)
{
	int fd;

	return obj ? file_pin_content(f, obj, &fd) : 0;
}

static int show(struct file *f)
{
	struct inode_row row;
	struct shown *s;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(f->ex->meta);

		r = expfs_inode_get(f->ex, db, f->ino, &row);
	}
	if (r < 0)
		return r;
	s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	r = pin(f, f->obj);
	if (r < 0) {
		free(s);
		return r;
	}
	*s = (struct shown){ f->obj ? object_ref(f->obj) : NULL, row.size, row.blocks, row.mtime };
	scoped_lock(&f->point);
	f->shown = s;
	return 0;
}

void file_keep_shown(struct file *f)
{
	int r;

	/* What a forked child's close sealed is in the midst of its writing. */
	if (!f->manifest || f->shown || f->dirty || f->again)
		return;
	r = show(f);
	if (r < 0)
		log_msg("inode %llu: is seen half written: %s", (unsigned long long)f->ino, strerror(-r));
}

void file_end_shown(struct file *f)
{
	struct shown *s;

	pthread_mutex_lock(&f->point);
	s = steal(&f->shown);
	pthread_mutex_unlock(&f->point);
	if (s && s->obj)
		file_read_end(s->obj);
	free(s);
}

bool file_is_shown(const struct file *f)
{
	return f->shown && f->shown->obj == f->obj;
}

struct object *file_seen_object(const struct file *f)
{
	return f->shown ? f->shown->obj : f->obj;
}

bool file_is_manifest(const struct file *f)
{
	return f->manifest;
}

int file_pin_seen(struct file *f, struct object **ret)
{
	struct object *obj;
	int r;

	file_is_written(f->ex, f->ino);
	scoped_lock(&f->lock);
	if (!f->shown && f->live)
		return 0;
	obj = file_seen_object(f);
	r = pin(f, obj);
	if (r < 0)
		return r;
	*ret = obj ? object_ref(obj) : NULL;
	return 1;
}

int file_get_seen(struct expfs *ex, uint64_t ino, struct inode_row *ret)
{
	_cleanup_(cleanup_file) struct file *f = NULL;
	int r = file_get(ex, ino, &f);

	if (r < 0)
		return r;
	file_is_written(ex, ino);
	scoped_lock(&f->lock);
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = expfs_inode_get(ex, db, ino, ret);
	}
	if (r == 0 && f->shown) {
		ret->size = f->shown->size;
		ret->blocks = f->shown->blocks;
		ret->mtime = f->shown->mtime;
	}
	return r;
}
