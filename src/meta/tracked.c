#include "meta/tracked.h"

#include <stdio.h>
#include <string.h>

#include "meta/db.h"
#include "meta/metric.h"

#define COLUMNS "id, parent, ino, run, role, is_dir, n, head, changed, good, step, rank, mode, uid, gid, off"
#define COLUMN_NAME 16 /* behind them, where it is asked for */
#define SELECT "SELECT " COLUMNS " FROM tracked "
#define LENGTH 16384 /* more than a path has bytes, with what displaced names got more */

static void read_row(sqlite3_stmt *st, struct tracked_row *ret)
{
	*ret = (struct tracked_row){
		.id = (uint64_t)sqlite3_column_int64(st, 0),
		.parent = (uint64_t)sqlite3_column_int64(st, 1),
		.ino = (uint64_t)sqlite3_column_int64(st, 2),
		.run = (uint64_t)sqlite3_column_int64(st, 3),
		.role = sqlite3_column_int(st, 4),
		.is_dir = sqlite3_column_int(st, 5),
		.n = (uint64_t)sqlite3_column_int64(st, 6),
		.head = (uint64_t)sqlite3_column_int64(st, 7),
		.changed = (uint64_t)sqlite3_column_int64(st, 8),
		.good = (uint64_t)sqlite3_column_int64(st, 9),
		.step = sqlite3_column_int64(st, 10),
		.rank = sqlite3_column_int64(st, 11),
		.mode = (uint32_t)sqlite3_column_int64(st, 12),
		.uid = (uint32_t)sqlite3_column_int64(st, 13),
		.gid = (uint32_t)sqlite3_column_int64(st, 14),
		.off = (uint64_t)sqlite3_column_int64(st, 15),
	};
}

