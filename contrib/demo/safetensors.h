/* Files in the safetensors format, of float32 vectors and matrices. */
#ifndef CHARLM_SAFETENSORS_H
#define CHARLM_SAFETENSORS_H

#include <stddef.h>

struct tensor {
	char name[64];
	unsigned rows, columns; /* rows is 0 for a vector */
	float *data;            /* row by row; the caller's */
};

void safetensors_write(const char *path, const struct tensor *tensors, size_t n_tensors);

/*
 * Fills the data of each tensor given from the one of its name in the file; one that is missing there
 * or has another shape ends the program. The file may hold more.
 */
void safetensors_read(const char *path, const struct tensor *tensors, size_t n_tensors);

#endif
