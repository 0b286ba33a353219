#include "meta/experiment.h"

#include <string.h>

#include "meta/db.h"

static void read_text(sqlite3_stmt *st, int col, char *ret, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(st, col);

	ret[0] = 0;
	if (text)
		strncat(ret, text, size - 1);
}

#define SELECT "SELECT id, hash, hp, model, data, parent, time FROM experiment "

static int read_experiment(sqlite3_stmt *st, int r, struct experiment_row *ret)
{
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret = (struct experiment_row){
		.id = (uint64_t)sqlite3_column_int64(st, 0),
		.parent = (uint64_t)sqlite3_column_int64(st, 5),
		.time = sqlite3_column_int64(st, 6),
	};
	read_text(st, 1, ret->hash, sizeof(ret->hash));
	for (int i = 0; i < SEGMENTS; i++)
		read_text(st, 2 + i, ret->segments.digest[i], sizeof(ret->segments.digest[i]));
	return 0;
}

int experiment_get(struct db *db, uint64_t id, struct experiment_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE id=?1", "i", (int64_t)id);

	return read_experiment(st, r, ret);
}

int experiment_by_hash(struct db *db, const char *hash, struct experiment_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE hash=CAST(?1 AS TEXT)", "b", hash, strlen(hash));

	return read_experiment(st, r, ret);
}

int experiment_by_prefix(struct db *db, const char *prefix, struct experiment_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "WHERE hash>=CAST(?1 AS TEXT) AND hash<CAST(?1 AS TEXT) || 'g' LIMIT 2", "b",
		       prefix, strlen(prefix));

	r = read_experiment(st, r, ret);
	if (r < 0)
		return r;
	r = db_next(db, st);
	return r == 1 ? -EEXIST : r;
}

static int each_experiment(struct db *db, sqlite3_stmt *st, int r, experiment_fn f, void *arg)
{
	for (; r == 1; r = db_next(db, st)) {
		struct experiment_row row;

		read_experiment(st, r, &row);
		r = f(arg, &row);
		if (r != 0)
			return r;
	}
	return r;
}

int experiment_list(struct db *db, experiment_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, SELECT "ORDER BY id", "");

	return each_experiment(db, st, r, f, arg);
}

int experiment_list_by_segment(struct db *db, enum segment which, const char *text, experiment_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	size_t n = strlen(text);
	int r;

	/* With the + the value has no affinity, as the expressions that the indexes are of have none. */
	if (which == SEGMENT_HP)
		r = db_row(db, &st, SELECT "WHERE hash>=CAST(?1 AS TEXT) AND hash<CAST(?1 AS TEXT) || 'g'", "b", text, n);
	else if (which == SEGMENT_MODEL)
		r = db_row(db, &st, SELECT "WHERE substr(hash, 9, 8)=+CAST(?1 AS TEXT) ORDER BY id", "b", text, n);
	else
		r = db_row(db, &st, SELECT "WHERE substr(hash, 17, 8)=+CAST(?1 AS TEXT) ORDER BY id", "b", text, n);
	return each_experiment(db, st, r, f, arg);
}

int experiment_insert(struct db *db, const struct experiment_row *e)
{
	const struct segments *s = &e->segments;

	return db_run(db,
		      "INSERT INTO experiment VALUES(?1, CAST(?2 AS TEXT), CAST(?3 AS TEXT), CAST(?4 AS TEXT),"
		      " CAST(?5 AS TEXT), nullif(?6, 0), ?7)",
		      "ibbbbii", (int64_t)e->id, e->hash, strlen(e->hash), s->digest[0], strlen(s->digest[0]), s->digest[1],
		      strlen(s->digest[1]), s->digest[2], strlen(s->digest[2]), (int64_t)e->parent, e->time);
}

int experiment_set_parent(struct db *db, uint64_t id, uint64_t parent)
{
	return db_run(db,
		      "UPDATE experiment SET parent=?2 WHERE id=?1 AND ?1 NOT IN (WITH RECURSIVE up(id) AS (SELECT ?2 UNION"
		      " SELECT e.parent FROM experiment e JOIN up ON e.id=up.id WHERE e.parent IS NOT NULL) SELECT id FROM up)",
		      "ii", (int64_t)id, (int64_t)parent);
}

static int owner_of(struct db *db, enum segment which, const char *text, char ret[SEGMENT_DIGEST + 1])
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT digest FROM segment WHERE kind=?1 AND text=CAST(?2 AS TEXT)", "ib", (int64_t)which,
		       text, (size_t)SEGMENT_LEN);

	if (r == 1)
		read_text(st, 0, ret, SEGMENT_DIGEST + 1);
	return r;
}

