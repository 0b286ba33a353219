/* XXH3-128 by xxHash (https://github.com/Cyan4973/xxHash), SHA-256 by libcrypto. */
#include "store/digest.h"

#include <openssl/evp.h>
#include <string.h>
#include <xxhash.h>

#include "util/io.h"

#define CHUNK (1u << 20)

struct digest_run {
	XXH3_state_t *state;
	uint64_t next; /* where the next write has to begin; UINT64_MAX: spoilt */
};

struct digest_run *digest_run_new(void)
{
	struct digest_run *d = malloc(sizeof(*d));

	if (!d)
		return NULL;
	d->state = XXH3_createState();
	d->next = 0;
	if (!d->state || XXH3_128bits_reset(d->state) == XXH_ERROR) {
		digest_run_free(d);
		return NULL;
	}
	return d;
}

void digest_run_free(struct digest_run *d)
{
	if (!d)
		return;
	XXH3_freeState(d->state);
	free(d);
}

bool digest_run_covers(const struct digest_run *d, uint64_t size)
{
	return d->next <= size;
}

void digest_run_write(struct digest_run *d, const void *buf, size_t n, uint64_t off)
{
	if (d->next != off || XXH3_128bits_update(d->state, buf, n) == XXH_ERROR)
		d->next = UINT64_MAX;
	else
		d->next += n;
}

static void store_digest(const XXH3_state_t *state, uint8_t ret[DIGEST_SIZE])
{
	XXH128_canonical_t c;

	XXH128_canonicalFromHash(&c, XXH3_128bits_digest(state));
	memcpy(ret, c.digest, DIGEST_SIZE);
}

bool digest_run_get(const struct digest_run *d, uint64_t size, uint8_t ret[DIGEST_SIZE])
{
	if (d->next != size)
		return false;
	store_digest(d->state, ret);
	return true;
}

static void cleanup_run(struct digest_run **d)
{
	digest_run_free(*d);
}

typedef int (*chunk_fn)(void *arg, const void *buf, size_t n, uint64_t off);

static int read_chunks(int fd, uint64_t size, chunk_fn f, void *arg)
{
	_cleanup_free_ char *buf = malloc((size_t)MIN(size, (uint64_t)CHUNK) + 1);
	int r = buf ? 0 : -ENOMEM;

	for (uint64_t off = 0; off < size && r == 0; off += CHUNK) {
		size_t want = (size_t)MIN(size - off, (uint64_t)CHUNK);
		ssize_t n = io_pread(fd, buf, want, off);

		r = n < 0 ? (int)n : (size_t)n != want ? -EIO : f(arg, buf, want, off);
	}
	return r;
}

static int add_xxh(void *arg, const void *buf, size_t n, uint64_t off)
{
	digest_run_write(arg, buf, n, off);
	return 0;
}

int digest_file(int fd, uint64_t size, uint8_t ret[DIGEST_SIZE])
{
	_cleanup_(cleanup_run) struct digest_run *d = digest_run_new();
	int r = d ? read_chunks(fd, size, add_xxh, d) : -ENOMEM;

	if (r == 0)
		store_digest(d->state, ret);
	return r;
}

static void cleanup_evp(EVP_MD_CTX **c)
{
	EVP_MD_CTX_free(*c);
}

static int add_sha256(void *arg, const void *buf, size_t n, uint64_t off)
{
	return EVP_DigestUpdate(arg, buf, n) ? 0 : -ENOMEM;
}

int digest_file_sha256(int fd, uint64_t size, uint8_t ret[DIGEST_SHA256_SIZE])
{
	_cleanup_(cleanup_evp) EVP_MD_CTX *c = EVP_MD_CTX_new();
	int r = c && EVP_DigestInit_ex(c, EVP_sha256(), NULL) ? read_chunks(fd, size, add_sha256, c) : -ENOMEM;

	if (r < 0)
		return r;
	return EVP_DigestFinal_ex(c, ret, NULL) ? 0 : -ENOMEM;
}
