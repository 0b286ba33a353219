#include "format/state_file.h"
#include "test.h"

#define HASH "f25b5702c76d0291bb73166f"

static int parse(const char *text, struct state_file *ret, char *ret_why)
{
	struct reason why = { "" };
	int r = state_file_parse(text, strlen(text), ret, &why);

	assert_true(r == 0 || (r == -EINVAL && why.text[0]));
	strcpy(ret_why, why.text);
	return r;
}

static void a_state_is_read(void **state)
{
	static const char text[] = "{\n  \"current_exp_hash\": \"" HASH "\",\n  \"previous_exp_hash\": null,\n  \"step_counter\": 10,\n"
				   "  \"model_init_step\": 0,\n  \"last_updated\": \"2026-11-30T01:02:39.068572\",\n"
				   "  \"component_hashes\": {\n    \"hp\": \"f25b5702\",\n    \"model\": \"c76d0291\",\n    \"data\": \"bb73166f\",\n"
				   "    \"combined\": \"" HASH "\"\n  }\n}";
	struct state_file s;
	char why[256];

	assert_int_equal(parse(text, &s, why), 0);
	assert_string_equal(s.current_exp_hash, HASH);
	assert_string_equal(s.previous_exp_hash, "");
	assert_string_equal(s.hp_hash, "f25b5702");
	assert_string_equal(s.model_hash, "c76d0291");
	assert_string_equal(s.data_hash, "bb73166f");
	assert_string_equal(s.combined_hash, HASH);
	assert_int_equal(s.step_counter, 10);
	assert_int_equal(s.model_init_step, 0);
	assert_string_equal(s.last_updated, "2026-11-30T01:02:39.068572");
}

static void what_is_missing_or_null_is_nothing(void **state)
{
	static const char *const texts[] = { "{}", "{\"component_hashes\": null, \"step_counter\": null}", "{\"later\": [1, {\"hp\": 5}]}",
					     "{\"hp\": 5, \"component_hashes\": {\"x\": [], \"current_exp_hash\": 7}}" };
	struct state_file s;
	char why[256];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(parse(texts[i], &s, why), 0);
		assert_string_equal(s.current_exp_hash, "");
		assert_string_equal(s.hp_hash, "");
		assert_string_equal(s.last_updated, "");
		assert_int_equal(s.step_counter, -1);
	}
}

static void what_is_no_state_is_refused_and_leaves_the_last_one(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "ends" },
		{ "[]", "an object" },
		{ "{\"step_counter\": 5", "ends" },
		{ "{}\n{}", "line 2: more" },
		{ "{\"current_exp_hash\": 5}", "current_exp_hash: is no hash" },
		{ "{\"current_exp_hash\": \"F25B5702C76D0291BB73166F\"}", "current_exp_hash" },
		{ "{\"current_exp_hash\": \"f25b5702\"}", "current_exp_hash" },
		{ "{\"current_exp_hash\": \"" HASH "0\"}", "current_exp_hash" },
		{ "{\"current_exp_hash\": \"f25b5702c76d0291bb73166\\u0000\"}", "current_exp_hash" },
		{ "{\"current_exp_hash\": {}}", "current_exp_hash" },
		{ "{\"component_hashes\":\n{\"hp\": \"xyz\"}}", "line 2: hp: is no hash" },
		{ "{\"step_counter\": 1.5}", "step_counter" },
		{ "{\"step_counter\": -1}", "step_counter" },
		{ "{\"step_counter\": NaN}", "step_counter" },
		{ "{\"last_updated\": 5}", "last_updated" },
		{ "{\"last_updated\": \"0123456789012345678901234567890123456789\"}", "last_updated" },
	};
	struct state_file s = { .step_counter = 77 };
	char why[256];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(cases[i].text, &s, why), -EINVAL);
		if (!strstr(why, cases[i].why))
			fail_msg("expected '%s' in: %s", cases[i].why, why);
		assert_int_equal(s.step_counter, 77);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_state_is_read),
		cmocka_unit_test(what_is_missing_or_null_is_nothing),
		cmocka_unit_test(what_is_no_state_is_refused_and_leaves_the_last_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
