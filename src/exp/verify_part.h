/* What the parts of verify share. */
#ifndef EXPFS_VERIFY_PART_H
#define EXPFS_VERIFY_PART_H

#include "exp/verify.h"

struct question {
	struct expfs *ex;
	struct verify *v;
	weights_stop stop;
	void *arg;
	struct verified *ret;
	struct holds_row candidate;
	enum label kind; /* of its label */
	int64_t label;   /* NO_LABEL: it has none */
	bool is_first;   /* it is itself the first under its label */
	struct stat file; /* outside, as it was before it was read */
};

/* verify_find.c: what in the store speaks for or against it. -ENOENT: nothing does. */

/* Are the weights of both those of one save, under two names, or in history? A save again of equal bytes is another. */
int verify_is_one_save(struct question *q, const struct version_row *a, const struct version_row *b);

/* The first version under the label of the candidate whose own label is not known to be wrong; not its own save. */
int verify_find_labelled(struct question *q, struct version_row *ret);

/* Fills in the other versions that hold the weights of the candidate. */
int verify_find_held(struct question *q);

/* Fills in those of whose tensors the candidate's model is a part, names behind a prefix or not; of its run, and as far as
 * a bounded search finds them. */
int verify_find_whole(struct question *q);

/* A version in the store, other than the candidate, that is what the reference, a file outside, is. */
int verify_find_equal(struct question *q, uint64_t *ret);

/* Has the run gone past the label? */
int verify_is_past(struct question *q);

/* A version from which a training can come to the label again. */
int verify_find_rerun(struct question *q, uint64_t *ret);

#endif
