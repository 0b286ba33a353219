#include "meta/version.h"

#include <stdio.h>
#include <string.h>

#include "meta/db.h"
#include "meta/metric.h"
#include "meta/weights.h"

#define COLUMNS "id, tracked, n, is_dir, object, size, mode, mtime, until, gone, complete, step, rank, uid, gid, begin, experiment"
#define SELECT "SELECT " COLUMNS " FROM version "

static void read_row(sqlite3_stmt *st, struct version_row *ret)
{
	*ret = (struct version_row){
		.id = (uint64_t)sqlite3_column_int64(st, 0),
		.tracked = (uint64_t)sqlite3_column_int64(st, 1),
		.n = (uint64_t)sqlite3_column_int64(st, 2),
		.is_dir = sqlite3_column_int(st, 3),
		.object = (uint64_t)sqlite3_column_int64(st, 4),
		.size = (uint64_t)sqlite3_column_int64(st, 5),
		.mode = (uint32_t)sqlite3_column_int64(st, 6),
		.mtime = sqlite3_column_int64(st, 7),
		.until = (uint64_t)sqlite3_column_int64(st, 8),
		.gone = sqlite3_column_int(st, 9),
		.complete = sqlite3_column_type(st, 10) == SQLITE_NULL ? VERSION_UNJUDGED : sqlite3_column_int(st, 10),
		.step = sqlite3_column_int64(st, 11),
		.rank = sqlite3_column_int64(st, 12),
		.uid = (uint32_t)sqlite3_column_int64(st, 13),
		.gid = (uint32_t)sqlite3_column_int64(st, 14),
		.begin = (uint64_t)sqlite3_column_int64(st, 15),
		.experiment = (uint64_t)sqlite3_column_int64(st, 16),
	};
}

static int read_one(sqlite3_stmt *st, int r, struct version_row *ret)
{
	if (r == 1)
		read_row(st, ret);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

int version_insert(struct db *db, const struct version_row *v)
{
	return db_run(db,
		      "INSERT INTO version(" COLUMNS ") VALUES(?1, ?2, ?3, ?4, nullif(?5, 0), ?6, ?7, ?8, nullif(?9, 0),"
		      " ?10, nullif(?11, -1), ?12, ?13, ?14, ?15, ?16, nullif(?17, 0))",
		      "iiiiiiiiiiiiiiiii", (int64_t)v->id, (int64_t)v->tracked, (int64_t)v->n, (int64_t)v->is_dir,
		      (int64_t)v->object, (int64_t)v->size, (int64_t)v->mode, v->mtime, (int64_t)v->until,
		      (int64_t)v->gone, (int64_t)v->complete, v->step, v->rank, (int64_t)v->uid, (int64_t)v->gid,
		      (int64_t)v->begin, (int64_t)v->experiment);
}

int version_get(struct db *db, uint64_t id, struct version_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE id=?1", "i", (int64_t)id);

	return read_one(st, r, ret);
}

int version_update(struct db *db, const struct version_row *v)
{
	return db_run(db,
		      "UPDATE version SET object=nullif(?2, 0), size=?3, mode=?4, mtime=?5, until=nullif(?6, 0),"
		      " gone=?7, complete=nullif(?8, -1), step=?9, rank=?10, uid=?11, gid=?12, begin=?13 WHERE id=?1",
		      "iiiiiiiiiiiii", (int64_t)v->id, (int64_t)v->object, (int64_t)v->size, (int64_t)v->mode, v->mtime,
		      (int64_t)v->until, (int64_t)v->gone, (int64_t)v->complete, v->step, v->rank, (int64_t)v->uid,
		      (int64_t)v->gid, (int64_t)v->begin);
}

int version_set_experiment(struct db *db, uint64_t id, uint64_t experiment)
{
	db->checkpoints = true;
	return db_run(db, "UPDATE version SET experiment=nullif(?2, 0) WHERE id=?1", "ii", (int64_t)id, (int64_t)experiment);
}

int version_delete(struct db *db, uint64_t id)
{
	int r = db_run(db, "DELETE FROM member WHERE version=?1", "i", (int64_t)id);

	if (r == 0)
		r = db_run(db, "DELETE FROM due WHERE version=?1", "i", (int64_t)id);
	if (r == 0)
		r = db_run(db, "DELETE FROM event WHERE version=?1", "i", (int64_t)id);
	if (r == 0)
		r = db_run(db, "UPDATE line SET version=NULL WHERE version=?1", "i", (int64_t)id);
	if (r == 0)
		r = weights_forget_version(db, id);
	if (r == 0)
		r = metric_clear(db, id);
	if (r == 0) /* of one that was judged it is news */
		r = db_run(db, "UPDATE version SET complete=0 WHERE id=?1 AND complete=1", "i", (int64_t)id);
	db->checkpoints = db->checkpoints || sqlite3_changes(db->sql) > 0;
	return r < 0 ? r : db_run(db, "DELETE FROM version WHERE id=?1", "i", (int64_t)id);
}

int version_by_n(struct db *db, uint64_t tracked, uint64_t n, struct version_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE tracked=?1 AND n=?2", "ii", (int64_t)tracked, (int64_t)n);

	return read_one(st, r, ret);
}

int version_before(struct db *db, uint64_t tracked, uint64_t n, struct version_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE tracked=?1 AND n<?2 ORDER BY n DESC LIMIT 1", "ii", (int64_t)tracked,
		       (int64_t)n);

	return read_one(st, r, ret);
}

