#include "exp/inode_names.h"

#include <string.h>

#include "util/list.h"

static int add_name(void *arg, const struct dirent_row *d, const char *name, const struct inode_row *row)
{
	struct inode_names *l = arg;
	struct inode_name *v;

	if (l->n == INODE_NAMES_MAX)
		return 1;
	v = array_grow(l->v, l->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n] = (struct inode_name){ .d = *d, .name = strdup(name) };
	return v[l->n++].name ? 0 : -ENOMEM;
}

int inode_names_read(struct db *db, uint64_t ino, struct inode_names *ret)
{
	*ret = (struct inode_names){ .n = 0 };
	return MIN(dirent_names_of(db, ino, add_name, ret), 0);
}

void inode_names_free(struct inode_names *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
}
