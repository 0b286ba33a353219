/* One file, link or directory: made beside its place and renamed. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "sync/copy.h"
#include "sync/import_part.h"
#include "util/io.h"

#define TRIES 2 /* of what changes while it is read */
#define XATTRS_MAX (64u << 10)

static char *beside(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char part[IMPORT_PART], *to;

	import_part_name(name, part);
	return asprintf(&to, "%.*s%s", (int)(name - path), path, part) < 0 ? NULL : to;
}

char *import_path(const struct import_unit *unit, const char *to)
{
	_cleanup_free_ char *part = NULL;
	char *path;

	if (!unit || unit->there)
		return strdup(to);
	part = beside(unit->dir->to);
	return !part || asprintf(&path, "%s%s", part, to + strlen(unit->dir->to)) < 0 ? NULL : path;
}

static int copy_xattrs(int from, int to)
{
	char names[XATTRS_MAX], value[XATTRS_MAX];
	ssize_t n = flistxattr(from, names, sizeof(names));

	for (const char *name = names; name < names + n; name += strlen(name) + 1) {
		ssize_t len = strncmp(name, "user.", 5) ? -1 : fgetxattr(from, name, value, sizeof(value));

		if (len >= 0 && fsetxattr(to, name, value, (size_t)len, 0) < 0 && (errno == ENOSPC || errno == EDQUOT))
			return -errno;
	}
	return 0;
}

int import_attributes(int from, int to, const struct stat *st)
{
	struct timespec times[2] = { st->st_atim, st->st_mtim };
	mode_t mode = st->st_mode & 07777;
	int r;

	if (fchown(to, st->st_uid, st->st_gid) < 0) {
		if (errno != EPERM)
			return -errno;
		mode &= ~(mode_t)(S_ISUID | S_ISGID); /* whom these would lend to others is another one */
	}
	r = from < 0 ? 0 : copy_xattrs(from, to);
	if (r < 0)
		return r;
	return fchmod(to, mode) < 0 || futimens(to, times) < 0 ? -errno : 0;
}

static bool is_unchanged(int fd, const struct stat *before)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size == before->st_size && timespec_ns(&st.st_mtim) == timespec_ns(&before->st_mtim) &&
	       timespec_ns(&st.st_ctim) == timespec_ns(&before->st_ctim);
}

/* 1: it could not be read, *ret_why says why. */
static int make_copy(const struct import *im, const struct tree_entry *e, int to, const char *part, struct progress *p,
		     const char **ret_why)
{
	_cleanup_close_ int in = tree_open(im->tree, e), out = -1;
	struct stat st;
	int r;

	*ret_why = in == -ESTALE ? "is another file than a moment ago, or gone" : strerror(in < 0 ? -in : EIO);
	if (in < 0)
		return 1;
	if (fstat(in, &st) < 0)
		return 1;
	out = openat(to, part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return -errno;
	r = copy_part(in, out, (uint64_t)st.st_size, p);
	if (r >= 0 && !is_unchanged(in, &st)) {
		*ret_why = "is written while it is read; import again when nothing writes there";
		r = 1;
	}
	if (r == 0)
		r = import_attributes(in, out, &st);
	if (close(out) < 0 && r == 0)
		r = -errno;
	out = -1;
	return r;
}

static int copy_file(struct import *im, const struct import_item *item, int to, const char *part, struct progress *p)
{
	const char *why;
	int r = 1;

	for (int i = 0; i < TRIES && r > 0; i++)
		r = make_copy(im, item->e, to, part, p, &why);
	if (r <= 0)
		return r;
	r = tree_leave(im->tree, item->e->path, why, true);
	return r < 0 ? r : 1;
}

static int make_link(const struct tree_entry *e, int to, const char *part)
{
	struct timespec times[2] = { e->st.st_atim, e->st.st_mtim };

	if (symlinkat(e->link, to, part) < 0)
		return -errno;
	if (fchownat(to, part, e->st.st_uid, e->st.st_gid, AT_SYMLINK_NOFOLLOW) < 0 && errno != EPERM)
		return -errno;
	return utimensat(to, part, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

/* Another name of a file that came before. */
static int add_name(const struct import_item *item, int to, const char *path)
{
	_cleanup_free_ char *first = import_path(item->first->unit, item->first->e->to);

	if (!first)
		return -ENOMEM;
	return linkat(to, first, to, path, 0) < 0 ? -errno : 0;
}

int import_file(struct import *im, const struct import_item *item, int to, const char *path, struct progress *p)
{
	_cleanup_free_ char *part = beside(path);
	int r;

	if (!part)
		return -ENOMEM;
	if (item->unit && !item->unit->there && faccessat(to, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0; /* an import that was interrupted has made it */
	if (item->first != item && item->first->state != IMPORT_LOST && add_name(item, to, path) == 0)
		return 0;
	if (unlinkat(to, part, 0) < 0 && errno != ENOENT)
		return -errno;
	r = item->e->link ? make_link(item->e, to, part) : copy_file(im, item, to, part, p);
	if (r == 0 && renameat2(to, part, to, path, RENAME_NOREPLACE) < 0)
		r = -errno;
	if (r == -EEXIST)
		r = tree_leave(im->tree, item->e->path, "has been made there by somebody else meanwhile", true) < 0 ? -ENOMEM : 1;
	if (r != 0)
		unlinkat(to, part, 0);
	return r;
}
