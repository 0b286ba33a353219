/* Connections: settings, prepared statements, errors as errno.
 *
 * The connections of a process share the log's index in its memory and lock it
 * without system calls ("unix-excl"); another process cannot open the database
 * meanwhile, which the store's lock forbids anyway. */
#include "meta/db.h"

#include <stdarg.h>
#include <string.h>

#include "meta/fault_vfs.h"
#include "util/log.h"

/* A change of a few rows writes each page that it touches to the log: half of
 * SQLite's usual size makes creating a file a quarter cheaper. */
#define PAGE 2048
#define PAGE_SIZE "PRAGMA page_size=2048"

#define DB_CHUNK (1 << 20)

/* KiB of page cache: the writer's stays warm, a reader's is dropped with each
 * commit of the writer and serves one query only. */
#define WRITER_CACHE "PRAGMA cache_size=-16384"
#define READER_CACHE "PRAGMA cache_size=-2048"

int db_error(struct db *db, int rc)
{
	if ((rc == SQLITE_IOERR_FSYNC || rc == SQLITE_IOERR_DIR_FSYNC) && db->meta)
		meta_note_sync_failed(db->meta);
	switch (rc & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_CONSTRAINT:
		return -EEXIST;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_TOOBIG:
		return -EFBIG;
	}
	/* sqlite3_system_errno() does not know why a COMMIT failed. */
	return errno == ENOSPC || errno == EDQUOT || errno == EROFS ? -errno : -EIO;
}

static bool has_lost_transaction(const struct db *db)
{
	return db->in_transaction && sqlite3_get_autocommit(db->sql);
}

static int fail(struct db *db, int rc, const char *what)
{
	int r = db_error(db, rc);

	if (r < 0 && has_lost_transaction(db) && db->error == 0)
		db->error = r;
	if (r < 0 && r != -EEXIST && r != -ENOSPC)
		log_msg("database: %s (%d) in: %.60s", sqlite3_errmsg(db->sql), sqlite3_extended_errcode(db->sql), what);
	return r;
}

int db_exec(struct db *db, const char *sql)
{
	errno = 0;
	return fail(db, sqlite3_exec(db->sql, sql, NULL, NULL, NULL), sql);
}

