/* Two checkpoints held against each other, tensor by tensor. */
#ifndef EXPFS_COMPARE_H
#define EXPFS_COMPARE_H

#include "exp/weights.h"

enum difference {
	DIFFERENCE_NONE,
	DIFFERENCE_TIED, /* one has it under another name only, under which it is the same: no difference */
	DIFFERENCE_CONTENT,
	DIFFERENCE_TYPE,
	DIFFERENCE_SHAPE,
	DIFFERENCE_MISSING, /* only the other has it */
	DIFFERENCE_EXTRA,   /* only this one has it */
	DIFFERENCE_UNTOLD,  /* what one of them holds is not told */
	DIFFERENCES
};

struct compared {
	char *name; /* as both have it, without what stands before the names of one of them */
	bool model; /* else of the optimizer, or whatever lies beside the model */
	enum difference difference;
	/* NULL where there is none: */
	const struct tensor *a, *b;
	const struct weights_file *file_a, *file_b;
};

struct comparison {
	struct compared *v; /* by name, the model's first */
	size_t n;
	size_t count[DIFFERENCES]; /* of the model's */
	size_t other_count[DIFFERENCES];
};

/* a and b have to stay until it is freed. Names count but for "module" and "_orig_mod" in them, and for a prefix that
 * all of one side have. Two of one name in a file are not told. What is beside the model is compared where both have it,
 * states of random numbers not. -ENOMEM. */
int compare_weights(const struct weights *a, const struct weights *b, struct comparison *ret);
void comparison_free(struct comparison *c);
#define _cleanup_comparison_ _cleanup_(comparison_free)

/* Are all tensors the same? Of the model all of both. */
bool comparison_is_same(const struct comparison *c);
bool comparison_is_same_model(const struct comparison *c); /* whatever is beside it */

/* Tensors that are not told, where all others are the same; else 0. */
size_t comparison_count_open(const struct comparison *c);

size_t comparison_count_different(const size_t count[DIFFERENCES]);

/* Reads the bytes of those that are the same, and finds out that they are: digests alone prove nothing. 1, 0, or an
 * error of reading. */
int comparison_proves(struct expfs *ex, const struct comparison *c, weights_stop stop, void *arg);

const char *difference_name(enum difference d); /* "content", "type" … */

#endif
