/* Object files and the table of their open descriptors.
 *
 * The table holds each object that somebody has a handle on. Descriptors of
 * objects that nobody has pinned stand in a list by last use; when more than
 * the budget are open, the one unused for longest is closed. One lock guards
 * table, list and counts; files are opened, closed and synced outside it.
 *
 * Directory entries: an object is on the disk only when its directory was
 * synced after the file was made. entry_synced says so per handle; a handle
 * made by object_get() starts unsynced, which costs one needless sync at most. */
#include "store/object.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "util/fault.h"
#include "util/io.h"

#define BUCKETS 4096
#define MIN_BUDGET 16
#define MAX_BUDGET 16384
#define OTHER_FDS 96 /* what the process needs beside: database, /dev/fuse, pipes, clients */

struct object {
	uint64_t id;
	struct object_cache *cache;
	struct object *next;         /* in its bucket */
	struct object *newer, *older; /* among the unpinned that are open */
	unsigned refs;
	unsigned pins;
	int fd;
	bool read_only; /* fd is open for reading alone: the disk does not take more */
	bool entry_synced;
};

struct object_cache {
	struct store *store;
	int dirfd;
	pthread_mutex_t lock;
	unsigned open;
	unsigned budget;
	struct object *newest, *oldest;
	struct object *bucket[BUCKETS];
};

static void object_path(uint64_t id, char path[static 40])
{
	snprintf(path, 40, "objects/%02x/%" PRIx64, (unsigned)(id >> 8) & 0xff, id);
}

