/* Faults are found by queries that give: is a content lost, what is wrong, the
 * inode concerned, a name in it, a detail. Repairs are statements in an order
 * such that each finds what the ones before it left in order. */
#include "meta/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "meta/content.h"
#include "meta/db.h"
#include "meta/dirent.h"
#include "meta/lost_found.h"
#include "meta/schema.h"
#include "meta/tree.h"
#include "meta/version.h"

#define IS_DIR "mode & 61440 = 16384"
#define IS_FILE "mode & 61440 = 32768"
#define NAMES "(SELECT count(*) FROM dirent d WHERE d.ino=inode.ino)"
#define SUBDIRS "(SELECT count(*) FROM dirent d WHERE d.parent=inode.ino AND d.type=4)"
#define HAS_NAME "EXISTS(SELECT 1 FROM dirent d WHERE d.ino=inode.ino)"
#define HAS_ENTRY "EXISTS(SELECT 1 FROM dirent d WHERE d.parent=inode.ino)"

/* Each as the condition of one fault, used by a query and by its repair. */
#define NO_PARENT "parent NOT IN (SELECT ino FROM inode WHERE " IS_DIR ")"
#define NO_INODE "ino NOT IN (SELECT ino FROM inode)"
#define NO_NAME_FOR_ENTRY                                                                                    \
	"(typeof(name)<>'blob' OR length(name) NOT BETWEEN 1 AND 255 OR instr(name, X'2F') OR instr(name, X'00')" \
	" OR name IN (X'2E', X'2E2E', X'2E6578706673'))"
#define NAMES_THE_TOP "ino=1"
#define WRONG_TYPE "type<>(SELECT (mode & 61440)>>12 FROM inode i WHERE i.ino=dirent.ino)"
#define NO_NAME "ino<>1 AND NOT " HAS_NAME " AND (nlink<>0 OR " HAS_ENTRY ")"
#define WRONG_FILE_LINKS "NOT(" IS_DIR ") AND nlink<>" NAMES
#define WRONG_DIR_LINKS IS_DIR " AND (nlink<>0 OR " HAS_NAME ") AND nlink<>2+" SUBDIRS
#define WRONG_SIZE "size<>(SELECT o.size FROM object o WHERE o.id=inode.object AND o.state=1)"
#define WRONG_LIVE                                                                          \
	"(flags & 4)/4<>CASE WHEN object IS NULL THEN 0 ELSE"                                 \
	" (SELECT o.state=0 FROM object o WHERE o.id=inode.object) END"
#define NO_ID(column) column " NOT BETWEEN 1 AND 2305843009213693951" /* META_ID_MAX */
#define NOBODYS_XATTR "ino NOT IN (SELECT ino FROM inode)"
#define NOBODYS_UNDO "inode NOT IN (SELECT ino FROM inode)"
#define UNDO_OF_NOTHING "old IS NOT NULL AND old NOT IN (SELECT id FROM object)"
#define NOBODYS_OBJECT                                                     \
	"id NOT IN (SELECT object FROM inode WHERE object IS NOT NULL) AND " \
	"id NOT IN (SELECT old FROM undo WHERE old IS NOT NULL) AND "        \
	"id NOT IN (SELECT object FROM version WHERE object IS NOT NULL) AND " \
	"id NOT IN (SELECT object FROM member WHERE object IS NOT NULL)"
#define VERSION_OF_NOTHING                                                            \
	"(object IS NOT NULL AND object NOT IN (SELECT id FROM object) OR id IN (SELECT version FROM member" \
	" WHERE object IS NOT NULL AND object NOT IN (SELECT id FROM object)))"
#define NOBODYS_VERSION "tracked NOT IN (SELECT id FROM tracked)"
#define NOBODYS_MEMBER "version NOT IN (SELECT id FROM version)"
#define NOBODYS_METRIC "of NOT IN (SELECT id FROM version) AND of NOT IN (SELECT ino FROM inode)"
#define NOBODYS_SIGNAL "run NOT IN (SELECT id FROM tracked)"
#define LOOSE_PATH "id<>1 AND parent NOT IN (SELECT id FROM tracked)"
#define NO_SUCH_VERSION                                                         \
	"(head IS NOT NULL AND head NOT IN (SELECT id FROM version) OR good IS NOT NULL" \
	" AND good NOT IN (SELECT id FROM version))"

