/* Contents of tensors, however they lie, against what one element at a time gives. */
#include <fcntl.h>
#include <inttypes.h>
#include <xxhash.h>
#include <zlib.h>

#include "format/tensor_content.h"
#include "test.h"
#include "util/io.h"

#define TEST(sentence, function) { sentence, function, NULL, NULL, NULL }
#define FILE_SIZE ((size_t)64 << 20)

struct layout {
	unsigned item, ndim;
	uint64_t shape[6], strides[6];
	uint64_t offset; /* in elements */
};

static uint8_t *bytes;
static int fd = -1;

static int make_file(void **state)
{
	FILE *f = tmpfile();
	uint64_t x = 88172645463325252u;

	bytes = malloc(FILE_SIZE);
	if (!f || !bytes)
		return -1;
	for (size_t i = 0; i < FILE_SIZE; i += 8) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(bytes + i, &x, 8);
	}
	fd = dup(fileno(f));
	fclose(f);
	return fd >= 0 && pwrite(fd, bytes, FILE_SIZE, 0) == (ssize_t)FILE_SIZE ? 0 : -1;
}

static int drop_file(void **state)
{
	close(fd);
	free(bytes);
	return 0;
}

static struct tensor tensor_of(const struct layout *l)
{
	return (struct tensor){ .name = "t", .name_len = 1, .dtype = "float32", .ndim = l->ndim, .shape = l->shape,
				.located = true, .item = l->item, .strides = l->strides, .begin = 3,
				.end = FILE_SIZE, .offset = l->offset * l->item };
}

/* One element at a time. */
static uint8_t *content_of(const struct tensor *t)
{
	uint64_t size = tensor_content_size(t), at = 0, index[6] = { 0 };
	uint8_t *p = malloc(size + 1);

	assert_non_null(p);
	while (at < size) {
		uint64_t element = 0;

		for (unsigned i = 0; i < t->ndim; i++)
			element += index[i] * t->strides[i];
		memcpy(p + at, bytes + t->begin + t->offset + element * t->item, t->item);
		at += t->item;
		for (unsigned i = t->ndim; i-- > 0 && ++index[i] == t->shape[i];)
			index[i] = 0;
	}
	return p;
}

static void check(const struct layout *l)
{
	_cleanup_tensor_content_ struct tensor_content *c = NULL;
	struct tensor t = tensor_of(l);
	_cleanup_free_ uint8_t *want = content_of(&t);
	const uint8_t *p;
	uint64_t at = 0;
	ssize_t n;

	assert_true(tensor_in_bounds(&t));
	assert_int_equal(tensor_content_open(fd, &t, &c), 0);
	while ((n = tensor_content_next(c, &p)) > 0) {
		assert_true((uint64_t)n <= tensor_content_size(&t) - at && (uint64_t)n % l->item == 0);
		assert_memory_equal(p, want + at, (size_t)n);
		at += (uint64_t)n;
	}
	assert_int_equal(n, 0);
	assert_int_equal(at, tensor_content_size(&t));
}

static void rows(void **state)
{
	check(&(struct layout){ 4, 2, { 3000, 2000 }, { 2000, 1 }, 5 });
	check(&(struct layout){ 8, 3, { 2, 3, 4 }, { 12, 4, 1 }, 0 });
	check(&(struct layout){ 2, 0, { 0 }, { 0 }, 7 });
	check(&(struct layout){ 4, 4, { 1, 5, 1, 6 }, { 99, 6, 77, 1 }, 0 });
}

static void without_elements(void **state)
{
	check(&(struct layout){ 4, 1, { 0 }, { 1 }, 0 });
	check(&(struct layout){ 4, 3, { 7, 0, 3 }, { 1, 7, 9 }, 0 });
}