int version_of_object(struct db *db, uint64_t object, uint64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT id FROM version WHERE object=?1 UNION ALL SELECT version FROM member WHERE object=?1 LIMIT 1",
		       "i", (int64_t)object);

	if (r == 1)
		*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

int version_before_with(struct db *db, const struct version_row *v, struct version_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE object=?1 AND id<?2 ORDER BY tracked=?3, id DESC LIMIT 1", "iii", (int64_t)v->object,
		       (int64_t)v->id, (int64_t)v->tracked);

	return read_one(st, r, ret);
}

int version_back(struct db *db, const struct version_row *v, uint64_t object, unsigned look, struct version_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT " COLUMNS " FROM (" SELECT "WHERE tracked=?1 AND n<?2 ORDER BY n DESC LIMIT ?3) p"
		       " WHERE experiment IS NOT NULL AND complete=1 AND is_dir=?4 AND (object=?5 OR (is_dir AND EXISTS"
		       " (SELECT 1 FROM member m WHERE m.version=p.id AND m.object=?5))) LIMIT 1",
		       "iiiii", (int64_t)v->tracked, (int64_t)v->n, (int64_t)look, (int64_t)v->is_dir, (int64_t)object);

	return read_one(st, r, ret);
}

int version_replace_object(struct db *db, uint64_t object, uint64_t by)
{
	return db_run(db, "UPDATE version SET object=nullif(?2, 0) WHERE object=?1", "ii", (int64_t)object, (int64_t)by);
}

int version_move(struct db *db, uint64_t tracked, uint64_t to)
{
	return db_run(db, "UPDATE version SET tracked=?2 WHERE tracked=?1", "ii", (int64_t)tracked, (int64_t)to);
}

/* The last one of a path up to a commit: numbers of versions and of commits grow together. */
#define LAST(tracked_id, at) \
	"(SELECT l.id FROM version l WHERE l.tracked=" tracked_id " AND l.id<=" at " ORDER BY l.n DESC LIMIT 1)"

#define NAMED                                                                                                      \
	"SELECT v.id, tracked, v.n, v.is_dir, object, size, v.mode, mtime, until, gone, complete, v.step, v.rank, v.uid," \
	" v.gid, begin, experiment, t.parent, t.name "

