/* An identity is XXH3-128 of the sorted XXH3-128 of "DTYPE:[SHAPE]:" and the digest of
 * each tensor, each once: some formats keep weights that are tied once, others twice. */
#include "format/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define UNFOLDED_MAX(size) (4 * MIN(size, UINT64_MAX / 8) + ((uint64_t)64 << 20))
#define PACKED_RATIO 16u /* that much more of what is compressed */
#define LABEL_MAX (32u + 24 * TENSOR_DIMS_MAX)

struct identity {
	tensor_digests *v;
	size_t n;
	bool untold;
};

bool identity_is_told(const uint8_t digest[TENSOR_DIGEST_SIZE])
{
	static const uint8_t zeros[TENSOR_DIGEST_SIZE];

	return memcmp(digest, zeros, sizeof(zeros)) != 0;
}

/* Tensors that are the same bytes of the file are read once. */

static int compare_tensors(const void *pa, const void *pb)
{
	const struct tensor *a = *(const struct tensor *const *)pa, *b = *(const struct tensor *const *)pb;
	int r = tensor_compare_places(a, b);

	return r != 0 ? r : (a > b) - (a < b);
}

/* For each tensor the first one of its place, itself if there is no other. */
static int find_same(const struct tensors *ts, uint32_t *same)
{
	_cleanup_free_ const struct tensor **order = malloc((ts->n + 1) * sizeof(*order));
	size_t n = 0, first = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < ts->n; i++)
		if (ts->v[i].located)
			order[n++] = &ts->v[i];
	qsort(order, n, sizeof(*order), compare_tensors);
	for (size_t i = 0; i < n; i++) {
		if (tensor_compare_places(order[first], order[i]) != 0)
			first = i;
		same[order[i] - ts->v] = (uint32_t)(order[first] - ts->v);
	}
	return 0;
}

/* What is before it in the file's list counts, so that it does not matter in which pieces they are told. */
static void forbid_unfolded(const struct tensors *ts, uint64_t size, const uint32_t *same, bool *forbidden)
{
	uint64_t sum = 0, max = UNFOLDED_MAX(size);

	for (size_t i = 0; i < ts->n; i++) {
		uint64_t n;

		if (!ts->v[i].located || same[i] != i)
			continue;
		n = tensor_content_size(&ts->v[i]);
		if (ts->v[i].packed)
			n /= PACKED_RATIO;
		forbidden[i] = n > max - sum;
		if (!forbidden[i])
			sum += n;
	}
}

static int digest_one(int fd, const struct tensors *ts, size_t i, const uint32_t *same, const bool *forbidden,
		      tensor_stop stop, void *arg, tensor_digests *digests)
{
	memset(digests[i], 0, TENSOR_DIGEST_SIZE);
	if (!ts->v[i].located)
		return 0;
	if (same[i] != i) {
		memcpy(digests[i], digests[same[i]], TENSOR_DIGEST_SIZE);
		return 0;
	}
	return forbidden[i] ? 0 : tensor_digest(fd, &ts->v[i], stop, arg, digests[i]);
}

int identity_digest(int fd, uint64_t size, const struct tensors *ts, size_t from, uint64_t bytes, tensor_stop stop,
		    void *arg, tensor_digests *digests, size_t *ret_next)
{
	_cleanup_free_ uint32_t *same = malloc((ts->n + 1) * sizeof(*same));
	_cleanup_free_ bool *forbidden = calloc(ts->n + 1, sizeof(*forbidden));
	uint64_t read = 0;
	int r = same && forbidden ? find_same(ts, same) : -ENOMEM;

	*ret_next = from;
	if (r < 0)
		return r;
	forbid_unfolded(ts, size, same, forbidden);
	while (*ret_next < ts->n && read < bytes) {
		size_t i = *ret_next;

		r = digest_one(fd, ts, i, same, forbidden, stop, arg, digests);
		if (r < 0)
			return r;
		if (ts->v[i].located && same[i] == i && !forbidden[i])
			read += tensor_content_size(&ts->v[i]);
		(*ret_next)++;
	}
	return 0;
}

int identity_new(struct identity **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void identity_free(struct identity *id)
{
	if (!id)
		return;
	free(id->v);
	free(id);
}

static void digest_all(const void *p, size_t n, uint8_t ret[TENSOR_DIGEST_SIZE])
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits(p, n));
	memcpy(ret, canonical.digest, TENSOR_DIGEST_SIZE);
}

static void describe(const struct tensor *t, const uint8_t digest[TENSOR_DIGEST_SIZE], uint8_t ret[TENSOR_DIGEST_SIZE])
{
	char text[LABEL_MAX + TENSOR_DIGEST_SIZE];
	size_t n = (size_t)snprintf(text, 32, "%.24s:[", t->dtype);

	for (unsigned i = 0; i < t->ndim; i++)
		n += (size_t)sprintf(text + n, "%s%" PRIu64, i ? "," : "", t->shape[i]);
	n += (size_t)sprintf(text + n, "]:");
	memcpy(text + n, digest, TENSOR_DIGEST_SIZE);
	digest_all(text, n + TENSOR_DIGEST_SIZE, ret);
}

int identity_add(struct identity *id, const struct tensors *ts, const tensor_digests *digests)
{
	tensor_digests *v;

	if (ts->n > TENSORS_MAX - id->n)
		return -E2BIG;
	v = reallocarray(id->v, id->n + ts->n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	id->v = v;
	for (size_t i = 0; i < ts->n; i++) {
		if (!tensor_is_weight(&ts->v[i]))
			continue;
		id->untold = id->untold || !identity_is_told(digests[i]);
		describe(&ts->v[i], digests[i], v[id->n++]);
	}
	return 0;
}

static int compare_digests(const void *a, const void *b)
{
	return memcmp(a, b, TENSOR_DIGEST_SIZE);
}

int identity_get(struct identity *id, uint8_t ret[TENSOR_DIGEST_SIZE])
{
	size_t n = 0;

	if (id->n == 0 || id->untold)
		return 0;
	qsort(id->v, id->n, sizeof(*id->v), compare_digests);
	for (size_t i = 0; i < id->n; i++)
		if (i == 0 || compare_digests(id->v[i], id->v[n - 1]) != 0)
			memmove(id->v[n++], id->v[i], TENSOR_DIGEST_SIZE);
	id->n = n;
	digest_all(id->v, n * sizeof(*id->v), ret);
	return 1;
}
