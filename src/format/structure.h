/* The structure of a model, as a text to hash: which tensors it has. */
#ifndef EXPFS_FORMAT_STRUCTURE_H
#define EXPFS_FORMAT_STRUCTURE_H

#include "format/tensors.h"

#define STRUCTURE_DIGEST_SIZE 32

/* The text is a line for the step that the branch was initialised at, and then
 * one for each tensor of the model, these sorted by their bytes:
 *
 *   init_step:0
 *   layer.0.bias:float32:[5]
 *   layer.0.weight:bfloat16:[5,4]
 *   scale:float32:[]
 *
 * The name is the one that the tensor has in the model, without the top-level key
 * that that stands under: the same weights have one structure as a plain
 * dictionary, under "model", and in safetensors. In names and types each byte
 * below 0x20, 0x7f, ':' and '\' is written as \xNN. Every line ends with a line
 * feed. The MODEL segment is the first 8 hex characters of the digest, which is
 * SHA-256 of the text.
 *
 * *ret is to be freed; ret_len may be NULL. -ENODATA: the model has no tensors.
 * -ENOMEM. */
int model_structure(const struct tensors *ts, uint64_t init_step, char **ret, size_t *ret_len,
		    uint8_t ret_digest[STRUCTURE_DIGEST_SIZE]);

#endif
