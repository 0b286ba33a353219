/* Writing what is new beside what is there. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "sync/copy.h"
#include "sync/export_part.h"
#include "util/io.h"

int export_set_attributes(int fd, mode_t mode, int64_t mtime)
{
	if (fchmod(fd, mode) < 0 && !folder_cannot(-errno))
		return -errno;
	if (mtime != INT64_MIN) {
		int r = io_set_mtime(fd, ns_timespec(mtime));

		if (r < 0 && !folder_cannot(r))
			return r;
	}
	return 0;
}

/* What came to the disk is what was read, and what the store's record of it says. */
static int check_written(struct export_file *f, int fd, const struct digest_run *run)
{
	uint8_t read[DIGEST_SIZE], wanted[DIGEST_SIZE];
	int r;

	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	r = digest_file(fd, f->size, read);
	if (r < 0)
		return r;
	if (!digest_run_get(run, f->size, wanted) || memcmp(read, wanted, DIGEST_SIZE))
		return -EIO;
	if (f->has_digest && f->from.n && memcmp(read, f->digest, DIGEST_SIZE))
		return -EBADMSG;
	memcpy(f->digest, read, DIGEST_SIZE);
	f->has_digest = true;
	return io_stat(fd, &f->left);
}

/* Of what is no version, and may grow, as much is copied as there is now. */
static int take_size(struct export_file *f, int from)
{
	struct stat st;
	int r = io_stat(from, &st);

	if (r < 0)
		return r;
	if (!f->from.n && S_ISREG(st.st_mode))
		f->size = (uint64_t)st.st_size;
	return 0;
}

static int write_file(struct export *e, struct export_file *f, int dir, const char *name)
{
	_cleanup_(cleanup_digest_run) struct digest_run *run = digest_run_new();
	_cleanup_close_ int from = -1, to = -1;
	int r = run ? supply_open(e->source, &f->from, &from) : -ENOMEM;

	if (r == 0)
		r = take_size(f, from);
	if (r < 0)
		return r == -ENOENT ? -EBUSY : r; /* it went since it was looked at */
	to = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return -errno;
	r = copy_content(from, to, f->size, run, e->stop);
	if (r == 0)
		r = export_set_attributes(to, f->mode & 0777, f->mtime);
	if (r == 0)
		r = io_sync(to, false);
	if (r == 0)
		r = check_written(f, to, run);
	if (close(to) < 0 && r == 0 && errno != EINTR)
		r = -errno; /* drives send then */
	to = -1;
	e->written += r == 0 ? f->size : 0;
	return r;
}

/* A second name, as it may be large and be written to; where there are none, a copy. */
static int carry(const struct export *e, const struct export_unit *u, const char *name)
{
	_cleanup_free_ char *to = NULL;
	_cleanup_close_ int in = -1, out = -1;
	struct stat st;
	int r;

	if (asprintf(&to, "%s%s", u->part, name + strlen(u->name)) < 0)
		return -ENOMEM;
	r = folder_make_above(e->folder, to);
	if (r == 0 && folder_stat(e->folder, name, &st) == 0 && S_ISDIR(st.st_mode))
		return mkdirat(e->folder->fd, to, st.st_mode & 0777) < 0 && errno != EEXIST ? -errno : 0;
	if (r < 0 || linkat(e->folder->fd, name, e->folder->fd, to, 0) == 0 || errno == ENOENT)
		return r;
	in = openat(e->folder->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	r = in < 0 ? -errno : io_stat(in, &st);
	if (r < 0)
		return r;
	out = openat(e->folder->fd, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	r = out < 0 ? -errno : copy_content(in, out, (uint64_t)st.st_size, NULL, e->stop);
	if (r == 0)
		r = export_set_attributes(out, st.st_mode & 0777, timespec_ns(&st.st_mtim));
	return r < 0 ? r : io_sync(out, false);
}

static int write_dir(struct export *e, struct export_unit *u)
{
	int r = mkdirat(e->folder->fd, u->part, 0777) < 0 ? -errno : 0;

	for (size_t i = 0; i < u->n && r == 0; i++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/%s", u->part, u->files[i].name) < 0)
			return -ENOMEM;
		r = folder_make_above(e->folder, path);
		if (r == 0)
			r = write_file(e, &u->files[i], e->folder->fd, path);
		if (r == 0)
			r = folder_sync(e->folder, path);
	}
	for (size_t i = 0; i < u->n_carried && r == 0; i++)
		r = carry(e, u, u->carried[i]);
	return r;
}

/* A directory may have become a link's; then there is nothing to copy. */
static int write_link(struct export *e, struct export_unit *u)
{
	struct export_file *f = u->files;

	if (symlinkat(u->target, e->folder->fd, u->part) == 0) {
		struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, ns_timespec(f->mtime) };

		utimensat(e->folder->fd, u->part, times, AT_SYMLINK_NOFOLLOW); /* hardly anybody looks at that of a link */
		return fstatat(e->folder->fd, u->part, &f->left, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
	}
	if (!folder_cannot(-errno) || !f->from.path)
		return -errno;
	return write_file(e, f, e->folder->fd, u->part);
}

static int write_twin(struct export *e, struct export_unit *u)
{
	const struct export_unit *first = &e->units[u->twin];
	struct export_file *f = u->files;

	if (linkat(e->folder->fd, first->part ? first->part : first->name, e->folder->fd, u->part, 0) < 0)
		return write_file(e, f, e->folder->fd, u->part);
	f->size = first->files->size;
	memcpy(f->digest, first->files->digest, DIGEST_SIZE);
	return fstatat(e->folder->fd, u->part, &f->left, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

int export_write(struct export *e, struct export_unit *u)
{
	u->part = folder_part(u->name, (size_t)(u - e->units));
	if (!u->part)
		return -ENOMEM;
	return u->kind == EXPORT_SET   ? write_dir(e, u) :
	       u->kind == EXPORT_LINK  ? write_link(e, u) :
	       u->kind == EXPORT_TWIN  ? write_twin(e, u) :
	       u->kind == EXPORT_PLACE ? (mkdirat(e->folder->fd, u->part, 0700) < 0 ? -errno : 0) :
					 write_file(e, u->files, e->folder->fd, u->part);
}
