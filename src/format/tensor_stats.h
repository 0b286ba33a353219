/* By how much two tensors of one type and shape differ. */
#ifndef EXPFS_FORMAT_TENSOR_STATS_H
#define EXPFS_FORMAT_TENSOR_STATS_H

#include "format/tensor_content.h"

struct tensor_stats {
	uint64_t elements;
	uint64_t changed;   /* of them, by their bytes */
	bool numbers;       /* else what follows means nothing: a type that is not read as numbers here */
	double max;         /* the greatest absolute difference of those that are numbers in both */
	double cosine;      /* of the two as vectors, without those that are not; NaN where one is zero */
};

/* Integers, float16 to float64, bfloat16, and complex numbers as two of these are numbers. Of
 * tensors of components nothing is counted. -ECANCELED: as stop says. Errors
 * as of tensor_contents_each(). */
int tensor_stats(int fd_a, const struct tensor *a, int fd_b, const struct tensor *b, tensor_stop stop, void *arg,
		 struct tensor_stats *ret);

#endif
