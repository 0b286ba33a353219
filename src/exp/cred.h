/* Credentials: who asks, and into which directories he may look. The kernel
 * decides that of the files themselves; views, which tell of files elsewhere,
 * decide it here by the same rules.
 *
 * NULL stands for the owner of the store, who sees everything. */
#ifndef EXPFS_CRED_H
#define EXPFS_CRED_H

#include <unistd.h>

#include "meta/inode.h"

struct cred {
	uint32_t uid, gid;
	/* Gives up to size of the supplementary groups, and how many there are or
	 * -errno. Called only where they decide, for it costs more than most answers. */
	int (*get_groups)(void *arg, int size, gid_t list[]);
	void *arg;

	gid_t *groups; /* those that were got */
	int n;
	bool asked;
};

/* want: R_OK to list the directory, X_OK to go through it, W_OK to change names in it; the same of a file. May read a file
 * of /proc: not to be called with a reader of the database in hand. */
bool cred_permits(struct cred *c, const struct inode_row *dir, unsigned want);

/* Gets his groups now, so that afterwards it may be called with a reader, or in a transaction. */
void cred_ask(struct cred *c);

void cred_done(struct cred *c);

#endif
