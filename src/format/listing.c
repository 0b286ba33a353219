#include "format/listing.h"
#include "util/hex.h"

#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

struct listing {
	EVP_MD_CTX *sha256;
	char *last; /* path */
	size_t allocated;
};

void listing_free(struct listing *l)
{
	if (!l)
		return;
	EVP_MD_CTX_free(l->sha256);
	free(l->last);
	free(l);
}

int listing_new(struct listing **ret)
{
	struct listing *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->sha256 = EVP_MD_CTX_new();
	if (!l->sha256 || !EVP_DigestInit_ex(l->sha256, EVP_sha256(), NULL)) {
		listing_free(l);
		return -ENOMEM;
	}
	*ret = l;
	return 0;
}

static int remember(struct listing *l, const char *path, size_t n)
{
	if (n > l->allocated) {
		char *more = realloc(l->last, n);

		if (!more)
			return -ENOMEM;
		l->last = more;
		l->allocated = n;
	}
	memcpy(l->last, path, n);
	return 0;
}

int listing_add(struct listing *l, const char *path, const uint8_t digest[LISTING_DIGEST_SIZE])
{
	size_t n = strlen(path) + 1;
	char hex[2 * LISTING_DIGEST_SIZE + 2];
	int r;

	if (l->last && strcmp(l->last, path) >= 0)
		return -EINVAL;
	r = remember(l, path, n);
	if (r < 0)
		return r;
	hex_text(digest, LISTING_DIGEST_SIZE, hex);
	hex[2 * LISTING_DIGEST_SIZE] = ' ';
	if (!EVP_DigestUpdate(l->sha256, hex, sizeof(hex) - 1) || !EVP_DigestUpdate(l->sha256, path, n))
		return -ENOMEM;
	return 0;
}

int listing_finish(struct listing *l, uint8_t ret[LISTING_SHA256_SIZE])
{
	return EVP_DigestFinal_ex(l->sha256, ret, NULL) ? 0 : -ENOMEM;
}
