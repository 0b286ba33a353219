#include "meta/lost_found.h"

#include <inttypes.h>
#include <stdio.h>

#include "meta/db.h"
#include "meta/dirent.h"

#define LOST_FOUND "lost+found"

static int make(struct db *db, uint64_t *ret_ino)
{
	struct dirent_row d = { .parent = META_ROOT, .id = meta_id(db->meta), .ino = meta_id(db->meta), .type = 4 };
	struct inode_row dir;
	char name[64] = LOST_FOUND;
	int64_t now = now_ns();
	int r = inode_get(db, META_ROOT, &dir);

	if (r < 0)
		return r;
	dir.ino = d.ino;
	dir.mode = S_IFDIR | 0700;
	dir.nlink = 2;
	dir.atime = dir.mtime = dir.ctime = dir.btime = now;
	r = inode_insert(db, &dir, NULL);
	if (r < 0)
		return r;
	r = dirent_insert(db, &d, name);
	if (r == -EEXIST) { /* something else has the name */
		snprintf(name, sizeof(name), LOST_FOUND ".%" PRIu64, d.ino);
		r = dirent_insert(db, &d, name);
	}
	if (r < 0)
		return r;
	*ret_ino = d.ino;
	return inode_touch_dir(db, META_ROOT, now, 1);
}

static int find(struct db *db, uint64_t *ret_ino)
{
	struct dirent_row d;
	int r = dirent_get(db, META_ROOT, LOST_FOUND, &d);

	if (r == 0 && d.type == 4) {
		*ret_ino = d.ino;
		return 0;
	}
	return r < 0 && r != -ENOENT ? r : make(db, ret_ino);
}

int lost_found_add(struct db *db, struct lost_found *l, uint64_t ino, uint8_t type)
{
	struct dirent_row d = { .id = meta_id(db->meta), .ino = ino, .type = type };
	char name[64];
	int r = l->ino ? 0 : find(db, &l->ino);

	if (r < 0)
		return r;
	d.parent = l->ino;
	snprintf(name, sizeof(name), "#%" PRIu64, ino);
	r = dirent_insert(db, &d, name);
	if (r != -EEXIST)
		return r;
	snprintf(name, sizeof(name), "#%" PRIu64 ".%" PRIu64, ino, d.id);
	return dirent_insert(db, &d, name);
}

int lost_found_done(struct db *db, const struct lost_found *l)
{
	return l->ino ? inode_touch_dir(db, l->ino, now_ns(), 0) : 0;
}
