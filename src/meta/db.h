/* A connection and its prepared statements, for the files of this room.
 *
 * db_run() and db_row() take the SQL as a string literal, whose address is the
 * key of the prepared statement, and the parameters by a format of letters:
 *   i  int64_t         b  const void *, size_t (a blob)      d  double (NaN: NULL)
 * Integers are to be cast: they travel through a variable argument list. */
#ifndef EXPFS_DB_H
#define EXPFS_DB_H

#include <sqlite3.h>

#include "meta/meta.h"

#define DB_STATEMENTS 512

struct db {
	struct meta *meta;
	sqlite3 *sql;
	bool in_transaction;
	uint64_t rollbacks;
	bool checkpoints; /* this transaction is of those that meta_checkpoints() counts */
	bool unread;      /* and of those that meta_take_unread() tells of */
	int error; /* that ended the transaction before its end, or 0 */
	struct {
		const char *text;
		sqlite3_stmt *stmt;
	} cache[DB_STATEMENTS];
};

/* SQLite rolls a transaction back by itself when the disk fails, in a query too. Until
 * db_end() all that follows then fails likewise, instead of being done by itself. */
int db_begin(struct db *db);
int db_commit(struct db *db);

/* Bytes that the database has with what the transaction did; makes its file as large. */
int db_size(struct db *db, int64_t *ret);
int db_extend(struct db *db, int64_t size);
void db_end(struct db *db); /* rolls back what was not committed */

int db_open(struct meta *m, const char *path, bool create, bool writes, struct db *ret);
int db_close(struct db *db);

/* Runs a statement that gives no rows. */
int db_run(struct db *db, const char *sql, const char *fmt, ...);

/* Starts a query: 1 with *ret at its first row, 0 without one, -errno. The
 * statement is the cache's; db_next() goes on, db_done() ends it. */
int db_row(struct db *db, sqlite3_stmt **ret, const char *sql, const char *fmt, ...);
int db_next(struct db *db, sqlite3_stmt *stmt);
void db_done(sqlite3_stmt **stmt);
#define _cleanup_stmt_ _cleanup_(db_done)

/* Calls f for the numbers in the first column of a query of which db_row() gave r; ends early with what f returns
 * other than 0. */
int db_each_id(struct db *db, sqlite3_stmt *st, int r, int (*f)(void *arg, uint64_t id), void *arg);

/* Runs SQL that is not worth keeping. */
int db_exec(struct db *db, const char *sql);

/* The errno that stands for the result rc of a call of SQLite, before which errno was
 * set to 0. It is of a sync that failed: so are all later ones. */
int db_error(struct db *db, int rc);

/* meta.c: SQLite says that a sync failed. */
void meta_note_sync_failed(struct meta *m);

#endif