/* The one row of a query. */
static int read_one(sqlite3_stmt *st, int r, struct tracked_row *ret)
{
	if (r == 1)
		read_row(st, ret);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

int tracked_get(struct db *db, uint64_t id, struct tracked_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE id=?1", "i", (int64_t)id);

	return read_one(st, r, ret);
}

int tracked_by_dir(struct db *db, uint64_t ino, struct tracked_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE ino=?1 AND is_dir", "i", (int64_t)ino);

	return read_one(st, r, ret);
}

int tracked_by_name(struct db *db, uint64_t parent, const char *name, struct tracked_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE parent=?1 AND name=?2", "ib", (int64_t)parent, name, strlen(name));

	return read_one(st, r, ret);
}

int tracked_by_path(struct db *db, const char *path, struct tracked_row *ret)
{
	struct tracked_row t;
	int r = tracked_get(db, TRACKED_TOP, &t);

	while (r == 0 && *path) {
		char name[TRACKED_NAME];
		size_t n = strcspn(path, "/");

		if (n >= sizeof(name))
			return -ENOENT;
		memcpy(name, path, n);
		name[n] = 0;
		r = n > 0 ? tracked_by_name(db, t.id, name, &t) : 0;
		path += n;
		path += *path == '/';
	}
	if (r == 0)
		*ret = t;
	return r;
}

void tracked_own_name(const struct tracked_row *t, const char *name, char ret[static TRACKED_NAME])
{
	char *tilde;

	snprintf(ret, TRACKED_NAME, "%s", name);
	tilde = t->mode & TRACKED_ASIDE ? strrchr(ret, '~') : NULL;
	if (tilde)
		*tilde = 0;
}

/* What is no directory and no checkpoint says nothing of these. */
static void note(struct db *db, const struct tracked_row *t)
{
	db->checkpoints = db->checkpoints || t->is_dir || t->role == TRACKED_CHECKPOINT;
}

int tracked_insert(struct db *db, const struct tracked_row *t, const char *name)
{
	note(db, t);
	return db_run(db,
		      "INSERT INTO tracked(" COLUMNS ", name) VALUES(?1, ?2, nullif(?3, 0), ?4, ?5, ?6, ?7,"
		      " nullif(?8, 0), nullif(?9, 0), nullif(?10, 0), ?11, ?12, ?13, ?14, ?15, nullif(?16, 0), ?17)",
		      "iiiiiiiiiiiiiiiib", (int64_t)t->id, (int64_t)t->parent, (int64_t)t->ino, (int64_t)t->run,
		      (int64_t)t->role, (int64_t)t->is_dir, (int64_t)t->n, (int64_t)t->head, (int64_t)t->changed,
		      (int64_t)t->good, t->step, t->rank, (int64_t)t->mode, (int64_t)t->uid, (int64_t)t->gid, (int64_t)t->off, name,
		      strlen(name));
}

int tracked_update(struct db *db, const struct tracked_row *t)
{
	note(db, t);
	return db_run(db,
		      "UPDATE tracked SET ino=nullif(?2, 0), run=?3, role=?4, is_dir=?5, n=?6, head=nullif(?7, 0),"
		      " changed=nullif(?8, 0), good=nullif(?9, 0), step=?10, rank=?11, mode=?12, uid=?13, gid=?14,"
		      " off=nullif(?15, 0) WHERE id=?1",
		      "iiiiiiiiiiiiiii", (int64_t)t->id, (int64_t)t->ino, (int64_t)t->run, (int64_t)t->role,
		      (int64_t)t->is_dir, (int64_t)t->n, (int64_t)t->head, (int64_t)t->changed, (int64_t)t->good, t->step,
		      t->rank, (int64_t)t->mode, (int64_t)t->uid, (int64_t)t->gid, (int64_t)t->off);
}

int tracked_delete(struct db *db, uint64_t id)
{
	int r = signal_forget(db, id);

	db->checkpoints = true;
	if (r == 0)
		r = db_run(db, "DELETE FROM root WHERE id=?1", "i", (int64_t)id);
	if (r == 0)
		r = db_run(db, "DELETE FROM succession WHERE root=?1", "i", (int64_t)id);
	return r < 0 ? r : db_run(db, "DELETE FROM tracked WHERE id=?1", "i", (int64_t)id);
}

int tracked_move(struct db *db, uint64_t id, uint64_t parent, const char *name)
{
	db->checkpoints = true;
	return db_run(db, "UPDATE tracked SET parent=?2, name=?3 WHERE id=?1", "iib", (int64_t)id, (int64_t)parent, name,
		      strlen(name));
}

/* NAME, or NAME/REST. */
static char *path_before(const void *name, int len, const char *rest)
{
	char *path;

	return asprintf(&path, "%.*s%s%s", len, (const char *)name, rest ? "/" : "", rest ? rest : "") < 0 ? NULL : path;
}

int tracked_name(struct db *db, uint64_t id, char **ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT name FROM tracked WHERE id=?1", "i", (int64_t)id);

	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret = path_before(sqlite3_column_blob(st, 0), sqlite3_column_bytes(st, 0), NULL);
	return *ret ? 0 : -ENOMEM;
}

int tracked_path(struct db *db, uint64_t id, char **ret)
{
	_cleanup_free_ char *path = NULL;

	while (id != TRACKED_TOP) {
		_cleanup_stmt_ sqlite3_stmt *st = NULL;
		char *longer;
		int r = db_row(db, &st, "SELECT parent, name FROM tracked WHERE id=?1", "i", (int64_t)id);

		if (r <= 0)
			return r < 0 ? r : -ENOENT;
		if (path && strlen(path) > LENGTH)
			return -EUCLEAN; /* it leads round in a circle */
		longer = path_before(sqlite3_column_blob(st, 1), sqlite3_column_bytes(st, 1), path);
		if (!longer)
			return -ENOMEM;
		free(path);
		path = longer;
		id = (uint64_t)sqlite3_column_int64(st, 0);
	}
	*ret = path ? steal(&path) : strdup("");
	return *ret ? 0 : -ENOMEM;
}

int tracked_list_changed(struct db *db, uint64_t run, uint64_t after, struct tracked_row *ret, int max)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int n = 0, r;

	if (run)
		r = db_row(db, &st, SELECT "WHERE changed IS NOT NULL AND run=?1 AND id>?2 ORDER BY id", "ii", (int64_t)run,
			   (int64_t)after);
	else
		r = db_row(db, &st, "SELECT " COLUMNS " FROM tracked INDEXED BY tracked_changed WHERE changed IS NOT NULL AND id>?1"
				    " ORDER BY id", /* else the whole table is gone through, which is in that order */
			   "i", (int64_t)after);
	for (; r == 1 && n < max; r = db_next(db, st))
		read_row(st, &ret[n++]);
	return r < 0 ? r : n;
}

