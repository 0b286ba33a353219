/* Views: the read-only directories, links and files that expfs makes up (spec section
 * 2): branches/<name>/, experiments/<hash>/ and its like, and .expfs/ of any directory.
 *
 * A view has a node id with VIEW_BIT, made from what it shows (its key), so that it is
 * the same at every look-up. What it shows is computed at
 * each call and never cached, here (but for view_kept.h) or in the kernel. It is made for the process
 * that asks, and names only what that could find itself (exp/cred.h). Functions
 * return 0 or -errno; -ENOENT where there is nothing to show at this moment, GATE_LATER (gate.h) where
 * another request is just making the text. */
#ifndef EXPFS_VIEW_H
#define EXPFS_VIEW_H

#include "fs.h"

#define VIEW_BIT (1ull << 62)
#define VIEW_COOKIE ((off_t)1 << 62) /* readdir cookies of views begin here */

static inline bool view_is(uint64_t ino)
{
	return ino & VIEW_BIT;
}

int view_table_new(struct view_table **ret);
void view_table_free(struct view_table *t);

/* Replies to a look-up where it returns 0: in a view, of ".expfs" in a directory, which waits for nothing, or in the directory of a
 * family of a name that has no entry and can be a view's. */
int view_lookup(fuse_req_t req, uint64_t parent, enum fs_family family, const char *name);
void view_forget(struct fs *fs, uint64_t ino, uint64_t n);

int view_stat(fuse_req_t req, uint64_t ino, struct stat *ret);
int view_target(fuse_req_t req, uint64_t ino, char **ret); /* of a link; to be freed */

/* The content of a file: an object, or NULL where it is empty; or text. */
struct view_content {
	struct object *obj;
	char *text; /* to be freed; NULL: it is the object */
	size_t len;
};
int view_open(fuse_req_t req, uint64_t ino, struct view_content *ret);

/* Does the file take lines? 0, or -EROFS. Gives it one. */
int view_takes_lines(fuse_req_t req, uint64_t ino);
int view_write_line(fuse_req_t req, uint64_t ino, const char *line);

/* Can there be a view of that name in the directory of the family? Is told without waiting for anything. */
bool view_may_exist(enum fs_family family, const char *name);

/* Is there one, if it can be? 1, 0 or -errno. */
int view_exists(fuse_req_t req, enum fs_family family, const char *name);

struct view_entry {
	char *name;
	uint64_t ino;
	mode_t mode;
};

struct view_list {
	struct view_entry *v;
	size_t n;
};

/* What is in a view; of the directory of a family, the views in it that no real
 * entry stands in front of. */
int view_list(fuse_req_t req, uint64_t ino, enum fs_family family, struct view_list *ret);
void view_list_free(struct view_list *l);

#endif