int segment_text(struct db *db, enum segment which, const char *digest, bool insert, char ret[SEGMENT_LEN + 1])
{
	char owner[SEGMENT_DIGEST + 1], text[SEGMENT_LEN + 1] = SEGMENT_ABSENT;

	for (size_t at = 0; *digest && at + SEGMENT_LEN <= SEGMENT_DIGEST; at += SEGMENT_LEN) {
		int r;

		memcpy(text, digest + at, SEGMENT_LEN);
		if (!strcmp(text, SEGMENT_ABSENT))
			continue;
		r = owner_of(db, which, text, owner);
		if (r < 0)
			return r;
		if (r == 1 && strcmp(owner, digest) != 0)
			continue;
		if (r == 0 && insert)
			r = db_run(db, "INSERT INTO segment VALUES(?1, CAST(?2 AS TEXT), CAST(?3 AS TEXT))", "ibb",
				   (int64_t)which, text, (size_t)SEGMENT_LEN, digest, (size_t)SEGMENT_DIGEST);
		if (r < 0)
			return r;
		break;
	}
	memcpy(ret, text, sizeof(text));
	return 0;
}

int segment_list_collisions(struct db *db, segment_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT kind, text, digest FROM segment WHERE text<>substr(digest, 1, 8)", "");

	for (; r == 1; r = db_next(db, st)) {
		char text[SEGMENT_LEN + 1], digest[SEGMENT_DIGEST + 1];

		read_text(st, 1, text, sizeof(text));
		read_text(st, 2, digest, sizeof(digest));
		r = f(arg, (enum segment)sqlite3_column_int(st, 0), text, digest);
		if (r != 0)
			return r;
	}
	return r;
}

int due_put(struct db *db, const struct due_row *d)
{
	return db_run(db, "INSERT OR REPLACE INTO due VALUES(?1, ?2, ?3)", "iii", (int64_t)d->version, (int64_t)d->run,
		      (int64_t)d->begin);
}

int due_delete(struct db *db, uint64_t version)
{
	return db_run(db, "DELETE FROM due WHERE version=?1", "i", (int64_t)version);
}

static int read_due(sqlite3_stmt *st, int r, struct due_row *ret)
{
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret = (struct due_row){
		.version = (uint64_t)sqlite3_column_int64(st, 0),
		.run = (uint64_t)sqlite3_column_int64(st, 1),
		.begin = (uint64_t)sqlite3_column_int64(st, 2),
	};
	return 0;
}

int due_get(struct db *db, uint64_t version, struct due_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT version, run, begin FROM due WHERE version=?1", "i", (int64_t)version);

	return read_due(st, r, ret);
}

int due_next(struct db *db, uint64_t run, struct due_row *row)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r;

	if (run)
		r = db_row(db, &st,
			   "SELECT version, run, begin FROM due WHERE run=?1 AND (begin, version)>(?2, ?3)"
			   " ORDER BY begin, version LIMIT 1",
			   "iii", (int64_t)run, (int64_t)row->begin, (int64_t)row->version);
	else
		r = db_row(db, &st,
			   "SELECT version, run, begin FROM due WHERE (begin, version)>(?1, ?2)"
			   " ORDER BY begin, version LIMIT 1",
			   "ii", (int64_t)row->begin, (int64_t)row->version);
	return read_due(st, r, row);
}

int fact_get(struct db *db, uint64_t object, enum fact kind, char **ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	const char *text;
	int r = db_row(db, &st, "SELECT value FROM fact WHERE object=?1 AND kind=?2", "ii", (int64_t)object, (int64_t)kind);

	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	text = (const char *)sqlite3_column_text(st, 0);
	*ret = strdup(text ? text : "");
	return *ret ? 0 : -ENOMEM;
}

int fact_put(struct db *db, uint64_t object, uint64_t seal, enum fact kind, const char *value)
{
	return db_run(db, "INSERT OR REPLACE INTO fact SELECT ?1, ?3, CAST(?4 AS TEXT) WHERE EXISTS"
		      " (SELECT 1 FROM object WHERE id=?1 AND state=1 AND seal=?2)",
		      "iiib", (int64_t)object, (int64_t)seal, (int64_t)kind, value, strlen(value));
}

int fact_forget_hp(struct db *db)
{
	return db_run(db, "DELETE FROM fact WHERE kind IN (0, 1)", "");
}
