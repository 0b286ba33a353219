#include "meta/holders.h"

#include "meta/db.h"
#include "util/list.h"

static int each(struct db *db, sqlite3_stmt *st, int r, held_fn f, void *arg)
{
	for (; r == 1; r = db_next(db, st)) {
		int e = f(arg, (uint64_t)sqlite3_column_int64(st, 0), (uint64_t)sqlite3_column_int64(st, 1),
			  (uint64_t)sqlite3_column_int64(st, 2));

		if (e != 0)
			return e;
	}
	return r;
}

int held_by_path(struct db *db, uint64_t tracked, held_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT tracked, object, size FROM version WHERE tracked=?1 AND object IS NOT NULL UNION ALL"
		       " SELECT v.tracked, m.object, m.size FROM version v JOIN member m ON m.version=v.id"
		       " WHERE v.tracked=?1 AND v.is_dir AND m.object IS NOT NULL",
		       "i", (int64_t)tracked);

	return each(db, st, r, f, arg);
}

int held_by_files_in(struct db *db, uint64_t tracked, held_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT t.id, v.object, v.size FROM tracked t JOIN version v ON v.tracked=t.id"
		       " WHERE t.parent=?1 AND NOT t.is_dir AND v.object IS NOT NULL",
		       "i", (int64_t)tracked);

	return each(db, st, r, f, arg);
}

int held_dirs_in(struct db *db, uint64_t tracked, void *id_list)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT id FROM tracked WHERE parent=?1 AND is_dir", "i", (int64_t)tracked);

	return db_each_id(db, st, r, id_list_add, id_list);
}

int holders_of(struct db *db, uint64_t object, struct holders *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT count(*), max(blocks), (SELECT count(*) FROM version WHERE object=?1),"
		       " (SELECT count(*) FROM member WHERE object=?1) FROM inode WHERE object=?1",
		       "i", (int64_t)object);

	if (r < 0)
		return r;
	*ret = (struct holders){
		.inodes = (uint64_t)sqlite3_column_int64(st, 0),
		.blocks = (uint64_t)sqlite3_column_int64(st, 1),
		.all = (uint64_t)(sqlite3_column_int64(st, 0) + sqlite3_column_int64(st, 2) + sqlite3_column_int64(st, 3)),
	};
	return 0;
}
