#include "meta/undo.h"

#include "meta/db.h"

static void read_row(sqlite3_stmt *st, struct undo_row *ret)
{
	*ret = (struct undo_row){
		.ino = (uint64_t)sqlite3_column_int64(st, 0),
		.old = (uint64_t)sqlite3_column_int64(st, 1),
	};
}

static int read_rows(struct db *db, sqlite3_stmt *st, int r, struct undo_row *ret, int max)
{
	int n = 0;

	while (r == 1 && n < max) {
		read_row(st, &ret[n++]);
		r = db_next(db, st);
	}
	return r < 0 ? r : n;
}

int undo_get(struct db *db, uint64_t ino, struct undo_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT inode, old FROM undo WHERE inode=?1", "i", (int64_t)ino);

	if (r == 1)
		read_row(st, ret);
	return r;
}

int undo_put(struct db *db, uint64_t ino, uint64_t old)
{
	return db_run(db, "INSERT OR REPLACE INTO undo VALUES(?1, nullif(?2, 0))", "ii", (int64_t)ino, (int64_t)old);
}

int undo_delete(struct db *db, uint64_t ino)
{
	return db_run(db, "DELETE FROM undo WHERE inode=?1", "i", (int64_t)ino);
}

int undo_list_settled(struct db *db, uint64_t dir, uint64_t after, struct undo_row *ret, int max)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT inode, old FROM undo WHERE inode>?1 AND NOT EXISTS (SELECT 1 FROM inode i JOIN object o"
		       " ON o.id=i.object WHERE i.ino=undo.inode AND o.synced IN (0, 4)) AND (?2=0 OR EXISTS"
		       " (SELECT 1 FROM dirent d WHERE d.ino=inode AND d.parent=?2)) ORDER BY inode",
		       "ii", (int64_t)after, (int64_t)dir);

	return read_rows(db, st, r, ret, max);
}
