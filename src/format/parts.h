/* What a training needs to go on, beside the model: told by the keys under which loops keep it. */
#ifndef EXPFS_FORMAT_PARTS_H
#define EXPFS_FORMAT_PARTS_H

#include "format/pickle.h"

enum part {
	PART_OPTIMIZER = 1 << 0,
	PART_SCHEDULER = 1 << 1,
	PART_SCALER = 1 << 2,
	PART_RNG_PYTHON = 1 << 3,
	PART_RNG_NUMPY = 1 << 4,
	PART_RNG_TORCH = 1 << 5,
	PART_RNG_CUDA = 1 << 6,
	PART_LOADER = 1 << 7, /* the position of what gives the data */
};
#define PARTS 8

/* Of a pickled value, below keys down to four levels, but not below those of the model; what is empty does not count.
 * By words of keys between '_':
 *
 *   optimizer  begin with optim; opt        scheduler  begin with sched
 *   scaler     begin with scaler; amp; MixedPrecision (Lightning)
 *   loader     begin with loader, dataloader, sampler; keys such as batches_into_epoch, consumed_samples
 *   rng        begin with rng; random: of CUDA, NumPy, Python, PyTorch as the key says, else the keys below, else
 *              the form of the value; also a dictionary with the keys python and numpy (Hugging Face)
 */
unsigned parts_of(const struct pickle_value *top);

/* Of a key alone; of random numbers only where it says whose. */
unsigned parts_of_key(struct pickle_bytes key);

/* Of a tensor in a flat list, safetensors or .npz: the optimizer, if the first key of its name, which ends at '.' or '/', says so.
 * Of the other words a module of the model may have any. */
unsigned parts_of_tensor(const char *name, size_t len);

/* Of a file of a checkpoint directory whose name says it: optimizer.pt, rng_state_0.pth, trainer_state.json … */
unsigned parts_of_member(const char *path);

/* Its name, such as "optimizer" or "rng-torch": i from 0 to PARTS-1. */
const char *part_name(unsigned i);

/* The names of all that there are, with ',' between them. */
#define PARTS_TEXT 128
void parts_text(unsigned parts, char ret[PARTS_TEXT]);

#endif