#define LAST_FIRST " ORDER BY rank DESC, step DESC, id DESC LIMIT 1"
#define IS_BEFORE " AND (rank, step, id)<(?2, ?3, ?4)"
#define OF_RUN "WHERE run=?1 AND good IS NOT NULL AND off IS NULL"
#define OF_DIR "WHERE parent=?1 AND good IS NOT NULL AND ino IS NOT NULL"

/* Of an experiment versions are looked for, for their paths may hold others by now; not those of before their path
 * was taken away. A row tells of its version what it tells of the last complete one else. */
#define VERSIONS_OF(there, gone)                                                                                    \
	"FROM version v CROSS JOIN tracked t ON t.id=v.tracked WHERE v.experiment=?1 AND v.complete=1 AND t.role=4 AND " \
	there " AND NOT EXISTS (SELECT 1 FROM version g WHERE g.tracked=v.tracked AND g.n>=v.n AND " gone ")"
#define VERSIONS VERSIONS_OF("t.ino IS NOT NULL", "g.gone")
#define REMOVED VERSIONS_OF("t.ino IS NULL AND t.good IS NOT NULL", "g.gone AND g.n<t.n")
#define SELECT_VERSIONS                                                                                  \
	"SELECT t.id, t.parent, t.ino, t.run, t.role, t.is_dir, t.n, t.head, t.changed, v.id, v.step, v.rank," \
	" t.mode, t.uid, t.gid, t.off "
#define LAST_VERSION_FIRST " ORDER BY v.rank DESC, v.step DESC, v.id DESC LIMIT 1"
#define IS_VERSION_BEFORE " AND (v.rank, v.step, v.id)<(?2, ?3, ?4)"

static const struct tracked_row after_all = { .rank = INT64_MAX, .step = INT64_MAX, .id = INT64_MAX, .good = INT64_MAX };

static int64_t id_in(enum tracked_scope scope, const struct tracked_row *t)
{
	return (int64_t)(scope == TRACKED_EXPERIMENT || scope == TRACKED_REMOVED ? t->good : t->id);
}

int tracked_latest(struct db *db, enum tracked_scope scope, uint64_t of, const struct tracked_row *before,
		   struct tracked_row *ret)
{
	static const char *const sql[] = {
		[TRACKED_RUN] = SELECT OF_RUN IS_BEFORE LAST_FIRST,
		[TRACKED_DIR] = SELECT OF_DIR IS_BEFORE LAST_FIRST,
		[TRACKED_EXPERIMENT] = SELECT_VERSIONS VERSIONS IS_VERSION_BEFORE LAST_VERSION_FIRST,
		[TRACKED_REMOVED] = SELECT_VERSIONS REMOVED IS_VERSION_BEFORE LAST_VERSION_FIRST,
	};
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	const struct tracked_row *b = before ? before : &after_all;
	int r = db_row(db, &st, sql[scope], "iiii", (int64_t)of, b->rank, b->step, id_in(scope, b));

	return read_one(st, r, ret);
}

