/* The tables, format 2 (PRAGMA user_version; application_id "expf").
 *
 * All ids come from one sequence, whose upper bound is store.next_id: no id
 * that was ever committed is given twice. Times are ns since 1970. Names and
 * values are blobs: bytes in any encoding.
 *
 *   store    next_id; clean: 1 while no process has the store open for writing;
 *            session: the boot and mount of the disk in which it was last in order
 *            (store_session()); rules: which rules dirent.class was made by
 *   inode    one row a file, directory, link, device. object: id of the
 *            content, NULL for an empty file. target: of a symbolic link.
 *            size, blocks (of 512 bytes), mtime: of a live object (below) the
 *            backing file's own count. order: number of the commit in which the
 *            last writer closed it. flags: 1 closed (a directory: complete), 2 came with an old time,
 *            4 its object is live
 *   dirent   (parent, id) is the directory's order, id its readdir cookie.
 *            type: as d_type. class: which roles the name alone could have.
 *            order: number of the commit in which the name got that class
 *   xattr    user.*, trusted.*, security.*
 *   object   state 0 live: owned by one inode, changed in place; 1 sealed:
 *            immutable, may be shared, has a digest (XXH3-128). seal: number of
 *            the sealing, 0 while live. synced: 0 nothing of it is known to be on
 *            the disk; 1 content and directory entry, as of that sealing, are; 2 it
 *            was there once and was changed in place since. verdict: whether the
 *            format says it is whole, NULL until asked (format kind * 2, + 1 if it is)
 *   undo     old: what the content of an inode was before, while its object has
 *            synced 0 (NULL: empty). No row for such an inode: it is new
 *            (exp/undo.h)
 *
 * What refers to an object is asked of inode_object and undo_old, never
 * counted.
 *
 * Format 1 had undo rows that nobody wrote, and synced 0 for whatever was changed
 * in place. */
#include <stdio.h>

#include "meta/db.h"

#define APPLICATION_ID 0x65787066
#define USER_VERSION 2

#define SYNC_TABLES                                                                   \
	"CREATE INDEX object_unsynced ON object(state, id, synced) WHERE synced<>1;" \
	"CREATE TABLE undo(inode INTEGER PRIMARY KEY, old INTEGER);"                 \
	"CREATE INDEX undo_old ON undo(old) WHERE old IS NOT NULL;"

/* What was not known to be synced may have been there for long: it is kept as it
 * is, whatever happens. */
static const char from_1_to_2[] =
	"BEGIN IMMEDIATE;"
	"DROP INDEX object_unsynced;"
	"DROP TABLE undo;" SYNC_TABLES
	"UPDATE object SET synced=CASE WHEN (SELECT count(*) FROM inode i WHERE i.object=object.id)>1 THEN 1 ELSE 2 END"
	" WHERE synced=0;"
	"PRAGMA user_version=2;"
	"COMMIT;";

static const char schema[] =
	"PRAGMA application_id=0x65787066;"
	"PRAGMA user_version=2;"
	"CREATE TABLE store(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE inode(ino INTEGER PRIMARY KEY, mode INTEGER NOT NULL, nlink INTEGER NOT NULL,"
	" uid INTEGER NOT NULL, gid INTEGER NOT NULL, rdev INTEGER NOT NULL, size INTEGER NOT NULL,"
	" blocks INTEGER NOT NULL, atime INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,"
	" btime INTEGER NOT NULL, object INTEGER, \"order\" INTEGER NOT NULL, flags INTEGER NOT NULL, target BLOB);"
	"CREATE INDEX inode_object ON inode(object) WHERE object IS NOT NULL;"
	"CREATE INDEX inode_unlinked ON inode(ino) WHERE nlink=0;"
	"CREATE TABLE dirent(parent INTEGER NOT NULL, id INTEGER NOT NULL, name BLOB NOT NULL, ino INTEGER NOT NULL,"
	" type INTEGER NOT NULL, class INTEGER NOT NULL, \"order\" INTEGER NOT NULL,"
	" PRIMARY KEY(parent, id)) WITHOUT ROWID;"
	"CREATE UNIQUE INDEX dirent_name ON dirent(parent, name);"
	"CREATE INDEX dirent_ino ON dirent(ino);"
	"CREATE INDEX dirent_role ON dirent(parent) WHERE class<>0 OR type=4;"
	"CREATE TABLE xattr(ino INTEGER NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL,"
	" PRIMARY KEY(ino, name)) WITHOUT ROWID;"
	"CREATE TABLE object(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, size INTEGER NOT NULL,"
	" digest BLOB, seal INTEGER NOT NULL, synced INTEGER NOT NULL, verdict INTEGER);"
	"CREATE INDEX object_digest ON object(size, digest) WHERE digest IS NOT NULL;"
	SYNC_TABLES
	"INSERT INTO store VALUES('next_id', 2), ('clean', 1);";

int schema_create(struct db *db, unsigned uid, unsigned gid)
{
	int r = db_exec(db, schema);
	int64_t now = now_ns();

	if (r < 0)
		return r;
	return db_run(db,
		      "INSERT INTO inode VALUES(1, 16877, 2, ?1, ?2, 0, 4096, 8, ?3, ?3, ?3, ?3, NULL, 0, 0, NULL)",
		      "iii", (int64_t)uid, (int64_t)gid, now);
}

static int migrate(struct db *db)
{
	int r = db_exec(db, from_1_to_2);

	if (r < 0 && !sqlite3_get_autocommit(db->sql))
		db_exec(db, "ROLLBACK");
	return r;
}

int schema_check(struct db *db)
{
	_cleanup_stmt_ sqlite3_stmt *app = NULL, *version = NULL, *foreign = NULL;
	int64_t n;
	int r;

	r = db_row(db, &app, "PRAGMA application_id", "");
	if (r < 0)
		return r;
	if (r == 0 || sqlite3_column_int64(app, 0) != APPLICATION_ID)
		return -EUCLEAN;
	db_done(&app);
	/* Code that is not ours would run with our statements. */
	r = db_row(db, &foreign, "SELECT 1 FROM sqlite_schema WHERE type IN ('trigger', 'view') LIMIT 1", "");
	if (r != 0)
		return r < 0 ? r : -EUCLEAN;
	r = db_row(db, &version, "PRAGMA user_version", "");
	if (r < 0)
		return r;
	n = r == 1 ? sqlite3_column_int64(version, 0) : 0;
	db_done(&version);
	return n == USER_VERSION ? 0 : n == 1 ? migrate(db) : -EPROTONOSUPPORT;
}
