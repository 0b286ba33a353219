/* The tables, format 5 (PRAGMA user_version; application_id "expf").
 *
 * All ids come from one sequence, whose upper bound is store.next_id: no id
 * that was ever committed is given twice. Times are ns since 1970. Names and
 * values are blobs: bytes in any encoding.
 *
 *   store    next_id; clean: 1 while no process has the store open for writing;
 *            session: the boot and mount of the disk in which it was last in order
 *            (store_session()); rules: which rules dirent.class was made by; ignored: which keys
 *            facts of configurations do not count
 *   inode    one row a file, directory, link, device. object: id of the
 *            content, NULL for an empty file. target: of a symbolic link.
 *            size, blocks (of 512 bytes), mtime: of a live object (below) the
 *            backing file's own count. order: number of the commit in which the
 *            last writer closed it. flags: 1 closed (a directory: complete), 2 came with an old time,
 *            4 its object is live, 8 it was found to be a MANIFEST, 16 its object came whole from another
 *            file. begin: number of the change that began its content anew
 *   dirent   (parent, id) is the directory's order, id its readdir cookie.
 *            type: as d_type. class: which roles the name alone could have.
 *            order: number of the commit in which the name got that class
 *   xattr    user.*, trusted.*, security.*
 *   object   state 0 live: owned by one inode, changed in place; 1 sealed:
 *            immutable, may be shared, has a digest (XXH3-128). seal: number of
 *            the sealing, 0 while live. synced: 0 nothing of it is known to be on
 *            the disk; 1 content and directory entry, as of that sealing, are; 2 it
 *            was there once and was changed in place since; 3 it is in its first
 *            writing, of which the disk has some state; 4 as 0, and sealed while
 *            somebody could still write (exp/undo.h). verdict: whether the
 *            format says it is whole, NULL until asked (format kind * 2, + 1 if it is)
 *   undo     old: what the content of an inode was before, while its object has
 *            synced 0 or 4 (NULL: empty). No row for such an inode: it is new
 *            (exp/undo.h)
 *
 *   tracked  a path that has or had a role, and the directories above it: parent and
 *            name; ino: what stands there, NULL: nothing any more; run: the tracked
 *            path of the run; n, head: number and id of its last version; changed:
 *            number of the change since which nobody judged whether it is complete; good,
 *            step, rank: of its last complete version, of a checkpoint that is there or whose run
 *            was removed; mode, uid, gid: of a directory when it was removed (mode + 65536: NAME~1
 *            was given to it); off: number of the load that left good off
 *            the branch's line, NULL: it is on it
 *   version  what a tracked path held when its last writer closed it: n counts from 1;
 *            id: number of that commit; until: of the commit that ended it, NULL: it is
 *            there; gone: that took the path away; complete: NULL until judged; step -1:
 *            none; rank: the order of checkpoints; begin: as of the inode, of a directory the least of the
 *            files that were new in it; experiment: that a checkpoint belongs to
 *   member   the files of a version of a directory
 *   moved    directories whose contents are to be tracked anew; removed runs (tracked paths) whose
 *            checkpoints are to get good, step and rank back
 *   metric   of: id of a version; or of an inode: that is set on what it holds now, of which
 *            a version may be made yet. step: at which the value was measured, -1: it was set
 *            by a user. value: NULL is NaN
 *   signal   values that were recorded for a run (its tracked path)
 *   ledger   only added to. run: of a version, but of the first branch of a root at the top 1; kind 0: of, a version, was selected
 *            under the name; 1: it was decided about of, a selection, whose run and name it has; record: JSON
 *
 *   segment  kind 0 HP, 1 MODEL, 2 DATA; text: eight characters, digest: whose they are
 *   experiment  hash: the three texts; hp, model, data: their digests, empty where there is none, or none is
 *            known; parent: the one before it on the line on which it was first
 *   line     a run was in a state from the commit of number at on, which is the order of its line. version: the
 *            checkpoint that made it so; init_step: at which the branch was initialised; flags: 1 a
 *            state that was loaded, 2 the MODEL is that of weights, not of files
 *   root     id: the tracked path of a directory checkpoints/ in WeightsLab's layout, whose run is itself; current: the hash
 *            that its last state file named; guess: the last point of its lines, if nothing told that it belongs there;
 *            listed: 1 once a manifest was read
 *   fork     branches of a root after the first, which has the root's id, numbered from 2; run of what belongs to them
 *   succession  the hash that came before another one, by the first state file that named it, if it was no experiment yet
 *   event    versions in a root that were not read yet
 *   due      versions of which is to be found out to which experiment they belong or, of those that ended, whether their
 *            run records such, in the order of begin
 *   fact     what was found out about a sealed content (meta/experiment.h)
 *
 *   weights  of a sealed content: n tensors, and the digests of the first of them, 16 bytes each, zeros: not told
 *            (format/identity.h); parts: what else is in it; why: it cannot be read
 *   unread   complete versions of checkpoints whose weights are to be read
 *   holds    run: tracked path of the run or root of a version; step, epoch: its labels, -1: none; parts: what
 *            else is in it; model: the identity of its weights, NULL: not told; held: the label that these were
 *            first committed under, if it is another, and other: the version that was
 *
 * What refers to an object is asked of inode_object, undo_old, version_object and
 * member_object, never counted.
 *
 * Format 4 had no ledger, read fewer files for their weights, and took the integers alone of quantised tensors.
 * Format 3 did not know of weights, and kept no branches of removed runs. Format 2 had no tracked paths. Format 1
 * had undo rows that nobody wrote, and synced 0 for whatever was changed in place. */
