/* The backing directory:
 *
 *   format        "expfs store\nformat 5\n"; the first file that is read
 *   config.yaml   the user's
 *   expfs.db      the database (with -wal, -shm), of the room meta
 *   objects/XX/N  contents: N the object's id in hex, XX bits 8..15 of it, so
 *                 that objects made together lie in one directory and one
 *                 directory sync serves them all
 *   lock          held with flock by the process that writes; its text names it
 *   reserve       space for a full disk, given back in pieces
 *   control, log  the daemon's socket and messages
 *
 * A crash in store_init leaves a directory without the file format, which is
 * written last: it is no store, and init can be run on it again. */
#include "store/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "store/object.h"
#include "util/fault.h"
#include "util/io.h"

#define FORMAT_TEXT "expfs store\nformat "
#define RESERVE_PIECE (1u << 20)

#ifndef STATX_MNT_ID_UNIQUE /* Linux 6.8; what there is before it may come again, and tells nothing */
#define STATX_MNT_ID_UNIQUE 0x4000u
#endif

static const char *const init_names[] = { "config.yaml", "config.yaml.tmp",  "format.tmp",   "reserve", "expfs.db",
					  "expfs.db-wal", "expfs.db-journal", "expfs.db-shm", "lock" };

struct store {
	char *path;
	int dirfd;
	int lockfd;
	int reservefd;
	unsigned format;
	pthread_mutex_t reserve_lock;
	off_t reserve_held;
	atomic_bool sync_failed;
	struct object_cache *objects;
};

static bool is_init_name(const char *name)
{
	if (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "objects") || !strcmp(name, "lost+found"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(init_names); i++)
		if (!strcmp(name, init_names[i]))
			return true;
	return false;
}