int tracked_latest_dir(struct db *db, uint64_t run, int64_t rank, struct tracked_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT OF_RUN " AND is_dir AND rank<?2" LAST_FIRST, "ii", (int64_t)run, rank);

	return read_one(st, r, ret);
}

int tracked_latest_of_step(struct db *db, enum tracked_scope scope, uint64_t of, int64_t step,
			   const struct tracked_row *before, struct tracked_row *ret)
{
	static const char *const sql[] = {
		[TRACKED_RUN] = SELECT OF_RUN " AND step=?5" IS_BEFORE LAST_FIRST,
		[TRACKED_DIR] = SELECT OF_DIR " AND step=?5" IS_BEFORE LAST_FIRST,
		[TRACKED_EXPERIMENT] = SELECT_VERSIONS VERSIONS " AND v.step=?5" IS_VERSION_BEFORE LAST_VERSION_FIRST,
		[TRACKED_REMOVED] = SELECT_VERSIONS REMOVED " AND v.step=?5" IS_VERSION_BEFORE LAST_VERSION_FIRST,
	};
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	const struct tracked_row *b = before ? before : &after_all;
	int r = db_row(db, &st, sql[scope], "iiiii", (int64_t)of, b->rank, b->step, id_in(scope, b), step);

	return read_one(st, r, ret);
}

static int read_step(sqlite3_stmt *st, int r, int64_t *ret)
{
	if (r == 1)
		*ret = sqlite3_column_int64(st, 0);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

int tracked_step_above(struct db *db, enum tracked_scope scope, uint64_t of, int64_t step, int64_t *ret)
{
	static const char *const sql[] = {
		[TRACKED_RUN] = "SELECT step FROM tracked " OF_RUN " AND step>=?2 ORDER BY step LIMIT 1",
		[TRACKED_DIR] = "SELECT step FROM tracked " OF_DIR " AND step>=?2 ORDER BY step LIMIT 1",
		[TRACKED_EXPERIMENT] = "SELECT v.step " VERSIONS " AND v.step>=?2 ORDER BY v.step LIMIT 1",
		[TRACKED_REMOVED] = "SELECT v.step " REMOVED " AND v.step>=?2 ORDER BY v.step LIMIT 1",
	};
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, sql[scope], "ii", (int64_t)of, MAX(step, 0));

	return read_step(st, r, ret);
}

int tracked_step_below(struct db *db, enum tracked_scope scope, uint64_t of, int64_t step, int64_t *ret)
{
	static const char *const sql[] = {
		[TRACKED_RUN] = "SELECT step FROM tracked " OF_RUN " AND step BETWEEN 0 AND ?2 ORDER BY step DESC LIMIT 1",
		[TRACKED_DIR] = "SELECT step FROM tracked " OF_DIR " AND step BETWEEN 0 AND ?2 ORDER BY step DESC LIMIT 1",
		[TRACKED_EXPERIMENT] = "SELECT v.step " VERSIONS " AND v.step BETWEEN 0 AND ?2 ORDER BY v.step DESC LIMIT 1",
		[TRACKED_REMOVED] = "SELECT v.step " REMOVED " AND v.step BETWEEN 0 AND ?2 ORDER BY v.step DESC LIMIT 1",
	};
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, sql[scope], "ii", (int64_t)of, step);

	return read_step(st, r, ret);
}

static int read_name(sqlite3_stmt *st, int col, char ret[static TRACKED_NAME])
{
	int n = sqlite3_column_bytes(st, col);

	if (n >= TRACKED_NAME)
		return -EUCLEAN;
	if (n > 0)
		memcpy(ret, sqlite3_column_blob(st, col), (size_t)n);
	ret[n] = 0;
	return 0;
}

/* Gives each row of a query of COLUMNS and name to f. */
static int each(struct db *db, sqlite3_stmt *st, int r, tracked_fn f, void *arg)
{
	for (; r == 1; r = db_next(db, st)) {
		struct tracked_row row;
		char name[TRACKED_NAME];

		read_row(st, &row);
		r = read_name(st, COLUMN_NAME, name);
		if (r == 0)
			r = f(arg, &row, name);
		if (r != 0)
			return r;
	}
	return r;
}

