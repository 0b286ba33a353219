#include "meta/weights.h"

#include <stdio.h>
#include <string.h>

#include "meta/db.h"

int weights_get(struct db *db, uint64_t object, struct weights_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	_cleanup_weights_row_ struct weights_row row = { .object = object };
	size_t len;
	int r = db_row(db, &st, "SELECT seal, n, parts, why, digests FROM weights WHERE object=?1", "i", (int64_t)object);

	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	len = (size_t)sqlite3_column_bytes(st, 4);
	row.seal = (uint64_t)sqlite3_column_int64(st, 0);
	row.n = (uint64_t)sqlite3_column_int64(st, 1);
	row.done = MIN(len / WEIGHTS_DIGEST, row.n);
	row.parts = (unsigned)sqlite3_column_int64(st, 2);
	row.digests = malloc(len + 1);
	if (!row.digests)
		return -ENOMEM;
	if (len > 0)
		memcpy(row.digests, sqlite3_column_blob(st, 4), len);
	if (sqlite3_column_type(st, 3) != SQLITE_NULL) {
		const char *why = (const char *)sqlite3_column_text(st, 3);

		row.why = strdup(why ? why : "");
		if (!row.why)
			return -ENOMEM;
	}
	*ret = row;
	row = (struct weights_row){ 0 };
	return 0;
}

void weights_row_free(struct weights_row *row)
{
	free(row->why);
	free(row->digests);
	*row = (struct weights_row){ 0 };
}

int weights_put(struct db *db, const struct weights_row *row)
{
	return db_run(db,
		      "INSERT OR REPLACE INTO weights SELECT ?1, ?2, ?3, ?4, CAST(?5 AS TEXT), ?6 WHERE EXISTS"
		      " (SELECT 1 FROM object WHERE id=?1 AND state=1 AND seal=?2)",
		      "iiiibb", (int64_t)row->object, (int64_t)row->seal, (int64_t)row->n, (int64_t)row->parts,
		      (const void *)row->why, row->why ? strlen(row->why) : 0,
		      (const void *)(row->done ? row->digests : (void *)""), (size_t)row->done * WEIGHTS_DIGEST);
}

int unread_put(struct db *db, uint64_t version)
{
	db->unread = true;
	return db_run(db, "INSERT OR IGNORE INTO unread VALUES(?1)", "i", (int64_t)version);
}

