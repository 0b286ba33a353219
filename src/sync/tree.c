#include "sync/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "exp/entries.h"
#include "sync/folder.h"
#include "sync/import_name.h"
#include "sync/portable.h"
#include "util/list.h"

/* No component is a link, even one that was put there a moment ago. Where the kernel cannot promise that, as in some sandboxes,
 * it is so for the last one. */
static int open_below(int top, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	int fd;

	if (!*path)
		path = ".";
	fd = (int)syscall(SYS_openat2, top, path, &how, sizeof(how));
	if (fd < 0 && (errno == ENOSYS || errno == EPERM) && !(flags & O_NOATIME))
		fd = openat(top, path, flags | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Only who owns a file may leave its time of access alone. */
static int open_quietly(int top, const char *path, int flags)
{
	int fd = open_below(top, path, flags | O_NOATIME);

	return fd == -EPERM || fd == -ENOSYS ? open_below(top, path, flags) : fd;
}

int tree_open(const struct tree *t, const struct tree_entry *e)
{
	int fd = open_quietly(t->fd, e->path, O_RDONLY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return fd == -ENOENT || fd == -ELOOP || fd == -ENOTDIR || fd == -ENXIO ? -ESTALE : fd;
	if (fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == (e->st.st_mode & S_IFMT) && st.st_ino == e->st.st_ino && st.st_dev == e->st.st_dev)
		return fd;
	close(fd);
	return -ESTALE;
}

int tree_leave(struct tree *t, const char *path, const char *why, bool lost)
{
	struct tree_left *v = array_grow(t->left, t->n_left, sizeof(*v));

	if (!v)
		return -ENOMEM;
	t->left = v;
	v[t->n_left] = (struct tree_left){ strdup(path), strdup(why), lost };
	t->n_left++;
	t->n_lost += lost;
	return v[t->n_left - 1].path && v[t->n_left - 1].why ? 0 : -ENOMEM;
}

/* The names in a directory, in the order of what they are given back as. */
struct name {
	char *name, *to;
};

struct names {
	struct name *v;
	size_t n;
};

static void names_free(struct names *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].name);
		free(l->v[i].to);
	}
	free(l->v);
}

static int add_name(struct names *l, const char *name)
{
	struct name *v = array_grow(l->v, l->n, sizeof(*v));
	int r;

	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n] = (struct name){ .name = strdup(name) };
	r = v[l->n].name ? portable_unmap(name, &v[l->n].to) : -ENOMEM;
	l->n++;
	return r;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->to, ((const struct name *)b)->to);
}

/* Where two would be one, the directory is none that an export made, and its names stay. */
static int sort_names(struct names *l)
{
	bool twice = false;

	if (l->n == 0)
		return 0;
	qsort(l->v, l->n, sizeof(*l->v), compare_names);
	for (size_t i = 1; i < l->n; i++)
		twice = twice || !strcmp(l->v[i - 1].to, l->v[i].to);
	for (size_t i = 0; i < l->n && twice; i++) {
		free(l->v[i].to);
		l->v[i].to = strdup(l->v[i].name);
		if (!l->v[i].to)
			return -ENOMEM;
	}
	if (twice)
		qsort(l->v, l->n, sizeof(*l->v), compare_names);
	return 0;
}

static int list(int top, const char *path, size_t max, struct names *l)
{
	int fd = open_quietly(top, path, O_RDONLY | O_DIRECTORY), r = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *d;

	if (!dir) {
		r = fd < 0 ? fd : -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (errno = 0, d = readdir(dir)) != NULL)
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			r = l->n < max ? add_name(l, d->d_name) : -E2BIG;
	if (r == 0 && errno)
		r = -errno;
	closedir(dir);
	return r < 0 ? r : sort_names(l);
}

static const char *kind_of(mode_t mode)
{
	return S_ISFIFO(mode)	? "is a FIFO" :
	       S_ISSOCK(mode)	? "is a socket" :
	       S_ISBLK(mode)	? "is a device" :
	       S_ISCHR(mode)	? "is a device" :
				  "is no file";
}

static int read_link(int top, const char *path, char **ret)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(top, path, text, sizeof(text));

	if (n < 0)
		return -errno;
	*ret = strndup(text, (size_t)n);
	return *ret ? 0 : -ENOMEM;
}

