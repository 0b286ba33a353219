#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "exp/entries.h"
#include "exp/keeper.h"
#include "exp/path.h"
#include "exp/space.h"
#include "exp/track.h"
#include "meta/holders.h"
#include "meta/tracked.h"
#include "op/reply.h"
#include "op/unknown.h"
#include "util/advice.h"
#include "util/list.h"

/* The kinds of rows. */
#define ROW_PATH "path"       /* what was asked about, or a directory directly in it */
#define ROW_FILES "files"     /* the files directly in it */
#define ROW_REMOVED "removed" /* directories that were in it */

struct row {
	char *path;
	const char *kind;
	struct space space;
};

struct du {
	struct expfs *ex;
	struct row *rows;
	size_t n_rows;
	struct space_root *roots;
	size_t n_roots;
};

static void cleanup_du(struct du *d)
{
	for (size_t i = 0; i < d->n_rows; i++)
		free(d->rows[i].path);
	free(d->rows);
	free(d->roots);
}

static int add_row(struct du *d, const char *path, const char *kind)
{
	struct row *v = array_grow(d->rows, d->n_rows, sizeof(*v));

	if (!v)
		return -ENOMEM;
	d->rows = v;
	v[d->n_rows] = (struct row){ .path = strdup(path), .kind = kind };
	return v[d->n_rows++].path ? 0 : -ENOMEM;
}

/* Of the last row. */
static int add_root(struct du *d, uint64_t ino, uint64_t tracked)
{
	struct space_root *v = array_grow(d->roots, d->n_roots, sizeof(*v));

	if (!v)
		return -ENOMEM;
	d->roots = v;
	v[d->n_roots++] = (struct space_root){ ino, tracked, d->n_rows - 1 };
	return 0;
}

struct place {
	uint64_t ino, tracked; /* 0: it is gone; nothing is known of it */
	bool is_dir;
};

static int find(struct expfs *ex, const char *path, struct place *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct place p = { 0 };
	struct inode_row row;
	struct tracked_row t;
	int r = path_lookup(db, path, &p.ino);

	if (r == 0)
		r = inode_get(db, p.ino, &row);
	if (r < 0 && r != -ENOENT && r != -ENAMETOOLONG && r != -ESTALE)
		return r;
	p.ino = r == 0 ? p.ino : 0;
	p.is_dir = r == 0 && S_ISDIR(row.mode);
	r = *path ? tracked_by_path(db, path, &t) : tracked_get(db, TRACKED_TOP, &t);
	if (r < 0 && r != -ENOENT)
		return r;
	p.tracked = r == 0 ? t.id : 0;
	*ret = p;
	return p.ino || p.tracked ? 0 : -ENOENT;
}

static int add_path(struct du *d, const char *path, struct place *ret)
{
	int r = find(d->ex, path, ret);

	if (r == 0)
		r = add_row(d, path, ROW_PATH);
	return r < 0 ? r : add_root(d, ret->ino, ret->tracked);
}

static int add_removed(struct du *d, const char *path, uint64_t tracked)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(d->ex->meta);
	_cleanup_id_list_ struct id_list dirs = { 0 };
	bool any = false;
	int r = held_dirs_in(db, tracked, &dirs);

	for (size_t i = 0; i < dirs.n && r == 0; i++) {
		struct tracked_row t;

		r = tracked_get(db, dirs.v[i], &t);
		if (r < 0 || t.ino)
			continue;
		if (!any)
			r = add_row(d, path, ROW_REMOVED);
		any = true;
		if (r == 0)
			r = add_root(d, 0, t.id);
	}
	return r;
}

