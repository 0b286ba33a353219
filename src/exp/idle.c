#include "exp/idle.h"

#include <string.h>

#include "exp/file.h"
#include "meta/content.h"
#include "store/digest.h"
#include "util/io.h"
#include "util/log.h"

#define BATCH 256
#define CHUNK (1u << 20)
#define ALONE_NS 60000000000ll

struct pass {
	struct expfs *ex;
	idle_stop stop;
	void *arg;
	char *buf; /* of CHUNK bytes */
};

/* 1: it is known; 0: given up. */
static int digest(struct pass *p, uint64_t ino, int fd, struct file_known *k)
{
	struct digest_run *run = digest_run_new();
	ssize_t n = 1;
	int r;

	if (!run)
		return -ENOMEM;
	for (uint64_t off = 0; off < k->size && n > 0; off += (uint64_t)n) {
		if (p->stop(p->arg) || file_in_use(p->ex, ino))
			break;
		n = io_pread(fd, p->buf, (size_t)MIN(k->size - off, (uint64_t)CHUNK), off);
		if (n > 0)
			digest_run_write(run, p->buf, (size_t)n, off);
	}
	r = n < 0 ? (int)n : k->size == 0 || digest_run_get(run, k->size, k->digest);
	digest_run_free(run);
	return r;
}

/* What a content is, if it was left alone: 1. */
static int know(struct pass *p, uint64_t ino, struct file_known *k)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	struct stat st;
	int fd, r;

	r = object_get(p->ex->store, k->object, &o);
	if (r == 0)
		r = object_pin(o, &fd);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = io_stat(fd, &st);
	k->size = (uint64_t)st.st_size;
	k->ctime = timespec_ns(&st.st_ctim);
	if (r == 0 && now_ns() - k->ctime >= ALONE_NS && !file_has_large_holes(&st))
		r = digest(p, ino, fd, k);
	object_unpin(o);
	return r;
}

static int seal(struct pass *p, uint64_t object)
{
	_cleanup_(cleanup_file) struct file *f = NULL;
	struct file_known k = { .object = object };
	uint64_t ino;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(p->ex->meta);

		r = content_owner(db, object, &ino);
	}
	if (r == -ENOENT || (r == 0 && file_in_use(p->ex, ino)))
		return 0;
	if (r == 0)
		r = know(p, ino, &k);
	if (r <= 0)
		return r;
	r = file_get(p->ex, ino, &f);
	return r < 0 ? r : file_seal_known(f, &k);
}

void idle_seal(struct expfs *ex, idle_stop stop, void *arg)
{
	_cleanup_free_ char *buf = malloc(CHUNK);
	struct pass p = { .ex = ex, .stop = stop, .arg = arg, .buf = buf };
	uint64_t ids[BATCH], after = 0;
	int n;

	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

			n = content_list_live(db, after, ids, BATCH);
		}
		for (int i = 0; buf && i < n && !stop(arg); i++) {
			int r = seal(&p, ids[i]);

			after = ids[i];
			if (r < 0 && r != -EROFS && r != -ESTALE)
				log_msg("object %llx: cannot be sealed: %s", (unsigned long long)ids[i], strerror(-r));
		}
	} while (n == BATCH && !stop(arg));
}
