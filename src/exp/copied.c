#include "exp/copied.h"

#include <string.h>

#include "meta/dirent.h"
#include "meta/inode.h"

/* The file of that path below a directory; -ENOENT. */
static int find_below(struct db *db, uint64_t dir, char *path, uint64_t *ret)
{
	struct dirent_row d = { .ino = dir };
	char *rest = NULL;
	int r = 0;

	for (char *name = strtok_r(path, "/", &rest); name && r == 0; name = strtok_r(NULL, "/", &rest))
		r = dirent_get(db, d.ino, name, &d);
	*ret = d.ino;
	return r;
}

static int has_come(struct db *db, const struct tracked_row *t, const struct version_row *v, uint64_t object, char *name)
{
	struct inode_row row;
	uint64_t ino = t->ino;
	int r = 0;

	if (v->rank < 0)
		return 1;
	if (!ino || v->until)
		return 0;
	if (name)
		r = find_below(db, ino, name, &ino);
	if (r == 0)
		r = inode_get(db, ino, &row);
	return r < 0 ? (r == -ENOENT || r == -ESTALE ? 0 : r) : row.object == object && (row.flags & INODE_COPIED);
}

int copied_look(struct db *db, const struct tracked_row *t, const struct version_row *v, uint64_t *ret_experiment)
{
	struct member_row largest = { .object = v->object };
	_cleanup_free_ char *name = NULL;
	struct version_row before;
	int r = v->is_dir ? member_largest(db, v->id, &largest, &name) : 0;

	*ret_experiment = 0;
	if (r == 0)
		r = largest.object ? has_come(db, t, v, largest.object, name) : 0;
	if (r <= 0)
		return r == -ENOENT ? 0 : r;
	r = version_back(db, v, largest.object, COPIED_LOOK_BACK, &before);
	if (r == 0 && v->is_dir) {
		r = version_same_content(db, before.id, v->id);
		r = r == 0 ? -ENOENT : MIN(r, 0);
	}
	if (r == 0)
		*ret_experiment = before.experiment;
	return r < 0 && r != -ENOENT ? r : 1;
}
