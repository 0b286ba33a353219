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

	for (; r == 1; r = db_next(db, st)) {
		r = f(arg, (uint64_t)sqlite3_column_int64(st, 0));
		if (r != 0)
			return r;
	}
	return r;
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

#define LINE "SELECT id, run, experiment, version, init_step, at, flags FROM line "
#define OF_ROOT "(run=?1 OR run IN (SELECT id FROM fork WHERE root=?1)) "

static int read_line(sqlite3_stmt *st, int r, struct line_row *ret)
{
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret = (struct line_row){
		.id = (uint64_t)sqlite3_column_int64(st, 0),
		.run = (uint64_t)sqlite3_column_int64(st, 1),
		.experiment = (uint64_t)sqlite3_column_int64(st, 2),
		.version = (uint64_t)sqlite3_column_int64(st, 3),
		.init_step = (uint64_t)sqlite3_column_int64(st, 4),
		.at = (uint64_t)sqlite3_column_int64(st, 5),
		.flags = (unsigned)sqlite3_column_int64(st, 6),
	};
	return 0;
}

int root_line_of(struct db *db, uint64_t root, uint64_t experiment, struct line_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LINE "WHERE experiment=?2 AND " OF_ROOT "ORDER BY id LIMIT 1", "ii", (int64_t)root, (int64_t)experiment);

	return read_line(st, r, ret);
}

int root_line_last(struct db *db, uint64_t root, struct line_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	/* From the table's end: by the indexes all lines of the root were read, and sorted, for each of a manifest's. */
	int r = db_row(db, &st, LINE "NOT INDEXED WHERE " OF_ROOT "ORDER BY id DESC LIMIT 1", "i", (int64_t)root);

	return read_line(st, r, ret);
}

int root_list_experiments(struct db *db, uint64_t root, root_experiment_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LINE "WHERE " OF_ROOT "ORDER BY id", "i", (int64_t)root);

	for (; r == 1; r = db_next(db, st)) {
		r = f(arg, (uint64_t)sqlite3_column_int64(st, 2));
		if (r != 0)
			return r;
	}
	return r;
}

int root_forget_lines(struct db *db, uint64_t root)
{
	int r = db_run(db, "UPDATE experiment SET parent=NULL WHERE id IN (SELECT experiment FROM line WHERE " OF_ROOT ")"
		       " AND NOT EXISTS (SELECT 1 FROM line l WHERE l.experiment=experiment.id AND l.run<>?1 AND l.run NOT IN"
		       " (SELECT id FROM fork WHERE root=?1))", "i", (int64_t)root);

	if (r == 0)
		r = db_run(db, "DELETE FROM line WHERE " OF_ROOT, "i", (int64_t)root);
	if (r == 0)
		r = db_run(db, "UPDATE tracked SET run=?1 WHERE run IN (SELECT id FROM fork WHERE root=?1)", "i", (int64_t)root);
	return r < 0 ? r : db_run(db, "DELETE FROM fork WHERE root=?1", "i", (int64_t)root);
}

int line_before(struct db *db, const struct line_row *line, struct line_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       LINE "WHERE run=?1 AND id<?2 ORDER BY id DESC LIMIT 1",
		       "ii", (int64_t)line->run, (int64_t)line->id);

	return read_line(st, r, ret);
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

int line_move(struct db *db, uint64_t id, uint64_t run)
{
	return db_run(db, "UPDATE line SET run=?2 WHERE id=?1", "ii", (int64_t)id, (int64_t)run);
}

int line_move_checkpoints(struct db *db, const struct line_row *line, uint64_t run)
{
	return db_run(db,
		      "UPDATE tracked SET run=?3 WHERE run=?1 AND role=4 AND role<>0 AND EXISTS"
		      " (SELECT 1 FROM version v WHERE v.tracked=tracked.id AND v.experiment=?2)",
		      "iii", (int64_t)run, (int64_t)line->experiment, (int64_t)line->run);
}
