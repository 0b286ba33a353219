#include "meta/content.h"

#include <string.h>

#include "meta/db.h"

int content_insert_live(struct db *db, uint64_t id)
{
	return db_run(db, "INSERT INTO object(id, state, size, seal, synced) VALUES(?1, 0, 0, 0, 0)", "i", (int64_t)id);
}

static enum content_synced read_synced(int64_t n)
{
	return n < CONTENT_UNSYNCED || n > CONTENT_HELD ? CONTENT_CHANGED : (enum content_synced)n;
}

static void read_row(sqlite3_stmt *st, struct content_row *ret)
{
	const void *digest = sqlite3_column_blob(st, 3);

	*ret = (struct content_row){
		.id = (uint64_t)sqlite3_column_int64(st, 0),
		.state = sqlite3_column_int64(st, 1) ? CONTENT_SEALED : CONTENT_LIVE,
		.size = (uint64_t)sqlite3_column_int64(st, 2),
		.synced = read_synced(sqlite3_column_int64(st, 4)),
		.verdict = CONTENT_NO_VERDICT,
		.seal = (uint64_t)sqlite3_column_int64(st, 6),
	};
	if (digest && sqlite3_column_bytes(st, 3) == CONTENT_DIGEST)
		memcpy(ret->digest, digest, CONTENT_DIGEST);
	if (sqlite3_column_type(st, 5) != SQLITE_NULL)
		ret->verdict = (int)sqlite3_column_int64(st, 5);
}

int content_get(struct db *db, uint64_t id, struct content_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT id, state, size, digest, synced, verdict, seal FROM object WHERE id=?1", "i",
		       (int64_t)id);

	if (r == 1)
		read_row(st, ret);
	return r == 1 ? 0 : r == 0 ? -ESTALE : r;
}

/* What was found out about it. */
static int forget_facts(struct db *db, uint64_t id)
{
	int r = db_run(db, "DELETE FROM fact WHERE object=?1", "i", (int64_t)id);

	return r < 0 ? r : db_run(db, "DELETE FROM weights WHERE object=?1", "i", (int64_t)id);
}

int content_delete(struct db *db, uint64_t id)
{
	int r = forget_facts(db, id);

	return r < 0 ? r : db_run(db, "DELETE FROM object WHERE id=?1", "i", (int64_t)id);
}

int content_set_live(struct db *db, uint64_t id)
{
	int r = forget_facts(db, id);

	return r < 0 ? r : db_run(db,
		      "UPDATE object SET state=0, digest=NULL, verdict=NULL, seal=0,"
		      " synced=CASE synced WHEN 1 THEN 2 WHEN 4 THEN 0 ELSE synced END WHERE id=?1",
		      "i", (int64_t)id);
}

int content_set_sealed(struct db *db, uint64_t id, uint64_t seal, uint64_t size,
		       const uint8_t digest[CONTENT_DIGEST])
{
	return db_run(db, "UPDATE object SET state=1, seal=?2, size=?3, digest=?4, verdict=NULL WHERE id=?1",
		      "iiib", (int64_t)id, (int64_t)seal, (int64_t)size, (const void *)digest,
		      (size_t)CONTENT_DIGEST);
}

int content_set_synced(struct db *db, uint64_t id, uint64_t seal, enum content_synced live)
{
	return db_run(db,
		      "UPDATE object SET synced=CASE WHEN state=1 THEN 1 WHEN synced=2 THEN 2 ELSE ?3 END"
		      " WHERE id=?1 AND seal=?2",
		      "iii", (int64_t)id, (int64_t)seal, (int64_t)live);
}

int content_set_held(struct db *db, uint64_t id, uint64_t seal)
{
	return db_run(db, "UPDATE object SET synced=4 WHERE id=?1 AND seal=?2 AND state=1 AND synced=0", "ii", (int64_t)id,
		      (int64_t)seal);
}

int content_set_begun(struct db *db, uint64_t id)
{
	return db_run(db,
		      "UPDATE object SET synced=3 WHERE id=?1 AND state=0 AND synced=0 AND NOT EXISTS"
		      " (SELECT 1 FROM inode i JOIN undo u ON u.inode=i.ino WHERE i.object=?1)",
		      "i", (int64_t)id);
}

int content_unset_begun(struct db *db, uint64_t id)
{
	return db_run(db, "UPDATE object SET synced=0 WHERE id=?1 AND synced=3", "i", (int64_t)id);
}

int content_set_verdict(struct db *db, uint64_t id, uint64_t seal, int verdict)
{
	return db_run(db, "UPDATE object SET verdict=?3 WHERE id=?1 AND seal=?2 AND state=1", "iii", (int64_t)id,
		      (int64_t)seal, (int64_t)verdict);
}

/* Reads the first column of up to max rows. */
static int read_ids(struct db *db, sqlite3_stmt *st, int r, uint64_t *ret, int max)
{
	int n = 0;

	while (r == 1 && n < max) {
		ret[n++] = (uint64_t)sqlite3_column_int64(st, 0);
		r = db_next(db, st);
	}
	return r < 0 ? r : n;
}

