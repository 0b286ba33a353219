/* Rows of the tables weights, unread and holds: what the tensors of contents and of
 * checkpoints were found to be. */
#ifndef EXPFS_META_WEIGHTS_H
#define EXPFS_META_WEIGHTS_H

#include "meta/meta.h"

#define WEIGHTS_DIGEST 16

/* Of a sealed content; gone when that is, or is not sealed so any more. */
struct weights_row {
	uint64_t object, seal;
	uint64_t n, done; /* tensors that it lists; the first of them, which are digested */
	unsigned parts;   /* what else is in it: format/parts.h */
	char *why;        /* it cannot be read; NULL: it can */
	uint8_t (*digests)[WEIGHTS_DIGEST];
};
int weights_get(struct db *db, uint64_t object, struct weights_row *ret); /* -ENOENT */
int weights_put(struct db *db, const struct weights_row *row);
void weights_row_free(struct weights_row *row);
#define _cleanup_weights_row_ _cleanup_(weights_row_free)

/* Complete versions of checkpoints whose weights are to be read, in order of their numbers. */
int unread_put(struct db *db, uint64_t version);
int unread_next(struct db *db, uint64_t after, uint64_t *ret); /* -ENOENT */
int unread_delete(struct db *db, uint64_t version);

#define NO_LABEL (-1)
#define HOLDS_LABEL 32

/* Which weights a version of a checkpoint holds, and which it says that it holds. */
struct holds_row {
	uint64_t version;
	uint64_t run;        /* tracked path of its run or root */
	int64_t step, epoch; /* its labels, by its name or what it says inside; NO_LABEL */
	unsigned parts;      /* as of struct weights_row, of all its files */
	bool told;           /* else model means nothing */
	uint8_t model[WEIGHTS_DIGEST];
	char held[HOLDS_LABEL]; /* the label under which these weights were first committed, if it is another: "step 9" */
	uint64_t other;         /* the version that was, which may be gone; 0: none */
};
int holds_put(struct db *db, const struct holds_row *row);
int holds_get(struct db *db, uint64_t version, struct holds_row *ret); /* -ENOENT */

/* All of a version that goes. */
int weights_forget_version(struct db *db, uint64_t version);

/* The first version of a run whose model is told, with that label; or with that model and any label of the kind.
 * -ENOENT. */
enum label { LABEL_STEP, LABEL_EPOCH };
int holds_first_labelled(struct db *db, uint64_t run, enum label kind, int64_t label, struct holds_row *ret);
int holds_last_labelled(struct db *db, uint64_t run, enum label kind, int64_t label, struct holds_row *ret);
int holds_first_with(struct db *db, uint64_t run, enum label kind, const uint8_t model[WEIGHTS_DIGEST], struct holds_row *ret);

/* All versions of the run with that model and label have the weights of the other one, of label held. */
int holds_set_other(struct db *db, const struct holds_row *like, enum label kind, uint64_t other, const char *held);

/* The version of the run whose model is told before that one, or after it; -ENOENT. */
int holds_before(struct db *db, uint64_t run, uint64_t version, struct holds_row *ret);
int holds_after(struct db *db, uint64_t run, uint64_t version, struct holds_row *ret);

/* The highest label of that kind in a run since the commit of that number, whether its model is told or not; -ENOENT. */
int holds_last_label(struct db *db, uint64_t run, uint64_t since, enum label kind, int64_t *ret);

/* The last version of an experiment in a run with all of those parts and a label below the given, which is not wrong.
 * -ENOENT. */
int holds_to_resume(struct db *db, uint64_t run, uint64_t experiment, enum label kind, int64_t below, unsigned parts,
		    struct holds_row *ret);

/* The first complete version of an experiment with that step whose label is not known to be wrong; -ENOENT. */
int holds_first_of_step(struct db *db, uint64_t experiment, int64_t step, uint64_t *ret);

/* The version of the run with another model that is nearest to one; -ENOENT. */
int holds_nearest_other(struct db *db, const struct holds_row *to, struct holds_row *ret);

/* Calls f for the versions with that model, the first one first; or for those of a run with that label whose model is
 * told. Ends early with what f returns other than 0. */
typedef int (*holds_fn)(void *arg, const struct holds_row *row);
int holds_list_labelled(struct db *db, uint64_t run, enum label kind, int64_t label, holds_fn f, void *arg);
int holds_list_model(struct db *db, const uint8_t model[WEIGHTS_DIGEST], holds_fn f, void *arg);

/* Likewise for the versions of a run, or of an experiment, that have another label than their weights. */
int holds_list_wrong(struct db *db, uint64_t run, holds_fn f, void *arg);
int holds_list_wrong_of(struct db *db, uint64_t experiment, holds_fn f, void *arg);

#endif
