#include "exp/closed.h"

#include <stdio.h>
#include <string.h>

#include "exp/inode_names.h"
#include "exp/track_path.h"
#include "meta/dirent.h"

uint32_t closed_below(uint32_t mode, uint32_t gid, const struct inode_row *dir)
{
	if (!(dir->mode & S_IXOTH))
		mode &= ~(uint32_t)S_IRWXO;
	if (!(dir->mode & (gid == dir->gid ? S_IXGRP : S_IXOTH)))
		mode &= ~(uint32_t)S_IRWXG;
	return mode;
}

int closed_version(struct db *db, struct version_row *v)
{
	struct version_row last;
	struct tracked_row t;
	struct inode_row now;
	int r = version_before(db, v->tracked, INT64_MAX, &last);

	if (r == 0)
		r = tracked_get(db, v->tracked, &t);
	if (r < 0)
		return r == -ENOENT ? -ESTALE : r;
	v->mode &= last.mode;
	if (t.ino && inode_get(db, t.ino, &now) == 0)
		v->mode &= now.mode;
	return 0;
}

/* As it is now, if it is there. */
static int close_as_now(struct db *db, uint64_t dir, const char *name, struct member_row *m)
{
	char component[256];

	for (;;) {
		size_t n = strcspn(name, "/");
		struct inode_row row;
		struct dirent_row d;
		int r;

		if (n >= sizeof(component))
			return 0;
		memcpy(component, name, n);
		component[n] = 0;
		r = dirent_get(db, dir, component, &d);
		if (r == 0)
			r = inode_get(db, d.ino, &row);
		if (r < 0)
			return r == -ENOENT || r == -ESTALE ? 0 : r;
		if (!name[n] && S_ISREG(row.mode))
			m->mode &= row.mode;
		if (!name[n] || !S_ISDIR(row.mode))
			return 0;
		m->mode = closed_below(m->mode, m->gid, &row);
		name += n + 1;
		dir = row.ino;
	}
}

int closed_member(struct db *db, const struct version_row *v, const char *name, struct member_row *m)
{
	struct version_row last;
	struct member_row of_last;
	struct tracked_row t;
	int r = version_before(db, v->tracked, INT64_MAX, &last);

	if (r == 0)
		r = tracked_get(db, v->tracked, &t);
	if (r < 0)
		return r == -ENOENT ? -ESTALE : r;
	r = member_get(db, last.id, name, &of_last);
	m->mode &= r == 0 ? of_last.mode : ~0u;
	if (r < 0 && r != -ENOENT)
		return r;
	return t.ino ? close_as_now(db, t.ino, name, m) : 0;
}

/* name: below the checkpoint. */
static int close_members(struct db *db, uint64_t version, const char *name, const struct inode_row *row)
{
	if (!S_ISDIR(row->mode))
		return member_close(db, version, name, row->mode);
	return member_close_below(db, version, name, row->gid, closed_below(~0u, row->gid, row),
				  closed_below(~0u, row->gid + 1, row));
}

static int close_in_checkpoint(struct expfs *ex, struct db *db, const struct ancestry *a, const char *name,
			       const struct inode_row *row)
{
	size_t above = a->dir[a->checkpoint].end;
	_cleanup_free_ char *path = NULL;
	struct version_row last;
	struct tracked_row t;
	int r = tracked_by_dir(db, a->dir[a->checkpoint].ino, &t);

	if (r == 0)
		r = version_before(db, t.id, INT64_MAX, &last);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (asprintf(&path, "%s/%s", a->path + above, name) < 0)
		return -ENOMEM;
	r = close_members(db, last.id, path + 1, row);
	return r < 0 ? r : track_member(ex, db, a);
}

static int close_name(struct expfs *ex, struct db *db, const struct inode_name *n, const struct inode_row *row)
{
	const struct ancestry *a;
	int r = ancestry_get(ex, db, n->d.parent, &a);

	if (r < 0)
		return r == -ENOENT || r == -ENAMETOOLONG ? 0 : r;
	return a->checkpoint ? close_in_checkpoint(ex, db, a, n->name, row) : 0;
}

int tx_closed(struct expfs *ex, struct db *db, const struct inode_row *row)
{
	_cleanup_inode_names_ struct inode_names l = { .n = 0 };
	int r = inode_names_read(db, row->ino, &l);

	for (size_t i = 0; i < l.n && r == 0; i++)
		r = close_name(ex, db, &l.v[i], row);
	return track_forgive(ex, r);
}