#include "meta/schema.h"

#include <stdio.h>
#include <string.h>

#include "meta/db.h"

#define APPLICATION_ID 0x65787066
#define USER_VERSION 5

#define UNDO "CREATE TABLE undo(inode INTEGER PRIMARY KEY, old INTEGER)"
#define UNDO_OLD "CREATE INDEX undo_old ON undo(old) WHERE old IS NOT NULL"
#define UNSYNCED "CREATE INDEX object_unsynced ON object(state, id, synced) WHERE synced<>1"

/* A table before its indexes. */
static const struct schema_part parts[] = {
	{ true, "store", "CREATE TABLE store(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID" },
	{ true, "inode",
	  "CREATE TABLE inode(ino INTEGER PRIMARY KEY, mode INTEGER NOT NULL, nlink INTEGER NOT NULL,"
	  " uid INTEGER NOT NULL, gid INTEGER NOT NULL, rdev INTEGER NOT NULL, size INTEGER NOT NULL,"
	  " blocks INTEGER NOT NULL, atime INTEGER NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL,"
	  " btime INTEGER NOT NULL, object INTEGER, \"order\" INTEGER NOT NULL, flags INTEGER NOT NULL, target BLOB,"
	  " begin INTEGER NOT NULL DEFAULT 0)" },
	{ false, "inode_object", "CREATE INDEX inode_object ON inode(object) WHERE object IS NOT NULL" },
	{ false, "inode_unlinked", "CREATE INDEX inode_unlinked ON inode(ino) WHERE nlink=0" },
	{ true, "dirent",
	  "CREATE TABLE dirent(parent INTEGER NOT NULL, id INTEGER NOT NULL, name BLOB NOT NULL, ino INTEGER NOT NULL,"
	  " type INTEGER NOT NULL, class INTEGER NOT NULL, \"order\" INTEGER NOT NULL,"
	  " PRIMARY KEY(parent, id)) WITHOUT ROWID" },
	{ false, "dirent_name", "CREATE UNIQUE INDEX dirent_name ON dirent(parent, name)" },
	{ false, "dirent_ino", "CREATE INDEX dirent_ino ON dirent(ino)" },
	{ false, "dirent_role", "CREATE INDEX dirent_role ON dirent(parent) WHERE class<>0 OR type=4" },
	{ true, "xattr",
	  "CREATE TABLE xattr(ino INTEGER NOT NULL, name BLOB NOT NULL, value BLOB NOT NULL,"
	  " PRIMARY KEY(ino, name)) WITHOUT ROWID" },
	{ true, "object",
	  "CREATE TABLE object(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, size INTEGER NOT NULL,"
	  " digest BLOB, seal INTEGER NOT NULL, synced INTEGER NOT NULL, verdict INTEGER)" },
	{ false, "object_digest", "CREATE INDEX object_digest ON object(size, digest) WHERE digest IS NOT NULL" },
	{ false, "object_unsynced", UNSYNCED },
	{ true, "undo", UNDO },
	{ false, "undo_old", UNDO_OLD },
	{ true, "moved", "CREATE TABLE moved(ino INTEGER PRIMARY KEY)" },
	{ true, "tracked",
	  "CREATE TABLE tracked(id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, name BLOB NOT NULL, ino INTEGER,"
	  " run INTEGER NOT NULL, role INTEGER NOT NULL, is_dir INTEGER NOT NULL, n INTEGER NOT NULL, head INTEGER,"
	  " changed INTEGER, good INTEGER, step INTEGER NOT NULL, rank INTEGER NOT NULL,"
	  " mode INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL, off INTEGER)" },
	{ false, "tracked_name", "CREATE UNIQUE INDEX tracked_name ON tracked(parent, name)" },
	{ false, "tracked_dir", "CREATE UNIQUE INDEX tracked_dir ON tracked(ino) WHERE is_dir AND ino IS NOT NULL" },
	{ false, "tracked_role", "CREATE INDEX tracked_role ON tracked(run, role) WHERE role<>0" },
	{ false, "tracked_changed", "CREATE INDEX tracked_changed ON tracked(run, id) WHERE changed IS NOT NULL" },
	{ false, "tracked_run_rank",
	  "CREATE INDEX tracked_run_rank ON tracked(run, rank, step, id) WHERE good IS NOT NULL AND off IS NULL" },
	{ false, "tracked_run_step",
	  "CREATE INDEX tracked_run_step ON tracked(run, step, rank, id) WHERE good IS NOT NULL AND off IS NULL" },
	{ false, "tracked_dir_rank",
	  "CREATE INDEX tracked_dir_rank ON tracked(parent, rank, step, id) WHERE good IS NOT NULL" },
	{ false, "tracked_dir_step",
	  "CREATE INDEX tracked_dir_step ON tracked(parent, step, rank, id) WHERE good IS NOT NULL" },
	{ false, "tracked_plain_dir", "CREATE INDEX tracked_plain_dir ON tracked(parent) WHERE is_dir AND role=0" },
	{ false, "tracked_never",
	  "CREATE INDEX tracked_never ON tracked(parent) WHERE is_dir AND role=4 AND good IS NULL AND ino IS NOT NULL" },
	{ false, "tracked_incomplete",
	  "CREATE INDEX tracked_incomplete ON tracked(run) WHERE role=4 AND ino IS NOT NULL"
	  " AND (good IS NULL OR head IS NULL OR good<>head)" },
	{ true, "version",
	  "CREATE TABLE version(id INTEGER PRIMARY KEY, tracked INTEGER NOT NULL, n INTEGER NOT NULL,"
	  " is_dir INTEGER NOT NULL, object INTEGER, size INTEGER NOT NULL, mode INTEGER NOT NULL,"
	  " uid INTEGER NOT NULL, gid INTEGER NOT NULL, mtime INTEGER NOT NULL, until INTEGER, gone INTEGER NOT NULL,"
	  " complete INTEGER, step INTEGER NOT NULL, rank INTEGER NOT NULL, begin INTEGER NOT NULL,"
	  " experiment INTEGER)" },
	{ false, "version_n", "CREATE UNIQUE INDEX version_n ON version(tracked, n)" },
	{ false, "version_object", "CREATE INDEX version_object ON version(object) WHERE object IS NOT NULL" },
	{ true, "member",
	  "CREATE TABLE member(version INTEGER NOT NULL, name BLOB NOT NULL, object INTEGER, size INTEGER NOT NULL,"
	  " mode INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL, mtime INTEGER NOT NULL,"
	  " PRIMARY KEY(version, name)) WITHOUT ROWID" },
	{ false, "version_gone", "CREATE INDEX version_gone ON version(tracked, n) WHERE gone" },
	{ false, "version_rank",
	  "CREATE INDEX version_rank ON version(experiment, rank, step, id) WHERE experiment IS NOT NULL AND complete=1" },
	{ false, "version_step",
	  "CREATE INDEX version_step ON version(experiment, step, rank, id) WHERE experiment IS NOT NULL AND complete=1" },
	{ true, "ledger",
	  "CREATE TABLE ledger(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, name TEXT NOT NULL, kind INTEGER NOT NULL,"
	  " of INTEGER NOT NULL, time INTEGER NOT NULL, record TEXT NOT NULL)" },
	{ false, "ledger_name", "CREATE INDEX ledger_name ON ledger(run, name, id)" },
	{ false, "ledger_current", "CREATE INDEX ledger_current ON ledger(name, run, id) WHERE kind=0" },
	{ false, "ledger_version", "CREATE INDEX ledger_version ON ledger(of, id) WHERE kind=0" },
	{ true, "succession",
	  "CREATE TABLE succession(root INTEGER NOT NULL, hash TEXT NOT NULL, previous TEXT NOT NULL,"
	  " PRIMARY KEY(root, hash)) WITHOUT ROWID" },
	{ true, "fork", "CREATE TABLE fork(id INTEGER PRIMARY KEY, root INTEGER NOT NULL, n INTEGER NOT NULL)" },
	{ false, "fork_n", "CREATE UNIQUE INDEX fork_n ON fork(root, n)" },
	{ true, "root",
	  "CREATE TABLE root(id INTEGER PRIMARY KEY, current TEXT NOT NULL, guess INTEGER, listed INTEGER NOT NULL)" },
	{ true, "event", "CREATE TABLE event(version INTEGER PRIMARY KEY, root INTEGER NOT NULL)" },
	{ true, "due",
	  "CREATE TABLE due(version INTEGER PRIMARY KEY, run INTEGER NOT NULL, begin INTEGER NOT NULL)" },
	{ false, "due_begin", "CREATE INDEX due_begin ON due(begin, version)" },
	{ false, "due_run", "CREATE INDEX due_run ON due(run, begin, version)" },
	{ true, "line",
	  "CREATE TABLE line(id INTEGER PRIMARY KEY, run INTEGER NOT NULL, experiment INTEGER NOT NULL, version INTEGER,"
	  " init_step INTEGER NOT NULL, at INTEGER NOT NULL, flags INTEGER NOT NULL)" },
	{ false, "line_run", "CREATE INDEX line_run ON line(run, at, id)" },
	{ false, "line_load", "CREATE INDEX line_load ON line(run, at) WHERE flags & 1" },
	{ false, "line_experiment", "CREATE INDEX line_experiment ON line(experiment, at)" },
	{ false, "line_version", "CREATE INDEX line_version ON line(version) WHERE version IS NOT NULL" },
	{ true, "experiment",
	  "CREATE TABLE experiment(id INTEGER PRIMARY KEY, hash TEXT NOT NULL, hp TEXT NOT NULL, model TEXT NOT NULL,"
	  " data TEXT NOT NULL, parent INTEGER, time INTEGER NOT NULL)" },
	{ false, "experiment_hash", "CREATE UNIQUE INDEX experiment_hash ON experiment(hash)" },
	{ false, "experiment_model", "CREATE INDEX experiment_model ON experiment(substr(hash, 9, 8), id)" },
	{ false, "experiment_data", "CREATE INDEX experiment_data ON experiment(substr(hash, 17, 8), id)" },
	{ true, "segment",
	  "CREATE TABLE segment(kind INTEGER NOT NULL, text TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY(kind, text))"
	  " WITHOUT ROWID" },
	{ true, "fact",
	  "CREATE TABLE fact(object INTEGER NOT NULL, kind INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY(object, kind))"
	  " WITHOUT ROWID" },
	{ true, "metric",
	  "CREATE TABLE metric(of INTEGER NOT NULL, name BLOB NOT NULL, step INTEGER NOT NULL, value REAL,"
	  " PRIMARY KEY(of, name, step)) WITHOUT ROWID" },
	{ true, "signal",
	  "CREATE TABLE signal(run INTEGER NOT NULL, name BLOB NOT NULL, step INTEGER NOT NULL, value REAL,"
	  " time INTEGER NOT NULL, PRIMARY KEY(run, name, step)) WITHOUT ROWID" },
	{ true, "weights",
	  "CREATE TABLE weights(object INTEGER PRIMARY KEY, seal INTEGER NOT NULL, n INTEGER NOT NULL, parts INTEGER NOT NULL,"
	  " why TEXT, digests BLOB NOT NULL)" },
	{ true, "unread", "CREATE TABLE unread(version INTEGER PRIMARY KEY)" },
	{ true, "holds",
	  "CREATE TABLE holds(version INTEGER PRIMARY KEY, run INTEGER NOT NULL, step INTEGER NOT NULL, epoch INTEGER NOT NULL,"
	  " parts INTEGER NOT NULL, model BLOB, held TEXT, other INTEGER)" },
	{ false, "holds_model", "CREATE INDEX holds_model ON holds(model, version) WHERE model IS NOT NULL" },
	{ false, "holds_run", "CREATE INDEX holds_run ON holds(run, version) WHERE model IS NOT NULL" },
	{ false, "holds_model_step",
	  "CREATE INDEX holds_model_step ON holds(run, model, version) WHERE step>=0 AND model IS NOT NULL" },
	{ false, "holds_model_epoch",
	  "CREATE INDEX holds_model_epoch ON holds(run, model, version) WHERE epoch>=0 AND model IS NOT NULL" },
	{ false, "holds_step", "CREATE INDEX holds_step ON holds(run, step, version) WHERE step>=0 AND model IS NOT NULL" },
	{ false, "holds_epoch", "CREATE INDEX holds_epoch ON holds(run, epoch, version) WHERE epoch>=0 AND model IS NOT NULL" },
	{ false, "holds_wrong", "CREATE INDEX holds_wrong ON holds(run, version) WHERE held IS NOT NULL" },
	{ false, "member_object", "CREATE INDEX member_object ON member(object) WHERE object IS NOT NULL" },
};

