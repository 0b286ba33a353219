#include "sync/export_part.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "sync/copy.h"
#include "sync/portable.h"
#include "util/io.h"
#include "util/list.h"

#define GROUP_UNITS 256
#define GROUP_BYTES (64u << 20)

int export_failed(struct export *e, const char *name, int r)
{
	if (r < 0 && !e->at)
		e->at = strdup(name);
	return r;
}

struct export_unit *export_unit(struct export *e, char *name, enum export_kind kind)
{
	struct export_unit *v = name ? array_grow(e->units, e->n, sizeof(*v)) : NULL;

	if (!v) {
		free(name);
		return NULL;
	}
	e->units = v;
	v[e->n] = (struct export_unit){ .name = name, .kind = kind };
	return &v[e->n++];
}

struct export_file *export_file(struct export_unit *u)
{
	struct export_file *v = array_grow(u->files, u->n, sizeof(*v));

	if (!v)
		return NULL;
	u->files = v;
	v[u->n] = (struct export_file){ 0 };
	return &v[u->n++];
}

static void free_file(struct export_file *f)
{
	free(f->name);
	supply_ref_free(&f->from);
	free(f->stamp);
}

void export_drop_last(struct export *e)
{
	struct export_unit *u = &e->units[--e->n];

	for (size_t k = 0; k < u->n; k++)
		free_file(&u->files[k]);
	for (size_t k = 0; k < u->n_carried; k++)
		free(u->carried[k]);
	free(u->carried);
	free(u->files);
	free(u->name);
	free(u->part);
	free(u->target);
}

void export_free(struct export *e)
{
	while (e->n > 0)
		export_drop_last(e);
	free(e->units);
	json_decref(e->removed);
	free(e->at);
	*e = (struct export){ 0 };
}

char *export_path(const struct export_unit *u, const struct export_file *f)
{
	char *path;

	return asprintf(&path, "%s%s%s", u->name, *f->name ? "/" : "", f->name) < 0 ? NULL : path;
}

char *export_key(const struct export_unit *u, const struct export_file *f)
{
	char *key;

	if (u->kind != EXPORT_PLACE)
		return export_path(u, f);
	return asprintf(&key, "%s/", u->name) < 0 ? NULL : key;
}

typedef int (*remember_fn)(struct memory *m, const char *name, const struct memory_file *f);

static int remember(struct export *e, const struct export_unit *u, remember_fn how)
{
	int r = 0;

	for (size_t i = 0; i < u->n && r == 0; i++) {
		const struct export_file *f = &u->files[i];
		_cleanup_free_ char *path = export_key(u, f);
		struct memory_file m = { .size = (uint64_t)f->left.st_size, .mtime = timespec_ns(&f->left.st_mtim),
					 .ino = f->left.st_ino, .stamp = f->stamp };

		memcpy(m.digest, f->digest, DIGEST_SIZE);
		r = path ? how(e->memory, path, &m) : -ENOMEM;
	}
	return r;
}

/* -EBUSY: somebody changed since what is replaced. */
static int is_as_seen(struct export *e, struct export_unit *u)
{
	struct stat st;
	bool ours;
	int r = folder_stat(e->folder, u->name, &st);

	if (r < 0 || !u->seen.st_ino)
		return (r == -ENOENT || r == -ENOTDIR || r == -ELOOP) && !u->seen.st_ino ? 0 : -EBUSY;
	if ((st.st_mode & S_IFMT) != (u->seen.st_mode & S_IFMT))
		return -EBUSY;
	if (S_ISDIR(st.st_mode) && u->kind != EXPORT_SET && u->kind != EXPORT_PLACE)
		return export_is_ours(e, u->name, &ours) == 0 && ours ? 0 : -EBUSY;
	if (S_ISDIR(st.st_mode) && u->kind == EXPORT_SET)
		return export_set_is_as_seen(e, u);
	return (S_ISDIR(st.st_mode) && u->kind == EXPORT_PLACE) || (st.st_ino == u->seen.st_ino && st.st_size == u->seen.st_size &&
			     timespec_ns(&st.st_mtim) == timespec_ns(&u->seen.st_mtim)) ? 0 : -EBUSY;
}

/* A file of ours where a directory above the name is to be. */
static int clear_way(struct export *e, const char *name)
{
	_cleanup_free_ char *path = strdup(name);
	struct stat st;
	bool ours;

	for (char *p = path; p && (p = strchr(p, '/')) != NULL; *p++ = '/') {
		*p = 0;
		if (folder_stat(e->folder, path, &st) == 0 && !S_ISDIR(st.st_mode))
			return export_is_ours(e, path, &ours) == 0 && ours ? folder_remove(e->folder, path) : -ENOTDIR;
	}
	return path ? -ENOTDIR : -ENOMEM;
}

