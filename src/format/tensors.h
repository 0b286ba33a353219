/* Which tensors a checkpoint file holds, and the step that it says it is of,
 * told without loading it or running anything from it.
 *
 * Read are torch's zip files (format/torch.h), safetensors, and numpy's .npz
 * (format/npz.h); which one it is, its first bytes tell. */
#ifndef EXPFS_FORMAT_TENSORS_H
#define EXPFS_FORMAT_TENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/arena.h"
#include "format/unpack.h"
#include "format/window.h"

#define TENSOR_DIMS_MAX 64
#define TENSOR_COMPONENT_NAME_MAX 255u
#define TENSOR_NAME_MAX ((size_t)64 << 10)
#define TENSORS_MAX ((size_t)1 << 18)
#define TENSORS_MEMORY_MAX ((size_t)32 << 20) /* of names, shapes and the directory of a zip file */

/* Where its content is, is told for later use: element (i, j, …) has the `item`
 * bytes at begin + offset + item * (i * strides[0] + j * strides[1] + …), all of
 * them below end. Tensors may share bytes, and an expanded one (a stride of 0)
 * has more elements than bytes, without bound. */
struct tensor {
	const char *name; /* keys from the outermost one on, a '.' between them; NUL-ended, */
	size_t name_len;  /* but a key may hold NUL, '.', or bytes that are no UTF-8 */
	size_t inner;	  /* where in the name that begins which it has in the model */
	const char *dtype; /* torch's name of it: float32, bfloat16, float8_e4m3fn … */
	unsigned ndim;
	const uint64_t *shape;
	bool model;   /* belongs to the model: format/torch.h tells the rule */
	bool located; /* else what follows means nothing, and */
	const char *why; /* says what it is instead, "a tensor on no device"; static text */
	uint64_t blob; /* of a .distcp (format/distcp.h): where in the file the zip file begins that it lies in */
	unsigned n_components; /* if not 0, its content is that of other tensors, located ones without components, */
	struct tensor *components; /* with names of at most TENSOR_COMPONENT_NAME_MAX bytes; and only this is told */
	bool big_endian;
	unsigned item;		     /* bytes of an element */
	const uint64_t *strides;     /* in elements */
	uint64_t begin, end, offset; /* its storage in the file; from there to its first element, in bytes */
	const struct packed *packed; /* if not NULL, all of that is in what this unpacks to, not in the file; if it does not */
				     /* lie in rows, at most SOURCE_WHOLE_MAX (format/source.h) */
};

struct tensors {
	struct tensor *v; /* in an order that is given by the file */
	size_t n;
	unsigned parts; /* format/parts.h */
	bool has_step, has_epoch;
	uint64_t step; /* at most 2^63-1 */
	int64_t epoch;
	/* for those who build it */
	struct arena arena;
	size_t room;
	unsigned step_rank, epoch_rank;
	struct window *w;
};

/* Lists the file behind fd, size bytes long and not changing meanwhile.
 *
 * The step is the value of the first of the keys step, global_step,
 * state.global_step, iter_num, iteration that is an integer from 0 on; the epoch
 * that of epoch or state.epoch. An integer is an int, a float that is whole and at most
 * 2^53 (as a division gives it), an integer of numpy, or a tensor of one integer; in the
 * metadata of safetensors, which are text, its decimal digits.
 *
 * -EBADMSG: not a file that is read here, and *ret_why says why in static text
 * that continues "NAME: ": not whole, beyond a bound, or of a kind that is
 * refused (compressed, torch's formats before its version 1.6, …). -ENOMEM, or
 * an error of I/O: *ret_why is NULL. Memory while it runs: at most
 * PICKLE_MEMORY_MAX + TENSORS_MEMORY_MAX + 32 MiB for the list itself, and 1 MiB.
 * Contents of tensors are not read. */
int tensors_read(int fd, uint64_t size, struct tensors **ret, const char **ret_why);
void tensors_free(struct tensors *t);

static inline void tensors_freep(struct tensors **t)
{
	tensors_free(*t);
}
#define _cleanup_tensors_ _cleanup_(tensors_freep)

/* Is it a weight of the model, which a number that tells step or epoch is not, though it stands among them, as in .npz? */
bool tensor_is_weight(const struct tensor *t);

/* An order in which located tensors that are the same elements of a file are equal. */
int tensor_compare_places(const struct tensor *a, const struct tensor *b);

/* What follows is for the formats. All that a tensor refers to lies in the
 * arena; errors as in format/window.h. */

/* tensors_read() of what f reads from ts->w. */
int tensors_read_as(int fd, uint64_t size, int (*f)(struct tensors *ts), struct tensors **ret, const char **ret_why);

/* Adds a copy of *t, and reads its value if it tells the step. */
int tensors_add(struct tensors *ts, const struct tensor *t);

/* After the arena gave NULL. */
int tensors_no_memory(struct tensors *ts);

/* Fills in strides of rows that follow each other, or of columns. */
int tensors_set_strides(struct tensors *ts, struct tensor *t, bool columns);

/* Whether a located tensor, of item and offset set, stays below end. */
bool tensor_in_bounds(const struct tensor *t);

/* The integer v stands under this name: takes it if it tells step or epoch. */
void tensors_note(struct tensors *ts, const char *name, size_t len, int64_t v);

#endif
