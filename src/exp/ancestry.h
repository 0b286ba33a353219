/* The directories from the top to one: what they say of names in the last of them.
 *
 * Each change of a name or a content asks, so the answers are kept, in the memory of the
 * writer: ancestry_get() is for write transactions only, of which there is one at a time. They
 * are good until a directory is renamed, removed or tracked, or a marker comes or goes, of which
 * ancestry_forget() is told in the transaction that does it; or until a transaction is rolled back. */
#ifndef EXPFS_ANCESTRY_H
#define EXPFS_ANCESTRY_H

#include "exp/expfs.h"

struct ancestry {
	char *path;
	size_t n; /* directories, the top and the last one included */
	struct {
		uint64_t ino;
		size_t end; /* of its path */
	} *dir;
	size_t base;       /* where in paths below it begins what is relative to their run */
	size_t checkpoint; /* the first of them that is a checkpoint, 0: none */
	bool gives_role;   /* names there have a role whatever they are */
	uint64_t tracked;  /* id of the tracked path of the last directory, 0: it has none */
};

/* -ENOENT: it has no name; -ENAMETOOLONG: deeper than paths go. */
int ancestry_load(struct expfs *ex, struct db *db, uint64_t dir, struct ancestry *ret);
void ancestry_free(struct ancestry *a);
#define _cleanup_ancestry_ _cleanup_(ancestry_free)

/* *ret is good until the next call. */
int ancestry_get(struct expfs *ex, struct db *db, uint64_t dir, const struct ancestry **ret);
void ancestry_forget(struct expfs *ex);

/* The path of the i-th; to be freed. */
char *ancestry_path(const struct ancestry *a, size_t i);

/* The role of a file of that name, and that dirent.class, in the last directory. */
enum role ancestry_role(struct expfs *ex, const struct ancestry *a, const char *name, uint32_t class);

struct ancestries;
int ancestries_new(struct ancestries **ret);
void ancestries_free(struct ancestries *c);

#endif
