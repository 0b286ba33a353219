#include "meta/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "meta/db.h"
#include "meta/tracked.h"
#include "meta/version.h"

/* Most files have no metrics, and their changes are no news. */
static int run_noting(struct db *db, int r)
{
	db->checkpoints = db->checkpoints || sqlite3_changes(db->sql) > 0;
	return r;
}

int metric_put(struct db *db, uint64_t of, const char *name, int64_t step, double value)
{
	return run_noting(db, db_run(db, "INSERT OR REPLACE INTO metric VALUES(?1, ?2, ?3, ?4)", "ibid", (int64_t)of, name,
				     strlen(name), step, value));
}

int metric_delete(struct db *db, uint64_t of, const char *name)
{
	return run_noting(db, db_run(db, "DELETE FROM metric WHERE of=?1 AND name=?2 AND step=-1", "ib", (int64_t)of, name,
				     strlen(name)));
}

int metric_clear(struct db *db, uint64_t of)
{
	return run_noting(db, db_run(db, "DELETE FROM metric WHERE of=?1", "i", (int64_t)of));
}

/* Mostly there is none, which is found out at a fraction of what writing none costs. */
static int has_any(struct db *db, uint64_t of)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;

	return db_row(db, &st, "SELECT 1 FROM metric WHERE of=?1 LIMIT 1", "i", (int64_t)of);
}

int metric_copy(struct db *db, uint64_t from, uint64_t to)
{
	int r = has_any(db, from);

	if (r <= 0)
		return r;
	return run_noting(db, db_run(db, "INSERT OR REPLACE INTO metric SELECT ?2, name, step, value FROM metric WHERE of=?1",
				     "ii", (int64_t)from, (int64_t)to));
}

static double read_value(sqlite3_stmt *st, int col)
{
	return sqlite3_column_type(st, col) == SQLITE_NULL ? NAN : sqlite3_column_double(st, col);
}

static int find_name(sqlite3_stmt *st, int col, char *const *names, size_t n)
{
	size_t len = (size_t)sqlite3_column_bytes(st, col);

	for (size_t i = 0; i < n && len > 0; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], sqlite3_column_blob(st, col), len))
			return (int)i;
	return -1;
}

static struct metric_version read_version(sqlite3_stmt *st, char *const *names, size_t n)
{
	return (struct metric_version){
		.tracked = (uint64_t)sqlite3_column_int64(st, 0),
		.parent = (uint64_t)sqlite3_column_int64(st, 1),
		.head = sqlite3_column_int64(st, 2) == sqlite3_column_int64(st, 4),
		.there = sqlite3_column_int64(st, 3) != 0,
		.good = sqlite3_column_int64(st, 3) == sqlite3_column_int64(st, 4),
		.id = (uint64_t)sqlite3_column_int64(st, 4),
		.step = sqlite3_column_int64(st, 5),
		.rank = sqlite3_column_int64(st, 6),
		.gone = sqlite3_column_int(st, 7),
		.complete = sqlite3_column_type(st, 8) == SQLITE_NULL ? VERSION_UNJUDGED : sqlite3_column_int(st, 8),
		.choice = find_name(st, 9, names, n),
		.at = sqlite3_column_int64(st, 10),
		.value = read_value(st, 11),
		.experiment = (uint64_t)sqlite3_column_int64(st, 12),
		.off = sqlite3_column_type(st, 13) != SQLITE_NULL,
		.is_dir = sqlite3_column_int(st, 14),
		.name = sqlite3_column_blob(st, 15),
		.name_len = (size_t)sqlite3_column_bytes(st, 15),
		.begin = (uint64_t)sqlite3_column_int64(st, 16),
	};
}

_Static_assert(METRIC_CHOICES == 8 && TRACKED_CHECKPOINT == 4, "as the statement has it");

int metric_list_versions(struct db *db, uint64_t run, char *const *names, size_t n, metric_version_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	const char *p[METRIC_CHOICES] = { NULL };
	size_t len[METRIC_CHOICES] = { 0 };
	int r;

	for (size_t i = 0; i < n; i++) {
		p[i] = names[i];
		len[i] = strlen(names[i]);
	}
	r = db_row(db, &st,
		   "SELECT t.id, t.parent, t.head, t.good, v.id, v.step, v.rank,"
		   " v.gone AND (t.ino IS NOT NULL OR v.n<t.n), v.complete, m.name, m.step, m.value,"
		   " v.experiment, t.off, v.is_dir, t.name, v.begin FROM tracked t JOIN version v ON v.tracked=t.id LEFT JOIN metric m ON m.of=v.id AND m.name IN"
		   " (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) WHERE t.run=?1 AND t.role=4 AND t.role<>0 ORDER BY t.id, v.n",
		   "ibbbbbbbb", (int64_t)run, p[0], len[0], p[1], len[1], p[2], len[2], p[3], len[3], p[4], len[4], p[5], len[5],
		   p[6], len[6], p[7], len[7]);
	for (; r == 1; r = db_next(db, st)) {
		struct metric_version v = read_version(st, names, n);

		r = f(arg, &v);
		if (r != 0)
			return r;
	}
	return r;
}

int signal_put(struct db *db, uint64_t run, const char *name, int64_t step, double value, int64_t time)
{
	return run_noting(db, db_run(db, "INSERT OR REPLACE INTO signal VALUES(?1, ?2, ?3, ?4, ?5)", "ibidi", (int64_t)run, name,
				     strlen(name), step, value, time));
}

int signal_forget(struct db *db, uint64_t run)
{
	return db_run(db, "DELETE FROM signal WHERE run=?1", "i", (int64_t)run);
}

int signal_list(struct db *db, uint64_t run, const char *name, signal_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = name ? db_row(db, &st, "SELECT name, step, value FROM signal WHERE run=?1 AND name=?2 ORDER BY name, step", "ib",
			      (int64_t)run, name, strlen(name)) :
		       db_row(db, &st, "SELECT name, step, value FROM signal WHERE run=?1 ORDER BY name, step", "i", (int64_t)run);

	for (; r == 1; r = db_next(db, st)) {
		char found[METRIC_NAME_MAX + 1];

		snprintf(found, sizeof(found), "%.*s", sqlite3_column_bytes(st, 0), (const char *)sqlite3_column_blob(st, 0));
		r = f(arg, sqlite3_column_int64(st, 1), found, read_value(st, 2));
		if (r != 0)
			return r;
	}
	return r;
}