#define RUNS "(SELECT id FROM tracked UNION ALL SELECT id FROM fork)"
#define OF_NO_RUN "run NOT IN " RUNS
#define NO_RECORD_ROW                                                                                         \
	"(kind NOT IN (0, 1) OR typeof(name)<>'text' OR length(CAST(name AS BLOB)) NOT BETWEEN 1 AND 64 OR " NO_ID("id") ")"
#define NO_RECORD                                                                                      \
	"(" NO_RECORD_ROW " OR typeof(record)<>'text' OR length(CAST(record AS BLOB))>16384"            \
	" OR CASE WHEN json_valid(record) THEN json_type(record)<>'object' ELSE 1 END)"
#define ABOUT_NO_SELECTION "kind=1 AND of NOT IN (SELECT id FROM ledger WHERE kind=0)"
#define NOT_AS_SELECTION                                                                                         \
	"kind=1 AND EXISTS (SELECT 1 FROM ledger s WHERE s.id=ledger.of AND (s.run<>ledger.run OR s.name<>ledger.name))"
#define SELECTED                                                                                       \
	"(SELECT v.id FROM version v WHERE v.id=CASE kind WHEN 0 THEN of ELSE (SELECT s.of FROM ledger s" \
	" WHERE s.id=ledger.of) END)"
/* What does not count any more needs no version. */
#define SELECTION_OF_NOTHING                                                                           \
	"kind=0 AND of NOT IN (SELECT id FROM version) AND NOT EXISTS (SELECT 1 FROM ledger l WHERE"    \
	" l.run=ledger.run AND l.name=ledger.name AND l.kind=0 AND l.id>ledger.id)"
#define ROOT_OF_NOTHING "id NOT IN (SELECT id FROM tracked)"
#define NOBODYS_FORK "root NOT IN (SELECT id FROM root)"
#define NOBODYS_EVENT "version NOT IN (SELECT id FROM version)"
#define NO_SUCH_EXPERIMENT "experiment IS NOT NULL AND experiment NOT IN (SELECT id FROM experiment)"
#define NOT_HEX(column, n) "(length(" column ")<>" n " OR " column " GLOB '*[^0-9a-f]*')"
#define NO_HASH NOT_HEX("hash", "24")
#define NO_SEGMENT "(kind NOT IN (0, 1, 2) OR " NOT_HEX("text", "8") " OR " NOT_HEX("digest", "64") ")"
#define NO_SUCH_PARENT "parent IS NOT NULL AND (parent=id OR parent NOT IN (SELECT id FROM experiment))"
#define NOBODYS_LINE "(typeof(at)<>'integer' OR experiment NOT IN (SELECT id FROM experiment) OR run NOT IN " RUNS ")"
#define LINE_OF_NOTHING "version IS NOT NULL AND version NOT IN (SELECT id FROM version)"
#define NOBODYS_DUE "version NOT IN (SELECT id FROM version)"
#define NOBODYS_FACT "object NOT IN (SELECT id FROM object WHERE state=1)"

/* While directories wait to be tracked anew these may be. */
#define TRACKED_ELSEWHERE                                                                                         \
	"id<>1 AND ino IS NOT NULL AND NOT EXISTS (SELECT 1 FROM moved) AND NOT EXISTS (SELECT 1 FROM dirent d"     \
	" JOIN tracked p ON p.ino=d.parent WHERE p.id=tracked.parent AND p.is_dir AND d.name=tracked.name AND"    \
	" d.ino=tracked.ino)"
#define OTHER_VERSION                                                                                              \
	"NOT is_dir AND ino IS NOT NULL AND NOT EXISTS (SELECT 1 FROM moved) AND EXISTS (SELECT 1 FROM inode i WHERE" \
	" i.ino=tracked.ino AND i.flags & 1 AND NOT EXISTS (SELECT 1 FROM version v WHERE v.id=tracked.head AND"   \
	" v.object IS i.object))"

