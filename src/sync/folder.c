#include "sync/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "format/utf8.h"
#include "sync/copy.h"
#include "sync/portable.h"
#include "util/io.h"

#define NAME_KEPT 200 /* bytes of a name that follow a prefix */
#define DEPTH_MAX 64

static int file_system(int fd, long *ret)
{
	struct statfs st;

	if (fstatfs(fd, &st) < 0)
		return -errno;
	*ret = (long)st.f_type;
	return 0;
}

int folder_open(const char *path, struct folder *ret)
{
	bool made = mkdir(path, 0777) == 0;
	char *real;

	if (!made && errno != EEXIST)
		return -errno;
	real = realpath(path, NULL);
	if (!real)
		return -errno;
	*ret = (struct folder){ .path = real, .made = made, .fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	return ret->fd < 0 ? -errno : file_system(ret->fd, &ret->type);
}

int folder_follow(struct folder *f)
{
	_cleanup_close_ int fd = -1;
	struct stat there, own;
	long type = 0;
	int r;

	if (stat(f->path, &there) < 0)
		return -errno;
	if (fstat(f->fd, &own) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino)
		return 0;
	fd = open(f->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = fd < 0 ? -errno : file_system(fd, &type);
	if (r == 0)
		r = type != f->type ? -ENODEV : folder_lock(&(struct folder){ .fd = fd });
	if (r < 0)
		return r;
	close(f->fd);
	f->fd = fd;
	fd = -1;
	return 0;
}

int folder_lock(const struct folder *f)
{
	return flock(f->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK ? -EWOULDBLOCK : 0;
}

void folder_close(struct folder *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	*f = (struct folder){ .fd = -1 };
}

static const char *last(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* The prefix and so much of the last name as there is room for. */
static char *beside(const char *prefix, const char *name)
{
	size_t len = strlen(last(name)), n = 0, one;
	char *ret;

	while (n < len && n < NAME_KEPT && (one = MAX(utf8_length(last(name) + n, len - n), (size_t)1)) > 0)
		n += one;
	return asprintf(&ret, "%s%.*s", prefix, (int)n, last(name)) < 0 ? NULL : ret;
}

char *folder_part(const char *name, size_t number)
{
	char prefix[64];

	if (!strchr(name, '/'))
		return beside(PORTABLE_PART, name);
	snprintf(prefix, sizeof(prefix), PORTABLE_PART "%zu%%2F", number); /* which no name at the top has in it */
	return beside(prefix, name);
}

int folder_sync(const struct folder *f, const char *name)
{
	_cleanup_free_ char *dir = strndup(name, (size_t)(last(name) - name));
	_cleanup_close_ int fd = dir ? openat(f->fd, *dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int r = !dir ? -ENOMEM : fd < 0 ? -errno : io_sync(fd, false);

	return folder_cannot(r) ? 0 : r;
}

bool folder_has_old(const struct folder *f, const char *name)
{
	_cleanup_free_ char *old = strchr(name, '/') ? NULL : beside(FOLDER_OLD, name);
	struct stat st;

	return old && fstatat(f->fd, old, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int mend_old(const struct folder *f, const char *old, folder_placed_fn placed, void *arg)
{
	const char *name = old + strlen(FOLDER_OLD);
	struct stat st;

	if (fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return placed(arg, name, &st) ? copy_remove(f->fd, old) : 0;
	if (errno != ENOENT)
		return -errno;
	return renameat(f->fd, old, f->fd, name) < 0 ? -errno : 0;
}

int folder_mend(const struct folder *f, folder_placed_fn placed, void *arg)
{
	int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *d;

	if (!list) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (errno = 0, d = readdir(list)) != NULL) {
		if (!strncmp(d->d_name, PORTABLE_PART, strlen(PORTABLE_PART)))
			r = copy_remove(f->fd, d->d_name);
		else if (!strncmp(d->d_name, FOLDER_OLD, strlen(FOLDER_OLD)) && d->d_name[strlen(FOLDER_OLD)])
			r = mend_old(f, d->d_name, placed, arg);
	}
	if (r == 0 && errno)
		r = -errno;
	closedir(list);
	return r;
}

int folder_make_above(const struct folder *f, const char *name)
{
	_cleanup_free_ char *path = strdup(name);

	if (!path)
		return -ENOMEM;
	for (char *p = path; (p = strchr(p, '/')) != NULL; *p++ = '/') {
		struct stat st;

		*p = 0;
		if (mkdirat(f->fd, path, 0777) == 0)
			continue;
		if (errno != EEXIST || fstatat(f->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
		if (!S_ISDIR(st.st_mode)) /* a link might lead out of the folder */
			return -ENOTDIR;
	}
	return 0;
}

/* Takes the place of name, where one of both is a directory. */
static int exchange(const struct folder *f, const char *part, const char *name)
{
	/* Of a directory below the top nothing is lost with it that would not be written again. */
	_cleanup_free_ char *old = beside(strchr(name, '/') ? PORTABLE_PART "old%2F" : FOLDER_OLD, name);

	if (!old)
		return -ENOMEM;
	if (renameat2(f->fd, part, f->fd, name, RENAME_EXCHANGE) == 0)
		return copy_remove(f->fd, part);
	if (!folder_cannot(-errno))
		return -errno;
	if (renameat(f->fd, name, f->fd, old) < 0)
		return -errno;
	if (renameat(f->fd, part, f->fd, name) < 0) {
		int r = -errno;

		renameat(f->fd, old, f->fd, name); /* else folder_mend() does */
		return r;
	}
	folder_sync(f, name);
	return copy_remove(f->fd, old);
}

int folder_place(const struct folder *f, const char *part, const char *name, bool is_dir)
{
	struct stat st;
	int r = folder_make_above(f, name);

	if (r < 0)
		return r;
	if (fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (is_dir || S_ISDIR(st.st_mode)))
		return exchange(f, part, name);
	return renameat(f->fd, part, f->fd, name) < 0 ? -errno : 0;
}

static bool is_below_link(const struct folder *f, const char *name)
{
	_cleanup_free_ char *path = strdup(name);
	struct stat st;

	for (char *p = path; p && (p = strchr(p, '/')) != NULL; *p++ = '/') {
		*p = 0;
		if (fstatat(f->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
			return true;
	}
	return !path;
}

int folder_stat(const struct folder *f, const char *name, struct stat *ret)
{
	if (is_below_link(f, name))
		return -ELOOP;
	return fstatat(f->fd, name, ret, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

int folder_digest(const struct folder *f, const char *name, uint64_t size, uint8_t ret[DIGEST_SIZE])
{
	_cleanup_close_ int fd = openat(f->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? -errno : digest_file(fd, size, ret);
}

int folder_remove(const struct folder *f, const char *name)
{
	_cleanup_free_ char *dir = strndup(name, (size_t)(last(name) - name));

	if (!dir)
		return -ENOMEM;
	if (unlinkat(f->fd, name, 0) < 0 && errno != ENOENT)
		return -errno;
	folder_remove_empty(f, dir);
	return 0;
}

void folder_remove_empty(const struct folder *f, const char *name)
{
	_cleanup_free_ char *path = strdup(name);
	char *slash;

	for (size_t n = path ? strlen(path) : 0; n > 0; n = slash ? (size_t)(slash - path) : 0) {
		while (n > 0 && path[n - 1] == '/')
			n--;
		path[n] = 0;
		if (n == 0 || unlinkat(f->fd, path, AT_REMOVEDIR) < 0)
			return;
		slash = strrchr(path, '/');
	}
}

static int each(const struct folder *f, const char *name, unsigned depth, folder_fn fn, void *arg, bool *ret_empty);

static int tell(const struct folder *f, const char *dir, const char *name, unsigned depth, folder_fn fn, void *arg)
{
	_cleanup_free_ char *path = NULL;
	bool empty = false;
	struct stat st;
	int r = 0;

	if (asprintf(&path, "%s%s%s", dir, *dir ? "/" : "", name) < 0)
		return -ENOMEM;
	if (fstatat(f->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		r = each(f, path, depth + 1, fn, arg, &empty);
	return r == 0 && (empty || !S_ISDIR(st.st_mode)) ? fn(arg, path, &st) : r;
}

static int each(const struct folder *f, const char *name, unsigned depth, folder_fn fn, void *arg, bool *ret_empty)
{
	int fd = depth > DEPTH_MAX ? -1 : openat(f->fd, *name ? name : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), r = 0;
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *d;

	if (!list) {
		r = depth > DEPTH_MAX ? -ELOOP : -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	*ret_empty = true;
	while (r == 0 && (errno = 0, d = readdir(list)) != NULL) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		*ret_empty = false;
		r = tell(f, name, d->d_name, depth, fn, arg);
	}
	if (r == 0 && errno)
		r = -errno;
	closedir(list);
	return r;
}

int folder_each(const struct folder *f, const char *name, folder_fn fn, void *arg)
{
	bool empty;

	return each(f, name, 0, fn, arg, &empty);
}

int folder_free(const struct folder *f, uint64_t *ret)
{
	struct statvfs st;

	if (fstatvfs(f->fd, &st) < 0 || st.f_blocks == 0)
		return -EOPNOTSUPP;
	*ret = (uint64_t)st.f_bavail * st.f_frsize;
	return 0;
}
