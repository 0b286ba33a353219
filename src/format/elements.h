/* Copies of elements into another order of their dimensions. */
#ifndef EXPFS_FORMAT_ELEMENTS_H
#define EXPFS_FORMAT_ELEMENTS_H

#include <stdint.h>

struct elements_dim {
	uint64_t n;	   /* at least 1 */
	uint64_t from, to; /* strides in elements; a from of 0 repeats what is there */
};

/* Each element of the ndim dimensions, `item` bytes of 1, 2, 4, 8 or 16, goes to its own place. */
void elements_copy(uint8_t *to, const uint8_t *from, const struct elements_dim *dim, unsigned ndim, unsigned item);

#endif