static const char *const faults[] = {
	"SELECT 0, 'there is no top directory', 0, NULL, NULL WHERE NOT EXISTS"
	" (SELECT 1 FROM inode WHERE ino=1 AND " IS_DIR ")",
	"SELECT 0, 'entry of a directory that is not there', 0, NULL, printf('%d/%s', parent, name) FROM dirent"
	" WHERE " NO_PARENT,
	"SELECT 0, 'entry that leads to no inode', parent, name, ino FROM dirent WHERE " NO_INODE,
	"SELECT 0, 'entry of another type than its inode', parent, name, type FROM dirent WHERE " WRONG_TYPE,
	"SELECT 0, 'entry with a name that cannot be', parent, NULL, substr(quote(name), 1, 600) FROM dirent WHERE"
	" " NO_NAME_FOR_ENTRY,
	"SELECT 0, 'inode of no known type', ino, NULL, mode FROM inode WHERE mode & 61440 NOT IN"
	" (4096, 8192, 16384, 24576, 32768, 40960, 49152)",
	"SELECT 0, 'inode without a name', ino, NULL, ino FROM inode WHERE " NO_NAME,
	"SELECT 0, 'link count differs from the names', ino, NULL, printf('%d, %d', nlink, " NAMES ") FROM inode"
	" WHERE " WRONG_FILE_LINKS " AND NOT(" NO_NAME ")",
	"SELECT 0, 'link count differs from the subdirectories', ino, NULL, printf('%d, %d', nlink, 2+" SUBDIRS ")"
	" FROM inode WHERE " WRONG_DIR_LINKS,
	"SELECT 0, 'entry that leads to the top directory', parent, name, id FROM dirent WHERE " NAMES_THE_TOP,
	"SELECT 0, 'directory with several names', ino, NULL, ino FROM inode WHERE " IS_DIR " AND ino<>1 AND "
	NAMES ">1",
	"SELECT 0, 'directory that cannot be reached from the top', 0, NULL, ino FROM inode"
	" WHERE " IS_DIR " AND " HAS_NAME " AND ino NOT IN " TREE_REACHED,
	"SELECT 0, 'symbolic link without a target', ino, NULL, ino FROM inode WHERE mode & 61440 = 40960"
	" AND target IS NULL",
	"SELECT 1, 'content is not there', ino, NULL, printf('object %x', object) FROM inode"
	" WHERE object IS NOT NULL AND object NOT IN (SELECT id FROM object)",
	"SELECT 1, 'content is not there', ino, NULL, printf('%d bytes', size) FROM inode WHERE object IS NULL"
	" AND " IS_FILE " AND size<>0",
	"SELECT 0, 'size differs from that of the content', ino, NULL, size FROM inode WHERE " WRONG_SIZE,
	"SELECT 0, 'file and content differ in whether it is live', ino, NULL, flags FROM inode WHERE " WRONG_LIVE,
	"SELECT 0, 'content of something that is no file', ino, NULL, object FROM inode WHERE object IS NOT NULL"
	" AND NOT(" IS_FILE ")",
	"SELECT 0, 'live content with several owners', max(ino), NULL, printf('object %x', object) FROM inode"
	" WHERE object IN (SELECT id FROM object WHERE state=0) GROUP BY object HAVING count(*)>1",
	"SELECT 0, 'sealed content without a digest', 0, NULL, printf('object %x', id) FROM object WHERE state=1"
	" AND (digest IS NULL OR length(digest)<>16)",
	"SELECT 0, 'content that no file has', 0, NULL, printf('object %x', id) FROM object WHERE " NOBODYS_OBJECT,
	"SELECT 0, 'attribute of no inode', 0, NULL, printf('%d, %s', ino, name) FROM xattr WHERE " NOBODYS_XATTR,
	"SELECT 0, 'undo row of no inode', 0, NULL, inode FROM undo WHERE " NOBODYS_UNDO,
	"SELECT 0, 'undo row that keeps no content', inode, NULL, printf('object %x', old) FROM undo"
	" WHERE " UNDO_OF_NOTHING,
	"SELECT 0, 'version whose content is not there', 0, NULL, printf('version %d', id) FROM version WHERE"
	" " VERSION_OF_NOTHING,
	"SELECT 0, 'version of no path', 0, NULL, printf('version %d', id) FROM version WHERE " NOBODYS_VERSION,
	"SELECT 0, 'file of no version', 0, NULL, printf('version %d', version) FROM member WHERE " NOBODYS_MEMBER,
	"SELECT 0, 'metric of nothing', 0, NULL, printf('%d, %s', of, name) FROM metric WHERE " NOBODYS_METRIC,
	"SELECT 0, 'recorded value of no run', 0, NULL, printf('%d, %s', run, name) FROM signal WHERE " NOBODYS_SIGNAL,
	"SELECT 0, 'tracked path in none', 0, NULL, printf('path %d', id) FROM tracked WHERE " LOOSE_PATH,
	"SELECT 0, 'tracked path whose version is not there', 0, NULL, printf('path %d', id) FROM tracked WHERE"
	" " NO_SUCH_VERSION,
	"SELECT 0, 'tracked path that leads to something else', 0, NULL, printf('path %d', id) FROM tracked WHERE"
	" " TRACKED_ELSEWHERE,
	"SELECT 0, 'tracked file whose version is another', 0, NULL, printf('path %d', id) FROM tracked WHERE"
	" " OTHER_VERSION,
	"SELECT 0, 'tracked path of no run', 0, NULL, printf('path %d', id) FROM tracked WHERE " OF_NO_RUN,
	"SELECT 0, 'experiment root of no path', 0, NULL, id FROM root WHERE " ROOT_OF_NOTHING,
	"SELECT 0, 'branch of no experiment root', 0, NULL, id FROM fork WHERE " NOBODYS_FORK,
	"SELECT 0, 'version that is to be read and not there', 0, NULL, printf('version %d', version) FROM event WHERE "
	NOBODYS_EVENT,
	"SELECT 0, 'version of an experiment that is not there', 0, NULL, printf('version %d', id) FROM version WHERE"
	" " NO_SUCH_EXPERIMENT,
	"SELECT 0, 'experiment with a hash that cannot be', 0, NULL, id FROM experiment WHERE " NO_HASH,
	"SELECT 0, 'segment that cannot be', 0, NULL, printf('kind %d', kind) FROM segment WHERE " NO_SEGMENT,
	"SELECT 0, 'experiment whose parent is not there', 0, NULL, hash FROM experiment WHERE " NO_SUCH_PARENT,
	"SELECT 0, 'point of a line of no experiment or run', 0, NULL, id FROM line WHERE " NOBODYS_LINE,
	"SELECT 0, 'point of a line whose checkpoint is not there', 0, NULL, id FROM line WHERE " LINE_OF_NOTHING,
	"SELECT 0, 'version that is due and not there', 0, NULL, printf('version %d', version) FROM due WHERE " NOBODYS_DUE,
	"SELECT 0, 'fact of no content', 0, NULL, printf('object %x', object) FROM fact WHERE " NOBODYS_FACT,
	"SELECT 0, 'weights of no content', 0, NULL, printf('object %x', object) FROM weights WHERE " NOBODYS_FACT,
	"SELECT 0, 'weights of no version', 0, NULL, printf('version %d', version) FROM holds WHERE " NOBODYS_DUE,
	"SELECT 0, 'version whose weights are to be read and not there', 0, NULL, printf('version %d', version) FROM unread"
	" WHERE " NOBODYS_DUE,
	"SELECT 0, 'record of the ledger that cannot be', 0, NULL, id FROM ledger WHERE " NO_RECORD,
	"SELECT 0, 'record of the ledger of no branch', 0, NULL, id FROM ledger WHERE " OF_NO_RUN,
	"SELECT 0, 'decision about no selection', 0, NULL, id FROM ledger WHERE " ABOUT_NO_SELECTION,
	"SELECT 0, 'decision under another name than the selection', 0, NULL, id FROM ledger WHERE " NOT_AS_SELECTION,
	"SELECT 1, 'selection whose version is not there', 0, NULL, printf('selection %d, version %d', id, of) FROM ledger"
	" WHERE " SELECTION_OF_NOTHING,
	"SELECT 0, 'inode with a number that cannot be', ino, NULL, ino FROM inode WHERE " NO_ID("ino"),
	"SELECT 0, 'content with a number that cannot be', 0, NULL, id FROM object WHERE " NO_ID("id"),
};