/* Gives each row of a query of NAMED to f. */
static int each_named(struct db *db, sqlite3_stmt *st, int r, version_named_fn f, void *arg)
{
	for (; r == 1; r = db_next(db, st)) {
		struct version_row row;

		read_row(st, &row);
		r = f(arg, &row, (uint64_t)sqlite3_column_int64(st, 17), sqlite3_column_blob(st, 18),
		      (size_t)sqlite3_column_bytes(st, 18));
		if (r != 0)
			return r;
	}
	return r;
}

int version_list_in_force(struct db *db, uint64_t run, int role, uint64_t at, version_named_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       NAMED "FROM tracked t CROSS JOIN version v ON v.id=" LAST("t.id", "?3")
		       " WHERE t.run=?1 AND t.role=?2 AND t.role<>0 AND (v.gone=0 OR v.until>?3)",
		       "iii", (int64_t)run, (int64_t)role, (int64_t)at);

	return each_named(db, st, r, f, arg);
}

int version_list_changes(struct db *db, uint64_t run, int role, uint64_t from, uint64_t to, version_change_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "WITH v AS (SELECT v.id, v.until FROM tracked t CROSS JOIN version v ON v.tracked=t.id"
		       " WHERE t.run=?1 AND t.role=?2 AND t.role<>0)"
		       " SELECT id FROM v WHERE id>?3 AND id<?4 UNION SELECT until FROM v WHERE until>?3 AND until<?4 ORDER BY 1",
		       "iiii", (int64_t)run, (int64_t)role, (int64_t)from, (int64_t)to);

	for (; r == 1; r = db_next(db, st)) {
		r = f(arg, (uint64_t)sqlite3_column_int64(st, 0));
		if (r != 0)
			return r;
	}
	return r;
}

#define SAME_CONTENT(a, b)                                                                                             \
	a ".is_dir=" b ".is_dir AND " a ".size=" b ".size AND " a ".object IS " b ".object"                               \
	" AND NOT EXISTS (SELECT name, object FROM member WHERE version=" a ".id EXCEPT"                                  \
	" SELECT name, object FROM member WHERE version=" b ".id)"                                                        \
	" AND NOT EXISTS (SELECT name, object FROM member WHERE version=" b ".id EXCEPT"                                  \
	" SELECT name, object FROM member WHERE version=" a ".id)"

int version_same_content(struct db *db, uint64_t a, uint64_t b)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;

	return db_row(db, &st, "SELECT 1 FROM version a JOIN version b ON b.id=?2 WHERE a.id=?1 AND " SAME_CONTENT("a", "b"), "ii",
		      (int64_t)a, (int64_t)b);
}

int version_list(struct db *db, uint64_t tracked, version_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE tracked=?1 ORDER BY n", "i", (int64_t)tracked);

	for (; r == 1; r = db_next(db, st)) {
		struct version_row row;

		read_row(st, &row);
		r = f(arg, &row);
		if (r != 0)
			return r;
	}
	return r;
}

int version_in_force(struct db *db, uint64_t tracked, uint64_t at, struct version_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE id=" LAST("?1", "?2") " AND (gone=0 OR until>?2)", "ii",
		       (int64_t)tracked, (int64_t)at);

	return read_one(st, r, ret);
}

int version_counts_until(struct db *db, const struct version_row *v, uint64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r;

	*ret = v->until;
	if (v->gone || !v->until)
		return 0;
	r = db_row(db, &st, "SELECT id FROM version WHERE tracked=?1 AND n>?2 ORDER BY n LIMIT 1", "ii", (int64_t)v->tracked,
		   (int64_t)v->n);
	*ret = r == 1 ? (uint64_t)sqlite3_column_int64(st, 0) : 0;
	return MIN(r, 0);
}

#define OF_EXPERIMENT "FROM version v CROSS JOIN tracked t ON t.id=v.tracked WHERE v.experiment=?1 AND v.complete=1"

