/* Rows of the table ledger: checkpoints that somebody selected, and what reviewers decided about that (spec section 7).
 *
 * It is only added to: there is no way to change a row or to take one away. A name selected again has another row, of
 * which the last one counts; what a selection froze is needed as long as it counts, and what is told of it stays. */
#ifndef EXPFS_META_LEDGER_H
#define EXPFS_META_LEDGER_H

#include "meta/meta.h"

#define LEDGER_NAME 64          /* bytes of a name at most */
#define LEDGER_RECORD 16384     /* bytes of a record at most */

enum ledger_kind { LEDGER_SELECTION, LEDGER_DECISION };

struct ledger_row {
	uint64_t id;  /* the selection's, as users see it; numbers ascend with time */
	uint64_t run; /* the branch: ledger_run() */
	enum ledger_kind kind;
	uint64_t of;  /* of a selection: the version; of a decision: the selection, whose run and name it has */
	int64_t time; /* ns */
	char name[LEDGER_NAME + 1];
	char *record; /* JSON text, doc/format.md */
};
void ledger_row_free(struct ledger_row *row);
#define _cleanup_ledger_row_ _cleanup_(ledger_row_free)

/* Copies of rows; ledger_rows_add() is a ledger_fn, whose arg is the list. */
struct ledger_rows {
	struct ledger_row *v;
	size_t n;
};
int ledger_rows_add(void *arg, const struct ledger_row *row);
void ledger_rows_free(struct ledger_rows *l);
#define _cleanup_ledger_rows_ _cleanup_(ledger_rows_free)

/* What stands for a branch in the ledger, from the number that tracked.run has: that itself, but for the first branch of a
 * root at the top, which is the same as that of the run there. */
int ledger_run(struct db *db, uint64_t run, uint64_t *ret);

/* -E2BIG: the record is too long. */
int ledger_put(struct db *db, const struct ledger_row *row);

int ledger_get(struct db *db, uint64_t id, struct ledger_row *ret); /* -ENOENT */

/* The selection of that name that counts; -ENOENT. */
int ledger_current(struct db *db, uint64_t run, const char *name, struct ledger_row *ret);

/* 1: a selection that counts froze this version, and *ret, unless ret is NULL, is it; 0: none did. */
int ledger_needs(struct db *db, uint64_t version, struct ledger_row *ret);

/* Calls f for rows in the order in which they came: all of one name; the selections that count, of a run (0: of all), or
 * with that name in any; the selections of a version, also those that do not count. Ends early with what f returns
 * other than 0. The row is f's for the call. */
typedef int (*ledger_fn)(void *arg, const struct ledger_row *row);
int ledger_list_name(struct db *db, uint64_t run, const char *name, ledger_fn f, void *arg);
int ledger_list_current(struct db *db, uint64_t run, ledger_fn f, void *arg);
int ledger_list_named(struct db *db, const char *name, ledger_fn f, void *arg);
int ledger_list_version(struct db *db, uint64_t version, ledger_fn f, void *arg);

/* The same for those that count whose versions are checkpoints of an experiment. */
int ledger_list_experiment(struct db *db, uint64_t experiment, ledger_fn f, void *arg);

/* Rows follow checkpoints of an experiment to another branch of their root; all those of its forks come to its first. */
int ledger_move(struct db *db, uint64_t experiment, uint64_t from, uint64_t to);
int ledger_forget_forks(struct db *db, uint64_t root);

/* A root got another place: from is what ledger_run() was before. Names for which one of its checkpoints counts go with it. */
int ledger_move_root(struct db *db, uint64_t root, uint64_t from);

#endif