int object_init_dirs(int dirfd)
{
	char path[40];

	if (FAULT(STORE, mkdirat(dirfd, "objects", 0700)) < 0 && errno != EEXIST)
		return -errno;
	for (unsigned i = 0; i < 256; i++) {
		snprintf(path, sizeof(path), "objects/%02x", i);
		if (FAULT(STORE, mkdirat(dirfd, path, 0700)) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* Half of what the process may open is left for its other needs. */
static unsigned descriptor_budget(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return MIN_BUDGET;
	if (rl.rlim_cur != rl.rlim_max) {
		rlim_t old = rl.rlim_cur;

		rl.rlim_cur = rl.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &rl) < 0)
			rl.rlim_cur = old;
	}
	if (rl.rlim_cur <= OTHER_FDS + MIN_BUDGET)
		return MIN_BUDGET;
	return (unsigned)MIN(rl.rlim_cur - OTHER_FDS, (rlim_t)MAX_BUDGET);
}

int object_cache_new(struct store *s, struct object_cache **ret)
{
	struct object_cache *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->store = s;
	c->dirfd = store_dirfd(s);
	c->budget = descriptor_budget();
	pthread_mutex_init(&c->lock, NULL);
	*ret = c;
	return 0;
}

static void list_remove(struct object_cache *c, struct object *o)
{
	*(o->newer ? &o->newer->older : &c->newest) = o->older;
	*(o->older ? &o->older->newer : &c->oldest) = o->newer;
	o->newer = o->older = NULL;
}

static void list_add(struct object_cache *c, struct object *o)
{
	o->older = c->newest;
	o->newer = NULL;
	*(c->newest ? &c->newest->newer : &c->oldest) = o;
	c->newest = o;
}

void object_cache_free(struct object_cache *c)
{
	for (size_t i = 0; i < BUCKETS; i++)
		while (c->bucket[i]) {
			struct object *o = c->bucket[i];

			c->bucket[i] = o->next;
			if (o->fd >= 0)
				close(o->fd);
			free(o);
		}
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static struct object **find(struct object_cache *c, uint64_t id)
{
	struct object **p = &c->bucket[id % BUCKETS];

	while (*p && (*p)->id != id)
		p = &(*p)->next;
	return p;
}

/* Takes a descriptor out of the list where one is too much; the caller closes
 * it without the lock. */
static int evict(struct object_cache *c)
{
	struct object *o = c->oldest;
	int fd = -1;

	if (o && c->open > c->budget) {
		list_remove(c, o);
		fd = o->fd;
		o->fd = -1;
		c->open--;
	}
	return fd;
}

int object_get(struct store *s, uint64_t id, struct object **ret)
{
	struct object_cache *c = store_objects(s);
	struct object **p;

	scoped_lock(&c->lock);
	p = find(c, id);
	if (!*p) {
		struct object *o = calloc(1, sizeof(*o));

		if (!o)
			return -ENOMEM;
		o->id = id;
		o->cache = c;
		o->fd = -1;
		*p = o;
	}
	(*p)->refs++;
	*ret = *p;
	return 0;
}

int object_create(struct store *s, uint64_t id, struct object **ret)
{
	struct object_cache *c = store_objects(s);
	struct object *o;
	char path[40];
	int fd, r;

	r = object_get(s, id, &o);
	if (r < 0)
		return r;
	object_path(id, path);
	fd = FAULT(STORE, openat(c->dirfd, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	if (fd < 0) {
		r = -errno;
		object_put(o);
		return r;
	}
	pthread_mutex_lock(&c->lock);
	o->fd = fd;
	c->open++;
	list_add(c, o);
	fd = evict(c);
	pthread_mutex_unlock(&c->lock);
	if (fd >= 0)
		close(fd);
	*ret = o;
	return 0;
}

struct object *object_ref(struct object *o)
{
	scoped_lock(&o->cache->lock);
	o->refs++;
	return o;
}

void object_put(struct object *o)
{
	struct object_cache *c = o->cache;
	int fd;

	pthread_mutex_lock(&c->lock);
	if (--o->refs > 0) {
		pthread_mutex_unlock(&c->lock);
		return;
	}
	*find(c, o->id) = o->next;
	fd = o->fd;
	if (fd >= 0) {
		list_remove(c, o);
		c->open--;
	}
	pthread_mutex_unlock(&c->lock);
	if (fd >= 0)
		close(fd);
	free(o);
}

bool object_in_use(struct store *s, uint64_t id)
{
	struct object_cache *c = store_objects(s);

	scoped_lock(&c->lock);
	return *find(c, id) != NULL;
}

uint64_t object_id(const struct object *o)
{
	return o->id;
}

int object_pin(struct object *o, int *ret_fd)
{
	struct object_cache *c = o->cache;
	char path[40];
	bool read_only;
	int fd, spare;

	pthread_mutex_lock(&c->lock);
	if (o->fd >= 0) {
		if (o->pins++ == 0)
			list_remove(c, o);
		*ret_fd = o->fd;
		pthread_mutex_unlock(&c->lock);
		return 0;
	}
	pthread_mutex_unlock(&c->lock);

	object_path(o->id, path);
	fd = FAULT(STORE, openat(c->dirfd, path, O_RDWR | O_CLOEXEC));
	read_only = fd < 0 && errno == EROFS;
	if (read_only)
		fd = FAULT(STORE, openat(c->dirfd, path, O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return -errno;
	pthread_mutex_lock(&c->lock);
	spare = fd;
	if (o->fd < 0) { /* nobody was faster */
		o->fd = fd;
		o->read_only = read_only;
		c->open++;
		spare = evict(c);
	} else if (o->pins == 0) {
		list_remove(c, o);
	}
	o->pins++;
	*ret_fd = o->fd;
	pthread_mutex_unlock(&c->lock);
	if (spare >= 0)
		close(spare);
	return 0;
}

bool object_is_read_only(struct object *o)
{
	scoped_lock(&o->cache->lock);
	return o->read_only;
}

void object_unpin(struct object *o)
{
	struct object_cache *c = o->cache;
	int fd = -1;

	pthread_mutex_lock(&c->lock);
	if (--o->pins == 0) {
		list_add(c, o);
		fd = evict(c);
	}
	pthread_mutex_unlock(&c->lock);
	if (fd >= 0)
		close(fd);
}

static int sync_fd(struct object *o, int fd, bool data_only)
{
	int r = io_sync(fd, data_only);

	if (r < 0)
		store_note_sync_failed(o->cache->store);
	return r;
}

static int sync_entry(struct object *o)
{
	char path[40];
	_cleanup_close_ int dir = -1;
	int r;

	object_path(o->id, path);
	*strrchr(path, '/') = 0;
	dir = FAULT(STORE, openat(o->cache->dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (dir < 0)
		return -errno;
	r = sync_fd(o, dir, false);
	if (r < 0)
		return r;
	scoped_lock(&o->cache->lock);
	o->entry_synced = true;
	return 0;
}

int object_sync(struct object *o, bool data_only)
{
	bool entry_synced;
	int fd, r;

	r = object_pin(o, &fd);
	if (r < 0)
		return r;
	r = sync_fd(o, fd, data_only);
	object_unpin(o);
	if (r < 0)
		return r;
	pthread_mutex_lock(&o->cache->lock);
	entry_synced = o->entry_synced;
	pthread_mutex_unlock(&o->cache->lock);
	return entry_synced ? 0 : sync_entry(o);
}

int object_stat(struct store *s, uint64_t id, struct stat *ret)
{
	char path[40];

	object_path(id, path);
	return FAULT(STORE, fstatat(store_objects(s)->dirfd, path, ret, AT_SYMLINK_NOFOLLOW)) < 0 ? -errno : 0;
}

int object_birth(struct store *s, uint64_t id, int64_t *ret)
{
	struct statx_timestamp *t;
	struct statx st;
	char path[40];

	object_path(id, path);
	if (FAULT(STORE, statx(store_objects(s)->dirfd, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME | STATX_MTIME, &st)) < 0)
		return -errno;
	t = st.stx_mask & STATX_BTIME ? &st.stx_btime : &st.stx_mtime;
	*ret = timespec_ns(&(struct timespec){ .tv_sec = t->tv_sec, .tv_nsec = t->tv_nsec });
	return 0;
}

int object_unlink(struct store *s, uint64_t id)
{
	char path[40];

	object_path(id, path);
	return FAULT(STORE, unlinkat(store_objects(s)->dirfd, path, 0)) < 0 ? -errno : 0;
}

/* The id that a file in objects/<dir> stands for, 0 for any other name. */
static uint64_t parse_id(unsigned dir, const char *name)
{
	char path[40];
	uint64_t id;
	char *end;

	if (strlen(name) > 16)
		return 0;
	id = strtoull(name, &end, 16);
	object_path(id, path);
	return *end == 0 && strcmp(path + strlen("objects/xx/"), name) == 0 && ((id >> 8) & 0xff) == dir ? id : 0;
}

int object_each(struct store *s, object_iter f, void *arg)
{
	struct object_cache *c = store_objects(s);
	int r = 0;

	for (unsigned i = 0; i < 256 && r == 0; i++) {
		char path[300];
		struct dirent *e;
		DIR *d;
		int fd;

		snprintf(path, sizeof(path), "objects/%02x", i);
		fd = FAULT(STORE, openat(c->dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
		d = fd < 0 ? NULL : fdopendir(fd);
		if (!d)
			return -errno;
		while (r == 0 && (e = readdir(d)) != NULL) {
			if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
				continue;
			snprintf(path, sizeof(path), "objects/%02x/%s", i, e->d_name);
			r = f(arg, parse_id(i, e->d_name), path);
		}
		closedir(d);
	}
	return r;
}
