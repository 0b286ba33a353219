#include "exp/cred.h"

#include <sys/stat.h>

#include "test.h"

#define MANY 1000

static int asked;

/* Groups 1000, 1001, … as many as *arg says. */
static int get_groups(void *arg, int size, gid_t list[])
{
	int n = *(int *)arg;

	asked++;
	for (int i = 0; i < n && i < size; i++)
		list[i] = 1000 + (gid_t)i;
	return n;
}

static bool permits(uint32_t uid, uint32_t gid, int groups, unsigned mode, unsigned want)
{
	struct cred c = { .uid = uid, .gid = gid, .get_groups = get_groups, .arg = &groups };
	const struct inode_row dir = { .mode = S_IFDIR | mode, .uid = 7, .gid = 1001 };
	bool yes;

	asked = 0;
	yes = cred_permits(&c, &dir, want);
	cred_done(&c);
	return yes;
}

static void the_first_class_of_bits_that_applies_decides_alone(void **state)
{
	assert_true(permits(7, 9, 0, 0700, R_OK | X_OK));
	assert_false(permits(7, 1001, 2, 0077, X_OK));
	assert_true(permits(8, 1001, 0, 0050, R_OK | X_OK));
	assert_false(permits(8, 1001, 0, 0705, X_OK));
	assert_true(permits(8, 9, 2, 0050, R_OK | X_OK));
	assert_false(permits(8, 9, 2, 0705, R_OK));
	assert_true(permits(8, 9, 0, 0705, R_OK | X_OK));
	assert_false(permits(8, 9, 1, 0750, X_OK));
}

static void listing_and_going_through_are_two_rights(void **state)
{
	assert_true(permits(8, 9, 0, 0711, X_OK));
	assert_false(permits(8, 9, 0, 0711, R_OK));
	assert_false(permits(8, 9, 0, 0711, R_OK | X_OK));
	assert_true(permits(8, 9, 0, 0744, R_OK));
	assert_false(permits(8, 9, 0, 0744, R_OK | X_OK));
}

static void root_and_the_owner_of_the_store_see_everything(void **state)
{
	const struct inode_row dir = { .mode = S_IFDIR, .uid = 7, .gid = 1001 };

	assert_true(permits(0, 0, 0, 0, R_OK | X_OK));
	assert_true(cred_permits(NULL, &dir, R_OK | X_OK));
}

static void groups_are_asked_for_only_where_they_decide(void **state)
{
	permits(0, 0, 2, 0750, X_OK);
	assert_int_equal(asked, 0);
	permits(7, 9, 2, 0750, X_OK);
	assert_int_equal(asked, 0);
	permits(8, 1001, 2, 0750, X_OK);
	assert_int_equal(asked, 0);
	permits(8, 9, 2, 0755, R_OK | X_OK);
	assert_int_equal(asked, 0);
	permits(8, 9, 2, 0741, X_OK);
	assert_int_equal(asked, 1);
	permits(8, 9, 2, 0741, X_OK | R_OK);
	assert_int_equal(asked, 1);
}

static void groups_are_asked_for_once_however_many_there_are(void **state)
{
	int n = MANY;
	struct cred c = { .uid = 8, .gid = 9, .get_groups = get_groups, .arg = &n };

	asked = 0;
	for (uint32_t gid = 1000; gid < 1000 + MANY; gid++) {
		const struct inode_row dir = { .mode = S_IFDIR | 0710, .uid = 7, .gid = gid };

		assert_true(cred_permits(&c, &dir, X_OK));
	}
	assert_int_equal(asked, 2); /* for how many, and for all of them */
	cred_done(&c);
}

static void groups_that_cannot_be_got_are_none(void **state)
{
	assert_false(permits(8, 9, -EIO, 0750, X_OK));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_class_of_bits_that_applies_decides_alone),
		cmocka_unit_test(listing_and_going_through_are_two_rights),
		cmocka_unit_test(root_and_the_owner_of_the_store_see_everything),
		cmocka_unit_test(groups_are_asked_for_only_where_they_decide),
		cmocka_unit_test(groups_are_asked_for_once_however_many_there_are),
		cmocka_unit_test(groups_that_cannot_be_got_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