/* Before names are given out in /lost+found, and after. */
static const char *const repairs_before[] = {
	"INSERT OR IGNORE INTO inode VALUES(1, 0, 2, coalesce((SELECT uid FROM inode ORDER BY ino LIMIT 1), 0),"
	" coalesce((SELECT gid FROM inode ORDER BY ino LIMIT 1), 0), 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, NULL, 0)",
	"UPDATE inode SET mode=16877, size=4096, blocks=8, object=NULL, flags=0, target=NULL WHERE ino=1 AND NOT(" IS_DIR ")",
	"DELETE FROM dirent WHERE " NAMES_THE_TOP,
	"DELETE FROM dirent WHERE " NO_PARENT,
	"DELETE FROM dirent WHERE " NO_INODE,
	"UPDATE OR IGNORE dirent SET name=CAST('#' || id AS BLOB) WHERE " NO_NAME_FOR_ENTRY,
	"UPDATE dirent SET type=(SELECT (mode & 61440)>>12 FROM inode i WHERE i.ino=dirent.ino) WHERE " WRONG_TYPE,
	"DELETE FROM xattr WHERE " NOBODYS_XATTR,
	"DELETE FROM undo WHERE " NOBODYS_UNDO " OR " UNDO_OF_NOTHING,
	"DELETE FROM version WHERE " NOBODYS_VERSION " OR " VERSION_OF_NOTHING,
	"DELETE FROM member WHERE " NOBODYS_MEMBER,
	"DELETE FROM metric WHERE " NOBODYS_METRIC,
	"DELETE FROM signal WHERE " NOBODYS_SIGNAL,
	"UPDATE tracked SET parent=1, name=CAST('#' || id AS BLOB) WHERE " LOOSE_PATH,
	"UPDATE tracked SET head=NULL, good=NULL WHERE " NO_SUCH_VERSION " OR " OTHER_VERSION,
	"UPDATE tracked SET ino=NULL, head=NULL, good=NULL WHERE " TRACKED_ELSEWHERE,
	"DELETE FROM experiment WHERE " NO_HASH,
	"DELETE FROM segment WHERE " NO_SEGMENT,
	SCHEMA_FILL_SEGMENTS,
	"UPDATE version SET experiment=NULL WHERE " NO_SUCH_EXPERIMENT,
	"UPDATE experiment SET parent=NULL WHERE " NO_SUCH_PARENT,
	"DELETE FROM root WHERE " ROOT_OF_NOTHING,
	"DELETE FROM fork WHERE " NOBODYS_FORK,
	"DELETE FROM event WHERE " NOBODYS_EVENT,
	"UPDATE tracked SET run=1 WHERE " OF_NO_RUN, /* until it is tracked anew */
	"DELETE FROM line WHERE " NOBODYS_LINE,
	"UPDATE line SET version=NULL WHERE " LINE_OF_NOTHING,
	/* What is selected stays so, whatever became of what was said of it. */
	"UPDATE ledger SET record='{}' WHERE kind=0 AND " NO_RECORD " AND NOT " NO_RECORD_ROW " AND of IN (SELECT id FROM version)",
	"DELETE FROM ledger WHERE " NO_RECORD,
	"DELETE FROM ledger WHERE " ABOUT_NO_SELECTION,
	"UPDATE OR IGNORE ledger SET run=(SELECT coalesce((SELECT 1 FROM root r JOIN tracked p ON p.id=r.id WHERE"
	" r.id=t.run AND p.parent=1), t.run) FROM version v JOIN tracked t ON t.id=v.tracked WHERE v.id=" SELECTED ") WHERE " OF_NO_RUN,
	"DELETE FROM ledger WHERE " OF_NO_RUN,
	"UPDATE ledger SET run=(SELECT s.run FROM ledger s WHERE s.id=ledger.of), name=(SELECT s.name FROM ledger s WHERE"
	" s.id=ledger.of) WHERE " NOT_AS_SELECTION,
	"DELETE FROM due WHERE " NOBODYS_DUE,
	"DELETE FROM fact WHERE " NOBODYS_FACT,
	"DELETE FROM weights WHERE " NOBODYS_FACT,
	"DELETE FROM holds WHERE " NOBODYS_DUE,
	"DELETE FROM unread WHERE " NOBODYS_DUE,
	SCHEMA_ALL_UNREAD,
	SCHEMA_ALL_DUE,
	"INSERT OR IGNORE INTO moved VALUES(1)",
	SCHEMA_GIVE_BACK,
	"UPDATE inode SET flags=flags & ~4 | CASE (SELECT o.state FROM object o WHERE o.id=inode.object)"
	" WHEN 0 THEN 4 ELSE 0 END WHERE " WRONG_LIVE,
	"UPDATE inode SET size=(SELECT o.size FROM object o WHERE o.id=inode.object) WHERE " WRONG_SIZE,
};

