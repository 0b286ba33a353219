/* Charts: which points are left of a curve, and where the marks of an axis are. */
#include "test.h"

#include <math.h>

#include "page/axis.h"
#include "page/thin.h"

static void of_a_column_the_lowest_and_the_highest_are_left(void **state)
{
	struct thin_point v[100000];
	double low = INFINITY, high = -INFINITY;
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = (struct thin_point){ (double)i, sin((double)i / 9) };
	v[5555].y = 77;
	v[44444].y = -99;
	n = thin(v, ARRAY_SIZE(v), 0, ARRAY_SIZE(v), 300);
	assert_true(n <= 600);
	for (size_t i = 0; i < n; i++) {
		assert_true(i == 0 || v[i].x > v[i - 1].x);
		low = fmin(low, v[i].y);
		high = fmax(high, v[i].y);
	}
	assert_true(low == -99 && high == 77);
}

static void a_gap_stays_one(void **state)
{
	struct thin_point v[1000];
	size_t n, gaps = 0;

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = (struct thin_point){ (double)i, i >= 400 && i < 600 ? NAN : 1 };
	n = thin(v, ARRAY_SIZE(v), 0, 1000, 10);
	for (size_t i = 0; i < n; i++)
		gaps += isnan(v[i].y);
	assert_int_equal(gaps, 2);
	assert_true(n <= 30);
}

static void few_points_are_left_as_they_are(void **state)
{
	struct thin_point v[] = { { 0, 3 }, { 100, 1 }, { 100, 2 }, { 1000, NAN }, { 5000, 5 } };

	assert_int_equal(thin(v, ARRAY_SIZE(v), 0, 5000, 300), 5);
	assert_true(v[0].y == 3 && v[2].y == 2 && v[4].y == 5);
	assert_int_equal(thin(v, 0, 0, 0, 300), 0);
	assert_int_equal(thin(v, 1, 0, 0, 300), 1);
}

static void thinning_again_changes_nothing(void **state)
{
	struct thin_point v[5000];
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = (struct thin_point){ (double)i, (double)(i * 7919 % 1000) };
	n = thin(v, ARRAY_SIZE(v), 0, 4999, 300);
	assert_int_equal(thin(v, n, 0, 4999, 300), n);
}

static void marks_are_round_and_hold_all_values(void **state)
{
	struct axis a;

	axis_make(2.19, 2.87, AXIS_VALUES, &a);
	assert_true(fabs(a.lo - 2) < 1e-9 && fabs(a.hi - 3) < 1e-9 && fabs(a.step - .2) < 1e-9);
	assert_int_equal(a.n, 5);
	assert_true(fabs(axis_mark(&a, 5) - 3) < 1e-9);
	axis_make(0, 1000, AXIS_STEPS, &a);
	assert_true(a.lo == 0 && a.hi == 1000);
	axis_make(-3, 4, AXIS_VALUES, &a);
	assert_true(a.lo == -4 && a.hi == 4);
	assert_true(axis_mark(&a, 2) == 0);
}

static void steps_are_whole(void **state)
{
	struct axis a;

	axis_make(7, 9, AXIS_STEPS, &a);
	assert_true(a.lo == 7 && a.hi == 9 && a.n == 2);
	axis_make(7, 7, AXIS_STEPS, &a);
	assert_true(a.lo == floor(a.lo) && a.step == 1);
}

static void values_over_three_powers_of_ten_are_shown_by_powers(void **state)
{
	struct axis a;

	axis_make(1e-6, 0.5, AXIS_VALUES, &a);
	assert_true(a.log);
	assert_true(fabs(axis_mark(&a, 0) / 1e-6 - 1) < 1e-9);
	assert_true(fabs(axis_place(&a, 1e-3) - .5) < 1e-9);
	axis_make(0, 1e9, AXIS_VALUES, &a);
	assert_false(a.log);
	axis_make(1, 1e9, AXIS_STEPS, &a);
	assert_false(a.log);
}

static void an_axis_of_any_finite_values_has_few_marks(void **state)
{
	static const double v[] = { 0, 1, -1, 5e-324, 1e-308, 1e308, -1e308, 1e15, 1e15 + 1, 9223372036854775807., 0.1, 0.1 + 1e-17 };

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		for (size_t j = 0; j < ARRAY_SIZE(v); j++) {
			struct axis a;

			if (v[j] < v[i])
				continue;
			axis_make(v[i], v[j], AXIS_VALUES, &a);
			assert_true(a.n >= 1 && a.n <= 12 && isfinite(a.lo) && a.hi > a.lo);
			assert_true(axis_place(&a, v[i]) >= 0 && axis_place(&a, v[j]) <= 1);
			for (unsigned k = 0; k <= a.n; k++)
				assert_true(isfinite(axis_mark(&a, k)));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_column_the_lowest_and_the_highest_are_left),
		cmocka_unit_test(a_gap_stays_one),
		cmocka_unit_test(few_points_are_left_as_they_are),
		cmocka_unit_test(thinning_again_changes_nothing),
		cmocka_unit_test(marks_are_round_and_hold_all_values),
		cmocka_unit_test(steps_are_whole),
		cmocka_unit_test(values_over_three_powers_of_ten_are_shown_by_powers),
		cmocka_unit_test(an_axis_of_any_finite_values_has_few_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
