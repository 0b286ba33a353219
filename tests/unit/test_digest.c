#include "store/digest.h"

#include <fcntl.h>

#include "test.h"
#include "util/io.h"

static void hex(const uint8_t d[DIGEST_SIZE], char out[33])
{
	for (int i = 0; i < DIGEST_SIZE; i++)
		snprintf(out + 2 * i, 3, "%02x", d[i]);
}

static void a_run_over_pieces_gives_the_digest_that_xxhsum_prints(void **state)
{
	struct digest_run *run = digest_run_new();
	uint8_t d[DIGEST_SIZE];
	char text[33];

	assert_non_null(run);
	digest_run_write(run, "hel", 3, 0);
	digest_run_write(run, "lo\n", 3, 3);
	assert_true(digest_run_get(run, 6, d));
	hex(d, text);
	assert_string_equal(text, "6bba86c7e069f56d5a10b435f1c8e49c"); /* printf 'hello\n' | xxhsum -H2 */
	digest_run_free(run);
}

static void a_write_that_leaves_a_gap_or_goes_back_spoils_the_run(void **state)
{
	static const uint64_t second[] = { 2, 4, 0 };

	for (size_t i = 0; i < ARRAY_SIZE(second); i++) {
		struct digest_run *run = digest_run_new();
		uint8_t d[DIGEST_SIZE];

		digest_run_write(run, "abc", 3, 0);
		digest_run_write(run, "def", 3, second[i]);
		for (uint64_t size = 0; size < 10; size++)
			assert_false(digest_run_get(run, size, d));
		digest_run_free(run);
	}
}

static void a_run_says_nothing_of_a_file_that_has_another_size(void **state)
{
	struct digest_run *run = digest_run_new();
	uint8_t d[DIGEST_SIZE];

	digest_run_write(run, "abc", 3, 0);
	assert_false(digest_run_get(run, 2, d));
	assert_false(digest_run_get(run, 4, d));
	assert_true(digest_run_get(run, 3, d));
	assert_true(digest_run_covers(run, 3));
	assert_false(digest_run_covers(run, 2));
	digest_run_free(run);
}

static void a_file_has_the_digest_of_the_run_that_wrote_it(void **state)
{
	_cleanup_free_ char *path = NULL, *buf = malloc(3 << 20);
	_cleanup_close_ int fd = -1;
	struct digest_run *run = digest_run_new();
	uint8_t a[DIGEST_SIZE], b[DIGEST_SIZE];
	size_t n = (3 << 20) - 7;

	for (size_t i = 0; i < n; i++)
		buf[i] = (char)(i * 2654435761u >> 13);
	assert_true(asprintf(&path, "%s/f", (char *)*state) > 0);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_int_equal(io_pwrite(fd, buf, n, 0), n);
	digest_run_write(run, buf, n, 0);
	assert_true(digest_run_get(run, n, a));
	assert_int_equal(digest_file(fd, n, b), 0);
	assert_memory_equal(a, b, DIGEST_SIZE);
	assert_int_equal(digest_file(fd, n + 1, b), -EIO);
	digest_run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_over_pieces_gives_the_digest_that_xxhsum_prints),
		cmocka_unit_test(a_write_that_leaves_a_gap_or_goes_back_spoils_the_run),
		cmocka_unit_test(a_run_says_nothing_of_a_file_that_has_another_size),
		cmocka_unit_test_setup_teardown(a_file_has_the_digest_of_the_run_that_wrote_it, make_scratch,
						remove_scratch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
