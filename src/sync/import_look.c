/* What of it is there already, and what is in its way. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/xattr.h>

#include "sync/import_part.h"
#include "util/io.h"

/* Times without nanoseconds come from disks that do not keep them: two files of one size may have the same. */
static bool is_in_doubt(const struct stat *st)
{
	return st->st_mtim.tv_nsec == 0;
}

static int compare_content(const struct import *im, const struct import_item *item, int to, struct progress *p)
{
	_cleanup_close_ int a = tree_open(im->tree, item->e), b = -1;
	uint64_t size = (uint64_t)item->e->st.st_size;
	int r;

	if (a < 0)
		return 1; /* as what cannot be told to be the same */
	b = openat(to, item->e->to, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (b < 0)
		return -errno;
	r = io_compare(a, b, size);
	progress_add(p, size);
	return r == -EIO ? 1 : r;
}

static int look_link(struct import_item *item, int to)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(to, item->e->to, text, sizeof(text));

	if (n < 0)
		return -errno;
	item->state = strlen(item->e->link) == (size_t)n && !memcmp(text, item->e->link, (size_t)n) ? IMPORT_THERE : IMPORT_DIFFERS;
	return 0;
}

static int look_file(const struct import *im, struct import_item *item, int to, const struct stat *st, struct progress *p)
{
	bool same = st->st_size == item->e->st.st_size;
	int r = 0;

	if (same && (is_in_doubt(st) || timespec_ns(&st->st_mtim) != timespec_ns(&item->e->st.st_mtim)))
		r = compare_content(im, item, to, p);
	if (r >= 0)
		item->state = same && r == 0 ? IMPORT_THERE : IMPORT_DIFFERS;
	return MIN(r, 0);
}

static int look(const struct import *im, struct import_item *item, int to, struct progress *p)
{
	struct stat st;

	if (fstatat(to, item->e->to, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if ((st.st_mode & S_IFMT) != (item->e->st.st_mode & S_IFMT)) {
		item->state = IMPORT_DIFFERS;
		return 0;
	}
	return item->e->link ? look_link(item, to) : look_file(im, item, to, &st, p);
}

/* A view takes nothing, and an attribute that is not there is told to be so where it could be. */
static int look_for_view(struct import *im, int to, const char *path)
{
	_cleanup_close_ int fd = openat(to, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (im->view || fd < 0 || fremovexattr(fd, "user.expfs-import") == 0 || errno != EROFS)
		return 0;
	im->view = strdup(path);
	return im->view ? 0 : -ENOMEM;
}

/* A file in the place of a directory, or a link, wherever that leads, is told as what differs of all that would lie in it. */
static int look_dirs(struct import *im, int to)
{
	_cleanup_free_ bool *blocked = calloc(im->tree->n, sizeof(*blocked));
	struct stat st;

	for (size_t i = 1; i < im->tree->n && blocked; i++) {
		const struct tree_entry *e = &im->tree->v[i];

		if (S_ISDIR(e->st.st_mode))
			blocked[i] = blocked[e->dir] ||
				     (fstatat(to, e->to, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode));
		if (blocked[i] && !im->in_way)
			im->in_way = strdup(e->to);
		if (blocked[i] && !im->in_way)
			return -ENOMEM;
		if (S_ISDIR(e->st.st_mode) && look_for_view(im, to, e->to) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < im->n_units; i++)
		im->units[i].there = fstatat(to, im->units[i].dir->to, &st, AT_SYMLINK_NOFOLLOW) == 0;
	for (size_t i = 0; i < im->n && blocked; i++)
		if (blocked[im->v[i].e->dir])
			im->v[i].state = IMPORT_DIFFERS;
	return blocked ? 0 : -ENOMEM;
}

/* A name there that the tree does not have says that it is another's. */
static int find_foreign(struct import *im, int to)
{
	int fd = openat(to, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *d;
	int r = 0;

	if (!dir) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (!im->foreign && r == 0 && (errno = 0, d = readdir(dir)) != NULL) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		if (import_is_part(d->d_name) || tree_get(im->tree, im->tree->v, d->d_name))
			continue;
		im->foreign = strdup(d->d_name);
		r = im->foreign ? 0 : -ENOMEM;
	}
	if (!im->foreign && r == 0 && errno)
		r = -errno;
	closedir(dir);
	return r;
}

static void count(struct import *im)
{
	for (size_t i = 0; i < im->n; i++) {
		const struct import_item *item = &im->v[i];

		im->n_new += item->state == IMPORT_NEW;
		im->n_there += item->state == IMPORT_THERE;
		im->n_differ += item->state == IMPORT_DIFFERS;
		if (item->state == IMPORT_NEW && item->first == item)
			im->bytes_new += MIN((uint64_t)item->e->st.st_size, (uint64_t)item->e->st.st_blocks * 512);
	}
}

int import_look(struct import *im, int to)
{
	struct progress p;
	int r = to < 0 ? 0 : find_foreign(im, to);

	if (to >= 0 && r == 0)
		r = look_dirs(im, to);
	progress_start(&p, "expfs: import: comparing", 0);
	for (size_t i = 0; i < im->n && to >= 0 && r == 0; i++)
		if (im->v[i].state == IMPORT_NEW)
			r = look(im, &im->v[i], to, &p);
	progress_end(&p);
	count(im);
	return r;
}
