#include "util/io.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/fs.h>

#include "util/fault.h"

#define EIO_TRIES 3
#define CHUNK (256u << 10)

static bool try_again(int err, int *tries)
{
	if (err == EINTR || err == EAGAIN)
		return true;
	return err == EIO && ++*tries < EIO_TRIES;
}

ssize_t io_pread(int fd, void *buf, size_t n, uint64_t off)
{
	size_t done = 0;
	int tries = 0;

	while (done < n) {
		size_t want = n - done;
		ssize_t r = FAULT_COUNT(STORE, want, pread(fd, (char *)buf + done, want, (off_t)(off + done)));

		if (r == 0)
			break;
		if (r > 0)
			done += (size_t)r;
		else if (!try_again(errno, &tries))
			return -errno;
	}
	return (ssize_t)done;
}

ssize_t io_pwrite(int fd, const void *buf, size_t n, uint64_t off)
{
	size_t done = 0;
	int tries = 0;

	while (done < n) {
		size_t want = n - done;
		ssize_t r = FAULT_COUNT(STORE, want, pwrite(fd, (const char *)buf + done, want, (off_t)(off + done)));

		if (r > 0)
			done += (size_t)r;
		else if (r == 0)
			break;
		else if (!try_again(errno, &tries))
			return done ? (ssize_t)done : -errno;
	}
	return (ssize_t)done;
}

int io_write_all(int fd, const void *buf, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = write(fd, (const char *)buf + done, n - done);

		if (r < 0 && errno != EINTR)
			return -errno;
		if (r > 0)
			done += (size_t)r;
	}
	return 0;
}

int io_sync(int fd, bool data_only)
{
	return FAULT(SYNC, data_only ? fdatasync(fd) : fsync(fd)) < 0 ? -errno : 0;
}

int io_sync_all(int fd)
{
	return FAULT(SYNC, syncfs(fd)) < 0 ? -errno : 0;
}

int io_stat(int fd, struct stat *ret)
{
	return FAULT(STORE, fstat(fd, ret)) < 0 ? -errno : 0;
}

int io_truncate(int fd, uint64_t size)
{
	return FAULT(STORE, ftruncate(fd, (off_t)size)) < 0 ? -errno : 0;
}

int io_allocate(int fd, int mode, uint64_t off, uint64_t n)
{
	return FAULT(STORE, fallocate(fd, mode, (off_t)off, (off_t)n)) < 0 ? -errno : 0;
}

int io_set_mtime(int fd, struct timespec mtime)
{
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, mtime };

	return FAULT(STORE, futimens(fd, ts)) < 0 ? -errno : 0;
}

ssize_t io_copy_range(int from, uint64_t off_from, int to, uint64_t off_to, size_t n)
{
	off_t in = (off_t)off_from, out = (off_t)off_to;
	ssize_t r = FAULT_COUNT(STORE, n, copy_file_range(from, &in, to, &out, n, 0));

	return r < 0 ? -errno : r;
}

int io_read_file(int dirfd, const char *path, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_close_ int fd = FAULT(STORE, openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
	_cleanup_free_ char *buf = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	buf = malloc(max + 2);
	if (!buf)
		return -ENOMEM;
	n = io_pread(fd, buf, max + 1, 0);
	if (n < 0)
		return (int)n;
	if ((size_t)n > max)
		return -EFBIG;
	buf[n] = 0;
	*ret = steal(&buf);
	if (ret_len)
		*ret_len = (size_t)n;
	return 0;
}

int io_write_file(int dirfd, const char *path, const void *buf, size_t n)
{
	_cleanup_close_ int fd = -1;
	char tmp[256];
	int r;

	if ((size_t)snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= sizeof(tmp))
		return -ENAMETOOLONG;
	fd = FAULT(STORE, openat(dirfd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0600));
	if (fd < 0)
		return -errno;
	r = FAULT(STORE, 0) < 0 ? -errno : io_write_all(fd, buf, n);
	if (r == 0)
		r = io_sync(fd, false);
	if (r == 0 && FAULT(STORE, renameat(dirfd, tmp, dirfd, path)) < 0)
		r = -errno;
	if (r < 0)
		FAULT(STORE, unlinkat(dirfd, tmp, 0));
	return r;
}

int io_compare(int fd_a, int fd_b, uint64_t n)
{
	_cleanup_free_ char *a = malloc(CHUNK);
	_cleanup_free_ char *b = malloc(CHUNK);

	if (!a || !b)
		return -ENOMEM;
	for (uint64_t off = 0; off < n;) {
		size_t want = (size_t)MIN(n - off, (uint64_t)CHUNK);
		ssize_t ra = io_pread(fd_a, a, want, off);
		ssize_t rb = io_pread(fd_b, b, want, off);

		if (ra < 0 || rb < 0)
			return (int)MIN(ra, rb);
		if ((size_t)ra != want || (size_t)rb != want || memcmp(a, b, want))
			return 1;
		off += want;
	}
	return 0;
}

static int copy_range(int from, int to, uint64_t off, uint64_t end)
{
	_cleanup_free_ char *buf = NULL;

	while (off < end) {
		ssize_t r = io_copy_range(from, off, to, off, (size_t)MIN(end - off, (uint64_t)1 << 30));

		if (r > 0) {
			off += (uint64_t)r;
			continue;
		}
		if (r == -ENOSPC || r == -EDQUOT || r == -EFBIG)
			return (int)r;
		break; /* not between these two: by hand */
	}
	while (off < end) {
		ssize_t n, w;

		if (!buf && !(buf = malloc(CHUNK)))
			return -ENOMEM;
		n = io_pread(from, buf, (size_t)MIN(end - off, (uint64_t)CHUNK), off);
		if (n <= 0)
			return n < 0 ? (int)n : -EIO;
		w = io_pwrite(to, buf, (size_t)n, off);
		if (w <= 0)
			return w < 0 ? (int)w : -ENOSPC;
		off += (uint64_t)w;
	}
	return 0;
}

int io_copy(int from, int to, uint64_t n)
{
	uint64_t off = 0;

	int r;

	if (n > 0 && FAULT(STORE, ioctl(to, FICLONE, from)) == 0)
		return io_truncate(to, n);
	r = io_truncate(to, n);
	if (r < 0)
		return r;
	while (off < n) {
		off_t data = FAULT(STORE, lseek(from, (off_t)off, SEEK_DATA));
		off_t hole;

		if (data < 0)
			return errno == ENXIO ? 0 : -errno;
		if ((uint64_t)data >= n)
			return 0;
		hole = FAULT(STORE, lseek(from, data, SEEK_HOLE));
		if (hole < 0)
			return -errno;
		r = copy_range(from, to, (uint64_t)data, MIN((uint64_t)hole, n));
		if (r < 0)
			return r;
		off = (uint64_t)hole;
	}
	return 0;
}
