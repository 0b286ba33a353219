#include "fs/itable.h"

#include "test.h"

static void an_inode_is_known_until_it_is_forgotten_as_often_as_it_was_told(void **state)
{
	struct itable *t;

	assert_int_equal(itable_new(&t), 0);
	assert_false(itable_known(t, 7));
	itable_add(t, 7);
	itable_add(t, 7);
	itable_add(t, 7);
	itable_forget(t, 7, 2);
	assert_true(itable_known(t, 7));
	itable_forget(t, 7, 1);
	assert_false(itable_known(t, 7));
	assert_false(itable_forget(t, 7, 1));
	itable_free(t);
}

static void only_the_last_forget_of_an_unlinked_inode_says_so(void **state)
{
	struct itable *t;

	assert_int_equal(itable_new(&t), 0);
	assert_false(itable_mark_unlinked(t, 9));
	itable_add(t, 9);
	itable_add(t, 9);
	assert_true(itable_mark_unlinked(t, 9));
	assert_false(itable_forget(t, 9, 1));
	assert_true(itable_forget(t, 9, 1));
	itable_add(t, 9); /* told anew: linked again as far as this table knows */
	assert_false(itable_forget(t, 9, 1));
	itable_free(t);
}

/* The same random walk over the table and over a plain array. */
static void a_random_walk_agrees_with_a_plain_array(void **state)
{
	enum { INODES = 5000 };
	static unsigned count[INODES];
	struct itable *t;
	unsigned seed = 12345;

	assert_int_equal(itable_new(&t), 0);
	for (int i = 0; i < 400000; i++) {
		uint64_t ino;

		seed = seed * 1103515245 + 12345;
		ino = (seed >> 8) % INODES;
		/* phases of growth and of shrinking */
		if ((seed >> 4) % 8 < (i / 50000 % 2 ? 3u : 5u)) {
			assert_int_equal(itable_add(t, ino + 1), 0);
			count[ino]++;
		} else if (count[ino] > 0) {
			itable_forget(t, ino + 1, 1);
			count[ino]--;
		}
		assert_int_equal(itable_known(t, ino + 1), count[ino] > 0);
	}
	for (uint64_t ino = 0; ino < INODES; ino++) {
		assert_int_equal(itable_known(t, ino + 1), count[ino] > 0);
		if (count[ino] > 0)
			itable_forget(t, ino + 1, count[ino]);
		assert_false(itable_known(t, ino + 1));
	}
	itable_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_inode_is_known_until_it_is_forgotten_as_often_as_it_was_told),
		cmocka_unit_test(only_the_last_forget_of_an_unlinked_inode_says_so),
		cmocka_unit_test(a_random_walk_agrees_with_a_plain_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