#define IS_THERE \
	"t.ino IS NOT NULL AND NOT EXISTS (SELECT 1 FROM version g WHERE g.tracked=v.tracked AND g.n>=v.n AND g.gone)"

/* The rank of the one of which v is a copy, or that was loaded as it: the first one with that content, unless that is its own run's. Of
 * directories the step alone finds it by index. */
#define FIRST_ELSEWHERE(same)                                                                                      \
	"(SELECT iif(f.run<>t.run, o.rank, NULL) FROM version o JOIN tracked f ON f.id=o.tracked WHERE " same         \
	" AND o.experiment=v.experiment AND o.complete=1 AND o.id<v.id ORDER BY o.id LIMIT 1)"
#define ORIGINAL                                                                                                           \
	"iif(v.is_dir AND v.step>=0, " FIRST_ELSEWHERE("o.step=v.step AND " SAME_CONTENT("o", "v")) ", " FIRST_ELSEWHERE( \
		"o.object=v.object") ")"

#define AGE "iif(t.run=?3, v.rank, coalesce(" ORIGINAL ", v.rank))"
#define NEWEST_FIRST "t.run=?3 DESC, " AGE " DESC, iif(t.run=?3, 1, " ORIGINAL " IS NULL) DESC, v.rank DESC, v.id DESC"

int version_last_of_experiment(struct db *db, uint64_t experiment, int64_t step, uint64_t run, bool only_own,
			       struct version_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       SELECT "WHERE id=(SELECT v.id " OF_EXPERIMENT " AND (?2<0 OR v.step=?2) AND (NOT ?4 OR t.run=?3) ORDER BY "
		       IS_THERE " DESC, " NEWEST_FIRST " LIMIT 1)",
		       "iiii", (int64_t)experiment, step, (int64_t)run, (int64_t)only_own);

	return read_one(st, r, ret);
}

int version_list_of_step(struct db *db, uint64_t experiment, int64_t step, uint64_t run, bool only_own, version_named_fn f,
			 void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, NAMED OF_EXPERIMENT " AND v.step=?2 AND (NOT ?4 OR t.run=?3) AND " IS_THERE " ORDER BY " NEWEST_FIRST,
		       "iiii", (int64_t)experiment, step, (int64_t)run, (int64_t)only_own);

	return each_named(db, st, r, f, arg);
}

int version_list_steps(struct db *db, uint64_t experiment, step_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT DISTINCT v.step " OF_EXPERIMENT " AND v.step>=0 ORDER BY v.step", "i",
		       (int64_t)experiment);

	for (; r == 1; r = db_next(db, st)) {
		r = f(arg, sqlite3_column_int64(st, 0));
		if (r != 0)
			return r;
	}
	return r;
}

static void read_member(sqlite3_stmt *st, struct member_row *ret)
{
	*ret = (struct member_row){
		.object = (uint64_t)sqlite3_column_int64(st, 0),
		.size = (uint64_t)sqlite3_column_int64(st, 1),
		.mode = (uint32_t)sqlite3_column_int64(st, 2),
		.mtime = sqlite3_column_int64(st, 3),
		.uid = (uint32_t)sqlite3_column_int64(st, 4),
		.gid = (uint32_t)sqlite3_column_int64(st, 5),
	};
}

struct member_row member_of(const struct inode_row *row)
{
	return (struct member_row){ .object = row->object, .size = row->size, .mode = row->mode & 07777, .uid = row->uid,
				    .gid = row->gid, .mtime = row->mtime };
}

int member_insert(struct db *db, uint64_t version, const struct member_row *m, const char *name)
{
	return db_run(db, "INSERT INTO member(version, name, object, size, mode, mtime, uid, gid) VALUES(?1, ?2,"
		      " nullif(?3, 0), ?4, ?5, ?6, ?7, ?8)", "ibiiiiii", (int64_t)version, name, strlen(name), (int64_t)m->object, (int64_t)m->size,
		      (int64_t)m->mode, m->mtime, (int64_t)m->uid, (int64_t)m->gid);
}

