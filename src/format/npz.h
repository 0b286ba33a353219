/* numpy's .npz: a zip file of arrays. */
#ifndef EXPFS_FORMAT_NPZ_H
#define EXPFS_FORMAT_NPZ_H

#include "format/records.h"

/* Whether all records are arrays (NAME.npy). */
bool npz_is(const struct records *rs);

/* Fills ts with the arrays, by name; all are the model's. Types that are none of
 * torch's (text, structures, objects, dates …) are told as numpy writes them, and
 * are not located. Errors as in format/window.h. */
int npz_read(struct tensors *ts, const struct records *rs);

#endif
