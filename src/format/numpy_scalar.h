/* Numpy's scalars in a pickle: numpy.int64(7). */
#ifndef EXPFS_FORMAT_NUMPY_SCALAR_H
#define EXPFS_FORMAT_NUMPY_SCALAR_H

#include "format/pickle.h"

/* The value, if loading v would give an integer of numpy that int64_t holds. */
bool numpy_scalar_integer(const struct pickle_value *v, int64_t *ret);

#endif
