#include "meta/root.h"

#include <string.h>

#include "meta/db.h"

static void read_hash(sqlite3_stmt *st, int col, char ret[EXPERIMENT_HASH + 1])
{
	const char *text = (const char *)sqlite3_column_text(st, col);

	ret[0] = 0;
	if (text)
		strncat(ret, text, EXPERIMENT_HASH);
}

int root_get(struct db *db, uint64_t id, struct root_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT current, guess, listed FROM root WHERE id=?1", "i", (int64_t)id);

	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret = (struct root_row){ .id = id, .guess = (uint64_t)sqlite3_column_int64(st, 1),
				  .listed = sqlite3_column_int(st, 2) };
	read_hash(st, 0, ret->current);
	return 0;
}

int root_insert(struct db *db, uint64_t id)
{
	return db_run(db, "INSERT OR IGNORE INTO root VALUES(?1, '', NULL, 0)", "i", (int64_t)id);
}

int root_update(struct db *db, const struct root_row *row)
{
	return db_run(db, "UPDATE root SET current=CAST(?2 AS TEXT), guess=nullif(?3, 0), listed=?4 WHERE id=?1", "ibii",
		      (int64_t)row->id, row->current, strlen(row->current), (int64_t)row->guess, (int64_t)row->listed);
}

int root_list(struct db *db, root_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT id FROM root ORDER BY id", "");

	return db_each_id(db, st, r, f, arg);
}

static void read_fork(sqlite3_stmt *st, struct fork_row *ret)
{
	*ret = (struct fork_row){
		.id = (uint64_t)sqlite3_column_int64(st, 0),
		.root = (uint64_t)sqlite3_column_int64(st, 1),
		.n = (uint64_t)sqlite3_column_int64(st, 2),
	};
}

int fork_get(struct db *db, uint64_t id, struct fork_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT id, root, n FROM fork WHERE id=?1", "i", (int64_t)id);

	if (r == 1)
		read_fork(st, ret);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

int fork_insert(struct db *db, const struct fork_row *row)
{
	return db_run(db, "INSERT INTO fork VALUES(?1, ?2, ?3)", "iii", (int64_t)row->id, (int64_t)row->root, (int64_t)row->n);
}

int fork_count(struct db *db, uint64_t root, uint64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT count(*) FROM fork WHERE root=?1", "i", (int64_t)root);

	if (r == 1)
		*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return MIN(r, 0);
}

int fork_list(struct db *db, uint64_t root, fork_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT id, root, n FROM fork WHERE root=?1 ORDER BY n", "i", (int64_t)root);

	for (; r == 1; r = db_next(db, st)) {
		struct fork_row row;

		read_fork(st, &row);
		r = f(arg, &row);
		if (r != 0)
			return r;
	}
	return r;
}

int root_has(struct db *db, uint64_t run)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;

	return db_row(db, &st, "SELECT 1 FROM root WHERE id=?1 UNION ALL SELECT 1 FROM fork WHERE id=?1", "i", (int64_t)run);
}

int succession_put(struct db *db, uint64_t root, const char *hash, const char *previous)
{
	return db_run(db, "INSERT OR IGNORE INTO succession VALUES(?1, CAST(?2 AS TEXT), CAST(?3 AS TEXT))", "ibb", (int64_t)root,
		      hash, strlen(hash), previous, strlen(previous));
}

int succession_get(struct db *db, uint64_t root, const char *hash, char ret[EXPERIMENT_HASH + 1])
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT previous FROM succession WHERE root=?1 AND hash=CAST(?2 AS TEXT)", "ib", (int64_t)root,
		       hash, strlen(hash));

	if (r == 1)
		read_hash(st, 0, ret);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

int event_put(struct db *db, uint64_t version, uint64_t root)
{
	return db_run(db, "INSERT OR REPLACE INTO event VALUES(?1, ?2)", "ii", (int64_t)version, (int64_t)root);
}

int event_first(struct db *db, uint64_t *ret_version, uint64_t *ret_root)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT version, root FROM event ORDER BY version LIMIT 1", "");

	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret_version = (uint64_t)sqlite3_column_int64(st, 0);
	*ret_root = (uint64_t)sqlite3_column_int64(st, 1);
	return 0;
}

int event_delete(struct db *db, uint64_t version)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT 1 FROM event WHERE version=?1", "i", (int64_t)version);

	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	return db_run(db, "DELETE FROM event WHERE version=?1", "i", (int64_t)version);
}
