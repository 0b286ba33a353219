/* How two configurations differ. */
#include "test.h"

#include "format/hp_diff.h"

static int add(void *arg, const char *key, const char *from, const char *to)
{
	char *text = arg;

	sprintf(text + strlen(text), "%s: %s -> %s; ", key, from ? from : "none", to ? to : "none");
	return 0;
}

static void check(const char *from, const char *to, const char *wanted)
{
	char got[1024] = "";

	assert_int_equal(hp_diff(from, to, add, got), 0);
	assert_string_equal(got, wanted);
}

static void equal_texts_do_not_differ(void **state)
{
	check("{\"a\": 1, \"b\": {\"c\": [1, 2]}}", "{\"a\": 1, \"b\": {\"c\": [1, 2]}}", "");
	check("{}", "{}", "");
}

static void a_value_differs_by_its_key(void **state)
{
	check("{\"a\": 1, \"lr\": 0.1}", "{\"a\": 1, \"lr\": 0.01}", "lr: 0.1 -> 0.01; ");
	check("{\"n\": 1}", "{\"n\": \"1\"}", "n: 1 -> \"1\"; ");
	check("{\"n\": NaN}", "{\"n\": NaN}", "");
}

static void maps_in_maps_are_gone_into_and_lists_are_not(void **state)
{
	check("{\"a\": {\"b\": {\"c\": 1, \"d\": 2}}, \"z\": 1}", "{\"a\": {\"b\": {\"c\": 1, \"d\": 3}}, \"z\": 2}",
	      "a.b.d: 2 -> 3; z: 1 -> 2; ");
	check("{\"l\": [1, {\"x\": 1}]}", "{\"l\": [1, {\"x\": 2}]}", "l: [1, {\"x\": 1}] -> [1, {\"x\": 2}]; ");
	check("{\"a\": {\"b\": 1}}", "{\"a\": 1}", "a: {\"b\": 1} -> 1; ");
}

static void keys_that_only_one_has_are_told(void **state)
{
	check("{\"a\": 1, \"c\": 3}", "{\"b\": 2, \"c\": 3}", "a: 1 -> none; b: none -> 2; ");
	check("{}", "{\"a\": null}", "a: none -> null; ");
}

static void what_is_no_map_is_refused(void **state)
{
	char got[64] = "";

	assert_int_equal(hp_diff("[]", "{}", add, got), -EINVAL);
	assert_int_equal(hp_diff("{}", "{", add, got), -EINVAL);
	assert_int_equal(hp_diff("", "", add, got), -EINVAL);
}

static void the_type_of_a_value_is_told(void **state)
{
	static const char *const values[][2] = { { "\"1\"", "text" }, { "1", "int" }, { "-12", "int" },  { "0.5", "float" }, { "1e-05", "float" },
						 { "NaN", "float" },  { "-Infinity", "float" }, { "true", "bool" }, { "null", "null" },
						 { "[1]", "list" },   { "{}", "map" } };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		assert_string_equal(hp_type(values[i][0]), values[i][1]);
	assert_string_equal(hp_type(NULL), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_do_not_differ),
		cmocka_unit_test(a_value_differs_by_its_key),
		cmocka_unit_test(maps_in_maps_are_gone_into_and_lists_are_not),
		cmocka_unit_test(keys_that_only_one_has_are_told),
		cmocka_unit_test(what_is_no_map_is_refused),
		cmocka_unit_test(the_type_of_a_value_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
