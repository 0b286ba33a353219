/* From which checkpoint a training goes on, where that which was completed last is none that it can.
 *
 * Some loops save less beside each state: weights alone, or without the states of random numbers, as TorchLingo does model_best.pt
 * after latest.pt. Such a file is what was completed last, but what holds all of it and more, of the same step or where the file tells
 * none, stands before it if it was saved since that file was saved before. */
#ifndef EXPFS_RESUME_H
#define EXPFS_RESUME_H

#include "exp/checkpoint.h"

/* c is the latest of the set, and becomes another where that is to be gone on from. Not to be called with a lock or a reader. */
int checkpoint_to_resume(const struct checkpoint_set *s, struct checkpoint *c);

#endif
