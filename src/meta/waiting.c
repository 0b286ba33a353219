#include "meta/waiting.h"

#include "meta/db.h"

int waiting_count(struct db *db, struct waiting *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT (SELECT count(*) FROM tracked INDEXED BY tracked_changed WHERE changed IS NOT NULL),"
		       " (SELECT count(*) FROM due), (SELECT count(*) FROM moved), (SELECT count(*) FROM event), (SELECT count(*) FROM unread),"
		       " (SELECT count(*) FROM object INDEXED BY object_unsynced WHERE synced<>1 AND (state=1 OR synced=0))",
		       "");

	if (r < 0)
		return r;
	*ret = (struct waiting){
		.unjudged = (uint64_t)sqlite3_column_int64(st, 0),
		.due = (uint64_t)sqlite3_column_int64(st, 1),
		.moved = (uint64_t)sqlite3_column_int64(st, 2),
		.events = (uint64_t)sqlite3_column_int64(st, 3),
		.unread = (uint64_t)sqlite3_column_int64(st, 4),
		.unsynced = (uint64_t)sqlite3_column_int64(st, 5),
	};
	return 0;
}
