#include "meta/counts.h"

#include "meta/db.h"

int count_checkpoints(struct db *db, uint64_t run, bool complete, checkpoints_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r;

	if (complete)
		r = db_row(db, &st,
			   "SELECT min(id), count(*) FROM tracked WHERE run=?1 AND good IS NOT NULL AND off IS NULL GROUP BY parent",
			   "i", (int64_t)run);
	else
		r = db_row(db, &st,
			   "SELECT min(id), count(*) FROM tracked WHERE run=?1 AND role=4 AND ino IS NOT NULL"
			   " AND (good IS NULL OR head IS NULL OR good<>head) GROUP BY parent",
			   "i", (int64_t)run);
	for (; r == 1; r = db_next(db, st)) {
		int e = f(arg, (uint64_t)sqlite3_column_int64(st, 0), (uint64_t)sqlite3_column_int64(st, 1));

		if (e != 0)
			return e;
	}
	return r;
}

int count_experiments(struct db *db, uint64_t run, uint64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT count(DISTINCT experiment) FROM line WHERE run=?1", "i", (int64_t)run);

	if (r < 0)
		return r;
	*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return 0;
}
