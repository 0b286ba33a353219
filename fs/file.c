/* Regular files: opening, reading, writing, closing. What a content is and
 * becomes is the matter of exp/file.h. */
#include <fcntl.h>
#include <string.h>

#include "exp/leaving.h"
#include "fs.h"
#include "gate.h"
#include "util/io.h"
#include "view.h"

#define LINE_LEN 128
#define OPEN_TRIES 3

/* What was written to a view, up to the end of the line. */
struct line {
	pthread_mutex_t lock;
	char text[LINE_LEN + 1];
	size_t len;
};

/* What one open file description of the kernel stands for. */
struct handle {
	struct file *file;  /* NULL: a file of a view */
	bool pinned;        /* it keeps the content that it had when it was opened: */
	struct object *obj; /* NULL: empty, or a text */
	char *text;
	size_t len;
	struct line *line; /* of a file of a view that takes lines, NULL: not open for that */
	bool writes;
	struct file_writer writer;
	struct handle *next, *prev;
};

static struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

static void let_go(struct handle *h)
{
	if (h->file)
		file_put(h->file);
	if (h->obj) {
		object_unpin(h->obj);
		object_put(h->obj);
	}
	free(h->text);
	if (h->line)
		pthread_mutex_destroy(&h->line->lock);
	free(h->line);
}

/* A mount that ends with files open gets no release for them. What they wrote is
 * there; that somebody closed them is not to be said. */
void fs_drop_handles(struct fs *fs)
{
	while (fs->handles) {
		struct handle *h = fs->handles;

		fs->handles = h->next;
		let_go(h);
		free(h);
	}
}

static void handle_free(struct fs *fs, struct handle *h)
{
	pthread_mutex_lock(&fs->handles_lock);
	*(h->prev ? &h->prev->next : &fs->handles) = h->next;
	if (h->next)
		h->next->prev = h->prev;
	pthread_mutex_unlock(&fs->handles_lock);
	if (h->writes)
		file_close_writer(h->file, &h->writer);
	let_go(h);
	free(h);
}

static bool is_writer(const struct fuse_file_info *fi)
{
	return (fi->flags & O_ACCMODE) != O_RDONLY;
}

static void handle_add(struct fs *fs, struct handle *h, struct fuse_file_info *fi)
{
	fi->fh = (uintptr_t)h;
	fi->keep_cache = 1;
	fi->noflush = !h->writes && !h->line;
	pthread_mutex_lock(&fs->handles_lock);
	h->next = fs->handles;
	if (h->next)
		h->next->prev = h;
	fs->handles = h;
	pthread_mutex_unlock(&fs->handles_lock);
}

/* Makes a handle; takes the file, of which a writer is open already, with a failure too. */
static int handle_new(struct fs *fs, struct file *file, const struct file_writer *w, struct fuse_file_info *fi,
		      struct handle **ret)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (!h) {
		if (is_writer(fi))
			file_close_writer(file, w);
		file_put(file);
		return -ENOMEM;
	}
	h->file = file;
	h->writes = is_writer(fi);
	h->writer = *w;
	handle_add(fs, h, fi);
	*ret = h;
	return 0;
}

static int open_line(fuse_req_t req, fuse_ino_t ino, struct handle *h)
{
	int r = view_takes_lines(req, ino);

	if (r < 0)
		return r;
	h->line = calloc(1, sizeof(*h->line));
	if (!h->line)
		return -ENOMEM;
	pthread_mutex_init(&h->line->lock, NULL);
	return 0;
}

/* The object of a version may be another one by the time that it is opened, equal and sealed: then it is looked for again. */
static int open_content(fuse_req_t req, fuse_ino_t ino, struct view_content *c)
{
	int fd, r;

	for (int i = 0; i < OPEN_TRIES; i++) {
		r = view_open(req, ino, c);
		if (r == 0 && c->obj) {
			r = object_pin(c->obj, &fd);
			if (r < 0)
				object_put(c->obj);
		}
		if (r != -ENOENT)
			break;
	}
	return r;
}

/* A file of a view keeps the content that it has now. */
static int open_view(fuse_req_t req, const struct gate_call *call)
{
	struct handle *h = calloc(1, sizeof(*h));
	struct fuse_file_info fi = call->fi;
	struct view_content c = { 0 };
	int r = h ? 0 : -ENOMEM;

	if (r == 0 && (fi.flags & (O_ACCMODE | O_TRUNC)) != O_RDONLY)
		r = open_line(req, call->ino, h);
	if (r == 0)
		r = open_content(req, call->ino, &c);
	if (r < 0) {
		if (h)
			let_go(h);
		free(h);
		return r;
	}
	h->pinned = true;
	h->obj = c.obj;
	h->text = c.text;
	h->len = c.len;
	handle_add(fs_of(req), h, &fi);
	fi.keep_cache = !h->text;
	fi.direct_io = h->text != NULL; /* the next one that opens it may get another */
	if (fuse_reply_open(req, &fi) < 0)
		handle_free(fs_of(req), h);
	return 0;
}

