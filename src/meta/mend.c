/* An index is made of its table. A table can be made anew, empty, where no name and no
 * content is lost with it that was not lost before; and nothing is if anything else is
 * wrong that can not, for then somebody has to look at the database as it is. */
#include "meta/mend.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "meta/check.h"
#include "meta/db.h"
#include "meta/schema.h"

#define PARTS_MAX 96
#define SPARE_IDS 65536 /* numbers of what is gone again */
#define SEE "see doc/recovery.md, \"The database is damaged\""

static const struct {
	const char *name;
	const char *lost;
	const char *fill; /* SQL that goes with it */
} tables[] = {
	{ "store", "as after a power cut, what was saved last is then read and checked",
	  "INSERT INTO store VALUES('clean', 0), ('session', 0)" },
	{ "xattr", "all extended attributes are lost", NULL },
	{ "undo", "it is not known any more which contents files had before their last save", SCHEMA_KEEP_UNSYNCED },
	{ "tracked", "the versions of all paths are lost", SCHEMA_TRACK_ALL },
	{ "version", "the versions of all paths are lost", NULL },
	{ "member", "the versions of checkpoint directories are lost", NULL },
	{ "ledger", "all selections and what was decided about them are lost", NULL },
	{ "due", "the experiments of some checkpoints are found out again", SCHEMA_ALL_DUE },
	{ "segment", "it is filled from the experiments", SCHEMA_FILL_SEGMENTS },
	{ "experiment", "the experiments of checkpoints are found out again; others are lost",
	  "UPDATE version SET experiment=NULL; DELETE FROM line; " SCHEMA_DERIVE_ALL SCHEMA_ALL_DUE },
	{ "line", "the experiments of checkpoints are found out again; others are lost",
	  "UPDATE version SET experiment=NULL; " SCHEMA_DERIVE_ALL SCHEMA_ALL_DUE },
	{ "root", "it is filled from the paths",
	  "INSERT OR IGNORE INTO root SELECT id, '', NULL, 1 FROM tracked WHERE run=id AND is_dir AND"
	  " name=CAST('checkpoints' AS BLOB)" },
	{ "fork", "what was on other branches of experiment roots is put on the first", "INSERT OR IGNORE INTO moved VALUES(1)" },
	{ "succession", "experiments that were pending may be found on other branches", NULL },
	{ "event", "what was written in experiment roots is read again", SCHEMA_ALL_EVENTS },
	{ "fact", "contents are read again", NULL },
	{ "weights", "contents are read again", NULL },
	{ "unread", "it is filled from the versions", SCHEMA_ALL_UNREAD },
	{ "holds", "the weights of checkpoints are read again", SCHEMA_ALL_UNREAD },
	{ "moved", "some paths may not have their versions and checkpoints", "INSERT OR IGNORE INTO moved VALUES(1)" },
};

/* Of two entries with one name the first keeps it. */
#define FREE_NAMES                                                                                                 \
	"UPDATE dirent SET name=CAST('#' || id AS BLOB) WHERE (parent, id) IN (SELECT parent, id FROM (SELECT parent, id," \
	" row_number() OVER (PARTITION BY parent, name ORDER BY id) AS n FROM dirent) WHERE n>1)"

#define IN_USE(column, table)                                                                       \
	" UNION ALL SELECT max(" column ") FROM " table " WHERE typeof(" column ")='integer' AND " column "<" \
	"?1"

static const char last_id[] =
	"SELECT max(n) FROM (SELECT 1 AS n" IN_USE("ino", "inode") IN_USE("\"order\"", "inode") IN_USE("id", "dirent")
	IN_USE("\"order\"", "dirent") IN_USE("id", "object") IN_USE("seal", "object") IN_USE("old", "undo")
	IN_USE("inode", "undo") IN_USE("id", "tracked") IN_USE("changed", "tracked") IN_USE("id", "version")
	IN_USE("until", "version") IN_USE("begin", "version") IN_USE("begin", "inode") IN_USE("id", "experiment")
	IN_USE("id", "line") IN_USE("at", "line") IN_USE("id", "fork") IN_USE("id", "ledger") ")";

struct mend {
	struct db db;
	const struct schema_part *missing[PARTS_MAX];
	size_t n;
	char foreign[SCHEMA_NAME]; /* or empty */
	int64_t next;
	bool lacks_table;
	bool bad_sequence; /* unknown where a table is lacking */
	bool hopeless;
};

static size_t find_table(const char *name)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(tables) && strcmp(tables[i].name, name) != 0)
		i++;
	return i;
}

