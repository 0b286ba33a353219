/* The tensors of torch's files that are made of several. */
#ifndef EXPFS_FORMAT_TORCH_COMPOSED_H
#define EXPFS_FORMAT_TORCH_COMPOSED_H

#include "format/torch_tensor.h"

/* All give *t its components, by these names, or t->why where they cannot be told. wraps: of torch_build_wrapped_in().
 * Errors as in format/window.h. */

/* data of a layout: (indices, values, size …) of torch.sparse_coo: "indices", "values"; else (indices, more of them,
 * values, size): "crow_indices", "col_indices", or "ccol_indices", "row_indices", where columns are compressed; "values". */
int torch_compose_sparse(struct torch *f, const struct pickle_value *args, unsigned wraps, struct tensor *t);

/* What is *t already, as "integers SCHEME SCALE ZERO", or as "integers SCHEME AXIS" with "scales" and "zeros"; args are
 * those of the quantizer, (SCHEME, scale, zero point) or (SCHEME, scales, zero points, axis). */
int torch_compose_quantised(struct torch *f, const struct pickle_value *args, unsigned wraps, struct tensor *t);

/* All tensors in the state of one whose class keeps its data there, by the keys that lead to them, a '.' between. What is
 * of torch.distributed there says where they lie, and does not count. */
int torch_compose_wrapped(struct torch *f, const struct pickle_value *state, unsigned wraps, struct tensor *t);

#endif