static const char *const repairs_after[] = {
	"UPDATE inode SET nlink=" NAMES " WHERE " WRONG_FILE_LINKS,
	"UPDATE inode SET nlink=2+" SUBDIRS " WHERE " WRONG_DIR_LINKS,
};

int check_structure(struct db *db, void (*f)(void *arg, const char *text), void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "PRAGMA integrity_check(100)", "");

	while (r == 1) {
		const char *text = (const char *)sqlite3_column_text(st, 0);

		if (text && strcmp(text, "ok") != 0)
			f(arg, text);
		r = db_next(db, st);
	}
	return r;
}

/* A name as text up to its first NUL, NULL where it is none. */
static const char *read_name(sqlite3_stmt *st, int col, char buf[static 256])
{
	const void *p = sqlite3_column_blob(st, col);

	if (!p)
		return NULL;
	snprintf(buf, 256, "%.*s", MIN(sqlite3_column_bytes(st, col), 255), (const char *)p);
	return buf;
}

static void tell(sqlite3_stmt *st, check_fn f, void *arg)
{
	const char *what = (const char *)sqlite3_column_text(st, 1);
	const char *detail = (const char *)sqlite3_column_text(st, 4);
	char text[1024], name[256];
	struct check_fault fault = {
		.content_lost = sqlite3_column_int(st, 0),
		.text = text,
		.ino = (uint64_t)sqlite3_column_int64(st, 2),
		.name = read_name(st, 3, name),
	};

	if (detail)
		snprintf(text, sizeof(text), "%s (%s)", what, detail);
	else
		snprintf(text, sizeof(text), "%s", what);
	f(arg, &fault);
}