int member_update(struct db *db, uint64_t version, const struct member_row *m, const char *name)
{
	return db_run(db, "UPDATE member SET mode=?3, mtime=?4, uid=?5, gid=?6 WHERE version=?1 AND name=?2", "ibiiii",
		      (int64_t)version, name, strlen(name), (int64_t)m->mode, m->mtime, (int64_t)m->uid, (int64_t)m->gid);
}

int member_close(struct db *db, uint64_t version, const char *name, uint32_t mode)
{
	return db_run(db, "UPDATE member SET mode=mode&?3 WHERE version=?1 AND name=?2", "ibi", (int64_t)version, name,
		      strlen(name), (int64_t)mode);
}

int member_close_below(struct db *db, uint64_t version, const char *dir, uint32_t gid, uint32_t same, uint32_t other)
{
	_cleanup_free_ char *from = NULL, *to = NULL;

	if (asprintf(&from, "%s/", dir) < 0 || asprintf(&to, "%s%c", dir, '/' + 1) < 0)
		return -ENOMEM;
	return db_run(db, "UPDATE member SET mode=mode&iif(gid=?4, ?5, ?6) WHERE version=?1 AND name>=?2 AND name<?3", "ibbiii",
		      (int64_t)version, from, strlen(from), to, strlen(to), (int64_t)gid, (int64_t)same, (int64_t)other);
}

int member_move(struct db *db, uint64_t version, uint64_t to)
{
	int r = db_run(db, "DELETE FROM member WHERE version=?1", "i", (int64_t)to);

	return r < 0 ? r : db_run(db, "UPDATE member SET version=?2 WHERE version=?1", "ii", (int64_t)version, (int64_t)to);
}

int member_get(struct db *db, uint64_t version, const char *name, struct member_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT object, size, mode, mtime, uid, gid FROM member WHERE version=?1 AND name=?2", "ib",
		       (int64_t)version, name, strlen(name));

	if (r == 1)
		read_member(st, ret);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

static char *member_name(sqlite3_stmt *st)
{
	return strndup(sqlite3_column_blob(st, 6), (size_t)sqlite3_column_bytes(st, 6));
}

static int read_named_member(sqlite3_stmt *st, int r, struct member_row *ret, char **ret_name)
{
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	read_member(st, ret);
	*ret_name = member_name(st);
	return *ret_name ? 0 : -ENOMEM;
}

int member_at(struct db *db, uint64_t version, uint64_t place, struct member_row *ret, char **ret_name)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT object, size, mode, mtime, uid, gid, name FROM member WHERE version=?1 ORDER BY name"
		       " LIMIT 1 OFFSET ?2",
		       "ii", (int64_t)version, (int64_t)place);

	return read_named_member(st, r, ret, ret_name);
}

int member_largest(struct db *db, uint64_t version, struct member_row *ret, char **ret_name)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT object, size, mode, mtime, uid, gid, name FROM member WHERE version=?1 ORDER BY size DESC, name LIMIT 1",
		       "i", (int64_t)version);

	return read_named_member(st, r, ret, ret_name);
}

int member_place(struct db *db, uint64_t version, const char *name, uint64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT count(*) FROM member WHERE version=?1 AND name<?2", "ib", (int64_t)version, name,
		       strlen(name));

	if (r == 1)
		*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return MIN(r, 0);
}

int member_list(struct db *db, uint64_t version, member_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT object, size, mode, mtime, uid, gid, name FROM member WHERE version=?1 ORDER BY name", "i",
		       (int64_t)version);

	for (; r == 1; r = db_next(db, st)) {
		_cleanup_free_ char *name = NULL;
		struct member_row row;

		read_member(st, &row);
		name = member_name(st);
		if (!name)
			return -ENOMEM;
		r = f(arg, &row, name);
		if (r != 0)
			return r;
	}
	return r;
}
