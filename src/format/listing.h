/* A set of files as a text, and its SHA-256: what names a DATA state that has no
 * form of its own. For each file, in the order of strcmp() over whole relative
 * paths, its content's digest as 32 hex digits, a space, the path and a NUL; so
 * that different sets have different texts, whatever bytes are in names.
 *
 *   listing_new(&l);
 *   listing_add(l, path, digest);    for each, in order
 *   listing_finish(l, sha256);
 *   listing_free(l);
 *
 * The text itself is nowhere: a listing needs the same little memory for any
 * number of files. */
#ifndef EXPFS_FORMAT_LISTING_H
#define EXPFS_FORMAT_LISTING_H

#include "util/util.h"

#define LISTING_DIGEST_SIZE 16 /* XXH3-128 */
#define LISTING_SHA256_SIZE 32

struct listing;

int listing_new(struct listing **ret);
void listing_free(struct listing *l);

/* -EINVAL: the path does not come after the last one. */
int listing_add(struct listing *l, const char *path, const uint8_t digest[LISTING_DIGEST_SIZE]);

/* Of what was added, which may be nothing; the last call but listing_free(). */
int listing_finish(struct listing *l, uint8_t ret[LISTING_SHA256_SIZE]);

#endif