static char *below(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s%s%s", dir, *dir ? "/" : "", name) < 0 ? NULL : path;
}

static int add_entry(struct tree *t, struct tree_entry *e)
{
	struct tree_entry *v = array_grow(t->v, t->n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	t->v = v;
	v[t->n++] = *e;
	*e = (struct tree_entry){ 0 };
	return 0;
}

static void entry_clear(struct tree_entry *e)
{
	free(e->path);
	free(e->to);
	free(e->link);
}

static const char *refuse_name(const char *name, const char *to, const char *path)
{
	if (!strcmp(to, ".expfs"))
		return "is a name that no file in a mount can have";
	if (!strncmp(name, PORTABLE_PART, strlen(PORTABLE_PART)) || !strncmp(name, FOLDER_OLD, strlen(FOLDER_OLD)))
		return "is what an export that was interrupted left";
	if (import_is_part(name) || import_is_part(to))
		return "is what an import that was interrupted left";
	return strlen(path) >= PATH_MAX - 64 ? "has too long a path" : NULL;
}

static int add_below(struct tree *t, size_t dir, const char *name, const char *to)
{
	_cleanup_(entry_clear) struct tree_entry e = { .path = below(t->v[dir].path, name), .to = below(t->v[dir].to, to), .dir = dir };
	const char *why;
	int r = 0;

	if (!e.path || !e.to)
		return -ENOMEM;
	why = refuse_name(name, to, e.path);
	if (why)
		return tree_leave(t, e.path, why, false);
	if (fstatat(t->fd, e.path, &e.st, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	else if (S_ISLNK(e.st.st_mode))
		r = read_link(t->fd, e.path, &e.link);
	else if (!S_ISREG(e.st.st_mode) && !S_ISDIR(e.st.st_mode))
		return tree_leave(t, e.path, kind_of(e.st.st_mode), false);
	if (r == 0)
		return add_entry(t, &e);
	t->v[dir].partial = true;
	return r == -ENOMEM ? r : tree_leave(t, e.path, r == -ENOENT ? "vanished while it was looked at" : strerror(-r), true);
}

static int read_dir(struct tree *t, size_t dir)
{
	_cleanup_(names_free) struct names names = { 0 };
	int r = list(t->fd, t->v[dir].path, TREE_MAX - t->n, &names);

	if (r == -ENOMEM || r == -E2BIG || (r < 0 && dir == 0))
		return r;
	t->v[dir].partial = r < 0;
	if (r < 0)
		return tree_leave(t, t->v[dir].path, strerror(-r), true);
	t->v[dir].first = t->n;
	for (size_t i = 0; i < names.n && r == 0; i++)
		r = add_below(t, dir, names.v[i].name, names.v[i].to);
	t->v[dir].n = t->n - t->v[dir].first;
	return r;
}

const struct tree_entry *tree_get(const struct tree *t, const struct tree_entry *dir, const char *name)
{
	size_t low = dir->first, high = dir->first + dir->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int r = strcmp(name, path_last(t->v[middle].to));

		if (r == 0)
			return &t->v[middle];
		if (r < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

int tree_read(const char *dir, struct tree **ret)
{
	_cleanup_tree_ struct tree *t = calloc(1, sizeof(*t));
	_cleanup_(entry_clear) struct tree_entry top = { .path = strdup(""), .to = strdup("") };
	int r;

	if (!t || !top.path || !top.to) {
		free(steal(&t));
		return -ENOMEM;
	}
	t->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->fd < 0 || fstat(t->fd, &top.st) < 0)
		return -errno;
	r = add_entry(t, &top);
	for (size_t i = 0; i < t->n && r == 0; i++)
		if (S_ISDIR(t->v[i].st.st_mode))
			r = read_dir(t, i);
	if (r == 0)
		*ret = steal(&t);
	return r;
}

void tree_free(struct tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		entry_clear(&t->v[i]);
	for (size_t i = 0; i < t->n_left; i++) {
		free(t->left[i].path);
		free(t->left[i].why);
	}
	if (t->fd >= 0)
		close(t->fd);
	free(t->v);
	free(t->left);
	free(t);
}
