#include "meta/inode.h"

#include <string.h>

#include "meta/db.h"
#include "meta/metric.h"

#define COLUMNS \
	"ino, mode, nlink, uid, gid, rdev, size, blocks, atime, mtime, ctime, btime, object, \"order\", flags, begin"

/* An integer column of which 0 stands for NULL. */
#define NULLABLE(v) "nullif(" v ", 0)"

int inode_insert(struct db *db, const struct inode_row *i, const char *target)
{
	return db_run(db,
		      "INSERT INTO inode(" COLUMNS ", target) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
		      NULLABLE("?13") ", ?14, ?15, ?16, ?17)",
		      "iiiiiiiiiiiiiiiib", (int64_t)i->ino, (int64_t)i->mode, (int64_t)i->nlink, (int64_t)i->uid,
		      (int64_t)i->gid, (int64_t)i->rdev, (int64_t)i->size, (int64_t)i->blocks, i->atime, i->mtime,
		      i->ctime, i->btime, (int64_t)i->object, (int64_t)i->order, (int64_t)i->flags, (int64_t)i->begin, target,
		      target ? strlen(target) : (size_t)0);
}

int inode_get(struct db *db, uint64_t ino, struct inode_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT " COLUMNS " FROM inode WHERE ino=?1", "i", (int64_t)ino);

	if (r <= 0)
		return r < 0 ? r : -ESTALE;
	*ret = (struct inode_row){
		.ino = ino,
		.mode = (uint32_t)sqlite3_column_int64(st, 1),
		.nlink = (uint32_t)sqlite3_column_int64(st, 2),
		.uid = (uint32_t)sqlite3_column_int64(st, 3),
		.gid = (uint32_t)sqlite3_column_int64(st, 4),
		.rdev = (uint64_t)sqlite3_column_int64(st, 5),
		.size = (uint64_t)sqlite3_column_int64(st, 6),
		.blocks = (uint64_t)sqlite3_column_int64(st, 7),
		.atime = sqlite3_column_int64(st, 8),
		.mtime = sqlite3_column_int64(st, 9),
		.ctime = sqlite3_column_int64(st, 10),
		.btime = sqlite3_column_int64(st, 11),
		.object = (uint64_t)sqlite3_column_int64(st, 12),
		.order = (uint64_t)sqlite3_column_int64(st, 13),
		.flags = (uint32_t)sqlite3_column_int64(st, 14),
		.begin = (uint64_t)sqlite3_column_int64(st, 15),
	};
	return 0;
}

int inode_update(struct db *db, const struct inode_row *i)
{
	return db_run(db,
		      "UPDATE inode SET mode=?2, nlink=?3, uid=?4, gid=?5, size=?6, blocks=?7, atime=?8, mtime=?9,"
		      " ctime=?10, \"order\"=?11, flags=?12 | (flags & 8), begin=?13 WHERE ino=?1",
		      "iiiiiiiiiiiii", (int64_t)i->ino, (int64_t)i->mode, (int64_t)i->nlink, (int64_t)i->uid,
		      (int64_t)i->gid, (int64_t)i->size, (int64_t)i->blocks, i->atime, i->mtime, i->ctime,
		      (int64_t)i->order, (int64_t)i->flags, (int64_t)i->begin);
}

/* For itself, since naming an indexed column rewrites its index. */
int inode_set_object(struct db *db, uint64_t ino, uint64_t object)
{
	return db_run(db, "UPDATE inode SET object=" NULLABLE("?2") " WHERE ino=?1", "ii", (int64_t)ino,
		      (int64_t)object);
}

int inode_set_manifest(struct db *db, uint64_t ino)
{
	return db_run(db, "UPDATE inode SET flags=flags | 8 WHERE ino=?1", "i", (int64_t)ino);
}

int inode_touch_dir(struct db *db, uint64_t ino, int64_t now, int nlink_delta)
{
	return db_run(db, "UPDATE inode SET mtime=?2, ctime=?2, nlink=nlink+?3, flags=flags&~1 WHERE ino=?1", "iii", (int64_t)ino,
		      now, (int64_t)nlink_delta);
}

int inode_target(struct db *db, uint64_t ino, char **ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT target FROM inode WHERE ino=?1", "i", (int64_t)ino);
	const char *p;
	char *s;

	if (r <= 0)
		return r < 0 ? r : -ESTALE;
	p = sqlite3_column_blob(st, 0);
	if (!p)
		return -EINVAL;
	s = strndup(p, (size_t)sqlite3_column_bytes(st, 0));
	if (!s)
		return -ENOMEM;
	*ret = s;
	return 0;
}

int inode_delete(struct db *db, uint64_t ino)
{
	int r = db_run(db, "DELETE FROM xattr WHERE ino=?1", "i", (int64_t)ino);

	if (r == 0)
		r = metric_clear(db, ino);
	return r < 0 ? r : db_run(db, "DELETE FROM inode WHERE ino=?1", "i", (int64_t)ino);
}

int inode_unlinked(struct db *db, uint64_t after, uint64_t *ret, int max)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int n = 0;
	int r = db_row(db, &st, "SELECT ino FROM inode WHERE nlink=0 AND ino>?1 ORDER BY ino", "i", (int64_t)after);

	while (r == 1 && n < max) {
		ret[n++] = (uint64_t)sqlite3_column_int64(st, 0);
		r = db_next(db, st);
	}
	return r < 0 ? r : n;
}

int inode_count(struct db *db, uint64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT count(*) FROM inode", "");

	if (r == 1)
		*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return MIN(r, 0);
}

void inode_stat(const struct inode_row *i, struct stat *ret)
{
	*ret = (struct stat){
		.st_ino = i->ino,
		.st_mode = i->mode,
		.st_nlink = i->nlink,
		.st_uid = i->uid,
		.st_gid = i->gid,
		.st_rdev = i->rdev,
		.st_size = (off_t)i->size,
		.st_blocks = (blkcnt_t)i->blocks,
		.st_blksize = 4096,
		.st_atim = ns_timespec(i->atime),
		.st_mtim = ns_timespec(i->mtime),
		.st_ctim = ns_timespec(i->ctime),
	};
}
