#include "exp/tracked_dir.h"

#include "exp/path.h"

int tracked_dir_row(struct db *db, const struct tracked_row *t, struct inode_row *ret)
{
	*ret = (struct inode_row){ .mode = t->mode & 07777, .uid = t->uid, .gid = t->gid };
	return t->ino ? inode_get(db, t->ino, ret) : 0;
}

int tracked_dirs_permit(struct db *db, struct cred *cred, const struct tracked_row *t, uint64_t top, unsigned want)
{
	struct tracked_row up = *t;

	for (unsigned depth = 0; cred && up.id != top && up.id != TRACKED_TOP; depth++) {
		struct inode_row dir;
		int r = depth < PATH_BOUND ? tracked_get(db, up.parent, &up) : -EUCLEAN;

		if (r == 0)
			r = tracked_dir_row(db, &up, &dir);
		if (r < 0)
			return r;
		if (!cred_permits(cred, &dir, want))
			return 0;
	}
	return 1;
}
