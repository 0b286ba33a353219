/* safetensors files. */
#ifndef EXPFS_FORMAT_SAFETENSORS_H
#define EXPFS_FORMAT_SAFETENSORS_H

#include "format/window.h"

/* 0: whole. Errors as in format/window.h. */
int safetensors_check(struct window *w);

#define SAFETENSORS_DIMS_MAX 64
#define SAFETENSORS_NAME_MAX ((size_t)64 << 10)

struct safetensors_tensor {
	const char *name; /* UTF-8 if the header is, NUL-ended; may hold NUL */
	size_t name_len;
	const char *dtype; /* as in the header, at most 24 bytes of it */
	unsigned bits;	   /* of an element; 0 for a type that is not known */
	unsigned ndim;
	const uint64_t *shape;
	uint64_t begin, end; /* in the file */
};

/* Who is told what the header says. What is returned other than 0 is returned;
 * all pointers are valid until then. The window may not be moved meanwhile. */
struct safetensors_reader {
	int (*tensor)(void *arg, const struct safetensors_tensor *t);
	int (*metadata)(void *arg, const char *key, const char *value); /* the first 24 bytes of each */
	void *arg;
};

/* As safetensors_check(). Beyond the two bounds a file is refused. A file may
 * turn out not to be whole after the last call. */
int safetensors_each(struct window *w, const struct safetensors_reader *reader);

#endif
