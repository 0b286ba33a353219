#include "format/manager_options.h"
#include "test.h"

/* The options in letters, in their order, of those that are true. */
static const char *options(const char *text)
{
	static char letters[8];
	struct manager_options o = { 0 };
	struct reason why = { "" };
	char *to = letters;

	if (manager_options_parse(text, strlen(text), &o, &why) < 0)
		fail_msg("%s", why.text);
	if (o.enable_checkpoints)
		*to++ = 'e';
	if (o.dump_model_architecture)
		*to++ = 'a';
	if (o.dump_model_state)
		*to++ = 'm';
	if (o.dump_optimizer_state)
		*to++ = 'o';
	if (o.dump_data_state)
		*to++ = 'd';
	if (o.dump_config_state)
		*to++ = 'c';
	*to = '\0';
	return letters;
}

static void options_default_to_those_of_weightslab(void **state)
{
	assert_string_equal(options(""), "emodc");
	assert_string_equal(options("lr: 1\n"), "emodc");
	assert_string_equal(options("text\n"), "emodc");
	assert_string_equal(options("checkpoint_manager: {}\n"), "emodc");
	assert_string_equal(options("a: {checkpoint_manager: {enable_checkpoints: false}}\n"), "emodc");
	assert_string_equal(options("checkpoint_manager: {later: [x, {y: z}], ? [k] : v}\n"), "emodc");
}

static void options_are_read(void **state)
{
	assert_string_equal(options("checkpoint_manager:\n  enable_checkpoints: false\n  dump_model_architecture: true\n"), "amodc");
	assert_string_equal(options("checkpoint_manager: {dump_model_state: no, dump_data_state: Off}\n"), "eoc");
	assert_string_equal(options("checkpoint_manager: {dump_optimizer_state: 0, dump_config_state: null}\n"), "emd");
	assert_string_equal(options("{\"checkpoint_manager\": {\"dump_data_state\": false}}"), "emoc");
	assert_string_equal(options("checkpoint_manager: {dump_data_state: \"false\", dump_config_state: ''}\n"), "emod");
	assert_string_equal(options("checkpoint_manager: {dump_data_state: no, dump_data_state: yes}\n"), "emodc");
	assert_string_equal(options("checkpoint_manager: {dump_data_state: no}\ncheckpoint_manager: {dump_config_state: no}\n"), "emod");
}

static void aliases_and_tags_elsewhere_do_not_matter(void **state)
{
	assert_string_equal(options("a: &x {b: 1}\nc: *x\nd: !mine 5\n<<: *x\ncheckpoint_manager: {<<: *x, dump_data_state: no}\n"), "emoc");
	assert_string_equal(options("? &k checkpoint_manager\n: {dump_data_state: no}\ny: *k\n*k : z\n"), "emoc");
}

static void a_broken_configuration_is_told_and_leaves_the_defaults(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "a: b: c\n", "line 1" },
		{ "checkpoint_manager: {dump_data_state: false}\n\tx\n", "line 2" },
		{ "checkpoint_manager:\n", "options" },
		{ "\ncheckpoint_manager: no\n", "line 2: checkpoint_manager: options" },
		{ "a: &x {}\ncheckpoint_manager: *x\n", "line 2: checkpoint_manager: an alias" },
		{ "a: 1\n---\na: 1\n", "second document" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct manager_options o = MANAGER_OPTIONS_DEFAULT;
		struct reason why = { "" };

		assert_int_equal(manager_options_parse(cases[i].text, strlen(cases[i].text), &o, &why), -EINVAL);
		if (!strstr(why.text, cases[i].why))
			fail_msg("expected '%s' in: %s", cases[i].why, why.text);
		assert_true(o.dump_data_state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_default_to_those_of_weightslab),
		cmocka_unit_test(options_are_read),
		cmocka_unit_test(aliases_and_tags_elsewhere_do_not_matter),
		cmocka_unit_test(a_broken_configuration_is_told_and_leaves_the_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