int tracked_list(struct db *db, uint64_t parent, tracked_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT " COLUMNS ", name FROM tracked WHERE parent=?1 ORDER BY name", "i",
		       (int64_t)parent);

	return each(db, st, r, f, arg);
}

int tracked_list_dirs(struct db *db, uint64_t parent, tracked_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT " COLUMNS ", name FROM tracked WHERE parent=?1 AND is_dir AND role=0 ORDER BY name",
		       "i", (int64_t)parent);

	return each(db, st, r, f, arg);
}

int tracked_list_incomplete(struct db *db, uint64_t run, tracked_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT " COLUMNS ", name FROM tracked WHERE run=?1 AND role=4 AND ino IS NOT NULL"
		       " AND (good IS NULL OR head IS NULL OR good<>head)", "i", (int64_t)run);

	return each(db, st, r, f, arg);
}

int tracked_list_role(struct db *db, uint64_t run, int role, bool there, tracked_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT " COLUMNS ", name FROM tracked WHERE run=?1 AND role=?2 AND role<>0 AND"
		       " (ino IS NOT NULL)=?3 ORDER BY id", "iii", (int64_t)run, (int64_t)role, (int64_t)there);

	return each(db, st, r, f, arg);
}

int tracked_list_steps(struct db *db, uint64_t run, tracked_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT " COLUMNS ", name FROM tracked " OF_RUN " AND step>=0 ORDER BY step, parent, name",
		       "i", (int64_t)run);

	return each(db, st, r, f, arg);
}

int tracked_list_lost(struct db *db, uint64_t run, uint64_t after, struct tracked_row *ret, int max)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE run=?1 AND role=4 AND role<>0 AND id>?2 AND ino IS NULL AND good IS NULL ORDER BY id",
		       "ii", (int64_t)run, (int64_t)after);
	int n = 0;

	for (; r == 1 && n < max; r = db_next(db, st))
		read_row(st, &ret[n++]);
	return r < 0 ? r : n;
}

int tracked_any_role(struct db *db, uint64_t run)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;

	return db_row(db, &st, "SELECT 1 FROM tracked WHERE run=?1 AND role<>0 LIMIT 1", "i", (int64_t)run);
}

int tracked_judge_again(struct db *db, uint64_t parent, uint64_t changed)
{
	return db_run(db, "UPDATE tracked SET changed=?2 WHERE parent=?1 AND is_dir AND role=4 AND good IS NULL"
		      " AND ino IS NOT NULL", "ii", (int64_t)parent, (int64_t)changed);
}

int tracked_leave_line(struct db *db, uint64_t run, uint64_t load)
{
	return db_run(db, "UPDATE tracked SET off=?2 WHERE run=?1 AND role=4 AND role<>0 AND good IS NOT NULL", "ii", (int64_t)run,
		      (int64_t)load);
}

int tracked_keep_on_line(struct db *db, uint64_t run, uint64_t from, int64_t rank)
{
	return db_run(db,
		      "UPDATE tracked SET off=NULL WHERE run=?1 AND role=4 AND role<>0 AND good IS NOT NULL AND rank<=?3"
		      " AND (SELECT v.begin FROM version v WHERE v.id=tracked.good)>=?2",
		      "iii", (int64_t)run, (int64_t)from, rank);
}

int moved_put(struct db *db, uint64_t dir)
{
	return db_run(db, "INSERT OR IGNORE INTO moved VALUES(?1)", "i", (int64_t)dir);
}

int moved_delete(struct db *db, uint64_t dir)
{
	return db_run(db, "DELETE FROM moved WHERE ino=?1", "i", (int64_t)dir);
}

int moved_first(struct db *db, uint64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT ino FROM moved LIMIT 1", "");

	if (r == 1)
		*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}