/* The kernel's pages of a MANIFEST file would be those of one of its readers, so it keeps none. */
static int open_manifest(struct handle *h, struct fuse_file_info *fi)
{
	int r = h->writes ? 0 : file_pin_seen(h->file, &h->obj);

	h->pinned = r == 1;
	fi->direct_io = 1;
	fi->keep_cache = 0;
	return MIN(r, 0);
}

void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct file_writer w = { 0 };
	struct handle *h;
	struct file *f;
	int r = 0;

	if (view_is(ino)) {
		gate_serve(fs->gate, req, &(struct gate_call){ .serve = open_view, .ino = ino, .fi = *fi });
		return;
	}
	if (atomic_load(&fs->ex->read_only) && (fi->flags & (O_ACCMODE | O_TRUNC)) != O_RDONLY)
		r = -EROFS;
	else if ((fi->flags & (O_ACCMODE | O_TRUNC)) != O_RDONLY)
		leaving_judge_written(fs->ex, ino);
	if (r == 0)
		r = file_get(fs->ex, ino, &f);
	if (r == 0 && is_writer(fi))
		file_open_writer(f, &w);
	if (r == 0)
		r = handle_new(fs, f, &w, fi, &h);
	if (r < 0) {
		fs_reply_err(req, r);
		return;
	}
	if (fi->flags & O_TRUNC)
		r = file_truncate(f, 0);
	if (r == 0 && file_is_manifest(f))
		r = open_manifest(h, fi);
	if (r < 0)
		fs_reply_err(req, r);
	if (r < 0 || fuse_reply_open(req, fi) < 0)
		handle_free(fs, h);
}

static int new_file(struct expfs *ex, struct fs_make *m, struct file **ret)
{
	struct object *obj;
	int r = file_new_object_precious(ex, &obj);

	if (r < 0)
		return r;
	m->object = object_id(obj);
	m->row.ino = meta_id(ex->meta);
	return file_new(ex, m->row.ino, obj, ret);
}

/* Makes a file with an object, if it will be written: name and content come
 * into the database together. */
static int create(fuse_req_t req, struct fs_make *m, struct fuse_file_info *fi, struct handle **ret)
{
	struct expfs *ex = fs_of(req)->ex;
	struct file *f = NULL;
	int r = atomic_load(&ex->read_only) ? -EROFS : 0;

	if (r == 0 && is_writer(fi) && !view_is(m->parent))
		r = new_file(ex, m, &f);
	if (r == 0)
		r = fs_make(req, m);
	if (r < 0 && f)
		file_new_failed(f);
	if (r == 0 && !f)
		r = file_get(ex, m->row.ino, &f);
	return r < 0 ? r : handle_new(m->fs, f, &(struct file_writer){ 0 }, fi, ret);
}

static void reply_create(fuse_req_t req, struct fs_make *m, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct fuse_entry_param e;
	struct handle *h;
	int r = create(req, m, fi, &h);

	if (r == 0) {
		r = itable_add(fs->inodes, m->row.ino);
		if (r < 0)
			handle_free(fs, h);
	}
	if (r < 0) {
		fs_reply_err(req, r);
		return;
	}
	if (!m->name)
		itable_mark_unlinked(fs->inodes, m->row.ino);
	e = fs_entry(&m->row);
	if (fuse_reply_create(req, &e, fi) < 0) {
		handle_free(fs, h);
		fs_forget(fs, m->row.ino, 1);
	}
}

void fs_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	struct fs_make m = { .parent = parent, .name = name, .mode = S_IFREG | (mode & 07777) };

	reply_create(req, &m, fi);
}

#ifdef HAVE_STRUCT_FUSE_LOWLEVEL_OPS_TMPFILE
void fs_tmpfile(fuse_req_t req, fuse_ino_t parent, mode_t mode, struct fuse_file_info *fi)
{
	struct fs_make m = { .parent = parent, .mode = S_IFREG | (mode & 07777) };

	reply_create(req, &m, fi);
}
#endif

static int read_begin(struct handle *h, struct object **ret_obj, int *ret_fd)
{
	if (!h->pinned)
		return file_read_begin(h->file, h->writes, ret_obj, ret_fd);
	if (h->obj && object_pin(h->obj, ret_fd) < 0)
		return -EIO;
	*ret_obj = h->obj ? object_ref(h->obj) : NULL;
	return 0;
}

/* From a copy: once the kernel has the reply the handle may be released. */
static void reply_text(fuse_req_t req, const struct handle *h, char *buf, size_t size, off_t off)
{
	size_t from = MIN((size_t)off, h->len), n = MIN(size, h->len - from);

	memcpy(buf, h->text + from, n);
	fuse_reply_buf(req, buf, n);
}

void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	_cleanup_free_ char *buf = malloc(size); /* splicing would cost more than the copy */
	struct handle *h = handle_of(fi);
	struct object *obj;
	ssize_t n;
	int fd, r;

	if (buf && h->text) {
		reply_text(req, h, buf, size, off);
		return;
	}
	r = buf ? read_begin(h, &obj, &fd) : -ENOMEM;
	if (r < 0) {
		fs_reply_err(req, r);
		return;
	}
	if (!obj) {
		fuse_reply_buf(req, NULL, 0);
		return;
	}
	n = io_pread(fd, buf, size, (uint64_t)off);
	file_read_end(obj);
	if (n < 0)
		fs_reply_err(req, (int)n);
	else
		fuse_reply_buf(req, buf, (size_t)n);
}