int content_equal(struct db *db, uint64_t size, const uint8_t digest[CONTENT_DIGEST], uint64_t not_this,
		  uint64_t *ret, int max)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT id FROM object WHERE size=?1 AND digest=?2 AND state=1 AND id<>?3", "ibi",
		       (int64_t)size, (const void *)digest, (size_t)CONTENT_DIGEST, (int64_t)not_this);

	return read_ids(db, st, r, ret, max);
}

int content_refs(struct db *db, uint64_t id)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	uint64_t ids[2];
	int r = db_row(db, &st,
		       "SELECT ino FROM inode WHERE object=?1 UNION ALL SELECT inode FROM undo WHERE old=?1"
		       " UNION ALL SELECT id FROM version WHERE object=?1"
		       " UNION ALL SELECT version FROM member WHERE object=?1 LIMIT 2",
		       "i", (int64_t)id);

	return read_ids(db, st, r, ids, 2);
}

int content_is_shared(struct db *db, uint64_t id)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	uint64_t ids[2];
	int r = db_row(db, &st,
		       "SELECT ino FROM inode WHERE object=?1 UNION ALL SELECT inode FROM undo WHERE old=?1 LIMIT 2",
		       "i", (int64_t)id);

	r = read_ids(db, st, r, ids, 2);
	return r < 0 ? r : r > 1;
}

int content_list_live(struct db *db, uint64_t after, uint64_t *ret, int max)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT id FROM object WHERE synced<>1 AND state=0 AND id>?1 ORDER BY id", "i", (int64_t)after);

	return read_ids(db, st, r, ret, max);
}

static int read_rows(struct db *db, sqlite3_stmt *st, int r, struct content_row *ret, int max)
{
	int n = 0;

	while (r == 1 && n < max) {
		read_row(st, &ret[n++]);
		r = db_next(db, st);
	}
	return r < 0 ? r : n;
}

int content_list(struct db *db, uint64_t after, struct content_row *ret, int max)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT id, state, size, digest, synced, verdict, seal FROM object WHERE id>?1 ORDER BY id", "i",
		       (int64_t)after);

	return read_rows(db, st, r, ret, max);
}

int content_list_unsynced(struct db *db, enum content_state state, uint64_t after, struct content_row *ret, int max)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT id, state, size, digest, synced, verdict, seal FROM object"
		       " WHERE synced<>1 AND state=?2 AND id>?1 AND (state=1 OR synced=0) ORDER BY id",
		       "ii", (int64_t)after, (int64_t)state);

	return read_rows(db, st, r, ret, max);
}

int content_list_unsynced_in(struct db *db, uint64_t dir, uint64_t after, struct content_row *ret, int max)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT id, state, o.size, digest, synced, verdict, seal FROM object o"
		       " WHERE synced<>1 AND state IN (0, 1) AND id>?1 AND (state=1 OR synced=0)"
		       " AND EXISTS (SELECT 1 FROM inode i JOIN dirent d ON"
		       " d.ino=i.ino WHERE i.object=o.id AND d.parent=?2) ORDER BY id",
		       "ii", (int64_t)after, (int64_t)dir);

	return read_rows(db, st, r, ret, max);
}

int content_owner(struct db *db, uint64_t id, uint64_t *ret_ino)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT ino FROM inode WHERE object=?1 LIMIT 1", "i", (int64_t)id);

	if (r == 1)
		*ret_ino = (uint64_t)sqlite3_column_int64(st, 0);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

/* total(), for sum() fails where damaged rows make it too large. */
int content_sums(struct db *db, struct content_sums *ret)
{
	_cleanup_stmt_ sqlite3_stmt *files = NULL, *unique = NULL, *stored = NULL;
	int r = db_row(db, &files,
		       "SELECT count(*), CAST(total(size) FILTER (WHERE flags & 4 = 0) AS INTEGER) FROM inode"
		       " WHERE mode & 61440 = 32768 AND nlink>0",
		       "");

	if (r >= 0)
		r = db_row(db, &unique, "SELECT count(*), CAST(total(size) AS INTEGER) FROM object WHERE state=1", "");
	if (r >= 0)
		r = db_row(db, &stored,
			   "SELECT CAST(total(b) AS INTEGER) FROM (SELECT max(blocks) AS b FROM inode"
			   " WHERE object IS NOT NULL AND flags & 4 = 0 GROUP BY object UNION ALL"
			   " SELECT (size+4095)/4096*8 FROM object WHERE state=1 AND NOT EXISTS"
			   " (SELECT 1 FROM inode WHERE object=object.id))",
			   "");
	if (r < 0)
		return r;
	*ret = (struct content_sums){
		.files = (uint64_t)sqlite3_column_int64(files, 0),
		.raw = (uint64_t)sqlite3_column_int64(files, 1),
		.objects = (uint64_t)sqlite3_column_int64(unique, 0),
		.unique = (uint64_t)sqlite3_column_int64(unique, 1),
		.stored = (uint64_t)sqlite3_column_int64(stored, 0) * 512,
	};
	return 0;
}
