#include "exp/config.h"
#include "format/yaml_guard.h"
#include "test.h"

static void cleanup_config(struct config **c)
{
	if (*c)
		config_free(*c);
}
#define _cleanup_config_ _cleanup_(cleanup_config)

static int parse(const char *text, struct config **ret, char **ret_error)
{
	return config_parse(text, strlen(text), ret, ret_error);
}

/* The text is not taken, and the message has what in it. */
static void refused(const char *text, const char *what)
{
	_cleanup_config_ struct config *c = NULL;
	_cleanup_free_ char *error = NULL;

	assert_int_equal(parse(text, &c, &error), -EINVAL);
	assert_null(c);
	assert_non_null(error);
	if (!strstr(error, what))
		fail_msg("expected '%s' in: %s", what, error);
}

/* The text is taken; the runs after the first are these, up to a NULL. */
static void taken(const char *text, ...)
{
	_cleanup_config_ struct config *c = NULL;
	_cleanup_free_ char *error = NULL;
	const char *run;
	va_list ap;
	size_t i = 0;

	if (parse(text, &c, &error) != 0)
		fail_msg("%s", error ? error : "no message");
	assert_null(error);
	assert_string_equal(c->runs[i++], "/runs/*");
	va_start(ap, text);
	while ((run = va_arg(ap, const char *)) != NULL)
		assert_string_equal(c->runs[i++], run);
	va_end(ap);
	assert_null(c->runs[i]);
}

static enum role role_by(const char *text, const char *path, bool is_dir)
{
	_cleanup_config_ struct config *c = NULL;
	_cleanup_free_ char *error = NULL;

	assert_int_equal(parse(text, &c, &error), 0);
	return role_of(c->rules, path, is_dir);
}

static void the_text_that_init_writes_is_the_default(void **state)
{
	taken(config_default_text, NULL);
}

static void nothing_is_the_default(void **state)
{
	taken("", NULL);
	taken("# only a comment\n", NULL);
	taken("---\n", NULL);
	taken("runs:\nroles:\n", NULL);
	taken("roles: {}\nruns: []\n", NULL);
	taken("roles:\n  WEIGHTS:\n  none: []\n", NULL);
}

static void runs_are_added_each_once(void **state)
{
	taken("runs: [/runs/*, \"/exp/*\", '/a b/c', /exp/*]\n", "/exp/*", "/a b/c", NULL);
	taken("runs:\n- /exp/*/\n- /exp/*\n", "/exp/*", NULL);
	taken("runs: [/12]\n", "/12", NULL);
}

