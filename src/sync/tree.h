/* A directory tree outside of the store, that is only read.
 *
 * It may be hostile and change all the time: links are never followed, only regular files are opened, and of what cannot be
 * brought elsewhere it is told why. tree_read() reads all names once; tree_open() opens one of these files, which may be another
 * by then. Nothing is made or changed there, and times of access stay where the system lets us. */
#ifndef EXPFS_SYNC_TREE_H
#define EXPFS_SYNC_TREE_H

#include <sys/stat.h>

#include "util/util.h"

#define TREE_MAX (4u << 20) /* entries */

/* A regular file, a directory or a symbolic link. */
struct tree_entry {
	char *path; /* below the top, "" is that */
	char *to;   /* the same, with the names given back that a sync tool's folder had instead (sync/portable.h) */
	char *link; /* what a symbolic link holds, else NULL */
	size_t dir; /* number of the directory that it is in */
	bool partial; /* a directory of which something could not be read; it is in left */
	size_t first, n; /* of a directory: what is in it, from v[first] on, in the order of to */
	struct stat st;
};

struct tree_left {
	char *path;
	char *why;
	bool lost; /* it should have come */
};

struct tree {
	int fd; /* of the top */
	struct tree_entry *v; /* a directory stands before what is in it, v[0] is the top */
	size_t n;
	struct tree_left *left; /* what is left out */
	size_t n_left, n_lost;
};

/* -errno: of the top, which is the only thing that has to be read; -ENOTDIR; -E2BIG: there are over TREE_MAX. */
int tree_read(const char *dir, struct tree **ret);
void tree_free(struct tree *t);

/* What is called so, as to has it, in a directory of the tree; NULL: nothing. */
const struct tree_entry *tree_get(const struct tree *t, const struct tree_entry *dir, const char *name);

/* Notes that a path is left out; the texts are copied. 0 or -ENOMEM. */
int tree_leave(struct tree *t, const char *path, const char *why, bool lost);

/* Opens a file or directory to read. -ESTALE: there is another by now, or none. */
int tree_open(const struct tree *t, const struct tree_entry *e);

static inline void tree_freep(struct tree **t)
{
	if (*t)
		tree_free(*t);
}
#define _cleanup_tree_ _cleanup_(tree_freep)

#endif
