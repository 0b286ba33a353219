#include "meta/ledger.h"

#include <stdio.h>
#include <string.h>

#include "meta/db.h"
#include "meta/root.h"
#include "meta/tracked.h"
#include "util/list.h"

#define LEDGER "SELECT id, run, name, kind, of, time, record FROM ledger "
#define IS_SELECTION "kind=0 " /* as the indexes have it */
#define COUNTS "NOT EXISTS (SELECT 1 FROM ledger l WHERE l.run=ledger.run AND l.name=ledger.name AND l.kind=0 AND l.id>ledger.id) "

void ledger_row_free(struct ledger_row *row)
{
	free(row->record);
	*row = (struct ledger_row){ 0 };
}

int ledger_rows_add(void *arg, const struct ledger_row *row)
{
	struct ledger_rows *l = arg;
	struct ledger_row *v = array_grow(l->v, l->n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n] = *row;
	v[l->n].record = strdup(row->record);
	return v[l->n++].record ? 0 : -ENOMEM;
}

void ledger_rows_free(struct ledger_rows *l)
{
	for (size_t i = 0; i < l->n; i++)
		ledger_row_free(&l->v[i]);
	free(l->v);
}

int ledger_run(struct db *db, uint64_t run, uint64_t *ret)
{
	struct tracked_row t;
	struct root_row root;
	int r = root_get(db, run, &root);

	*ret = run;
	if (r == 0)
		r = tracked_get(db, run, &t);
	if (r == 0 && t.parent == TRACKED_TOP)
		*ret = TRACKED_TOP;
	return r == -ENOENT ? 0 : r;
}

int ledger_put(struct db *db, const struct ledger_row *row)
{
	size_t len = strlen(row->record);

	if (len > LEDGER_RECORD)
		return -E2BIG;
	db->checkpoints = true; /* best may be another one */
	return db_run(db, "INSERT INTO ledger VALUES(?1, ?2, CAST(?3 AS TEXT), ?4, ?5, ?6, CAST(?7 AS TEXT))", "iibiiib", (int64_t)row->id,
		      (int64_t)row->run, (const void *)row->name, strlen(row->name), (int64_t)row->kind, (int64_t)row->of,
		      row->time, (const void *)row->record, len);
}

/* A record that is longer than any is reads as an empty one. */
static int read_row(sqlite3_stmt *st, struct ledger_row *ret)
{
	size_t len = (size_t)sqlite3_column_bytes(st, 6);
	const char *name = (const char *)sqlite3_column_text(st, 2), *record = (const char *)sqlite3_column_text(st, 6);

	*ret = (struct ledger_row){
		.id = (uint64_t)sqlite3_column_int64(st, 0),
		.run = (uint64_t)sqlite3_column_int64(st, 1),
		.kind = sqlite3_column_int64(st, 3) == LEDGER_SELECTION ? LEDGER_SELECTION : LEDGER_DECISION,
		.of = (uint64_t)sqlite3_column_int64(st, 4),
		.time = sqlite3_column_int64(st, 5),
		.record = strdup(record && len <= LEDGER_RECORD ? record : "{}"),
	};
	snprintf(ret->name, sizeof(ret->name), "%s", name ? name : "");
	return ret->record ? 0 : -ENOMEM;
}

static int read_one(sqlite3_stmt *st, int r, struct ledger_row *ret)
{
	if (r == 1)
		return read_row(st, ret);
	return r == 0 ? -ENOENT : r;
}

static int each(struct db *db, sqlite3_stmt *st, int r, ledger_fn f, void *arg)
{
	for (; r == 1; r = db_next(db, st)) {
		_cleanup_ledger_row_ struct ledger_row row = { 0 };

		r = read_row(st, &row);
		if (r == 0)
			r = f(arg, &row);
		if (r != 0)
			return r;
	}
	return r;
}

int ledger_get(struct db *db, uint64_t id, struct ledger_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;

	return read_one(st, db_row(db, &st, LEDGER "WHERE id=?1", "i", (int64_t)id), ret);
}

int ledger_current(struct db *db, uint64_t run, const char *name, struct ledger_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LEDGER "WHERE run=?1 AND name=CAST(?2 AS TEXT) AND " IS_SELECTION "ORDER BY id DESC LIMIT 1", "ib",
		       (int64_t)run, (const void *)name, strlen(name));

	return read_one(st, r, ret);
}