static const char from_1_to_2[] =
	"BEGIN IMMEDIATE;"
	"DROP INDEX object_unsynced;"
	"DROP TABLE undo;" UNSYNCED ";" UNDO ";" UNDO_OLD ";" SCHEMA_KEEP_UNSYNCED ";"
	"PRAGMA user_version=2;"
	"COMMIT;";

static const char from_2_to_3[] = "ALTER TABLE inode ADD COLUMN begin INTEGER NOT NULL DEFAULT 0;" SCHEMA_TRACK_ALL;

static const char from_3_to_4[] = SCHEMA_GIVE_BACK ";" SCHEMA_ALL_UNREAD;

static const char from_4_to_5[] = "DELETE FROM weights; DELETE FROM holds;" SCHEMA_ALL_UNREAD;

static const char beginning[] =
	"PRAGMA application_id=0x65787066;"
	"PRAGMA user_version=5;"
	"INSERT INTO store VALUES('next_id', 2), ('clean', 1);" SCHEMA_TRACK_ALL;

int schema_create(struct db *db, unsigned uid, unsigned gid)
{
	int64_t now = now_ns();
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts) && r == 0; i++)
		r = db_exec(db, parts[i].sql);
	if (r == 0)
		r = db_exec(db, beginning);
	if (r < 0)
		return r;
	return db_run(db,
		      "INSERT INTO inode VALUES(1, 16877, 2, ?1, ?2, 0, 4096, 8, ?3, ?3, ?3, ?3, NULL, 0, 0, NULL, 0)",
		      "iii", (int64_t)uid, (int64_t)gid, now);
}