static void columns(void **state)
{
	check(&(struct layout){ 4, 2, { 2000, 3000 }, { 1, 2000 }, 1 });
	check(&(struct layout){ 4, 2, { 5, 3 }, { 1, 5 }, 1 });
	check(&(struct layout){ 1, 2, { 4, 12000000 }, { 1, 4 }, 0 });
	check(&(struct layout){ 1, 2, { 12000000, 4 }, { 1, 12000000 }, 0 });
	check(&(struct layout){ 2, 4, { 50, 3, 200, 300 }, { 3, 1, 150, 30000 }, 11 });
}

static void parts(void **state)
{
	check(&(struct layout){ 4, 2, { 1000, 1000 }, { 2000, 2 }, 0 });
	check(&(struct layout){ 4, 1, { 1000 }, { 3000 }, 9 });
	check(&(struct layout){ 4, 2, { 1500, 3000 }, { 3001, 1 }, 0 });
	check(&(struct layout){ 16, 3, { 3, 100, 50 }, { 300000, 2, 4000 }, 0 });
	check(&(struct layout){ 8, 2, { 4, 5 }, { 1500000, 100000 }, 0 });
}

static void repeated(void **state)
{
	check(&(struct layout){ 4, 2, { 1000, 6000 }, { 1, 0 }, 0 });
	check(&(struct layout){ 4, 2, { 6000, 1000 }, { 0, 1 }, 0 });
	check(&(struct layout){ 4, 3, { 7, 1000, 3 }, { 0, 5, 0 }, 0 });
	check(&(struct layout){ 4, 2, { 100, 50 }, { 1, 1 }, 3 }); /* unfold() */
}

static void random_ones(void **state)
{
	static const unsigned items[] = { 1, 2, 4, 8, 16 };

	srandom(7);
	for (int i = 0; i < 3000; i++) {
		struct layout l = { .item = items[random() % 5], .ndim = (unsigned)(random() % 6) };

		for (unsigned k = 0; k < l.ndim; k++) {
			l.shape[k] = (uint64_t)(random() % 9);
			l.strides[k] = (uint64_t)(random() % (random() % 3 ? 20 : 3000));
		}
		check(&l);
	}
}

/* Dimensions of storage in another order, with gaps between rows. */
static void random_permutations(void **state)
{
	static const unsigned items[] = { 1, 2, 4, 8, 16 };

	srandom(11);
	for (int i = 0; i < 300; i++) {
		struct layout l = { .item = items[i % 5], .ndim = 2 + (unsigned)(random() % 4) };
		uint64_t span = 1 + (uint64_t)(random() % 8 == 0), room = FILE_SIZE / 2 / l.item;
		unsigned order[6] = { 0, 1, 2, 3, 4, 5 };

		for (unsigned k = 0; k < l.ndim; k++) {
			unsigned other = k + (unsigned)(random() % (l.ndim - k)), dim = order[other];
			uint64_t most = MIN(random() % 2 ? 2000u : 70u, room / span);

			order[other] = order[k];
			l.shape[dim] = 1 + (uint64_t)random() % MAX(most, 1u);
			l.strides[dim] = span;
			span = span * l.shape[dim] + (random() % 2 ? 0 : (uint64_t)(random() % 5000));
			span = MIN(span, room);
		}
		if (span < room)
			check(&l);
	}
}

static void beyond_memory(void **state)
{
	check(&(struct layout){ 4, 2, { 4096, 5000 }, { 1, 3000 }, 3 });
	check(&(struct layout){ 1, 2, { 9001, 9003 }, { 1, 7001 }, 0 });
	check(&(struct layout){ 8, 3, { 3, 1000, 4001 }, { 1, 0, 3 }, 0 });
	check(&(struct layout){ 2, 2, { 40000000, 1 }, { 0, 1 }, 1 });
}

