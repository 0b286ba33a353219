#include "sync/supply.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "exp/checkpoint.h"
#include "exp/path.h"
#include "store/object.h"
#include "util/io.h"

void supply_ref_free(struct supply_ref *r)
{
	free(r->path);
	free(r->name);
	free(r->text);
}

/* A link may be another user's, who makes who exports read, and publish, what he may not read himself. */
static int check_inside(const struct supply *s, int fd)
{
	struct stat top, st;

	if (stat(s->point, &top) < 0 || fstat(fd, &st) < 0)
		return -errno;
	return st.st_dev == top.st_dev ? 0 : -EXDEV;
}

static int open_mounted(const struct supply *s, const struct supply_ref *r, int *ret_fd)
{
	size_t root = strlen(s->root);
	const char *below = r->path + root + (root > 0);
	struct version_row v = { .n = r->n, .is_dir = r->is_dir };
	_cleanup_free_ char *version = NULL, *path = NULL;
	_cleanup_close_ int fd = -1;
	int x;

	if (!path_is_below(r->path, s->root) || !strcmp(r->path, s->root))
		return -EXDEV;
	version = r->n ? checkpoint_history_path(below, &v) : strdup(below);
	if (!version || asprintf(&path, "%s%s%s%s%s", s->point, r->n ? "/.expfs/history/" : "/", version, *r->name ? "/" : "", r->name) < 0)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (r->follow ? 0 : O_NOFOLLOW));
	x = fd < 0 ? -errno : r->follow ? check_inside(s, fd) : 0;
	if (x < 0)
		return x;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

static int open_object(const struct supply *s, const struct supply_ref *r, int *ret_fd)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	int fd, x;

	if (!r->object) {
		*ret_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return *ret_fd < 0 ? -errno : 0;
	}
	x = object_get(s->ex->store, r->object, &o);
	if (x == 0)
		x = object_pin(o, &fd);
	if (x < 0)
		return x;
	*ret_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	x = *ret_fd < 0 ? -errno : 0;
	object_unpin(o);
	return x;
}

static int open_text(const char *text, int *ret_fd)
{
	_cleanup_close_ int fd = memfd_create("expfs", MFD_CLOEXEC);
	ssize_t n = fd < 0 ? -errno : io_pwrite(fd, text, strlen(text), 0);

	if (n < 0)
		return (int)n;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int supply_open(const struct supply *s, const struct supply_ref *r, int *ret_fd)
{
	if (r->text)
		return open_text(r->text, ret_fd);
	return s->point ? open_mounted(s, r, ret_fd) : open_object(s, r, ret_fd);
}
