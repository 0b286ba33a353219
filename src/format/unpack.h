/* What a deflated record of a zip file unpacks to, read from the front. */
#ifndef EXPFS_FORMAT_UNPACK_H
#define EXPFS_FORMAT_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "util/util.h"

struct packed {
	uint64_t at, len; /* where it lies in the file */
	uint64_t size;	  /* of what it unpacks to, as the file says */
};

/* fd has to stay until it is freed. -ENOMEM. */
struct unpacker;
int unpacker_open(int fd, const struct packed *p, struct unpacker **ret);
void unpacker_free(struct unpacker *u);

static inline void unpacker_freep(struct unpacker **u)
{
	unpacker_free(*u);
}
#define _cleanup_unpacker_ _cleanup_(unpacker_freep)

/* The next n bytes, or past them. No more than that is unpacked. -EBADMSG: it does not unpack, or not to what the file
 * says it does, which is known when the last byte was read; errors of reading. */
int unpacker_read(struct unpacker *u, void *buf, size_t n);
int unpacker_skip(struct unpacker *u, uint64_t n);

/* n bytes at off by themselves; n and off small. */
int unpack(int fd, const struct packed *p, uint64_t off, void *buf, size_t n);

#endif
