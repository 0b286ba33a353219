/* From which checkpoint a training goes on, where that which was completed last is none that one can.
 *
 * Some loops save weights alone beside each state, as TorchLingo does model_best.pt after latest.pt. Such a file, which has no
 * optimizer and tells no step, is only then what was completed last; it stands for what was saved since it was saved before. */
#ifndef EXPFS_RESUME_H
#define EXPFS_RESUME_H

#include "exp/checkpoint.h"

/* c is the latest of the set, and becomes another where that is to be gone on from. Not to be called with a lock or a reader. */
int checkpoint_to_resume(const struct checkpoint_set *s, struct checkpoint *c);

#endif
