#include "exp/ancestry.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/path.h"
#include "meta/dirent.h"
#include "meta/tracked.h"

#define KEPT 256
#define ANY_NAME "\001" /* that no pattern means */

struct ancestries {
	uint64_t rollbacks; /* of the database when they were got */
	struct {
		uint64_t ino; /* 0: none */
		struct ancestry a;
	} v[KEPT];
};

int ancestries_new(struct ancestries **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void ancestry_free(struct ancestry *a)
{
	free(a->path);
	free(a->dir);
	*a = (struct ancestry){ 0 };
}

void ancestries_free(struct ancestries *c)
{
	for (size_t i = 0; i < KEPT; i++)
		ancestry_free(&c->v[i].a);
	free(c);
}

void ancestry_forget(struct expfs *ex)
{
	for (size_t i = 0; i < KEPT; i++)
		ex->ancestries->v[i].ino = 0;
}

char *ancestry_path(const struct ancestry *a, size_t i)
{
	return strndup(a->path, a->dir[i].end);
}

/* The inodes of the path's directories. */
static int find_dirs(struct db *db, struct ancestry *a)
{
	uint64_t ino = META_ROOT;
	const char *p = a->path;

	a->dir = calloc(strlen(p) / 2 + 2, sizeof(*a->dir));
	if (!a->dir)
		return -ENOMEM;
	a->dir[a->n++].ino = ino;
	while (*p) {
		size_t len = strcspn(p, "/");
		_cleanup_free_ char *name = strndup(p, len);
		struct dirent_row d;
		int r = name ? dirent_get(db, ino, name, &d) : -ENOMEM;

		if (r < 0)
			return r;
		p += len;
		ino = a->dir[a->n].ino = d.ino;
		a->dir[a->n++].end = (size_t)(p - a->path);
		p += *p == '/';
	}
	return 0;
}

static int has_marker(struct db *db, uint64_t dir)
{
	static const char *const marker[] = { "_CHECKPOINT_METADATA", ".metadata" };
	struct dirent_row d;

	for (size_t i = 0; i < ARRAY_SIZE(marker); i++) {
		int r = dirent_get(db, dir, marker[i], &d);

		if (r == 0 && d.type == DT_REG)
			return 1;
		if (r < 0 && r != -ENOENT)
			return r;
	}
	return 0;
}

/* Is the i-th directory a checkpoint by its name, or by its name and a marker in it? */
static int is_checkpoint(struct expfs *ex, struct db *db, const struct ancestry *a, size_t i)
{
	_cleanup_free_ char *path = ancestry_path(a, i);

	if (!path)
		return -ENOMEM;
	if (path_is_run(ex, path))
		return 0;
	if (path_role(ex, path, true) == ROLE_WEIGHTS)
		return 1;
	return role_digit_dir(path_last(path)) ? has_marker(db, a->dir[i].ino) : 0;
}

static int find_checkpoint(struct expfs *ex, struct db *db, struct ancestry *a)
{
	for (size_t i = 1; i < a->n; i++) {
		int r = is_checkpoint(ex, db, a, i);

		if (r != 0) {
			a->checkpoint = i;
			return MIN(r, 0);
		}
	}
	return 0;
}

static enum role role_at(struct expfs *ex, const struct ancestry *a, const char *name)
{
	_cleanup_free_ char *path = path_join(a->path, name);

	return path && strlen(path) < PATH_BOUND - 64 ? path_role_below(ex, path, a->base, false) : ROLE_NONE;
}

int ancestry_load(struct expfs *ex, struct db *db, uint64_t dir, struct ancestry *ret)
{
	_cleanup_ancestry_ struct ancestry a = { 0 };
	struct tracked_row t;
	int r = path_of(db, dir, &a.path);

	if (r == 0)
		r = find_dirs(db, &a);
	if (r == 0)
		r = find_checkpoint(ex, db, &a);
	if (r < 0)
		return r;
	r = tracked_by_dir(db, dir, &t);
	if (r < 0 && r != -ENOENT)
		return r;
	a.tracked = r == 0 ? t.id : 0;
	a.base = path_run_base(ex, a.path);
	a.gives_role = role_at(ex, &a, ANY_NAME) != ROLE_NONE;
	*ret = a;
	a = (struct ancestry){ 0 };
	return 0;
}

int ancestry_get(struct expfs *ex, struct db *db, uint64_t dir, const struct ancestry **ret)
{
	struct ancestries *c = ex->ancestries;
	size_t i = dir % KEPT;
	int r;

	if (dir == 0) /* of a damaged row */
		return -ENOENT;
	if (c->rollbacks != meta_rollbacks(db)) {
		ancestry_forget(ex);
		c->rollbacks = meta_rollbacks(db);
	}
	if (c->v[i].ino != dir) {
		c->v[i].ino = 0;
		ancestry_free(&c->v[i].a);
		r = ancestry_load(ex, db, dir, &c->v[i].a);
		if (r < 0)
			return r;
		c->v[i].ino = dir;
	}
	*ret = &c->v[i].a;
	return 0;
}

enum role ancestry_role(struct expfs *ex, const struct ancestry *a, const char *name, uint32_t class)
{
	return class || a->gives_role ? role_at(ex, a, name) : ROLE_NONE;
}
