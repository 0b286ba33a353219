/* Identities of models, on lists of tensors that lie in one file of random bytes. */
#include "format/identity.h"
#include "test.h"
#include "util/io.h"

#define TEST(sentence, function) { sentence, function, NULL, NULL, NULL }
#define SIZE ((size_t)1 << 20)

static const uint64_t square[] = { 8, 8 }, by_rows[] = { 8, 1 }, by_columns[] = { 1, 8 };
static const uint64_t huge[] = { 1u << 20, 1u << 20 }, nowhere[] = { 0, 0 };
static int fd = -1;

static int make_file(void **state)
{
	FILE *f = tmpfile();
	uint8_t *p = malloc(SIZE);

	if (!f || !p)
		return -1;
	srandom(3);
	for (size_t i = 0; i < SIZE; i++)
		p[i] = (uint8_t)random();
	memcpy(p + 4096, p, 256); /* the same matrix once more, and transposed */
	for (size_t i = 0; i < 64; i++)
		memcpy(p + 8192 + (i % 8 * 8 + i / 8) * 4, p + i * 4, 4);
	fd = dup(fileno(f));
	fclose(f);
	if (pwrite(fd, p, SIZE, 0) != (ssize_t)SIZE)
		return -1;
	free(p);
	return 0;
}

static struct tensor matrix(uint64_t at, const char *name, bool model)
{
	return (struct tensor){ .name = name, .name_len = strlen(name), .dtype = "float32", .ndim = 2, .shape = square,
				.model = model, .located = true, .item = 4, .strides = by_rows, .begin = at,
				.end = at + 256 };
}

static int identify(struct tensor *v, size_t n, uint8_t ret[TENSOR_DIGEST_SIZE])
{
	_cleanup_identity_ struct identity *id = NULL;
	const struct tensors ts = { .v = v, .n = n };
	tensor_digests digests[8];
	size_t next;
	int r;

	assert_int_equal(identity_digest(fd, SIZE, &ts, 0, UINT64_MAX, NULL, NULL, digests, &next), 0);
	assert_int_equal(next, n);
	assert_int_equal(identity_new(&id), 0);
	assert_int_equal(identity_add(id, &ts, digests), 0);
	r = identity_get(id, ret);
	return r;
}

static void names_and_layout(void **state)
{
	struct tensor a[] = { matrix(0, "weight", true), matrix(300, "bias", true) };
	struct tensor b[] = { matrix(300, "module.bias", true), matrix(8192, "module.weight", true),
			      matrix(700, "optimizer.0", false) };
	uint8_t x[TENSOR_DIGEST_SIZE], y[TENSOR_DIGEST_SIZE];

	b[1].strides = by_columns;
	assert_int_equal(identify(a, 2, x), 1);
	assert_int_equal(identify(b, 3, y), 1);
	assert_memory_equal(x, y, sizeof(x));
}

static void tied(void **state)
{
	struct tensor once[] = { matrix(0, "w", true), matrix(300, "b", true) };
	struct tensor twice[] = { matrix(0, "w", true), matrix(300, "b", true), matrix(0, "head", true),
				  matrix(4096, "copy", true) };
	uint8_t x[TENSOR_DIGEST_SIZE], y[TENSOR_DIGEST_SIZE];

	assert_int_equal(identify(once, 2, x), 1);
	assert_int_equal(identify(twice, 4, y), 1);
	assert_memory_equal(x, y, sizeof(x));
}

static void content_type_and_shape(void **state)
{
	static const uint64_t row[] = { 64 }, one[] = { 1 };
	struct tensor a = matrix(0, "w", true), other = matrix(1, "w", true), typed = a, shaped = a;
	uint8_t x[TENSOR_DIGEST_SIZE], y[TENSOR_DIGEST_SIZE];

	typed.dtype = "int32";
	shaped.ndim = 1;
	shaped.shape = row;
	shaped.strides = one;
	assert_int_equal(identify(&a, 1, x), 1);
	assert_int_equal(identify(&other, 1, y), 1);
	assert_memory_not_equal(x, y, sizeof(x));
	assert_int_equal(identify(&typed, 1, y), 1);
	assert_memory_not_equal(x, y, sizeof(x));
	assert_int_equal(identify(&shaped, 1, y), 1);
	assert_memory_not_equal(x, y, sizeof(x));
}

static void untold(void **state)
{
	struct tensor v[] = { matrix(0, "w", true), matrix(300, "b", true) };
	uint8_t x[TENSOR_DIGEST_SIZE];

	v[1].located = false;
	assert_int_equal(identify(v, 2, x), 0);
	v[1].model = false;
	assert_int_equal(identify(v, 2, x), 1);
	v[0].model = false;
	assert_int_equal(identify(v, 2, x), 0);
	assert_int_equal(identify(v, 0, x), 0);
}

static void unfolded(void **state)
{
	struct tensor v[] = { matrix(0, "w", true), matrix(0, "big", true), matrix(300, "b", true) };
	const struct tensors ts = { .v = v, .n = 3 };
	tensor_digests digests[3];
	size_t next;

	v[1].shape = huge;
	v[1].strides = nowhere;
	assert_int_equal(identity_digest(fd, SIZE, &ts, 0, UINT64_MAX, NULL, NULL, digests, &next), 0);
	assert_true(identity_is_told(digests[0]) && !identity_is_told(digests[1]) && identity_is_told(digests[2]));
}

static bool after_two(void *arg)
{
	return ++*(int *)arg > 4;
}

static void in_pieces(void **state)
{
	struct tensor v[] = { matrix(0, "a", true), matrix(300, "b", true), matrix(0, "c", true), matrix(600, "d", true) };
	const struct tensors ts = { .v = v, .n = 4 };
	tensor_digests whole[4], pieces[4];
	size_t next = 0;
	int asked = 0, calls = 0;

	assert_int_equal(identity_digest(fd, SIZE, &ts, 0, UINT64_MAX, NULL, NULL, whole, &next), 0);
	for (next = 0; next < 4; calls++)
		assert_int_equal(identity_digest(fd, SIZE, &ts, next, 1, NULL, NULL, pieces, &next), 0);
	assert_memory_equal(whole, pieces, sizeof(whole));
	assert_int_equal(calls, 3); /* the third costs nothing */

	memset(pieces, 0, sizeof(pieces));
	assert_int_equal(identity_digest(fd, SIZE, &ts, 0, UINT64_MAX, after_two, &asked, pieces, &next), -ECANCELED);
	assert_int_equal(next, 3);
	assert_memory_equal(whole, pieces, 3 * sizeof(*whole));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("names, order, layout and what else is in the file do not matter", names_and_layout),
		TEST("weights that are tied count once", tied),
		TEST("content, type and shape do", content_type_and_shape),
		TEST("without a tensor of the model, or with one that is not told, there is none", untold),
		TEST("one that unfolds to more than the file holds is not told", unfolded),
		TEST("digests can be made in pieces, and stopped between", in_pieces),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_file, NULL);
}
