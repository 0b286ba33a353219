/* XXH3-128 of a content, kept running while it is written front to back.
 *
 * A digest finds candidates for sharing; nothing is shared because of a digest
 * alone. Canonical (big-endian) byte order, as xxhsum prints it. */
#ifndef EXPFS_DIGEST_H
#define EXPFS_DIGEST_H

#include "util/util.h"

#define DIGEST_SIZE 16

struct digest_run; /* a running digest */

/* NULL where memory is short. */
struct digest_run *digest_run_new(void);
void digest_run_free(struct digest_run *d);

static inline void cleanup_digest_run(struct digest_run **d)
{
	if (*d)
		digest_run_free(*d);
}

/* Takes in the n bytes that were written at off. A write that does not begin
 * where the last one ended spoils the run for good. */
void digest_run_write(struct digest_run *d, const void *buf, size_t n, uint64_t off);

/* False if the run took in bytes beyond size: it is of no use for a file that
 * was cut there. */
bool digest_run_covers(const struct digest_run *d, uint64_t size);

/* True, with the digest, if the run saw all of the size bytes. */
bool digest_run_get(const struct digest_run *d, uint64_t size, uint8_t ret[DIGEST_SIZE]);

/* The digest of the first size bytes of a file; -EIO where it is shorter. */
int digest_file(int fd, uint64_t size, uint8_t ret[DIGEST_SIZE]);

/* The same of SHA-256, for people to compare. */
#define DIGEST_SHA256_SIZE 32
int digest_file_sha256(int fd, uint64_t size, uint8_t ret[DIGEST_SHA256_SIZE]);

#endif