int check_rows(struct db *db, check_fn f, void *arg)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(faults) && r >= 0; i++) {
		_cleanup_stmt_ sqlite3_stmt *st = NULL;

		for (r = db_row(db, &st, faults[i], ""); r == 1; r = db_next(db, st))
			tell(st, f, arg);
	}
	return MIN(r, 0);
}

/* The first inode after one that has no name and should. */
static int next_nameless(struct db *db, uint64_t after, struct dirent_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT ino, (mode & 61440)>>12 FROM inode WHERE ino>?1 AND " NO_NAME " ORDER BY ino LIMIT 1", "i",
		       (int64_t)after);

	if (r == 1)
		*ret = (struct dirent_row){
			.ino = (uint64_t)sqlite3_column_int64(st, 0),
			.type = (uint8_t)sqlite3_column_int64(st, 1),
		};
	return r;
}

static int name_nameless(struct db *db, struct lost_found *l)
{
	struct dirent_row d = { .ino = META_ROOT };
	int r;

	while ((r = next_nameless(db, d.ino, &d)) == 1) {
		r = lost_found_add(db, l, d.ino, d.type);
		if (r < 0)
			return r;
	}
	return r;
}

static int run_all(struct db *db, const char *const *sql, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = db_run(db, sql[i], "");
	return r;
}