/* A row for each directory in it; one for its own files, one for directories that are gone. */
static int add_directory(struct du *d, const char *path, const struct place *p)
{
	_cleanup_entries_ struct entries e = { 0 };
	int r = entries_read(d->ex, p->ino, path, true, &e);

	if (r == 0)
		r = add_row(d, path, ROW_FILES);
	if (r == 0)
		r = add_root(d, p->ino, p->tracked);
	for (size_t i = 0; i < e.n && r == 0; i++) {
		if (!S_ISDIR(e.v[i].row.mode))
			continue;
		r = add_row(d, e.v[i].path, ROW_PATH);
		if (r == 0)
			r = add_root(d, e.v[i].row.ino, 0);
	}
	return r == 0 && p->tracked ? add_removed(d, path, p->tracked) : r;
}

static json_t *space_json(const struct space *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "files", (json_int_t)s->files, "contents", (json_int_t)s->contents,
			 "raw", (json_int_t)s->raw, "unique", (json_int_t)s->unique, "stored", (json_int_t)s->stored, "history",
			 (json_int_t)s->history, "own", (json_int_t)s->own);
}

static int by_stored(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->space.stored != y->space.stored)
		return x->space.stored < y->space.stored ? 1 : -1;
	return strcmp(x->path, y->path);
}

static int measure(struct du *d, const struct op_caller *caller, json_t **ret)
{
	_cleanup_free_ struct space *parts = calloc(d->n_rows, sizeof(*parts));
	struct space_question q = {
		.ex = d->ex, .roots = d->roots, .n_roots = d->n_roots, .parts = parts, .n_parts = d->n_rows, .holders = true,
		.stop = op_is_unwanted, .stop_arg = (void *)(uintptr_t)caller,
	};
	json_t *entries;
	int r = parts ? space_of_parts(&q) : -ENOMEM;

	if (r < 0)
		return r;
	for (size_t i = 0; i < d->n_rows; i++)
		d->rows[i].space = parts[i];
	qsort(d->rows, d->n_rows, sizeof(*d->rows), by_stored);
	entries = json_array();
	for (size_t i = 0; i < d->n_rows; i++) {
		_cleanup_json_ json_t *space = space_json(&d->rows[i].space);
		json_t *j = json_pack("{s:o, s:s}", "path", reply_path(d->rows[i].path), "kind", d->rows[i].kind);

		json_object_update(j, space);
		json_array_append_new(entries, j);
	}
	*ret = json_pack("{s:o, s:o}", "entries", entries, "total", space_json(&q.all));
	return *ret ? 0 : -ENOMEM;
}

static enum op_exit fail(struct expfs *ex, json_t **ret, const char *path, int r)
{
	if (r == -ENOENT && unknown_is_view(ex, path, ret))
		return OP_NO;
	if (r == -ENOENT)
		return reply_error(ret, OP_NO, "/%s: is not there, and has no history; see: expfs status", path);
	return reply_error(ret, OP_FAILED, "/%s: du: %s", path, advice(r));
}

enum op_exit op_du(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	const json_t *paths = json_object_get(args, "paths");
	_cleanup_(cleanup_du) struct du d = { .ex = ex };
	size_t n = json_array_size(paths);
	struct place p = { .ino = META_ROOT, .tracked = TRACKED_TOP, .is_dir = true };
	_cleanup_free_ char *only = NULL;
	int r = 0;

	keeper_settle(ex);
	r = track_moved(ex);
	for (size_t i = 0; i < n && r == 0; i++) {
		_cleanup_free_ char *path = reply_get_path(json_array_get(paths, i));

		if (!path)
			return reply_error(ret, OP_USAGE, "du: paths are wanted; see: expfs help du");
		r = n == 1 ? find(ex, path, &p) : add_path(&d, path, &p);
		if (r == 0 && n == 1 && !(p.is_dir && p.ino))
			r = add_path(&d, path, &p);
		if (r < 0)
			return fail(ex, ret, path, r);
		only = n == 1 ? steal(&path) : NULL;
	}
	if (r == 0 && n <= 1 && p.is_dir && p.ino)
		r = add_directory(&d, only ? only : "", &p);
	if (r == 0)
		r = measure(&d, caller, ret);
	return r < 0 ? fail(ex, ret, only ? only : "", r) : OP_DONE;
}
