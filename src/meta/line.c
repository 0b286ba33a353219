#include "meta/line.h"

#include "meta/db.h"
#include "meta/ledger.h"

#define LINE "SELECT id, run, experiment, version, init_step, at, flags FROM line "
#define IS_WHOLE "experiment IN (SELECT id FROM experiment)" /* always, but in a database that is damaged */

static void read_line(sqlite3_stmt *st, struct line_row *ret)
{
	*ret = (struct line_row){
		.id = (uint64_t)sqlite3_column_int64(st, 0),
		.run = (uint64_t)sqlite3_column_int64(st, 1),
		.experiment = (uint64_t)sqlite3_column_int64(st, 2),
		.version = (uint64_t)sqlite3_column_int64(st, 3),
		.init_step = (uint64_t)sqlite3_column_int64(st, 4),
		.at = (uint64_t)sqlite3_column_int64(st, 5),
		.flags = (unsigned)sqlite3_column_int64(st, 6),
	};
}

static int read_one_line(sqlite3_stmt *st, int r, struct line_row *ret)
{
	if (r == 1)
		read_line(st, ret);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

int line_insert(struct db *db, const struct line_row *l)
{
	return db_run(db, "INSERT INTO line VALUES(?1, ?2, ?3, nullif(?4, 0), ?5, ?6, ?7)", "iiiiiii", (int64_t)l->id,
		      (int64_t)l->run, (int64_t)l->experiment, (int64_t)l->version, (int64_t)l->init_step, (int64_t)l->at,
		      (int64_t)l->flags);
}

int line_at(struct db *db, uint64_t run, uint64_t at, struct line_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LINE "WHERE run=?1 AND at<=?2 AND " IS_WHOLE " ORDER BY at DESC, id DESC LIMIT 1", "ii", (int64_t)run,
		       (int64_t)at);

	return read_one_line(st, r, ret);
}

int line_last(struct db *db, uint64_t run, struct line_row *ret)
{
	return line_at(db, run, INT64_MAX, ret);
}

int line_after(struct db *db, uint64_t run, uint64_t at, struct line_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LINE "WHERE run=?1 AND at>?2 AND " IS_WHOLE " ORDER BY at, id LIMIT 1", "ii", (int64_t)run, (int64_t)at);

	return read_one_line(st, r, ret);
}

int line_between(struct db *db, uint64_t run, uint64_t from, uint64_t until, struct line_row *ret)
{
	int r = line_at(db, run, until ? until - 1 : INT64_MAX, ret);

	return r < 0 || ret->at >= from ? r : -ENOENT;
}

int line_load_before(struct db *db, uint64_t run, uint64_t before, struct line_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LINE "WHERE run=?1 AND at<?2 AND flags & 1 ORDER BY at DESC LIMIT 1", "ii", (int64_t)run,
		       (int64_t)before);

	return read_one_line(st, r, ret);
}

int line_before(struct db *db, const struct line_row *line, struct line_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       LINE "WHERE run=?1 AND id<?2 ORDER BY id DESC LIMIT 1",
		       "ii", (int64_t)line->run, (int64_t)line->id);

	return read_one_line(st, r, ret);
}

int line_of_experiment(struct db *db, uint64_t experiment, struct line_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LINE "WHERE experiment=?1 ORDER BY at LIMIT 1", "i", (int64_t)experiment);

	return read_one_line(st, r, ret);
}

int line_has(struct db *db, uint64_t run, uint64_t experiment, uint64_t at)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;

	return db_row(db, &st,
		      "SELECT 1 FROM line WHERE experiment=?2 AND run=?1 AND at<=?3 AND at>=coalesce((SELECT max(at) FROM line"
		      " WHERE run=?1 AND at<=?3 AND flags & 1), 0) LIMIT 1",
		      "iii", (int64_t)run, (int64_t)experiment, (int64_t)at);
}

static int each_line(struct db *db, sqlite3_stmt *st, int r, line_fn f, void *arg)
{
	for (; r == 1; r = db_next(db, st)) {
		struct line_row row;

		read_line(st, &row);
		r = f(arg, &row);
		if (r != 0)
			return r;
	}
	return r;
}

int line_list(struct db *db, uint64_t run, line_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LINE "WHERE run=?1 ORDER BY at, id", "i", (int64_t)run);

	return each_line(db, st, r, f, arg);
}

int line_list_of(struct db *db, uint64_t experiment, line_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LINE "WHERE experiment=?1 ORDER BY at, id", "i", (int64_t)experiment);

	return each_line(db, st, r, f, arg);
}

int line_has_version(struct db *db, uint64_t version)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;

	return db_row(db, &st, "SELECT 1 FROM line WHERE version=?1", "i", (int64_t)version);
}

int line_list_runs(struct db *db, uint64_t experiment, line_run_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT DISTINCT run FROM line WHERE experiment=?1", "i", (int64_t)experiment);

	return db_each_id(db, st, r, f, arg);
}

int line_move(struct db *db, uint64_t id, uint64_t run)
{
	return db_run(db, "UPDATE line SET run=?2 WHERE id=?1", "ii", (int64_t)id, (int64_t)run);
}

int line_move_checkpoints(struct db *db, const struct line_row *line, uint64_t run)
{
	int r = db_run(db,
		       "UPDATE tracked SET run=?3 WHERE run=?1 AND role=4 AND role<>0 AND EXISTS"
		       " (SELECT 1 FROM version v WHERE v.tracked=tracked.id AND v.experiment=?2)",
		       "iii", (int64_t)run, (int64_t)line->experiment, (int64_t)line->run);

	return r < 0 ? r : ledger_move(db, line->experiment, run, line->run);
}

/* Of its first branch, which has its number, and of its forks. */
#define OF_ROOT "(run=?1 OR run IN (SELECT id FROM fork WHERE root=?1)) "

int root_line_of(struct db *db, uint64_t root, uint64_t experiment, struct line_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LINE "WHERE experiment=?2 AND " OF_ROOT "ORDER BY id LIMIT 1", "ii", (int64_t)root, (int64_t)experiment);

	return read_one_line(st, r, ret);
}

int root_line_last(struct db *db, uint64_t root, struct line_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	/* From the table's end: by the indexes all lines of the root were read, and sorted, for each of a manifest's. */
	int r = db_row(db, &st, LINE "NOT INDEXED WHERE " OF_ROOT "ORDER BY id DESC LIMIT 1", "i", (int64_t)root);

	return read_one_line(st, r, ret);
}

int root_list_experiments(struct db *db, uint64_t root, root_experiment_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT experiment FROM line WHERE " OF_ROOT "ORDER BY id", "i", (int64_t)root);

	return db_each_id(db, st, r, f, arg);
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
	if (r == 0)
		r = ledger_forget_forks(db, root);
	return r < 0 ? r : db_run(db, "DELETE FROM fork WHERE root=?1", "i", (int64_t)root);
}