/* What is complete, or all, is given to the view. */
static int use_line(fuse_req_t req, fuse_ino_t ino, struct line *l, bool all)
{
	char *end = memchr(l->text, '\n', l->len);
	size_t len = l->len;

	if (len == 0 || (!end && !all))
		return 0;
	l->len = 0;
	if (end && end + 1 != l->text + len)
		return -EINVAL;
	l->text[end ? (size_t)(end - l->text) : len] = 0;
	return view_write_line(req, ino, l->text);
}

/* A line acts when it is there, for shells do not look at what close() says. */
static ssize_t write_line(fuse_req_t req, fuse_ino_t ino, struct line *l, const char *buf, size_t size)
{
	int r;

	scoped_lock(&l->lock);
	if (size > LINE_LEN - l->len) {
		l->len = 0;
		return -EINVAL;
	}
	memcpy(l->text + l->len, buf, size);
	l->len += size;
	r = use_line(req, ino, l, false);
	return r < 0 ? r : (ssize_t)size;
}

/* Who writes at this moment closes later; threads that serve the kernel are not to wait for his load. */
static int flush_line(fuse_req_t req, fuse_ino_t ino, struct line *l)
{
	int r;

	if (pthread_mutex_trylock(&l->lock) != 0)
		return 0;
	r = use_line(req, ino, l, true);
	pthread_mutex_unlock(&l->lock);
	return r;
}

void fs_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);
	bool append = (fi->flags & O_APPEND) && !fi->writepage;
	ssize_t n = h->line ? write_line(req, ino, h->line, buf, size) :
			      file_write(h->file, buf, size, (uint64_t)off, append);

	if (n < 0)
		fs_reply_err(req, (int)n);
	else
		fuse_reply_write(req, (size_t)n);
}

void fs_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);

	fs_reply_err(req, h->line ? flush_line(req, ino, h->line) : h->writes ? file_flush(h->file, &h->writer) : 0);
}

void fs_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	handle_free(fs_of(req), handle_of(fi));
	fs_reply_err(req, 0);
}

void fs_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct handle *h = handle_of(fi);

	fs_reply_err(req, h->file ? file_sync(h->file, datasync) : 0);
}

void fs_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t off, off_t len, struct fuse_file_info *fi)
{
	struct file *f = handle_of(fi)->file;

	fs_reply_err(req, f ? file_fallocate(f, mode, (uint64_t)off, (uint64_t)len) : -EOPNOTSUPP);
}

static int find_data(struct handle *h, off_t off, int whence, off_t *ret)
{
	struct object *obj;
	off_t pos;
	int fd, r;

	if (h->text && (size_t)off < h->len) {
		*ret = whence == SEEK_HOLE ? (off_t)h->len : off;
		return 0;
	}
	r = read_begin(h, &obj, &fd);
	if (r < 0 || !obj)
		return r < 0 ? r : -ENXIO;
	pos = lseek(fd, off, whence);
	r = pos < 0 ? -errno : 0;
	file_read_end(obj);
	if (r == 0)
		*ret = pos;
	return r;
}

void fs_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi)
{
	off_t pos = 0;
	int r = find_data(handle_of(fi), off, whence, &pos);

	if (r < 0)
		fs_reply_err(req, r);
	else
		fuse_reply_lseek(req, pos);
}

int fs_get_row_by_handle(struct fs *fs, uint64_t ino, struct fuse_file_info *fi, struct inode_row *ret)
{
	struct handle *h = handle_of(fi);
	struct object *obj;
	struct stat st = { 0 };
	int fd, r = fs_get_row(fs, ino, ret);

	if (r < 0 || !(ret->flags & INODE_MANIFEST))
		return r;
	r = read_begin(h, &obj, &fd);
	if (r < 0)
		return r;
	r = obj ? io_stat(fd, &st) : 0;
	file_read_end(obj);
	ret->size = (uint64_t)st.st_size;
	ret->blocks = (uint64_t)st.st_blocks;
	return r;
}

void fs_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in, struct fuse_file_info *fi_in,
			fuse_ino_t ino_out, off_t off_out, struct fuse_file_info *fi_out, size_t len, int flags)
{
	struct handle *in = handle_of(fi_in), *out = handle_of(fi_out);
	ssize_t n = flags ? -EINVAL : -EOPNOTSUPP; /* the kernel copies by itself */

	if (n == -EOPNOTSUPP && !in->pinned && out->file)
		n = file_copy(in->file, (uint64_t)off_in, out->file, (uint64_t)off_out, len);
	else if (n == -EOPNOTSUPP && in->obj && out->file && off_in == 0 && off_out == 0)
		n = file_copy_object(in->obj, out->file, len);
	if (n < 0)
		fs_reply_err(req, (int)n);
	else
		fuse_reply_write(req, (size_t)n);
}