static int place(struct export *e, struct export_unit *u)
{
	bool is_dir = u->kind == EXPORT_SET || u->kind == EXPORT_PLACE;
	int r = is_as_seen(e, u);

	if (r == 0)
		r = folder_place(e->folder, u->part, u->name, is_dir);
	if (r == -ENOTDIR) {
		r = clear_way(e, u->name);
		if (r == 0)
			r = folder_place(e->folder, u->part, u->name, is_dir);
	}
	if (r == 0)
		free(steal(&u->part));
	return r;
}

static int touch(struct export *e, struct export_unit *u)
{
	int r = 0;

	for (size_t i = 0; i < u->n && r == 0; i++) {
		_cleanup_free_ char *path = export_path(u, &u->files[i]);
		struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, ns_timespec(u->files[i].mtime) };

		if (!path || (utimensat(e->folder->fd, path, times, AT_SYMLINK_NOFOLLOW) < 0 && !folder_cannot(-errno)))
			r = path ? -errno : -ENOMEM;
		if (r == 0)
			r = folder_stat(e->folder, path, &u->files[i].left);
	}
	return r;
}

static int place_one(struct export *e, struct export_unit *u)
{
	int r = 0;

	if (u->action == EXPORT_WRITTEN)
		r = place(e, u);
	else if (u->action == EXPORT_TOUCHED)
		r = touch(e, u);
	return r < 0 ? export_failed(e, u->name, r) : remember(e, u, memory_settle);
}

/* Syncs the directories of what was placed, each once where they come one after the other. */
static int sync_dirs(struct export *e, const struct export_unit *v, size_t n)
{
	const char *last = NULL;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		const char *slash = strrchr(v[i].name, '/');
		size_t len = slash ? (size_t)(slash - v[i].name) + 1 : 0;

		if (v[i].action != EXPORT_WRITTEN || (last && !strncmp(last, v[i].name, len) && !strchr(last + len, '/')))
			continue;
		last = v[i].name;
		r = export_failed(e, last, folder_sync(e->folder, last));
	}
	return r;
}

/* What of a group is to be written appears when all of it is there. */
static int run_group(struct export *e, struct export_unit *v, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		if (v[i].action == EXPORT_WRITTEN)
			r = export_failed(e, v[i].name, export_write(e, &v[i]));
	for (size_t i = 0; i < n && r == 0; i++)
		if (v[i].action == EXPORT_WRITTEN)
			r = remember(e, &v[i], memory_expect);
	if (r == 0)
		memory_save(e->memory);
	for (size_t i = 0; i < n && r == 0; i++)
		r = place_one(e, &v[i]);
	if (r == 0)
		r = sync_dirs(e, v, n);
	for (size_t i = 0; i < n; i++)
		if (v[i].part)
			copy_remove(e->folder->fd, v[i].part);
	return r;
}

/* How many of n units make a group, where none is asked for: the memory is saved for each. */
static size_t group_size(const struct export_unit *v, size_t n)
{
	uint64_t bytes = 0;
	size_t i = 0;

	do
		bytes += v[i].files->size;
	while (++i < MIN(n, (size_t)GROUP_UNITS) && bytes < GROUP_BYTES);
	return i;
}

/* Modes and times of directories, when nothing in them changes any more; those below come first. */
static int finish_places(struct export *e)
{
	int r = 0;

	for (size_t i = e->n; i-- > 0 && r == 0;) {
		struct export_unit *u = &e->units[i];
		_cleanup_close_ int fd = -1;

		if (u->kind != EXPORT_PLACE)
			continue;
		fd = openat(e->folder->fd, u->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = fd < 0 ? -errno : export_set_attributes(fd, u->files->mode, u->files->mtime);
		export_failed(e, u->name, r);
	}
	return r;
}

int export_run(struct export *e, size_t together)
{
	int r = together > 0 ? run_group(e, e->units, MIN(together, e->n)) : 0;

	for (size_t i = together, n; i < e->n && r == 0; i += n) {
		n = group_size(&e->units[i], e->n - i);
		r = run_group(e, &e->units[i], n);
	}
	if (r == 0)
		r = export_tidy(e);
	if (r == 0)
		r = finish_places(e);
	memory_save(e->memory);
	return r;
}
