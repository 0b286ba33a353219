#include "exp/entries.h"

#include <stdio.h>
#include <string.h>

#include "exp/path.h"

void entries_free(struct entries *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->v[i].path);
	free(e->v);
}

const char *path_last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_join(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s%s%s", dir, *dir ? "/" : "", name) < 0 ? NULL : path;
}

int entries_add(void *arg, const struct dirent_row *d, const char *name, const struct inode_row *row)
{
	struct entries *e = arg;
	struct entry *v = array_grow(e->v, e->n, sizeof(*v));
	char *path = path_join(e->dir, name);

	if (v)
		e->v = v;
	if (!v || !path) {
		free(path);
		return -ENOMEM;
	}
	v[e->n++] = (struct entry){ .d = *d, .row = *row, .path = path };
	return strlen(path) < PATH_BOUND ? 0 : -ENAMETOOLONG;
}

int entries_read(struct expfs *ex, uint64_t ino, const char *path, bool roles_only, struct entries *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	*ret = (struct entries){ .dir = path };
	return dirent_list_below(db, ino, roles_only, entries_add, ret);
}
