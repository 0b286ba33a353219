/* What an import that was interrupted made of a checkpoint directory and the source has not, or not so, any more. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "sync/copy.h"
#include "sync/import_part.h"

/* Times without nanoseconds tell too little. */
static bool is_equal(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_nsec != 0 && timespec_ns(&a->st_mtim) == timespec_ns(&b->st_mtim);
}

static bool is_kept(const struct import *im, const struct import_dir *d, int fd, const char *name)
{
	const struct tree_entry *e = tree_get(im->tree, d->e, name);
	struct stat st;

	if (!e || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || (st.st_mode & S_IFMT) != (e->st.st_mode & S_IFMT))
		return false;
	return S_ISDIR(st.st_mode) || is_equal(&st, &e->st);
}

static int tidy_dir(const struct import *im, const struct import_dir *d, int to)
{
	_cleanup_free_ char *path = import_path(d->unit, d->e->to);
	int fd = path ? openat(to, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1, r = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!dir) {
		r = path ? -errno : -ENOMEM;
		if (fd >= 0)
			close(fd);
		return r == -ENOENT ? 0 : r;
	}
	while (r == 0 && (errno = 0, e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && !is_kept(im, d, fd, e->d_name))
			r = copy_remove(fd, e->d_name);
	if (r == 0 && errno)
		r = -errno;
	closedir(dir);
	return r;
}

int import_tidy(const struct import *im, const struct import_unit *unit, int to)
{
	int r = 0;

	for (size_t i = unit->n_dirs; i-- > 0 && r == 0;)
		r = tidy_dir(im, &unit->dirs[i], to);
	return r;
}
