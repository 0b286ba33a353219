#include "sync/copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "util/io.h"

#define CHUNK (1u << 20)
#define WRITE 0222
#define SHARE_MAX ((uint64_t)0x7ffff000) /* of one system call */

struct copy {
	mode_t write; /* permissions to write of the top */
	bool times;
	bool shares; /* from and to are in one mount, in which a content can be that of both */
	char *buf; /* of CHUNK bytes */
	struct digest_run *run; /* of what is copied, or NULL */
	bool (*stop)(void);
	struct progress *progress;
	bool unread; /* it failed because from could not be read */
};

/* A hole is as many zeros to the digest. */
static void digest_hole(struct copy *c, uint64_t off, uint64_t end)
{
	if (!c->run || off == end)
		return;
	memset(c->buf, 0, CHUNK);
	while (off < end) {
		size_t n = (size_t)MIN(end - off, (uint64_t)CHUNK);

		digest_run_write(c->run, c->buf, n, off);
		off += n;
	}
}

static int copy_chunk(struct copy *c, int from, int to, uint64_t off, size_t want, size_t *ret)
{
	ssize_t n = io_pread(from, c->buf, want, off), w;

	c->unread = n <= 0;
	if (n <= 0)
		return n < 0 ? (int)n : -EIO;
	w = io_pwrite(to, c->buf, (size_t)n, off);
	if (w < n)
		return w < 0 ? (int)w : -ENOSPC;
	if (c->run)
		digest_run_write(c->run, c->buf, (size_t)n, off);
	progress_add(c->progress, (uint64_t)n);
	*ret = (size_t)n;
	return 0;
}

/* Where the next data at or after off begins, and where that ends; a disk that does not tell has no holes. */
static uint64_t next_data(int fd, uint64_t off, uint64_t size, uint64_t *ret_end)
{
	off_t data = lseek(fd, (off_t)off, SEEK_DATA), hole;

	if (data < 0 && errno == ENXIO)
		return size;
	off = data < 0 ? off : MIN((uint64_t)data, size);
	hole = lseek(fd, (off_t)off, SEEK_HOLE);
	*ret_end = hole < 0 ? size : MIN((uint64_t)hole, size);
	return off;
}

/* The whole is shared, and the copy known as one. Where that cannot be the kernel copies, who takes so much at a time and fills holes. */
static bool copy_whole(struct copy *c, int from, int to, uint64_t size)
{
	if (!c->shares || size > SHARE_MAX || lseek(from, 0, SEEK_HOLE) != (off_t)size ||
	    io_copy_range(from, 0, to, 0, size) != (ssize_t)size)
		return false;
	progress_add(c->progress, size);
	return true;
}

static int copy_bytes(struct copy *c, int from, int to, uint64_t size)
{
	uint64_t off = 0, end = 0;

	if (copy_whole(c, from, to, size))
		return 0;
	while (off < size) {
		uint64_t next = off < end ? off : next_data(from, off, size, &end);
		size_t n = 0;
		int r;

		if (c->stop && c->stop())
			return -ECANCELED;
		digest_hole(c, off, next);
		off = next;
		if (off == size)
			break;
		/* One that shrank has a hole there by now: reading it tells. */
		r = copy_chunk(c, from, to, off, (size_t)MIN(off < end ? end - off : size - off, (uint64_t)CHUNK), &n);
		if (r < 0)
			return r;
		off += n;
	}
	return io_truncate(to, size);
}

int copy_content(int from, int to, uint64_t size, struct digest_run *run, bool (*stop)(void))
{
	_cleanup_free_ char *buf = malloc(CHUNK);
	struct progress progress;
	struct copy c = { .buf = buf, .run = run, .stop = stop, .progress = &progress };
	int r;

	if (!buf)
		return -ENOMEM;
	progress_start(&progress, "expfs: copying", size);
	r = copy_bytes(&c, from, to, size);
	progress_end(&progress);
	return r;
}

int copy_part(int from, int to, uint64_t size, struct progress *p)
{
	_cleanup_free_ char *buf = malloc(CHUNK);
	struct copy c = { .buf = buf, .progress = p };
	int r = buf ? copy_bytes(&c, from, to, size) : -ENOMEM;

	return c.unread ? 1 : r;
}

static int finish(const struct copy *c, int fd, const struct stat *st, mode_t mode)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, st->st_mtim };

	if (fchown(fd, st->st_uid, st->st_gid) < 0 && errno != EPERM)
		return -errno;
	if (fchmod(fd, mode) < 0 || (c->times && futimens(fd, times) < 0))
		return -errno;
	return io_sync(fd, false);
}