int unread_next(struct db *db, uint64_t after, uint64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT version FROM unread WHERE version>?1 ORDER BY version LIMIT 1", "i", (int64_t)after);

	if (r == 1)
		*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

int unread_delete(struct db *db, uint64_t version)
{
	return db_run(db, "DELETE FROM unread WHERE version=?1", "i", (int64_t)version);
}

#define HOLDS "SELECT version, run, step, epoch, parts, model, held, other FROM holds "

static void read_holds(sqlite3_stmt *st, struct holds_row *ret)
{
	*ret = (struct holds_row){
		.version = (uint64_t)sqlite3_column_int64(st, 0),
		.run = (uint64_t)sqlite3_column_int64(st, 1),
		.step = sqlite3_column_int64(st, 2),
		.epoch = sqlite3_column_int64(st, 3),
		.parts = (unsigned)sqlite3_column_int64(st, 4),
		.told = sqlite3_column_bytes(st, 5) == WEIGHTS_DIGEST,
		.other = (uint64_t)sqlite3_column_int64(st, 7),
	};
	if (sqlite3_column_type(st, 6) != SQLITE_NULL)
		snprintf(ret->held, sizeof(ret->held), "%.*s", sqlite3_column_bytes(st, 6), (const char *)sqlite3_column_text(st, 6));
	if (ret->told)
		memcpy(ret->model, sqlite3_column_blob(st, 5), WEIGHTS_DIGEST);
}

static int read_one(sqlite3_stmt *st, int r, struct holds_row *ret)
{
	if (r == 1)
		read_holds(st, ret);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

static int each(struct db *db, sqlite3_stmt *st, int r, holds_fn f, void *arg)
{
	for (; r == 1; r = db_next(db, st)) {
		struct holds_row row;

		read_holds(st, &row);
		r = f(arg, &row);
		if (r != 0)
			return r;
	}
	return r;
}

int holds_put(struct db *db, const struct holds_row *row)
{
	return db_run(db, "INSERT OR REPLACE INTO holds VALUES(?1, ?2, ?3, ?4, ?5, ?6, CAST(?7 AS TEXT), nullif(?8, 0))", "iiiiibbi",
		      (int64_t)row->version, (int64_t)row->run, row->step, row->epoch, (int64_t)row->parts,
		      (const void *)(row->told ? row->model : NULL), (size_t)(row->told ? WEIGHTS_DIGEST : 0),
		      (const void *)(*row->held ? row->held : NULL), strlen(row->held), (int64_t)row->other);
}

int holds_get(struct db *db, uint64_t version, struct holds_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;

	return read_one(st, db_row(db, &st, HOLDS "WHERE version=?1", "i", (int64_t)version), ret);
}

int weights_forget_version(struct db *db, uint64_t version)
{
	int r = unread_delete(db, version);

	return r < 0 ? r : db_run(db, "DELETE FROM holds WHERE version=?1", "i", (int64_t)version);
}

#define LABELLED(label) HOLDS "WHERE run=?1 AND " label "=?2 AND " label ">=0 AND model IS NOT NULL ORDER BY version"

int holds_first_labelled(struct db *db, uint64_t run, enum label kind, int64_t label, struct holds_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	const char *sql = kind == LABEL_STEP ? LABELLED("step") " LIMIT 1" : LABELLED("epoch") " LIMIT 1";

	return read_one(st, db_row(db, &st, sql, "ii", (int64_t)run, label), ret);
}

int holds_last_labelled(struct db *db, uint64_t run, enum label kind, int64_t label, struct holds_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	const char *sql = kind == LABEL_STEP ? LABELLED("step") " DESC LIMIT 1" : LABELLED("epoch") " DESC LIMIT 1";

	return read_one(st, db_row(db, &st, sql, "ii", (int64_t)run, label), ret);
}

int holds_list_labelled(struct db *db, uint64_t run, enum label kind, int64_t label, holds_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, kind == LABEL_STEP ? LABELLED("step") : LABELLED("epoch"), "ii", (int64_t)run, label);

	return each(db, st, r, f, arg);
}

int holds_before(struct db *db, uint64_t run, uint64_t version, struct holds_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, HOLDS "WHERE run=?1 AND version<?2 AND model IS NOT NULL ORDER BY version DESC LIMIT 1", "ii",
		       (int64_t)run, (int64_t)version);

	return read_one(st, r, ret);
}

int holds_after(struct db *db, uint64_t run, uint64_t version, struct holds_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, HOLDS "WHERE run=?1 AND version>?2 AND model IS NOT NULL ORDER BY version LIMIT 1", "ii",
		       (int64_t)run, (int64_t)version);

	return read_one(st, r, ret);
}

int holds_first_with(struct db *db, uint64_t run, enum label kind, const uint8_t model[WEIGHTS_DIGEST], struct holds_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r;

	if (kind == LABEL_STEP)
		r = db_row(db, &st, HOLDS "WHERE run=?1 AND model=?2 AND step>=0 ORDER BY version LIMIT 1", "ib", (int64_t)run,
			   (const void *)model, (size_t)WEIGHTS_DIGEST);
	else
		r = db_row(db, &st, HOLDS "WHERE run=?1 AND model=?2 AND epoch>=0 ORDER BY version LIMIT 1", "ib", (int64_t)run,
			   (const void *)model, (size_t)WEIGHTS_DIGEST);
	return read_one(st, r, ret);
}

int holds_set_other(struct db *db, const struct holds_row *like, enum label kind, uint64_t other, const char *held)
{
	if (kind == LABEL_STEP)
		return db_run(db, "UPDATE holds SET other=?4, held=CAST(?5 AS TEXT) WHERE run=?1 AND model=?2 AND step=?3", "ibiib", (int64_t)like->run,
			      (const void *)like->model, (size_t)WEIGHTS_DIGEST, like->step, (int64_t)other,
			      (const void *)held, strlen(held));
	return db_run(db, "UPDATE holds SET other=?4, held=CAST(?5 AS TEXT) WHERE run=?1 AND model=?2 AND epoch=?3", "ibiib", (int64_t)like->run,
		      (const void *)like->model, (size_t)WEIGHTS_DIGEST, like->epoch, (int64_t)other,
		      (const void *)held, strlen(held));
}