static int setup(struct db *db, bool writes)
{
	int r;

	sqlite3_extended_result_codes(db->sql, 1);
	sqlite3_busy_timeout(db->sql, 10000);
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	/* Else a statement that could use a partial index is compiled anew for each value. */
	sqlite3_db_config(db->sql, SQLITE_DBCONFIG_ENABLE_QPSG, 1, NULL);
	r = db_exec(db, "PRAGMA trusted_schema=0; PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=0");
	if (r < 0 || !writes)
		return r < 0 ? r : db_exec(db, READER_CACHE "; PRAGMA query_only=1");
	/* The file grows ahead of its use: on a full disk the log can be moved into it. */
	sqlite3_file_control(db->sql, "main", SQLITE_FCNTL_CHUNK_SIZE, &(int){ DB_CHUNK });
	return db_exec(db, PAGE_SIZE "; " WRITER_CACHE "; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
}

int db_open(struct meta *m, const char *path, bool create, bool writes, struct db *ret)
{
	struct db db = { .meta = m };
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
	int rc, r;

	errno = 0;
	rc = sqlite3_open_v2(path, &db.sql, flags, fault_vfs());
	if (!db.sql)
		return -ENOMEM;
	if (rc == SQLITE_CANTOPEN)
		r = sqlite3_system_errno(db.sql) ? -sqlite3_system_errno(db.sql) : -ENOENT;
	else
		r = rc == SQLITE_OK ? setup(&db, writes) : fail(&db, rc, "open");
	if (r < 0) {
		sqlite3_close(db.sql);
		return r;
	}
	*ret = db;
	return 0;
}

int db_close(struct db *db)
{
	int rc;

	for (size_t i = 0; i < DB_STATEMENTS; i++)
		sqlite3_finalize(db->cache[i].stmt);
	rc = sqlite3_close(db->sql);
	return rc == SQLITE_OK ? 0 : -EIO;
}

static int prepare(struct db *db, const char *sql, sqlite3_stmt **ret)
{
	size_t i = ((uintptr_t)sql >> 3) % DB_STATEMENTS;
	int rc;

	while (db->cache[i].text && db->cache[i].text != sql)
		i = (i + 1) % DB_STATEMENTS; /* far fewer statements than places */
	if (!db->cache[i].text) {
		errno = 0;
		rc = sqlite3_prepare_v3(db->sql, sql, -1, SQLITE_PREPARE_PERSISTENT, &db->cache[i].stmt, NULL);
		if (rc != SQLITE_OK) {
			int r = fail(db, rc, sql);

			return (rc & 0xff) == SQLITE_ERROR ? -EUCLEAN : r; /* it is right, so a table is not */
		}
		db->cache[i].text = sql;
	}
	*ret = db->cache[i].stmt;
	return 0;
}

static int bind(sqlite3_stmt *stmt, const char *fmt, va_list ap)
{
	int rc = SQLITE_OK;

	for (int i = 1; *fmt && rc == SQLITE_OK; i++, fmt++) {
		if (*fmt == 'i') {
			rc = sqlite3_bind_int64(stmt, i, va_arg(ap, int64_t));
		} else if (*fmt == 'd') {
			rc = sqlite3_bind_double(stmt, i, va_arg(ap, double));
		} else {
			const void *p = va_arg(ap, const void *);
			size_t n = va_arg(ap, size_t);

			rc = p ? sqlite3_bind_blob64(stmt, i, p, n, SQLITE_STATIC) : sqlite3_bind_null(stmt, i);
		}
	}
	return rc;
}

static int start(struct db *db, sqlite3_stmt **ret, const char *sql, const char *fmt, va_list ap)
{
	sqlite3_stmt *stmt = NULL;
	int rc, r;

	if (has_lost_transaction(db))
		return db->error < 0 ? db->error : -EIO;
	r = prepare(db, sql, &stmt);
	if (r < 0)
		return r;
	rc = bind(stmt, fmt, ap);
	errno = 0;
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		*ret = stmt;
		return 1;
	}
	r = fail(db, rc, sql);
	sqlite3_reset(stmt);
	return r;
}

int db_run(struct db *db, const char *sql, const char *fmt, ...)
{
	sqlite3_stmt *stmt = NULL;
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = start(db, &stmt, sql, fmt, ap);
	va_end(ap);
	if (r > 0)
		sqlite3_reset(stmt);
	return MIN(r, 0);
}

int db_row(struct db *db, sqlite3_stmt **ret, const char *sql, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = start(db, ret, sql, fmt, ap);
	va_end(ap);
	return r;
}

int db_begin(struct db *db)
{
	int r = db_run(db, "BEGIN IMMEDIATE", "");

	db->in_transaction = r == 0;
	db->error = 0;
	return r;
}

int db_size(struct db *db, int64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "PRAGMA page_count", "");

	if (r == 1)
		*ret = sqlite3_column_int64(st, 0) * PAGE;
	return r == 1 ? 0 : r < 0 ? r : -EIO;
}

int db_extend(struct db *db, int64_t size)
{
	sqlite3_int64 hint = size;

	errno = 0;
	return fail(db, sqlite3_file_control(db->sql, "main", SQLITE_FCNTL_SIZE_HINT, &hint), "extend");
}

int db_commit(struct db *db)
{
	int r = db_run(db, "COMMIT", "");

	if (r == 0)
		db->in_transaction = false;
	return r;
}

void db_end(struct db *db)
{
	db->in_transaction = false;
	if (!sqlite3_get_autocommit(db->sql))
		db_run(db, "ROLLBACK", "");
}

int db_next(struct db *db, sqlite3_stmt *stmt)
{
	int rc;

	errno = 0;
	rc = sqlite3_step(stmt);
	return rc == SQLITE_ROW ? 1 : fail(db, rc, sqlite3_sql(stmt));
}

int db_each_id(struct db *db, sqlite3_stmt *st, int r, int (*f)(void *arg, uint64_t id), void *arg)
{
	for (; r == 1; r = db_next(db, st)) {
		r = f(arg, (uint64_t)sqlite3_column_int64(st, 0));
		if (r != 0)
			return r;
	}
	return r;
}

void db_done(sqlite3_stmt **stmt)
{
	if (*stmt)
		sqlite3_reset(*stmt);
}