static int copy_any(struct copy *c, int from, const char *name, int to, const char *to_name, const mode_t *top);

static int copy_dir(struct copy *c, int from, int to, const char *to_name)
{
	_cleanup_close_ int dir = -1;
	const struct dirent *d;
	int r = 0;
	DIR *list;

	if (mkdirat(to, to_name, 0700) < 0)
		return -errno;
	dir = openat(to, to_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	from = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	list = from < 0 ? NULL : fdopendir(from);
	if (!list) {
		r = -errno;
		if (from >= 0)
			close(from);
		return r;
	}
	while (r == 0 && (errno = 0, d = readdir(list)) != NULL)
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			r = copy_any(c, dirfd(list), d->d_name, dir, d->d_name, NULL);
	if (r == 0 && errno)
		r = -errno;
	closedir(list);
	return r;
}

static int copy_any(struct copy *c, int from, const char *name, int to, const char *to_name, const mode_t *top)
{
	_cleanup_close_ int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), out = -1;
	struct stat st;
	int r = in < 0 ? -errno : io_stat(in, &st);

	if (r < 0)
		return r;
	if (S_ISDIR(st.st_mode)) {
		r = copy_dir(c, in, to, to_name);
		out = r < 0 ? -1 : openat(to, to_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	} else {
		out = openat(to, to_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}
	if (r == 0)
		r = out < 0 ? -errno : 0;
	if (r == 0 && !S_ISDIR(st.st_mode))
		r = copy_bytes(c, in, out, (uint64_t)st.st_size);
	/* Write permission goes to who may read, where the top has it for him. */
	if (r == 0)
		r = finish(c, out, &st, top ? *top : (st.st_mode & 0555) | (((st.st_mode & 0444) >> 1) & c->write));
	if (r == 0) {
		r = close(out) < 0 ? -errno : 0;
		out = -1;
	}
	return r;
}

/* NAME may be as long as a name can be. */
static int random_name(const char *name, char **ret)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
	unsigned char seed[6];
	char text[sizeof(seed) + 1] = "";

	if (getrandom(seed, sizeof(seed), 0) != sizeof(seed))
		return -EIO;
	for (size_t i = 0; i < sizeof(seed); i++)
		text[i] = letters[seed[i] % (sizeof(letters) - 1)];
	return asprintf(ret, ".%.200s.restore-%s.tmp", name, text) < 0 ? -ENOMEM : 0;
}

/* Bytes of what is to be copied; what cannot be looked at fails when it is. */
static uint64_t size_below(const char *path)
{
	char *const paths[] = { (char *)(uintptr_t)path, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *e;
	uint64_t size = 0;

	while (tree && (e = fts_read(tree)) != NULL)
		size += e->fts_info == FTS_F ? (uint64_t)e->fts_statp->st_size : 0;
	if (tree)
		fts_close(tree);
	return size;
}

int copy_beside(const char *from, int dir, const char *name, mode_t mode, bool times, char **ret_name)
{
	_cleanup_free_ char *buf = malloc(CHUNK), *beside = NULL;
	struct progress progress;
	struct copy c = { .write = mode & WRITE, .times = times, .shares = true, .buf = buf, .progress = &progress };
	struct stat st;
	int r = buf ? random_name(name, &beside) : -ENOMEM;

	if (r < 0)
		return r;
	if (fstatat(dir, beside, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	progress_start(&progress, "expfs: restore: copying", size_below(from));
	r = copy_any(&c, AT_FDCWD, from, dir, beside, &mode);
	progress_end(&progress);
	if (r < 0) {
		copy_remove(dir, beside);
		return r;
	}
	*ret_name = steal(&beside);
	return 0;
}

static int remove_below(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r = 0;
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *d;

	if (!list) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (errno = 0, d = readdir(list)) != NULL)
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			r = copy_remove(dirfd(list), d->d_name);
	if (r == 0 && errno)
		r = -errno;
	closedir(list);
	return r;
}

int copy_remove(int dir, const char *name)
{
	int r;

	if (unlinkat(dir, name, 0) == 0)
		return 0;
	if (errno != EISDIR)
		return -errno;
	r = remove_below(dir, name);
	return r < 0 ? r : unlinkat(dir, name, AT_REMOVEDIR) < 0 ? -errno : 0;
}
