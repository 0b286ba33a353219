/* Which weights a checkpoint holds, held against an independent record (spec section 7).
 *
 * The record is a version that somebody names, a file outside of the store, or else the first version that was
 * committed under the label of the candidate: never the candidate itself. An answer is worth something only if the
 * comparison can fail; so each one is made again with weights that are known to be others, and must. */
#ifndef EXPFS_VERIFY_H
#define EXPFS_VERIFY_H

#include "exp/compare.h"
#include "meta/tracked.h"

enum verdict {
	VERDICT_ACCEPT,    /* every tensor is that of the reference */
	VERDICT_RECOVER,   /* another version in the store holds that state */
	VERDICT_RECAPTURE, /* none does, and the run has not gone past that step */
	VERDICT_RERUN,     /* none does; an earlier checkpoint has all that a training needs to come there again */
	VERDICT_HOLD,      /* none of these, or something cannot be read */
};

struct verify {
	struct version_row candidate;
	struct version_row reference; /* id 0: by the label, or the file */
	int file;                     /* outside of the store, taken over; -1: none */
	int64_t step;                 /* that the candidate was selected under, or NO_STEP: its label is its own */
};

#define VERIFY_HELD_MAX 8

struct verified {
	enum verdict verdict;
	char *why;                    /* of VERDICT_HOLD */
	uint64_t reference;           /* the version, 0: there is none, or a file */
	struct comparison comparison; /* of the candidate (a) with the reference (b), where there was one */
	struct weights candidate_weights, reference_weights;
	uint64_t instead;             /* the version to recover, or to run again from */
	uint64_t held[VERIFY_HELD_MAX]; /* other versions with the candidate's weights, the first ones */
	size_t n_held;
	uint64_t part_of[VERIFY_HELD_MAX]; /* versions that have its model's tensors among others, the first ones */
	size_t n_part_of;
	uint64_t control;             /* the version that was the negative control; 0: a state with one bit changed */
	size_t control_differs;       /* tensors that told it from the reference; 0: it was not made */
};

/* -EINVAL: the reference is the candidate; -EAGAIN: its weights could not be read and noted. Other errors as of
 * weights_load(). */
int verify(struct expfs *ex, struct verify *v, weights_stop stop, void *arg, struct verified *ret);
void verified_free(struct verified *v);
#define _cleanup_verified_ _cleanup_(verified_free)

#endif