/* Versions begin with what is there; the weights of those that there are are read, and the branches of removed runs
 * come back. */
static int make_tables(struct db *db, int64_t version)
{
	const struct schema_part *part;
	size_t i = 0;
	int r = db_exec(db, "BEGIN IMMEDIATE");

	while (r == 0 && (r = schema_missing(db, &i, &part)) == 1)
		r = db_exec(db, part->sql);
	if (r == 0)
		r = db_exec(db, version < 3 ? from_2_to_3 : version < 4 ? from_3_to_4 : from_4_to_5);
	if (r == 0)
		r = db_exec(db, "PRAGMA user_version=5");
	return r < 0 ? r : db_exec(db, "COMMIT");
}

static int migrate(struct db *db, int64_t version)
{
	int r = version == 1 ? db_exec(db, from_1_to_2) : 0;

	if (r == 0)
		r = make_tables(db, version);
	if (r < 0 && !sqlite3_get_autocommit(db->sql))
		db_exec(db, "ROLLBACK");
	return r;
}

int schema_missing(struct db *db, size_t *i, const struct schema_part **ret)
{
	for (; *i < ARRAY_SIZE(parts); (*i)++) {
		const struct schema_part *p = &parts[*i];
		_cleanup_stmt_ sqlite3_stmt *st = NULL;
		int r = db_row(db, &st,
			       "SELECT 1 FROM sqlite_schema WHERE name=CAST(?1 AS TEXT) AND type=CASE ?2 WHEN 1 THEN"
			       " 'table' ELSE 'index' END",
			       "bi", p->name, strlen(p->name), (int64_t)p->is_table);

		if (r == 0) {
			*ret = p;
			(*i)++;
		}
		if (r != 1)
			return r < 0 ? r : 1;
	}
	return 0;
}