static void big_endian(void **state)
{
	static const uint64_t shape[] = { 2 }, strides[] = { 1 };
	static const uint8_t in[16] = "abcdefghijklmnop", real[] = "hgfedcbaponmlkji", complex[] = "dcbahgfelkjiponm";
	struct tensor t = { .dtype = "float64", .ndim = 1, .shape = shape, .strides = strides, .located = true,
			    .big_endian = true, .item = 8, .end = 16 };
	FILE *f = tmpfile();

	assert_non_null(f);
	assert_int_equal(pwrite(fileno(f), in, 16, 0), 16);
	for (int i = 0; i < 2; i++) {
		_cleanup_tensor_content_ struct tensor_content *c = NULL;
		const uint8_t *p;

		assert_int_equal(tensor_content_open(fileno(f), &t, &c), 0);
		assert_int_equal(tensor_content_next(c, &p), 16);
		assert_memory_equal(p, i ? complex : real, 16);
		t.dtype = "complex64";
	}
	fclose(f);
}

static void components(void **state)
{
	static const char title[] = "values:float32:[2,3]\n", title_of_none[] = "n:float32:[0]\n";
	static const uint64_t none[] = { 0 }, one[] = { 1 };
	const struct layout columns = { 4, 2, { 2, 3 }, { 1, 2 }, 3 };
	struct tensor parts[2] = { tensor_of(&columns), { .name = "n", .name_len = 1, .dtype = "float32", .ndim = 1, .shape = none,
							  .strides = one, .located = true, .item = 4 } };
	struct tensor t = { .dtype = "float32", .item = 1, .located = true, .n_components = 2, .components = parts };
	_cleanup_free_ uint8_t *elements = content_of(&parts[0]);
	_cleanup_tensor_content_ struct tensor_content *c = NULL;
	uint8_t found[256];
	const uint8_t *p;
	size_t at = 0;
	ssize_t n;

	parts[0].name = "values";
	parts[0].name_len = 6;
	assert_int_equal(tensor_content_open(fd, &t, &c), 0);
	for (; (n = tensor_content_next(c, &p)) > 0; at += (size_t)n)
		memcpy(found + at, p, (size_t)n);
	assert_int_equal(at, tensor_content_size(&t));
	assert_int_equal(at, strlen(title) + 24 + strlen(title_of_none));
	assert_memory_equal(found, title, strlen(title));
	assert_memory_equal(found + strlen(title), elements, 24);
	assert_memory_equal(found + strlen(title) + 24, title_of_none, strlen(title_of_none));
}

/* A file of size bytes of the other one, deflated, and `more` behind them. */
static int pack(size_t size, struct packed *ret)
{
	_cleanup_free_ uint8_t *out = malloc(compressBound(size) + 64);
	z_stream z = { .next_in = bytes, .avail_in = (uInt)size, .next_out = out, .avail_out = (uInt)compressBound(size) };
	FILE *f = tmpfile();
	int packed_fd;

	assert_non_null(f);
	packed_fd = dup(fileno(f));
	fclose(f);
	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	*ret = (struct packed){ .at = 5, .len = z.total_out, .size = size };
	deflateEnd(&z);
	memset(out + ret->len, 7, 64);
	assert_int_equal(pwrite(packed_fd, out, ret->len + 64, 5), (ssize_t)ret->len + 64);
	return packed_fd;
}

static int digest_packed(int packed_fd, const struct layout *l, struct packed p, uint8_t ret[TENSOR_DIGEST_SIZE])
{
	struct tensor t = tensor_of(l);

	t.packed = &p;
	return tensor_digest(packed_fd, &t, NULL, NULL, ret);
}

static void compressed(void **state)
{
	static const struct layout layouts[] = { { 4, 2, { 1000, 700 }, { 700, 1 }, 9 }, { 2, 2, { 1000, 1200 }, { 1, 1000 }, 0 },
						 { 8, 1, { 3 }, { 1 }, 300000 }, { 1, 1, { 2999997 }, { 1 }, 0 } };
	struct packed p;
	int packed_fd = pack(3000000, &p);

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		struct tensor t = tensor_of(&layouts[i]);
		uint8_t want[TENSOR_DIGEST_SIZE], found[TENSOR_DIGEST_SIZE];

		assert_int_equal(tensor_digest(fd, &t, NULL, NULL, want), 0);
		assert_int_equal(digest_packed(packed_fd, &layouts[i], p, found), 0);
		assert_memory_equal(found, want, sizeof(want));
	}
	close(packed_fd);
}