/* The names of metrics, joined by spaces, and the mode. */
static void best_is(const char *text, const char *names, bool max)
{
	_cleanup_config_ struct config *c = NULL;
	_cleanup_free_ char *error = NULL;
	char found[256] = "";

	if (parse(text, &c, &error) != 0)
		fail_msg("%s", error ? error : "no message");
	for (char **p = c->best_metric; *p; p++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", *found ? " " : "", *p);
	assert_string_equal(found, names);
	assert_int_equal(c->best_is_max, max);
	assert_null(c->unknown[0]);
}

static void the_best_metric_is_one_name_or_a_list(void **state)
{
	static const char defaults[] = "val_loss eval_loss loss";

	best_is("", defaults, false);
	best_is(config_default_text, defaults, false);
	best_is("best:\n", defaults, false);
	best_is("best: {metric: , mode: }\n", defaults, false);
	best_is("best: {metric: []}\n", defaults, false);
	best_is("best: {mode: max}\n", defaults, true);
	best_is("best:\n  metric: acc/val\n  mode: max\n", "acc/val", true);
	best_is("best: {metric: [acc, val loss]}\n", "acc val loss", false);
	best_is("best: {metric: [a, b, c, d, e, f, g, h]}\n", "a b c d e f g h", false);
}

static void roles_are_given_and_taken_away(void **state)
{
	static const char text[] = "roles:\n"
				   "  WEIGHTS: ['*.ckpt2', 'state_<n>/']\n"
				   "  none: [scratch/, latest.pt]\n"
				   "  HP: [/mine.yaml]\n";

	assert_int_equal(role_by(text, "a.ckpt2", false), ROLE_WEIGHTS);
	assert_int_equal(role_by(text, "state_5", true), ROLE_WEIGHTS);
	assert_int_equal(role_by(text, "latest.pt", false), ROLE_NONE);
	assert_int_equal(role_by(text, "mine.yaml", false), ROLE_HP);
	assert_int_equal(role_by(text, "last.pt", false), ROLE_WEIGHTS);
	assert_int_equal(role_by("", "a.ckpt2", false), ROLE_NONE);
}

static void keys_of_later_versions_are_left_alone(void **state)
{
	taken("retention: {WEIGHTS: {keep_last: 3}}\ncache: {blocks: 128MiB}\n"
	      "list: [[1, 2], {a: [b]}]\n? [complex, key]\n: value\nruns: [/x]\n",
	      "/x", NULL);
}

static void what_makes_an_experiment_is_read(void **state)
{
	static const char text[] = "commit: immediate\nhash:\n  ignore: [a, b]\n";
	_cleanup_free_ char *error = NULL;
	struct config *c;

	assert_int_equal(config_parse("", 0, &c, &error), 0);
	assert_false(c->commit_immediate);
	assert_string_equal(c->hash_ignore[0], "root_log_dir");
	assert_string_equal(c->hash_ignore[3], "experiment_name");
	assert_null(c->hash_ignore[4]);
	config_free(c);
	assert_int_equal(config_parse(text, strlen(text), &c, &error), 0);
	assert_true(c->commit_immediate);
	assert_string_equal(c->hash_ignore[0], "a");
	assert_string_equal(c->hash_ignore[1], "b");
	assert_null(c->hash_ignore[2]);
	config_free(c);
	refused("commit: later\n", "line 1: commit");
	refused("commit: [immediate]\n", "line 1: commit");
	refused("hash: [a]\n", "line 1: hash");
	refused("hash: {ignore: a}\n", "hash.ignore");
}

static void a_mistake_is_told_with_its_line(void **state)
{
	refused("runs: [/a]\nroles:\n  NOISE: [a]\n", "line 3: roles: NOISE");
	refused("\n\nruns: /a\n", "line 3: runs");
	refused("runs:\n  a: b\n", "line 2: runs");
	refused("runs: [[/a]]\n", "runs");
	refused("runs: [a]\n", "runs: a");
	refused("runs: [/]\n", "runs: /");
	refused("runs: [\"\"]\n", "runs");
	refused("runs: [\"/a\\0b\"]\n", "runs");
	refused("roles: [a]\n", "roles");
	refused("roles: {WEIGHTS: a}\n", "roles");
	refused("roles: {WEIGHTS: [\"a[\"]}\n", "roles.WEIGHTS: a[");
	refused("roles: {WEIGHTS: [{a: b}]}\n", "roles");
	refused("runs: [/a]\n\nruns: [/b]\n", "line 3: runs: stands here a second time");
	refused("roles: {HP: [a], HP: [b]}\n", "HP: stands here a second time");
	refused("best: loss\n", "line 1: best: metric and mode");
	refused("best:\n  mode: lowest\n", "line 2: best.mode: min or max");
	refused("best: {mode: [min]}\n", "best.mode");
	refused("best: {metric: {a: b}}\n", "best.metric");
	refused("best: {metric: [[a]]}\n", "best.metric");
	refused("best: {metric: \"\"}\n", "best.metric");
	refused("best: {metric: \"a\\0b\"}\n", "best.metric");
	refused("best: {metric: [a, b, c, d, e, f, g, h, i]}\n", "best.metric: more than 8 names");
	refused("best: {mode: min, mode: max}\n", "mode: stands here a second time");
	refused("- a\n- b\n", "line 1");
	refused("text\n", "line 1");
	refused("runs: [/a\n", "line");
	refused("a: b: c\n", "line 1");
	refused("\tx: y\n", "line 1");
	refused("runs: [/a]\n---\nruns: [/b]\n", "second document");
	refused("runs: [/\xff]\n", "line");
}

static void aliases_are_refused(void **state)
{
	refused("a: &x [/a]\nruns: *x\n", "aliases");
	refused("a: &a [x, x]\nb: &b [*a, *a]\n", "aliases");
	refused("? *x\n: y\n", "line 1");
}

/* before, then text n times. */
static char *repeat(const char *before, const char *text, size_t n)
{
	char *s = malloc(strlen(before) + strlen(text) * n + 1), *to;

	assert_non_null(s);
	to = stpcpy(s, before);
	while (n-- > 0)
		to = stpcpy(to, text);
	return s;
}

static void size_depth_and_number_are_bounded(void **state)
{
	_cleanup_free_ char *list = repeat("x: ", "[", 500000);
	_cleanup_free_ char *mapping = repeat("x: ", "{a: ", 200000);
	_cleanup_free_ char *comment = repeat("", "#\n", 600000);
	_cleanup_free_ char *tags = repeat("", "%TAG !x! y\n", 90000);
	_cleanup_free_ char *roles = repeat("roles:\n  WEIGHTS:\n", "  - a\n", 2000);
	_cleanup_free_ char *runs = repeat("runs:\n", "- /12345678\n", 2000);
	char *number = runs;

	for (unsigned i = 0; (number = strchr(number, '/')) != NULL; i++) {
		number += sprintf(number, "/%08u", i);
		*number = '\n';
	}
	refused(list, "deep");
	refused(mapping, "deep");
	refused(comment, "larger than");
	refused(tags, "%TAG");
	refused(roles, "more than");
	refused(runs, "more than");
}

static void many_directives_are_kept_from_libyaml(void **state)
{
	char text[17 * 5], wide[17 * 10];

	for (size_t i = 0; i < 17; i++)
		memcpy(text + 5 * i, "%TAG\n", 5);
	for (size_t i = 0; i < sizeof(text); i++) {
		wide[2 * i] = text[i];
		wide[2 * i + 1] = '\0';
	}
	assert_non_null(yaml_guard(text, sizeof(text)));
	assert_null(yaml_guard(text, sizeof(text) - 2)); /* the last one is cut */
	assert_non_null(yaml_guard(wide, sizeof(wide)));
	assert_null(yaml_guard(NULL, 0));
	assert_null(yaml_guard("a: 100%\n", 8));
}

static void no_part_of_a_text_and_no_changed_byte_does_harm(void **state)
{
	static const char text[] = "# c\nruns: [\"/exp/*\", '/b']\nroles:\n  WEIGHTS: [\"*.x\"]\n  none:\n  - a\nother: {a: [1]}\n";
	char copy[sizeof(text)];

	for (size_t n = 0; n < sizeof(text); n++)
		for (int byte = -1; byte < 256; byte++) {
			_cleanup_config_ struct config *c = NULL;
			_cleanup_free_ char *error = NULL;
			int r;

			memcpy(copy, text, sizeof(text));
			if (byte >= 0)
				copy[n] = (char)byte;
			r = config_parse(copy, byte < 0 ? n : sizeof(text) - 1, &c, &error);
			assert_true(r == 0 ? c && !error : r == -EINVAL && !c && error);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_that_init_writes_is_the_default),
		cmocka_unit_test(nothing_is_the_default),
		cmocka_unit_test(runs_are_added_each_once),
		cmocka_unit_test(the_best_metric_is_one_name_or_a_list),
		cmocka_unit_test(roles_are_given_and_taken_away),
		cmocka_unit_test(keys_of_later_versions_are_left_alone),
		cmocka_unit_test(what_makes_an_experiment_is_read),
		cmocka_unit_test(a_mistake_is_told_with_its_line),
		cmocka_unit_test(aliases_are_refused),
		cmocka_unit_test(size_depth_and_number_are_bounded),
		cmocka_unit_test(many_directives_are_kept_from_libyaml),
		cmocka_unit_test(no_part_of_a_text_and_no_changed_byte_does_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
