/* Rows of the tables segment, experiment, due and fact: what states of configuration, model
 * and data there were. In which order a run went through them says meta/line.h. */
#ifndef EXPFS_META_EXPERIMENT_H
#define EXPFS_META_EXPERIMENT_H

#include "meta/meta.h"

enum segment { SEGMENT_HP, SEGMENT_MODEL, SEGMENT_DATA, SEGMENTS };
#define SEGMENT_LEN 8
#define SEGMENT_DIGEST 64 /* hex digits */
#define EXPERIMENT_HASH (SEGMENTS * SEGMENT_LEN)
#define SEGMENT_ABSENT "00000000"
#define NO_EXPERIMENT SEGMENT_ABSENT SEGMENT_ABSENT SEGMENT_ABSENT

/* The digests of the three, "" where one is absent. */
struct segments {
	char digest[SEGMENTS][SEGMENT_DIGEST + 1];
};

struct experiment_row {
	uint64_t id;
	char hash[EXPERIMENT_HASH + 1];
	struct segments segments; /* all "" of one that is known by its hash alone */
	uint64_t parent;          /* 0: none */
	int64_t time;             /* ns since 1970 */
};

int experiment_get(struct db *db, uint64_t id, struct experiment_row *ret);             /* -ENOENT */
int experiment_by_hash(struct db *db, const char *hash, struct experiment_row *ret);    /* -ENOENT */
int experiment_insert(struct db *db, const struct experiment_row *row);
int experiment_set_parent(struct db *db, uint64_t id, uint64_t parent); /* unless it descends from id */

/* The one whose hash begins with prefix; -ENOENT, -EEXIST: several do. */
int experiment_by_prefix(struct db *db, const char *prefix, struct experiment_row *ret);

/* Calls f for all, oldest first, or for those with that segment. Ends early with what it returns other than 0. */
typedef int (*experiment_fn)(void *arg, const struct experiment_row *row);
int experiment_list(struct db *db, experiment_fn f, void *arg);
int experiment_list_by_segment(struct db *db, enum segment which, const char *text, experiment_fn f, void *arg);

/* The eight characters of a digest, the first that no other one has; of "" and no other, zeros. insert: they
 * are given out now. */
int segment_text(struct db *db, enum segment which, const char *digest, bool insert, char ret[SEGMENT_LEN + 1]);

/* Calls f for the digests that did not get their first characters. */
typedef int (*segment_fn)(void *arg, enum segment which, const char *text, const char *digest);
int segment_list_collisions(struct db *db, segment_fn f, void *arg);

/* Versions of which is to be found out what experiment they belong to, or make. */
struct due_row {
	uint64_t version, run;
	uint64_t begin; /* the number of the commit up to which changes count */
};
int due_put(struct db *db, const struct due_row *row);
int due_delete(struct db *db, uint64_t version);
int due_get(struct db *db, uint64_t version, struct due_row *ret); /* -ENOENT */

/* The one after *row (all 0: the first) in the order of begin, of a run or (0) any; -ENOENT. */
int due_next(struct db *db, uint64_t run, struct due_row *row);

/* What was found out about a sealed content, as text; gone when the object is, or is not sealed so any more. */
enum fact { FACT_HP_YAML, FACT_HP_JSON, FACT_STRUCTURE, FACT_SNAPSHOT, FACT_STEP };
int fact_get(struct db *db, uint64_t object, enum fact kind, char **ret); /* to be freed; -ENOENT */
int fact_put(struct db *db, uint64_t object, uint64_t seal, enum fact kind, const char *value);
int fact_forget_hp(struct db *db); /* of all contents */

#endif
