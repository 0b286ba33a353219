/* The content of a tensor as it would be loaded: its elements in rows that follow each
 * other, little-endian, however they lie in the file.
 *
 * So tensors of one type and shape have equal contents when, and only when, these bytes
 * are the same: a transposed or expanded one and its contiguous copy, too. Of one of
 * components (format/tensors.h) it is, for each of them, "NAME:DTYPE:[SHAPE]\n" and its content.
 * Memory is bounded (BOXES_MEMORY, and 2 MiB; for compressed columns SOURCE_WHOLE_MAX more); what is read of the file is at most
 * BOXES_SPREAD bytes for each byte of the content (format/boxes.h). */
#ifndef EXPFS_FORMAT_TENSOR_CONTENT_H
#define EXPFS_FORMAT_TENSOR_CONTENT_H

#include "format/tensors.h"

#define TENSOR_DIGEST_SIZE 16

/* Bytes of the content, UINT64_MAX where they are more; of a located tensor. */
uint64_t tensor_content_size(const struct tensor *t);

/* The content of a located tensor of the file behind fd, front to back; both have to stay
 * until it is freed. -ENOMEM. */
struct tensor_content;
int tensor_content_open(int fd, const struct tensor *t, struct tensor_content **ret);
void tensor_content_free(struct tensor_content *c);

static inline void tensor_content_freep(struct tensor_content **c)
{
	tensor_content_free(*c);
}
#define _cleanup_tensor_content_ _cleanup_(tensor_content_freep)

/* The next bytes, whole elements, valid until the next call; 0 at the end. -EBADMSG: it does not unpack; -EIO and other errors of reading. */
ssize_t tensor_content_next(struct tensor_content *c, const uint8_t **ret);

/* Calls f with the same parts of two contents of one size, whole elements, until it returns other than 0, which is then
 * given back. 0 at the end; -EINVAL: they are not of one size; -ENOMEM, errors of reading. */
typedef int (*tensor_pair_fn)(void *arg, const uint8_t *a, const uint8_t *b, size_t n);
int tensor_contents_each(int fd_a, const struct tensor *a, int fd_b, const struct tensor *b, tensor_pair_fn f, void *arg);

/* XXH3-128 of the content, in canonical (big-endian) order of bytes. stop, if there is one, is asked now and then,
 * and ends it with -ECANCELED. -ENOMEM, or errors of reading. */
typedef bool (*tensor_stop)(void *arg);
int tensor_digest(int fd, const struct tensor *t, tensor_stop stop, void *arg, uint8_t ret[TENSOR_DIGEST_SIZE]);

/* The same of a content that differs from it in one bit, the first; it is not empty. */
int tensor_digest_changed(int fd, const struct tensor *t, tensor_stop stop, void *arg, uint8_t ret[TENSOR_DIGEST_SIZE]);

#endif
