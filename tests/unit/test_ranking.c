#include "exp/ranking.h"

#include <math.h>

#include "meta/tracked.h"
#include "meta/version.h"
#include "test.h"

static void cleanup_ranking(struct ranking **k)
{
	if (*k)
		ranking_free(*k);
}
#define _cleanup_ranking_ _cleanup_(cleanup_ranking)

static struct ranking *new_ranking(bool highest)
{
	struct ranking *k = NULL;

	assert_int_equal(ranking_new(2, highest, &k), 0);
	return k;
}

static void add(struct ranking *k, uint64_t version, int64_t step, bool may_win)
{
	struct ranked v = { .tracked = version, .parent = 1, .version = version, .step = step, .rank = (int64_t)version,
			    .complete = 1 };

	assert_int_equal(ranking_add_version(k, &v, may_win), 0);
}

static void own(struct ranking *k, int choice, int64_t at, double value)
{
	assert_int_equal(ranking_add_own(k, choice, at, value), 0);
}

/* The versions in order, up to a 0. */
static void ordered(struct ranking *k, int choice, ...)
{
	uint64_t wanted;
	va_list ap;
	size_t i = 0;

	va_start(ap, choice);
	do {
		double value;
		struct ranked *v = ranking_at(k, choice, i++, &value);

		wanted = (uint64_t)va_arg(ap, int);
		assert_int_equal(v ? v->version : 0, wanted);
	} while (wanted);
	va_end(ap);
}

static void the_lowest_is_first_and_nan_is_nowhere(void **state)
{
	_cleanup_ranking_ struct ranking *k = new_ranking(false);

	for (int i = 1; i <= 5; i++)
		add(k, (uint64_t)i, i * 10, true);
	assert_int_equal(ranking_begin(k), 0);
	ranking_add_curve(k, 0, 10, 3);
	ranking_add_curve(k, 0, 20, NAN);
	ranking_add_curve(k, 0, 30, -INFINITY);
	ranking_add_curve(k, 0, 40, INFINITY);
	ranking_add_curve(k, 1, 50, 7);
	assert_int_equal(ranking_end(k), 0);
	ordered(k, 0, 3, 1, 4, 0);
	ordered(k, 1, 5, 0);
}

static void the_highest_is_first_where_that_is_wanted(void **state)
{
	_cleanup_ranking_ struct ranking *k = new_ranking(true);

	add(k, 1, 10, true);
	add(k, 2, 20, true);
	assert_int_equal(ranking_begin(k), 0);
	ranking_add_curve(k, 0, 10, 3);
	ranking_add_curve(k, 0, 20, 1);
	assert_int_equal(ranking_end(k), 0);
	ordered(k, 0, 1, 2, 0);
}

static void of_equals_the_higher_step_is_first_then_the_later_one(void **state)
{
	_cleanup_ranking_ struct ranking *k = new_ranking(true);

	add(k, 4, 20, true);
	add(k, 1, 100, true);
	add(k, 2, 20, true);
	add(k, 9, NO_STEP, true);
	own(k, 0, METRIC_SET, 1);
	assert_int_equal(ranking_begin(k), 0);
	ranking_add_curve(k, 0, 20, 1);
	ranking_add_curve(k, 0, 100, 1);
	assert_int_equal(ranking_end(k), 0);
	ordered(k, 0, 1, 4, 2, 9, 0);
}

static void a_row_speaks_for_the_first_step_at_or_after_it(void **state)
{
	_cleanup_ranking_ struct ranking *k = new_ranking(false);

	add(k, 1, 100, true);
	add(k, 2, 150, false); /* gone */
	add(k, 3, 200, true);
	assert_int_equal(ranking_begin(k), 0);
	ranking_add_curve(k, 0, 99, 5);
	ranking_add_curve(k, 0, 150, 1);
	ranking_add_curve(k, 0, 101, 2);
	ranking_add_curve(k, 0, 201, 0);
	ranking_add_curve(k, 1, 151, 4);
	ranking_add_curve(k, 1, 180, 6);
	ranking_add_curve(k, 1, 160, 5); /* earlier than the last */
	ranking_add_curve(k, 1, 0, 5);
	ranking_add_curve(k, 1, 0, 7); /* the same again */
	assert_int_equal(ranking_end(k), 0);
	ordered(k, 0, 1, 0);
	ordered(k, 1, 3, 1, 0);
}

static void what_belongs_to_the_version_goes_before_curves(void **state)
{
	_cleanup_ranking_ struct ranking *k = new_ranking(false);

	add(k, 1, 100, true);
	own(k, 0, METRIC_SET, 9);
	own(k, 0, 100, 0);
	add(k, 2, 200, true);
	own(k, 0, 100, 0); /* measured for the one before */
	own(k, 1, 150, 3);
	add(k, 3, 300, true);
	own(k, 0, METRIC_SET, NAN);
	assert_int_equal(ranking_begin(k), 0);
	ranking_add_curve(k, 0, 100, 1);
	ranking_add_curve(k, 0, 200, 2);
	ranking_add_curve(k, 0, 300, 1);
	assert_int_equal(ranking_end(k), 0);
	ordered(k, 0, 2, 1, 0);
	ordered(k, 1, 2, 0);
}

static void versions_that_were_cut_off_do_not_count(void **state)
{
	_cleanup_ranking_ struct ranking *k = new_ranking(false);

	add(k, 1, 100, true);
	own(k, 0, METRIC_SET, 2);
	add(k, 2, 200, true);
	own(k, 0, METRIC_SET, 1);
	assert_int_equal(ranking_count(k), 2);
	ranking_cut(k, 1);
	add(k, 3, 300, true);
	assert_int_equal(ranking_begin(k), 0);
	assert_int_equal(ranking_end(k), 0);
	ordered(k, 0, 1, 0);
}

static void it_can_be_ranked_again(void **state)
{
	_cleanup_ranking_ struct ranking *k = new_ranking(false);

	for (int i = 20; i > 0; i--)
		add(k, (uint64_t)i, i % 7, true);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(ranking_begin(k), 0);
		ranking_add_curve(k, 0, round, 1);
		assert_int_equal(ranking_end(k), 0);
		ordered(k, 1, 0);
	}
	ordered(k, 0, 16, 9, 2, 0);
}

static void of_equals_of_one_step_the_one_with_that_in_its_name_is_first(void **state)
{
	_cleanup_ranking_ struct ranking *k = new_ranking(false);
	struct ranked named = { .tracked = 1, .version = 1, .step = 10, .rank = 1, .complete = 1, .named = true };

	assert_int_equal(ranking_add_version(k, &named, true), 0);
	add(k, 2, 10, true);
	add(k, 3, 20, true);
	assert_int_equal(ranking_begin(k), 0);
	ranking_add_curve(k, 0, 10, 1);
	ranking_add_curve(k, 0, 20, 1);
	assert_int_equal(ranking_end(k), 0);
	ordered(k, 0, 3, 1, 2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lowest_is_first_and_nan_is_nowhere),
		cmocka_unit_test(the_highest_is_first_where_that_is_wanted),
		cmocka_unit_test(of_equals_the_higher_step_is_first_then_the_later_one),
		cmocka_unit_test(of_equals_of_one_step_the_one_with_that_in_its_name_is_first),
		cmocka_unit_test(a_row_speaks_for_the_first_step_at_or_after_it),
		cmocka_unit_test(what_belongs_to_the_version_goes_before_curves),
		cmocka_unit_test(versions_that_were_cut_off_do_not_count),
		cmocka_unit_test(it_can_be_ranked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