static void compressed_falsely(void **state)
{
	const struct layout all = { 1, 1, { 2999997 }, { 1 }, 0 }, more = { 1, 1, { (uint64_t)1 << 40 }, { 1 }, 0 },
			    few = { 1, 1, { 99997 }, { 1 }, 0 };
	uint8_t digest[TENSOR_DIGEST_SIZE];
	struct packed p, wrong;
	int packed_fd = pack(3000000, &p);

	wrong = p;
	wrong.size = ((uint64_t)1 << 40) + 3; /* says more than there is */
	assert_int_equal(digest_packed(packed_fd, &more, wrong, digest), -EBADMSG);
	wrong.size = 100000; /* less */
	assert_int_equal(digest_packed(packed_fd, &few, wrong, digest), -EBADMSG);
	wrong = p;
	wrong.len++; /* a byte behind its end */
	assert_int_equal(digest_packed(packed_fd, &all, wrong, digest), -EBADMSG);
	wrong.len = p.len - 1; /* cut */
	assert_int_equal(digest_packed(packed_fd, &all, wrong, digest), -EBADMSG);
	wrong.len = p.len;
	wrong.at++; /* no deflated bytes, or others */
	assert_int_equal(digest_packed(packed_fd, &all, wrong, digest), -EBADMSG);
	assert_int_equal(digest_packed(packed_fd, &all, p, digest), 0);
	close(packed_fd);
}

static bool at_once(void *arg)
{
	return true;
}

static void digests(void **state)
{
	struct tensor rows = tensor_of(&(struct layout){ 4, 2, { 3000, 2000 }, { 2000, 1 }, 5 });
	_cleanup_free_ uint8_t *want = content_of(&rows);
	XXH128_canonical_t canonical;
	uint8_t digest[TENSOR_DIGEST_SIZE];

	XXH128_canonicalFromHash(&canonical, XXH3_128bits(want, 3000 * 2000 * 4));
	assert_int_equal(tensor_digest(fd, &rows, NULL, NULL, digest), 0);
	assert_memory_equal(digest, canonical.digest, sizeof(digest));
	assert_int_equal(tensor_digest(fd, &rows, at_once, NULL, digest), -ECANCELED);
	want[0] ^= 1;
	XXH128_canonicalFromHash(&canonical, XXH3_128bits(want, 3000 * 2000 * 4));
	assert_int_equal(tensor_digest_changed(fd, &rows, NULL, NULL, digest), 0);
	assert_memory_equal(digest, canonical.digest, sizeof(digest));
}

static void short_file(void **state)
{
	struct tensor t = tensor_of(&(struct layout){ 4, 2, { 2, 2 }, { 1, 2 }, 0 });
	uint8_t digest[TENSOR_DIGEST_SIZE];

	t.begin = FILE_SIZE - 8;
	t.end = t.begin + 16;
	assert_int_equal(tensor_digest(fd, &t, NULL, NULL, digest), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("rows that follow each other are read as they are", rows),
		TEST("a tensor without elements has no content", without_elements),
		TEST("transposed and permuted ones give their rows", columns),
		TEST("slices with steps give their elements", parts),
		TEST("expanded and overlapping ones repeat theirs", repeated),
		TEST("any shape and strides give what one element at a time does", random_ones),
		TEST("so do permuted ones that have rows of any length, with gaps between", random_permutations),
		TEST("and those that are read in several parts", beyond_memory),
		TEST("bytes of a big-endian file are turned, of each part of a complex number", big_endian),
		TEST("a tensor of components has the content of each behind a line about it", components),
		TEST("compressed ones give what they unpack to, in rows or in columns", compressed),
		TEST("and an error where that is more or less than it should be, or damaged", compressed_falsely),
		TEST("the digest is that of the content, or of one with a bit changed, and can be stopped", digests),
		TEST("a file that ends too early is an error", short_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_file, drop_file);
}
