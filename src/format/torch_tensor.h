/* The tensors of torch's zip files, one by one. */
#ifndef EXPFS_FORMAT_TORCH_TENSOR_H
#define EXPFS_FORMAT_TORCH_TENSOR_H

#include "format/pickle.h"
#include "format/records.h"

struct torch {
	struct tensors *ts;
	const struct records *records;
	bool big_endian;
};

/* The record PREFIX/name; NULL if there is none. */
const struct zip_record *torch_find(const struct records *rs, const char *name, size_t len);

/* Whether loading v would give a tensor. */
bool torch_builds(const struct pickle_value *v);

/* That tensor, all but its name and whose it is. Errors as in format/window.h. */
int torch_build(struct torch *f, const struct pickle_value *v, struct tensor *ret);

/* For format/torch_composed.h: a tensor in so many others; the shape of *t. */
int torch_build_wrapped_in(struct torch *f, const struct pickle_value *v, unsigned wraps, struct tensor *ret);
int torch_set_shape(struct torch *f, struct tensor *t, const struct pickle_value *size);

#endif