static int next_nobodys(struct db *db, uint64_t after, uint64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT id FROM object WHERE id>?1 AND NOT(" NO_ID("id") ") AND " NOBODYS_OBJECT " ORDER BY id LIMIT 1",
		       "i", (int64_t)after);

	if (r == 1)
		*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return r;
}

/* An object without an inode gets one, without a name yet, unless its file is gone too. */
static int save_content(struct db *db, const struct check_contents *c, const struct content_row *o)
{
	struct inode_row row, top;
	int r = inode_get(db, META_ROOT, &top);

	if (r < 0)
		return r;
	if (!c->is_there(c->arg, o->id))
		return content_delete(db, o->id);
	row = (struct inode_row){
		.ino = meta_id(db->meta), .mode = S_IFREG | 0600, .nlink = 1, .uid = top.uid, .gid = top.gid,
		.size = o->size, .blocks = (o->size + 511) / 512, .object = o->id,
		.flags = o->state == CONTENT_LIVE ? INODE_LIVE : 0,
	};
	row.atime = row.mtime = row.ctime = row.btime = now_ns();
	r = inode_insert(db, &row, NULL);
	/* There is nothing that could take its place after a power cut. */
	return r < 0 ? r : db_run(db, "UPDATE object SET synced=2 WHERE id=?1 AND synced=0", "i", (int64_t)o->id);
}

static int save_contents(struct db *db, const struct check_contents *c)
{
	struct content_row o;
	uint64_t id = 0;
	int r;

	while ((r = next_nobodys(db, id, &id)) == 1) {
		r = content_get(db, id, &o);
		if (r == 0)
			r = save_content(db, c, &o);
		if (r < 0)
			return r;
	}
	return r;
}

int check_repair(struct db *db, void *check_contents)
{
	struct lost_found l = { 0 };
	int r = run_all(db, repairs_before, ARRAY_SIZE(repairs_before));

	if (r == 0)
		r = save_contents(db, check_contents);
	if (r == 0)
		r = name_nameless(db, &l);
	if (r == 0)
		r = tree_mend(db, &l);
	if (r == 0)
		r = lost_found_done(db, &l);
	return r < 0 ? r : run_all(db, repairs_after, ARRAY_SIZE(repairs_after));
}

int check_holders(struct db *db, uint64_t object,
		  void (*f)(void *arg, uint64_t parent, const char *name, uint64_t before), void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT d.parent, d.name, u.old FROM inode i JOIN dirent d ON d.ino=i.ino"
		       " LEFT JOIN undo u ON u.inode=i.ino WHERE i.object=?1",
		       "i", (int64_t)object);

	for (; r == 1; r = db_next(db, st)) {
		char name[256];

		f(arg, (uint64_t)sqlite3_column_int64(st, 0), read_name(st, 1, name), (uint64_t)sqlite3_column_int64(st, 2));
	}
	return r;
}

int check_versions(struct db *db, uint64_t object,
		   void (*f)(void *arg, const struct version_row *v, const char *member), void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT id, NULL FROM version WHERE object=?1 UNION ALL SELECT version, name FROM member WHERE object=?1",
		       "i", (int64_t)object);

	for (; r == 1; r = db_next(db, st)) {
		_cleanup_free_ char *member = NULL;
		struct version_row v;

		if (sqlite3_column_blob(st, 1))
			member = strndup(sqlite3_column_blob(st, 1), (size_t)sqlite3_column_bytes(st, 1));
		if (version_get(db, (uint64_t)sqlite3_column_int64(st, 0), &v) == 0)
			f(arg, &v, member);
	}
	return r;
}

int check_is_named(struct db *db, uint64_t object)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;

	return db_row(db, &st,
		      "SELECT 1 FROM object WHERE id=?1 UNION ALL SELECT 1 FROM inode WHERE object=?1"
		      " UNION ALL SELECT 1 FROM undo WHERE old=?1 UNION ALL SELECT 1 FROM version WHERE object=?1"
		      " UNION ALL SELECT 1 FROM member WHERE object=?1 LIMIT 1",
		      "i", (int64_t)object);
}
