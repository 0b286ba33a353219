/* Which weights are in a checkpoint, told by the contents of its tensors alone.
 *
 * The digests of a file's tensors are made once, in pieces that can be kept between: zeros
 * stand for what is not told. From those of all files of a checkpoint its identity is
 * made. */
#ifndef EXPFS_FORMAT_IDENTITY_H
#define EXPFS_FORMAT_IDENTITY_H

#include "format/tensor_content.h"

typedef uint8_t tensor_digests[TENSOR_DIGEST_SIZE];

/* Fills in digests[from …] of the ts->n tensors of the file behind fd, size bytes long, until `bytes` of content were
 * read or all is done; *ret_next is the first that is not filled in, ts->n at the end. Those before from have to be
 * filled in. A tensor is not told where its content is not in one place, or where those of the file would be more
 * than four times its bytes and 64 MiB; those of compressed arrays count a sixteenth. -ECANCELED: as stop says; then, too,
 * *ret_next counts. -EBADMSG: a compressed array does not unpack. */
int identity_digest(int fd, uint64_t size, const struct tensors *ts, size_t from, uint64_t bytes, tensor_stop stop,
		    void *arg, tensor_digests *digests, size_t *ret_next);

bool identity_is_told(const uint8_t digest[TENSOR_DIGEST_SIZE]);

/* The weights of the model in one or several files, without their names, so that weights alone are the same as with an
 * optimizer beside them, and as with a prefix before each name. */
struct identity;
int identity_new(struct identity **ret); /* -ENOMEM */
void identity_free(struct identity *id);

static inline void identity_freep(struct identity **id)
{
	identity_free(*id);
}
#define _cleanup_identity_ _cleanup_(identity_freep)

/* Takes in a file. -ENOMEM, -E2BIG: more than TENSORS_MAX of them. */
int identity_add(struct identity *id, const struct tensors *ts, const tensor_digests *digests);

/* 1, with the digest; 0: there is no tensor, or one that is not told. */
int identity_get(struct identity *id, uint8_t ret[TENSOR_DIGEST_SIZE]);

#endif