static int look_at_parts(struct mend *m)
{
	size_t i = 0;
	int r = 0;

	while (m->n < PARTS_MAX && (r = schema_missing(&m->db, &i, &m->missing[m->n])) == 1) {
		const struct schema_part *p = m->missing[m->n++];

		if (p->is_table && find_table(p->name) == ARRAY_SIZE(tables))
			m->hopeless = true;
		m->lacks_table = m->lacks_table || p->is_table;
	}
	return r;
}

static int look(struct mend *m)
{
	int r = schema_foreign(&m->db, m->foreign);

	if (r == 1)
		m->hopeless = true;
	if (r >= 0)
		r = look_at_parts(m);
	if (r < 0 || m->lacks_table)
		return r;
	r = schema_sequence(&m->db, &m->next);
	m->bad_sequence = r == 0;
	return MIN(r, 0);
}

static int make_part(struct mend *m, const struct schema_part *p)
{
	size_t i = find_table(p->name);
	int r = strcmp(p->name, "dirent_name") == 0 ? db_exec(&m->db, FREE_NAMES) : 0;

	if (r == 0)
		r = db_exec(&m->db, p->sql);
	if (r == 0 && i < ARRAY_SIZE(tables) && tables[i].fill)
		r = db_exec(&m->db, tables[i].fill);
	return r;
}

static int set_sequence(struct mend *m)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(&m->db, &st, last_id, "i", (int64_t)META_ID_MAX);
	int64_t next;

	if (r != 1)
		return MIN(r, 0);
	next = sqlite3_column_int64(st, 0) + SPARE_IDS;
	return next <= META_ID_MAX ? meta_set_value(&m->db, "next_id", next) : -EUCLEAN;
}

static int mend(struct mend *m)
{
	int r = db_begin(&m->db);

	for (size_t i = 0; i < m->n && r == 0; i++)
		r = make_part(m, m->missing[i]);
	if (r == 0 && (m->bad_sequence || m->lacks_table))
		r = set_sequence(m);
	if (r == 0)
		r = db_commit(&m->db);
	db_end(&m->db);
	return r;
}

static void tell_part(const struct mend *m, const struct schema_part *p, bool mended, mend_fn f, void *arg)
{
	size_t i = find_table(p->name);
	char text[256];

	if (!p->is_table)
		snprintf(text, sizeof(text), "index %s is missing%s", p->name, m->hopeless || mended ? "" : "; --repair makes it");
	else if (i == ARRAY_SIZE(tables))
		snprintf(text, sizeof(text), "table %s is missing, and nothing can replace it; " SEE, p->name);
	else
		snprintf(text, sizeof(text), "table %s is missing; %s%s", p->name,
			 m->hopeless || mended ? "" : "--repair makes an empty one: ", tables[i].lost);
	f(arg, text, mended);
}

static void tell(const struct mend *m, bool mended, mend_fn f, void *arg)
{
	char text[SCHEMA_NAME + 128];

	if (*m->foreign) {
		snprintf(text, sizeof(text), "%s is in it, which is none of expfs; drop it with sqlite3, if you trust the rest",
			 m->foreign);
		f(arg, text, false);
	}
	for (size_t i = 0; i < m->n; i++)
		tell_part(m, m->missing[i], mended, f, arg);
	if (m->bad_sequence) {
		snprintf(text, sizeof(text), "next number (%" PRId64 ") is not beyond those in use", m->next);
		f(arg, text, mended);
	}
}

struct structure {
	mend_fn f;
	void *arg;
	bool any;
};

static void on_structure(void *arg, const char *text)
{
	struct structure *s = arg;

	s->any = true;
	s->f(s->arg, text, false);
}

/* 1: the structure is at fault, of which f was told. */
static int look_into(struct mend *m, mend_fn f, void *arg)
{
	struct structure s = { .f = f, .arg = arg };
	int64_t version;
	int r = check_structure(&m->db, on_structure, &s);

	if (r == 0 && !s.any)
		r = schema_version(&m->db, &version);
	if (r == 0 && !s.any)
		r = look(m);
	return r == 0 && s.any ? 1 : r;
}

int mend_database(const char *path, bool repair, mend_fn f, void *arg)
{
	struct mend m = { 0 };
	bool mended = false;
	int r = db_open(NULL, path, false, true, &m.db), r2;

	if (r < 0)
		return r;
	r = look_into(&m, f, arg);
	if (r == 0 && repair && !m.hopeless && (m.n > 0 || m.bad_sequence)) {
		r = mend(&m);
		mended = r == 0;
	}
	r2 = db_close(&m.db);
	if (r == 0)
		r = r2;
	if (r == 0)
		tell(&m, mended, f, arg);
	return MIN(r, 0);
}