int schema_version(struct db *db, int64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *app = NULL, *version = NULL;
	int r = db_row(db, &app, "PRAGMA application_id", "");

	if (r == 1 && sqlite3_column_int64(app, 0) != APPLICATION_ID)
		return -EUCLEAN;
	if (r == 1)
		r = db_row(db, &version, "PRAGMA user_version", "");
	if (r == 1)
		*ret = sqlite3_column_int64(version, 0);
	return r == 1 ? 0 : r < 0 ? r : -EUCLEAN;
}

int schema_foreign(struct db *db, char ret[static SCHEMA_NAME])
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT type || ' ' || name FROM sqlite_schema WHERE type IN ('trigger', 'view')", "");

	if (r == 1)
		snprintf(ret, SCHEMA_NAME, "%s", (const char *)sqlite3_column_text(st, 0));
	return r;
}

int schema_sequence(struct db *db, int64_t *ret_next)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int64_t next;
	int r = meta_get_value(db, "next_id", &next);

	if (r < 0)
		return r;
	*ret_next = next;
	if (next <= META_ROOT || next > META_ID_MAX)
		return 0;
	r = db_row(db, &st,
		   "SELECT 1 WHERE ?1>coalesce((SELECT max(ino) FROM inode WHERE ino<?2), 0)"
		   " AND ?1>coalesce((SELECT max(id) FROM object WHERE id<?2), 0)"
		   " AND ?1>coalesce((SELECT max(id) FROM version WHERE id<?2), 0)"
		   " AND ?1>coalesce((SELECT max(id) FROM tracked WHERE id<?2), 0)"
		   " AND ?1>coalesce((SELECT max(id) FROM experiment WHERE id<?2), 0)"
		   " AND ?1>coalesce((SELECT max(id) FROM line WHERE id<?2), 0)"
		   " AND ?1>coalesce((SELECT max(id) FROM fork WHERE id<?2), 0)"
		   " AND ?1>coalesce((SELECT max(id) FROM ledger WHERE id<?2), 0)",
		   "ii", next, (int64_t)META_ID_MAX);
	return r;
}

int schema_check(struct db *db)
{
	const struct schema_part *part;
	char foreign[SCHEMA_NAME];
	int64_t version, next;
	size_t i = 0;
	int r = schema_version(db, &version);

	if (r == 0)
		r = schema_foreign(db, foreign);
	if (r != 0)
		return r < 0 ? r : -EUCLEAN;
	if (version >= 1 && version < USER_VERSION)
		r = migrate(db, version);
	else if (version != USER_VERSION)
		return -EPROTONOSUPPORT;
	if (r == 0)
		r = schema_missing(db, &i, &part);
	if (r != 0)
		return r < 0 ? r : -EUCLEAN;
	r = schema_sequence(db, &next);
	return r == 0 ? -EUCLEAN : MIN(r, 0);
}
