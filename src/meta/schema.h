/* What a database of ours consists of. For the files of this room. */
#ifndef EXPFS_META_SCHEMA_H
#define EXPFS_META_SCHEMA_H

#include "meta/meta.h"

#define SCHEMA_NAME 128

struct schema_part {
	bool is_table; /* else an index */
	const char *name;
	const char *sql; /* that makes it */
};

int schema_create(struct db *db, unsigned uid, unsigned gid);

/* 0 where the database can be taken into use, which one of an earlier format then can;
 * -EUCLEAN where any of the following is not as it should be. */
int schema_check(struct db *db);

/* -EUCLEAN: not a database of ours. */
int schema_version(struct db *db, int64_t *ret);

/* Code that is not ours would run with our statements: 1 with what there is, or 0. */
int schema_foreign(struct db *db, char ret[static SCHEMA_NAME]);

/* From *i, which begins with 0: 1 with a part that is missing, or 0. */
int schema_missing(struct db *db, size_t *i, const struct schema_part **ret);

/* 1 where the next number is ahead of all inodes and objects, 0 where it is not. */
int schema_sequence(struct db *db, int64_t *ret_next);

/* The top, whose contents are to be tracked. */
#define SCHEMA_TRACK_ALL                                                                           \
	"INSERT INTO tracked VALUES(1, 0, X'', 1, 1, 0, 1, 0, NULL, NULL, NULL, -1, 0, 0, 0, 0, NULL);" \
	"INSERT OR IGNORE INTO moved VALUES(1);"

/* Checkpoints of removed runs are to be given back, where they were not. */
#define SCHEMA_GIVE_BACK "INSERT OR IGNORE INTO moved SELECT id FROM tracked WHERE run=id AND is_dir AND ino IS NULL"

/* Checkpoints that are of no experiment may only have lost it. */
#define SCHEMA_ALL_DUE                                                                           \
	"INSERT OR IGNORE INTO due SELECT v.id, t.run, v.begin FROM version v JOIN tracked t ON"        \
	" t.id=v.tracked WHERE v.complete=1 AND t.role=4 AND v.experiment IS NULL"

/* The weights of all complete checkpoints are to be read. */
#define SCHEMA_ALL_UNREAD                                                                              \
	"INSERT OR IGNORE INTO unread SELECT v.id FROM version v JOIN tracked t ON t.id=v.tracked WHERE" \
	" v.complete=1 AND t.role=4 AND v.id NOT IN (SELECT version FROM holds);"

#define SCHEMA_FILL_SEGMENTS                                                                          \
	"INSERT OR IGNORE INTO segment SELECT 0, substr(hash, 1, 8), hp FROM experiment WHERE hp<>''" \
	" UNION SELECT 1, substr(hash, 9, 8), model FROM experiment WHERE model<>''"                  \
	" UNION SELECT 2, substr(hash, 17, 8), data FROM experiment WHERE data<>''"

/* What was written in experiment roots is read again; as if it never had been. */
#define SCHEMA_ALL_EVENTS                                                                                              \
	"INSERT OR IGNORE INTO event SELECT v.id, coalesce((SELECT f.root FROM fork f WHERE f.id=t.run), t.run) FROM" \
	" version v JOIN tracked t ON t.id=v.tracked WHERE t.role IN (4, 6) AND"                                     \
	" t.run IN (SELECT id FROM root UNION ALL SELECT id FROM fork);"
#define SCHEMA_DERIVE_ALL                                                                                            \
	"UPDATE tracked SET run=(SELECT f.root FROM fork f WHERE f.id=tracked.run) WHERE run IN (SELECT id FROM fork);" \
	"UPDATE OR IGNORE ledger SET run=(SELECT CASE t.parent WHEN 1 THEN 1 ELSE t.id END FROM fork f JOIN tracked t ON t.id=f.root WHERE f.id=ledger.run)" \
	" WHERE run IN (SELECT id FROM fork);"                                                                          \
	"DELETE FROM fork; DELETE FROM succession; UPDATE root SET current='', guess=NULL, listed=0;" SCHEMA_ALL_EVENTS

/* Without undo rows: what is not known to be synced may have been there for long; it is
 * kept as it is, whatever happens. */
#define SCHEMA_KEEP_UNSYNCED                                                                                        \
	"UPDATE object SET synced=CASE WHEN (SELECT count(*) FROM inode i WHERE i.object=object.id)>1 THEN 1 ELSE 2 END" \
	" WHERE synced=0"

#endif