int holds_list_wrong(struct db *db, uint64_t run, holds_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, HOLDS "WHERE held IS NOT NULL AND run=?1 ORDER BY version", "i", (int64_t)run);

	return each(db, st, r, f, arg);
}

int holds_list_wrong_of(struct db *db, uint64_t experiment, holds_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT h.version, h.run, h.step, h.epoch, h.parts, h.model, h.held, h.other FROM version v CROSS JOIN holds h"
		       " ON h.version=v.id WHERE v.experiment=?1 AND v.complete=1 AND h.held IS NOT NULL ORDER BY h.version",
		       "i", (int64_t)experiment);

	return each(db, st, r, f, arg);
}

int holds_list_model(struct db *db, const uint8_t model[WEIGHTS_DIGEST], holds_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, HOLDS "WHERE model=?1 ORDER BY version", "b", (const void *)model, (size_t)WEIGHTS_DIGEST);

	return each(db, st, r, f, arg);
}

#define LAST(label) \
	"SELECT max(" label ") FROM holds WHERE run=?1 AND " label ">=0 AND (SELECT begin FROM version WHERE id=version)>=?2"

int holds_last_label(struct db *db, uint64_t run, uint64_t since, enum label kind, int64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, kind == LABEL_STEP ? LAST("step") : LAST("epoch"), "ii", (int64_t)run, (int64_t)since);

	if (r != 1 || sqlite3_column_type(st, 0) == SQLITE_NULL)
		return r < 0 ? r : -ENOENT;
	*ret = sqlite3_column_int64(st, 0);
	return 0;
}

#define TO_RESUME(label)                                                                                                   \
	HOLDS "WHERE run=?1 AND " label ">=0 AND " label "<?3 AND model IS NOT NULL AND held IS NULL AND parts & ?4=?4 AND (SELECT" \
	      " experiment FROM version WHERE id=version)=?2 ORDER BY " label " DESC, version DESC LIMIT 1"

int holds_to_resume(struct db *db, uint64_t run, uint64_t experiment, enum label kind, int64_t below, unsigned parts,
		    struct holds_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r;

	if (kind == LABEL_STEP)
		r = db_row(db, &st, TO_RESUME("step"), "iiii", (int64_t)run, (int64_t)experiment, below, (int64_t)parts);
	else
		r = db_row(db, &st, TO_RESUME("epoch"), "iiii", (int64_t)run, (int64_t)experiment, below, (int64_t)parts);
	return read_one(st, r, ret);
}

int holds_first_of_step(struct db *db, uint64_t experiment, int64_t step, uint64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT v.id FROM version v LEFT JOIN holds h ON h.version=v.id WHERE v.experiment=?1 AND v.step=?2 AND"
		       " v.complete=1 AND h.held IS NULL ORDER BY v.id LIMIT 1",
		       "ii", (int64_t)experiment, step);

	if (r == 1)
		*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

int holds_nearest_other(struct db *db, const struct holds_row *to, struct holds_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL, *after = NULL;
	struct holds_row next;
	int r, r2;

	r = db_row(db, &st, HOLDS "WHERE run=?1 AND version<?2 AND model IS NOT NULL AND model<>?3 ORDER BY version DESC LIMIT 1",
		   "iib", (int64_t)to->run, (int64_t)to->version, (const void *)to->model, (size_t)WEIGHTS_DIGEST);
	r = read_one(st, r, ret);
	if (r < 0 && r != -ENOENT)
		return r;
	r2 = db_row(db, &after, HOLDS "WHERE run=?1 AND version>?2 AND model IS NOT NULL AND model<>?3 ORDER BY version LIMIT 1",
		    "iib", (int64_t)to->run, (int64_t)to->version, (const void *)to->model, (size_t)WEIGHTS_DIGEST);
	r2 = read_one(after, r2, &next);
	if (r2 == 0 && (r == -ENOENT || next.version - to->version < to->version - ret->version)) {
		*ret = next;
		r = 0;
	}
	return r2 < 0 && r2 != -ENOENT ? r2 : r;
}