/* A directory may hold what an interrupted init left, and nothing else. */
static int check_init_dir(int dirfd)
{
	int fd = FAULT(STORE, openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int r = 0;

	if (!d)
		return -errno;
	while ((e = readdir(d)) != NULL) {
		if (!strcmp(e->d_name, "format"))
			r = -EEXIST;
		else if (!is_init_name(e->d_name) && r == 0)
			r = -ENOTEMPTY;
	}
	closedir(d);
	return r;
}

static int allocate_reserve(int fd)
{
	return FAULT(STORE, 0) < 0 ? -errno : -posix_fallocate(fd, 0, STORE_RESERVE);
}

static int make_reserve(int dirfd)
{
	_cleanup_close_ int fd = FAULT(STORE, openat(dirfd, "reserve", O_RDWR | O_CREAT | O_CLOEXEC, 0600));

	return fd < 0 ? -errno : allocate_reserve(fd);
}

static void remove_init_names(int dirfd)
{
	for (size_t i = 0; i < ARRAY_SIZE(init_names); i++)
		FAULT(STORE, unlinkat(dirfd, init_names[i], 0));
}

static void remove_init_files(int dirfd)
{
	char name[32];

	FAULT(STORE, unlinkat(dirfd, "format", 0)); /* first: then it is no store */
	for (unsigned i = 0; i < 256; i++) {
		snprintf(name, sizeof(name), "objects/%02x", i);
		FAULT(STORE, unlinkat(dirfd, name, AT_REMOVEDIR));
	}
	FAULT(STORE, unlinkat(dirfd, "objects", AT_REMOVEDIR));
	remove_init_names(dirfd);
}

static int write_format(int dirfd)
{
	char text[64];
	int r;

	snprintf(text, sizeof(text), FORMAT_TEXT "%d\n", STORE_FORMAT);
	r = io_write_file(dirfd, "format", text, strlen(text));
	return r < 0 ? r : io_sync(dirfd, false);
}

static int init_files(int dirfd, const char *path, const char *config, int (*more)(const char *path))
{
	int r;

	remove_init_names(dirfd); /* a database that is there already cannot be made */
	r = object_init_dirs(dirfd);
	if (r < 0)
		return r;
	r = make_reserve(dirfd);
	if (r < 0)
		return r;
	r = io_write_file(dirfd, "config.yaml", config, strlen(config));
	if (r == 0)
		r = more(path);
	return r < 0 ? r : write_format(dirfd);
}

int store_init(const char *path, const char *config, int (*more)(const char *path))
{
	_cleanup_close_ int dirfd = -1;
	bool made = FAULT(STORE, mkdir(path, 0700)) == 0;
	int r;

	if (!made && errno != EEXIST)
		return -errno;
	dirfd = FAULT(STORE, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	r = dirfd < 0 ? -errno : check_init_dir(dirfd);
	if (r == 0) {
		r = init_files(dirfd, path, config, more);
		if (r < 0)
			remove_init_files(dirfd);
	}
	if (r < 0 && made)
		rmdir(path);
	return r;
}

static int read_format(int dirfd, unsigned *ret)
{
	_cleanup_free_ char *text = NULL;
	const size_t skip = strlen(FORMAT_TEXT);
	int r = io_read_file(dirfd, "format", 4096, &text, NULL);
	unsigned long n;
	char *end;

	if (r == -ENOENT || r == -EFBIG || r == -EISDIR)
		return -EMEDIUMTYPE;
	if (r < 0)
		return r;
	if (strncmp(text, FORMAT_TEXT, skip) != 0)
		return -EMEDIUMTYPE;
	errno = 0;
	n = strtoul(text + skip, &end, 10);
	if (errno || end == text + skip || *end != '\n' || n == 0 || n > UINT_MAX)
		return -EMEDIUMTYPE;
	*ret = (unsigned)n;
	return n <= STORE_FORMAT ? 0 : -EPROTONOSUPPORT;
}

bool store_is(const char *path)
{
	_cleanup_close_ int dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned format;
	int r = dirfd < 0 ? -errno : read_format(dirfd, &format);

	return r == 0 || r == -EPROTONOSUPPORT;
}

int store_open(const char *path, struct store **ret, unsigned *ret_format)
{
	_cleanup_(cleanup_store) struct store *s = calloc(1, sizeof(*s));
	unsigned format = 0;
	struct stat st;
	int r;

	if (!s)
		return -ENOMEM;
	s->dirfd = s->lockfd = s->reservefd = -1;
	pthread_mutex_init(&s->reserve_lock, NULL);
	s->path = realpath(path, NULL);
	if (!s->path)
		return -errno;
	s->dirfd = FAULT(STORE, open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (s->dirfd < 0)
		return -errno;
	r = read_format(s->dirfd, &format);
	if (ret_format)
		*ret_format = format;
	if (r < 0)
		return r;
	s->format = format;
	s->reservefd = FAULT(STORE, openat(s->dirfd, "reserve", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	if (s->reservefd < 0)
		return -errno;
	if (io_stat(s->reservefd, &st) == 0)
		s->reserve_held = st.st_size;
	r = object_cache_new(s, &s->objects);
	if (r < 0)
		return r;
	*ret = steal(&s);
	return 0;
}

void store_close(struct store *s)
{
	if (s->objects)
		object_cache_free(s->objects);
	if (s->lockfd >= 0)
		close(s->lockfd);
	if (s->reservefd >= 0)
		close(s->reservefd);
	if (s->dirfd >= 0)
		close(s->dirfd);
	pthread_mutex_destroy(&s->reserve_lock);
	free(s->path);
	free(s);
}

int store_lock(struct store *s, const char *who, char **ret_who)
{
	_cleanup_close_ int fd = FAULT(STORE, openat(s->dirfd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	char line[PATH_MAX + 64];
	int n;

	if (fd < 0)
		return -errno;
	if (FAULT(STORE, flock(fd, LOCK_EX | LOCK_NB)) < 0) {
		int r = -errno;

		if (r == -EWOULDBLOCK && ret_who) {
			ssize_t got = io_pread(fd, line, sizeof(line) - 1, 0);

			line[got < 0 ? 0 : got] = 0;
			line[strcspn(line, "\n")] = 0;
			*ret_who = strdup(*line ? line : "another process");
		}
		return r;
	}
	n = snprintf(line, sizeof(line), "process %ld, %s\n", (long)getpid(), who);
	n = MIN(n, (int)sizeof(line) - 1);
	/* The text is a courtesy: on a full disk the lock holds without it. */
	if (io_truncate(fd, 0) == 0 && io_pwrite(fd, line, (size_t)n, 0) != n && io_truncate(fd, 0) < 0)
		return -errno;
	s->lockfd = fd;
	fd = -1;
	return 0;
}

int store_set_format(struct store *s)
{
	int r = s->format == STORE_FORMAT ? 0 : write_format(s->dirfd);

	if (r == 0)
		s->format = STORE_FORMAT;
	return r;
}

int store_session(const struct store *s, uint64_t *ret)
{
	_cleanup_free_ char *boot = NULL;
	char text[128];
	struct statx st;
	int n, r = io_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", sizeof(text) / 2, &boot, NULL);

	if (r < 0 && r != -ENOENT)
		return r;
	if (FAULT(STORE, statx(s->dirfd, "", AT_EMPTY_PATH, STATX_MNT_ID_UNIQUE, &st)) < 0)
		return -errno;
	n = snprintf(text, sizeof(text), "%s %llu", boot ? boot : "", (unsigned long long)st.stx_mnt_id);
	/* Where there is no telling, every disorderly end is taken for a power cut. */
	*ret = boot && (st.stx_mask & STATX_MNT_ID_UNIQUE) ? XXH3_64bits(text, (size_t)n) | 1 : 1 + (uint64_t)monotonic_ns();
	return 0;
}

const char *store_path(const struct store *s)
{
	return s->path;
}

int store_dirfd(const struct store *s)
{
	return s->dirfd;
}

struct object_cache *store_objects(const struct store *s)
{
	return s->objects;
}

char *store_file(const struct store *s, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", s->path, name) < 0 ? NULL : path;
}

bool store_is_read_only(const struct store *s)
{
	_cleanup_close_ int fd = FAULT(STORE, openat(s->dirfd, "format", O_RDWR | O_CLOEXEC));

	return fd < 0 && errno == EROFS;
}

int store_sync(struct store *s)
{
	int r = io_sync_all(s->dirfd);

	if (r < 0)
		store_note_sync_failed(s);
	return r;
}

bool store_sync_failed(const struct store *s)
{
	return atomic_load(&s->sync_failed);
}

void store_note_sync_failed(struct store *s)
{
	atomic_store(&s->sync_failed, true);
}

int store_statvfs(const struct store *s, struct statvfs *ret)
{
	return FAULT(STORE, fstatvfs(s->dirfd, ret)) < 0 ? -errno : 0;
}

bool store_reserve_give(struct store *s, bool frees)
{
	off_t left;

	scoped_lock(&s->reserve_lock);
	if (s->reserve_held <= (frees ? 0 : (off_t)STORE_RESERVE / 2))
		return false;
	left = s->reserve_held > RESERVE_PIECE ? s->reserve_held - RESERVE_PIECE : 0;
	if (io_truncate(s->reservefd, (uint64_t)left) < 0)
		return false;
	s->reserve_held = left;
	return true;
}

void store_reserve_hold(struct store *s)
{
	struct statvfs v;

	scoped_lock(&s->reserve_lock);
	if (s->reserve_held == STORE_RESERVE || store_statvfs(s, &v) < 0)
		return;
	if ((uint64_t)v.f_bavail * v.f_frsize < 4 * (uint64_t)STORE_RESERVE)
		return;
	if (allocate_reserve(s->reservefd) == 0)
		s->reserve_held = STORE_RESERVE;
}
