/* Where the bytes that go out come from: a mount, where a version is read in .expfs/history/, so that a save that goes on cannot tear
 * it, or a store that nobody has mounted and this process has open. Functions return 0 or -errno. */
#ifndef EXPFS_SYNC_SUPPLY_H
#define EXPFS_SYNC_SUPPLY_H

#include "exp/expfs.h"

struct supply {
	const char *point; /* of the mount, or NULL: the store is open here */
	const char *root;  /* path in the store of what is mounted there, "" for the whole; without a slash at its ends */
	struct expfs *ex;
};

/* A content: of version n of a path, or (n 0) of what stands there; name: of a file in a directory checkpoint, else "". */
struct supply_ref {
	char *path;
	char *name;
	uint64_t n;
	bool is_dir;
	bool follow;     /* of a mount, what the link at the path leads to */
	char *text;      /* not NULL: this, and nothing of the store */
	uint64_t object; /* 0: empty */
};
void supply_ref_free(struct supply_ref *r);

/* A descriptor to read it. -EXDEV: it does not lie below what is mounted there, or is a link that leads out of the mount. */
int supply_open(const struct supply *s, const struct supply_ref *r, int *ret_fd);

#endif
