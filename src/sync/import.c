#include "sync/import.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "sync/import_part.h"
#include "util/io.h"

struct bring {
	struct import *im;
	int to;
	struct progress progress;
};

/* Makes the directories above a path, for their owner alone; what they are to be they get at the end. */
static int make_above(int to, char *path)
{
	for (char *p = path; (p = strchr(p, '/')) != NULL; *p++ = '/') {
		int r;

		*p = 0;
		r = mkdirat(to, path, 0700);
		*p = '/';
		if (r < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* What is in it is on the disk then. */
static int make_dir(const struct bring *b, const struct import_dir *d)
{
	_cleanup_free_ char *path = import_path(d->unit, *d->e->to ? d->e->to : ".");
	_cleanup_close_ int from = tree_open(b->im->tree, d->e), fd = -1;
	int to = b->to, r;

	if (!path)
		return -ENOMEM;
	r = make_above(to, path);
	if (r < 0)
		return r;
	if (mkdirat(to, path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(to, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = import_attributes(from, fd, &d->e->st);
	return r < 0 ? r : io_sync(fd, false);
}

static int finish_dir(const struct bring *b, const struct import_dir *d)
{
	int r = make_dir(b, d);

	if (r < 0)
		b->im->at = d->e->to;
	return r;
}

/* A checkpoint that is a directory gets its name when all of it is there. */
static int finish_unit(const struct bring *b, struct import_unit *unit)
{
	_cleanup_free_ char *part = import_path(unit, unit->dir->to);
	int r = part ? 0 : -ENOMEM;

	for (size_t i = 0; i < unit->n_dirs && r == 0; i++)
		r = finish_dir(b, &unit->dirs[i]);
	if (r == 0 && renameat2(b->to, part, b->to, unit->dir->to, RENAME_NOREPLACE) < 0)
		r = -errno;
	unit->there = unit->done = r == 0;
	return r;
}

static int leave_unit(const struct bring *b, const struct import_unit *unit)
{
	_cleanup_free_ char *part = import_path(unit, unit->dir->to), *why = NULL;

	if (!part || asprintf(&why, "is not whole, for some of it could not be read; what could is in %s", part) < 0)
		return -ENOMEM;
	return tree_leave(b->im->tree, unit->dir->path, why, true);
}

static int bring_item(struct bring *b, struct import_item *item)
{
	_cleanup_free_ char *path = import_path(item->unit, item->e->to);
	int r = path ? make_above(b->to, path) : -ENOMEM;

	if (r == 0)
		r = import_file(b->im, item, b->to, path, &b->progress);
	item->state = r == 0 ? IMPORT_THERE : IMPORT_LOST;
	b->im->n_new -= r > 0;
	if (r < 0)
		b->im->at = item->e->to;
	if (r > 0 && item->unit)
		item->unit->lost = true;
	return MIN(r, 0);
}

static int bring_items(struct bring *b)
{
	struct import *im = b->im;
	int r = 0;

	for (size_t i = 0; i < im->n_units && r == 0; i++)
		if (!im->units[i].there)
			r = import_tidy(im, &im->units[i], b->to);
	for (size_t i = 0; i < im->n && r == 0; i++) {
		struct import_unit *unit = im->v[i].unit;

		if (im->v[i].state == IMPORT_NEW)
			r = bring_item(b, &im->v[i]);
		if (r == 0 && unit && !unit->there && (i + 1 == im->n || im->v[i + 1].unit != unit))
			r = unit->lost ? leave_unit(b, unit) : finish_unit(b, unit);
	}
	return r;
}

/* Directories called as a checkpoint is, with no file in them. */
static int finish_empty(const struct bring *b)
{
	int r = 0;

	for (size_t i = 0; i < b->im->n_units && r == 0; i++) {
		struct import_unit *unit = &b->im->units[i];

		if (unit->time == INT64_MIN && !unit->there && !unit->lost)
			r = finish_unit(b, unit);
	}
	return r;
}

/* Files that belong together, as a database and its log, were copied one after the other: that holds only if nothing was written
 * since they were looked at first. */
static int check_source(const struct bring *b)
{
	struct import *im = b->im;
	int r = 0;

	for (size_t i = 0; i < im->n && r == 0; i++) {
		const struct tree_entry *e = im->v[i].e;
		struct stat st;

		if (im->v[i].state == IMPORT_LOST || fstatat(im->tree->fd, e->path, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (st.st_ino != e->st.st_ino || st.st_size != e->st.st_size || timespec_ns(&st.st_mtim) != timespec_ns(&e->st.st_mtim))
			r = tree_leave(im->tree, e->path, "has been written since it was looked at; what came may not fit the other files", true);
	}
	return r;
}

/* The top of a mount, a directory of runs and one that others have put something into stay as they are. */
static bool is_shared(const struct import *im)
{
	return !*im->dest || im->holds_runs || im->foreign;
}

static int finish_dirs(const struct bring *b)
{
	int r = 0;

	for (size_t i = 0; i < b->im->n_dirs && r == 0; i++) {
		const struct import_dir *d = &b->im->dirs[i];

		if ((d->unit && (d->unit->lost || d->unit->done)) || (!*d->e->to && is_shared(b->im)))
			continue;
		r = finish_dir(b, d);
	}
	return r;
}

int import_bring(struct import *im, int to)
{
	struct bring b = { .im = im, .to = to };
	int r;

	progress_start(&b.progress, "expfs: import: copying", im->bytes_new);
	r = bring_items(&b);
	if (r == 0)
		r = finish_empty(&b);
	if (r == 0)
		r = finish_dirs(&b);
	if (r == 0)
		r = check_source(&b);
	if (r == 0)
		r = io_sync(to, false);
	progress_end(&b.progress);
	return r;
}