int ledger_needs(struct db *db, uint64_t version, struct ledger_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LEDGER "WHERE of=?1 AND " IS_SELECTION "AND " COUNTS "ORDER BY id LIMIT 1", "i", (int64_t)version);

	if (r <= 0 || !ret)
		return r;
	r = read_row(st, ret);
	return r < 0 ? r : 1;
}

int ledger_list_name(struct db *db, uint64_t run, const char *name, ledger_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LEDGER "WHERE run=?1 AND name=CAST(?2 AS TEXT) ORDER BY id", "ib", (int64_t)run, (const void *)name,
		       strlen(name));

	return each(db, st, r, f, arg);
}

int ledger_list_current(struct db *db, uint64_t run, ledger_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r;

	if (run)
		r = db_row(db, &st, LEDGER "WHERE run=?1 AND " IS_SELECTION "AND " COUNTS "ORDER BY id", "i", (int64_t)run);
	else
		r = db_row(db, &st, LEDGER "WHERE " IS_SELECTION "AND " COUNTS "ORDER BY id", "");
	return each(db, st, r, f, arg);
}

int ledger_list_named(struct db *db, const char *name, ledger_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LEDGER "WHERE name=CAST(?1 AS TEXT) AND " IS_SELECTION "AND " COUNTS "ORDER BY id", "b",
		       (const void *)name, strlen(name));

	return each(db, st, r, f, arg);
}

int ledger_list_version(struct db *db, uint64_t version, ledger_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, LEDGER "WHERE of=?1 AND " IS_SELECTION "ORDER BY id", "i", (int64_t)version);

	return each(db, st, r, f, arg);
}

int ledger_list_experiment(struct db *db, uint64_t experiment, ledger_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT ledger.id, run, name, kind, of, time, record FROM version v CROSS JOIN ledger ON of=v.id WHERE"
		       " v.experiment=?1 AND v.complete=1 AND " IS_SELECTION "AND " COUNTS "ORDER BY ledger.id",
		       "i", (int64_t)experiment);

	return each(db, st, r, f, arg);
}

/* Of the selection s. Of one whose version was let go, that of the next one of its name: it was superseded, and is to stay
 * so. Where there is none, as its record says. */
#define OF_EXPERIMENT                                                                                                      \
	"coalesce((SELECT v.experiment FROM ledger n JOIN version v ON v.id=n.of WHERE n.run=s.run AND n.name=s.name AND"  \
	" n.kind=0 AND n.id>=s.id ORDER BY n.id LIMIT 1), (SELECT e.id FROM experiment e WHERE e.hash="                    \
	"CASE WHEN json_valid(s.record) THEN json_extract(s.record, '$.experiment') END))"

int ledger_move(struct db *db, uint64_t experiment, uint64_t from, uint64_t to)
{
	int r = ledger_run(db, from, &from);

	if (r == 0)
		r = ledger_run(db, to, &to);
	if (r < 0 || from == to)
		return r;
	return db_run(db, "UPDATE ledger SET run=?3 WHERE run=?1 AND id IN (SELECT l.id FROM ledger l JOIN ledger s ON"
		      " s.id=CASE l.kind WHEN 0 THEN l.id ELSE l.of END WHERE l.run=?1 AND " OF_EXPERIMENT "=?2)",
		      "iii", (int64_t)from, (int64_t)experiment, (int64_t)to);
}

int ledger_forget_forks(struct db *db, uint64_t root)
{
	uint64_t first;
	int r = ledger_run(db, root, &first);

	return r < 0 ? r : db_run(db, "UPDATE ledger SET run=?2 WHERE run IN (SELECT id FROM fork WHERE root=?1)", "ii", (int64_t)root,
				  (int64_t)first);
}

int ledger_move_root(struct db *db, uint64_t root, uint64_t from)
{
	uint64_t to;
	int r = ledger_run(db, root, &to);

	if (r < 0 || from == to)
		return r;
	return db_run(db, "UPDATE ledger SET run=?3 WHERE run=?2 AND (?2=?1 OR name IN (SELECT ledger.name FROM ledger JOIN version v ON v.id=ledger.of"
		      " JOIN tracked t ON t.id=v.tracked WHERE ledger.run=?2 AND t.run=?1 AND " IS_SELECTION "AND " COUNTS "))",
		      "iii", (int64_t)root, (int64_t)from, (int64_t)to);
}
