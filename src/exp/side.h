/* The tensors of a checkpoint, by the names by which they are looked for in another one. */
#ifndef EXPFS_SIDE_H
#define EXPFS_SIDE_H

#include "exp/weights.h"

struct side_tensor {
	char *name; /* without the components that wrappers put into it */
	size_t len;
	bool model;
	bool vague; /* the file has another one of that name: which of them is meant, it does not tell */
	const struct tensor *t;
	const struct weights_file *file;
	const uint8_t *digest;
};

struct side {
	struct side_tensor *v; /* the model's first, by name; those alike in an order that every save of them has */
	size_t n;
	size_t prefix; /* bytes that the names of all the model's begin with, up to a '.' */
	size_t skip;   /* of these, those that do not count: 0, or as who compares says */
};

/* All tensors of w, which has to stay, but states of random numbers, and numbers that are labels. -ENOMEM. */
int side_load(const struct weights *w, struct side *ret);
void side_free(struct side *s);
#define _cleanup_side_tensors_ _cleanup_(side_free)

/* Tensor i of x and tensor k of y in that order. */
int side_compare(const struct side *x, size_t i, const struct side *y, size_t k);

/* The name that counts, NUL-ended. */
const char *side_name(const struct side *s, size_t i, size_t *ret_len);

/* Same type and shape. */
bool side_has_one_form(const struct side_tensor *a, const struct side_tensor *b);

#endif
