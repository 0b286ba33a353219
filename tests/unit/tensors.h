/* Files of torch and safetensors that a test puts together, and their tensors: pickles in the lines of protocol 0,
 * in zip files of stored records. */
#ifndef EXPFS_TEST_TENSORS_H
#define EXPFS_TEST_TENSORS_H

#include "bytes.h"
#include "format/tensors.h"

struct record {
	const char *name;
	const void *p;
	size_t len;
	unsigned method;
};
struct bytes zip(const struct record *records, size_t n);

/* A file of torch with this pickle and a storage of 64 bytes, key 0. */
struct bytes torch_file(const char *pickle);

#define STORAGE_OF(type, key, numel) "(Vstorage\nctorch\n" type "\nV" key "\nVcpu\nI" numel "\ntQ"
#define STORAGE STORAGE_OF("FloatStorage", "0", "16")
#define TENSOR_OF(storage, offset, size, strides) \
	"ctorch._utils\n_rebuild_tensor_v2\n(" storage "I" offset "\n(" size "t(" strides "tI00\nNtR"
#define TENSOR TENSOR_OF(STORAGE, "0", "I2\nI3\n", "I3\nI1\n")

struct bytes safetensors(const char *header, size_t data);

/* NULL: they are refused, *ret_why says why. */
struct tensors *read_tensors(const struct bytes *b, const char **ret_why);

struct tensors *tensors_of(const struct bytes *b);
void assert_refused_bytes(const struct bytes *b, const char *reason);

/* The tensors as a text: NAME:DTYPE[SHAPE]/[STRIDES]@OFFSET, '*' behind the
 * model's, '?' where not located; (components) in place of the strides. */
void assert_tensors(const struct tensors *ts, const char *wanted);

#endif
