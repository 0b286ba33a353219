/* Types of elements, by torch's names of them. */
#ifndef EXPFS_FORMAT_DTYPE_H
#define EXPFS_FORMAT_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dtype {
	const char *name;
	unsigned item;		 /* bytes of an element; 0 if it has no whole bytes */
	const char *storage;	 /* torch's class of storages of it; NULL if there is none */
	const char *safetensors; /* its name there; NULL if it has none */
	const char *numpy;	 /* kind and bytes, as in '<f4'; NULL if it has none */
};

/* All return NULL for a name that is not known. */
const struct dtype *dtype_of_name(const char *name, size_t len);
const struct dtype *dtype_of_storage(const char *name, size_t len);
const struct dtype *dtype_of_safetensors(const char *name);
const struct dtype *dtype_of_numpy(const char *name, size_t len);

/* Whether it is of integers, bool not among them. */
bool dtype_is_integer(const char *name);

/* The value of one, of that type and so many bytes, at most 8; false: int64_t does not hold it. */
bool dtype_read_integer(const char *name, unsigned item, bool big_endian, const uint8_t *bytes, int64_t *ret);

#endif
