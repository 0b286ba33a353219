#include "hp.h"

static const char *const nothing[] = { NULL };

/* The whole text of files, given as path and text, up to a NULL. */
static void whole(const char *expected, ...)
{
	struct hp_file files[8];
	_cleanup_free_ char *text = NULL;
	const char *path;
	size_t n = 0;
	va_list ap;

	va_start(ap, expected);
	while ((path = va_arg(ap, const char *)) != NULL)
		files[n++] = (struct hp_file){ path, va_arg(ap, const char *) };
	va_end(ap);
	assert_int_equal(hp_whole(files, n, &text), 0);
	assert_string_equal(text, expected);
}

/* The segment of one file. */
static void hashes(const char *bytes, const char *name, const char *const *ignore, const char *segment)
{
	_cleanup_free_ char *text = NULL, *error = NULL, *all = NULL;
	struct hp_file file = { .path = name };
	char digest[HP_DIGEST_LEN + 1];

	assert_int_equal(hp_parse(bytes, strlen(bytes), name, ignore, &text, &error), 0);
	file.text = text;
	assert_int_equal(hp_whole(&file, 1, &all), 0);
	assert_int_equal(hp_digest(all, digest), 0);
	assert_int_equal(strlen(digest), HP_DIGEST_LEN);
	digest[HP_SEGMENT_LEN] = 0;
	assert_string_equal(digest, segment);
}

static void configurations_have_the_segments_that_weightslab_gives_them(void **state)
{
	hashes("", "config.yaml", hp_ignore_default, "92eee20f");
	hashes("# nothing\n", "config.yaml", hp_ignore_default, "92eee20f");
	hashes("{}", "args.json", hp_ignore_default, "92eee20f");
	hashes("lr: 0.001\n", "config.yaml", hp_ignore_default, "3dfd9bbf");
	hashes("{\"lr\": 1e-3}", "args.json", hp_ignore_default, "3dfd9bbf");
	hashes("lr: 0.001\nroot_log_dir: /mnt/run\nexperiment_name: x\nis_training: yes\npause_at_step: 5\n",
	       "config.yaml", hp_ignore_default, "3dfd9bbf");
	hashes("root_log_dir: /mnt/run\nlr: .001\n", "config.yaml", nothing, "6d72058d");
	hashes("p: ~\nname: é\n", "config.yaml", hp_ignore_default, "2332dfd3");
	hashes("b: [3, 1]\ne: 1.0e-5\nlr: 1.0e-4\nt: [1, 2]\n", "config.yaml", hp_ignore_default, "35c57897");
	hashes("i: .inf\nn: .nan\n", "config.yaml", hp_ignore_default, "496bee8c");
}

static void order_comments_quotes_and_style_do_not_matter(void **state)
{
	static const char text[] = "{\"a\": {\"x\": \"s\", \"y\": 2}, \"b\": [1, 2]}";

	takes("a: {x: s, y: 2}\nb: [1, 2]\n", text);
	takes("b:\n- 1\n- 2 # two\na:\n  y: 2\n  x: 's'\n", text);
	takes("\"b\": [1,\n 2]\r\n'a': {\"y\": 2, \"x\": \"s\"}\r\n", text);
	takes("%YAML 1.1\n---\nb: &b\n  - 1\n  - 2\na: {x: s, ? y : 2}\n...\n", text);
	takes("\xef\xbb\xbf" "b: [1, 2]\na: {x: s, y: 2}\n", text);
	takes_json("{\"b\": [1, 2], \"a\": {\"y\": 2, \"x\": \"s\"}}", text);
	takes("b: [2, 1]\n", "{\"b\": [2, 1]}");
}

static void keys_become_strings_as_in_json(void **state)
{
	is("{1: a}", "{\"1\": \"a\"}");
	is("{true: a}", "{\"true\": \"a\"}");
	is("{~: a}", "{\"null\": \"a\"}");
	is("{1.5e+20: a}", "{\"1.5e+20\": \"a\"}");
	is("{.inf: a}", "{\"Infinity\": \"a\"}");
	is("{10: a, 9: b, -1: c, 0.5: d, .inf: e, -.inf: f}",
	   "{\"-Infinity\": \"f\", \"-1\": \"c\", \"0.5\": \"d\", \"9\": \"b\", \"10\": \"a\", \"Infinity\": \"e\"}");
	is("{=: a}", "{\"=\": \"a\"}");
	takes("é: 1\nz: 2\n\"\\U00010000\": 3\n\"\\uffff\": 4\na: 5\nA: 6\n",
	      "{\"A\": 6, \"a\": 5, \"z\": 2, \"\\u00e9\": 1, \"\\uffff\": 4, \"\\ud800\\udc00\": 3}");
}

static void of_equal_keys_the_first_stays_with_the_last_value(void **state)
{
	takes("a: 1\nb: 2\na: 3\n", "{\"a\": 3, \"b\": 2}");
	is("{1: a, true: b, 1.0: c}", "{\"1\": \"c\"}");
	is("{true: a, 1: b}", "{\"true\": \"b\"}");
	is("{0: a, -0.0: b}", "{\"0\": \"b\"}");
	is("{9007199254740993: a, 9007199254740992.0: b}", "{\"9007199254740992.0\": \"b\", \"9007199254740993\": \"a\"}");
	takes_json("{\"a\": 1, \"\\u0061\": 2}", "{\"a\": 2}");
}

static void keys_that_do_not_compare_are_refused(void **state)
{
	refuses("1: a\n", "line 1: a key at the top that is no string");
	refuses("a: b\n\n~: a\n", "line 3: a key at the top");
	refuses("v: {a: 1, 1: 2}", "a key of another type");
	refuses("v: {~: 1, 1: 2}", "a key of another type");
	refuses("v: {2026-01-01: 1}", "a key that is no string, number, boolean or null");
	refuses("v: {[1]: 1}", "a list, map or set as a key");
	refuses("v: {.nan: 1, 1: 2}", "a key that is not a number");
	refuses("v: =\n", "'=' as a value");
	refuses("v: [<<]\n", "'<<' as a value");
	takes("experiment_name: {a: 1, 1: 2}\nv: 1\n", "{\"v\": 1}"); /* as nobody writes it */
}

static void maps_are_merged_where_they_have_no_key_yet(void **state)
{
	takes("a: &a {x: 1, y: 2}\nb: {y: 3, <<: *a}\n", "{\"a\": {\"x\": 1, \"y\": 2}, \"b\": {\"x\": 1, \"y\": 3}}");
	takes("v: {<<: [{x: 1}, {x: 2, y: 3}, {y: 4, z: 5}]}", "{\"v\": {\"x\": 1, \"y\": 3, \"z\": 5}}");
	takes("v: {<<: {x: 1}, <<: {x: 2}}", "{\"v\": {\"x\": 2}}");
	takes("v: {<<: {<<: {x: 1}, y: 2}}", "{\"v\": {\"x\": 1, \"y\": 2}}");
	takes("v: {<<: []}", "{\"v\": {}}");
	takes("<<: {lr: 1, experiment_name: x}\n", "{\"lr\": 1}");
	takes("v: {'<<': 1}", "{\"v\": {\"<<\": 1}}");
	takes("d: &d {x: 1}\nl: &l [*d, {y: 2}]\nv: {<<: *l}\n",
	      "{\"d\": {\"x\": 1}, \"l\": [{\"x\": 1}, {\"y\": 2}], \"v\": {\"x\": 1, \"y\": 2}}");
	refuses("v: {<<: 1}", "line 1: a map to merge is wanted here");
	refuses("v: {<<: [[{a: 1}]]}", "a map to merge");
	refuses("v: &v {<<: *v}", "merged into itself");
}

static void aliases_repeat_what_their_anchor_has(void **state)
{
	takes("a: &a [1]\nb: *a\n? &k c\n: *k\n", "{\"a\": [1], \"b\": [1], \"c\": \"c\"}");
	refuses("a: *b\n", "line 1: an alias without its anchor");
	refuses("a: &a 1\nb: &a 2\n", "line 2: an anchor a second time");
	refuses("a: &a [*a]\n", "lies in itself");
	refuses("&t\na: {b: *t}\n", "lies in itself");
	takes("experiment_name: &a [*a]\n", "{}");
}

static void what_is_no_map_is_refused(void **state)
{
	takes("---\n", "{}");
	takes("null\n", "{}");
	refuses("- a\n", "line 1: keys with values are wanted");
	refuses("\ntext\n", "line 2: keys with values");
	refuses("!!omap [a: 1]\n", "keys with values");
	refuses("a: 1\n---\nb: 1\n", "line 2: a second document");
	refuses_json("[1]", "line 1: keys with values");
	refuses_json("", "line 1: a value is missing");
}

static void mistakes_are_told_with_their_line(void **state)
{
	refuses("a: 1\nb: [1\nc: 2\n", "line 3: ");
	refuses("a: 1\n b: 2\n", "line 2: ");
	refuses("a: 1\n\tb: 2\n", "line 2: ");
	refuses("a: 1\nb: \xff\n", "line 2: ");
	refuses_bytes("a: 1\nb: \0\n", 10, "config.yaml", "line 2: control characters");
	refuses("a: \x7f\n", "line 1: control characters");
	refuses_json("{\"a\": 1,\n\"b\": }", "line 2: a value is missing");
}

static void json_has_pythons_ways(void **state)
{
	takes_json(" {\"a\": 1e-05, \"b\": 1E400, \"c\": -0, \"d\": -0.0, \"e\": 12345678901234567890123}\n",
		   "{\"a\": 1e-05, \"b\": Infinity, \"c\": 0, \"d\": -0.0, \"e\": 12345678901234567890123}");
	takes_json("{\"a\": [NaN, Infinity, -Infinity, true, false, null]}",
		   "{\"a\": [NaN, Infinity, -Infinity, true, false, null]}");
	takes_json("{\"a\": \"\\ud83d\\ude00 \\ud83d \\ude00 \\ud83d\\u0041 \\u0000 \\b\\f\\/\"}",
		   "{\"a\": \"\\ud83d\\ude00 \\ud83d \\ude00 \\ud83dA \\u0000 \\b\\f/\"}");
	takes_json("{\"\\uffff\": 1, \"\\ud800\": 2, \"\xf0\x9f\x98\x80\": 3}",
		   "{\"\\ud800\": 2, \"\\uffff\": 1, \"\\ud83d\\ude00\": 3}");
	takes_json("{\"2026-01-01\": \"yes\"}", "{\"2026-01-01\": \"yes\"}");
	refuses_json("{\"a\": 01}", "is missing");
	refuses_json("{\"a\": 1.}", "is missing");
	refuses_json("{\"a\": 1,}", "a string is missing");
	refuses_json("{'a': 1}", "a string is missing");
	refuses_json("{\"a\": \"\t\"}", "a control character");
	refuses_json("{\"a\": \"\xff\"}", "not in UTF-8");
	refuses_json("{\"a\": \"\\x\"}", "an escape");
	refuses_json("{\"a\": \"\\", "a string without an end");
	refuses_json("{} {}", "more after");
	refuses_json("\xef\xbb\xbf{}", "a value is missing");
}

static char *repeated(const char *head, const char *part, size_t count, const char *tail)
{
	size_t n = strlen(part);
	char *text = malloc(strlen(head) + count * n + strlen(tail) + 1), *p;

	assert_non_null(text);
	p = stpcpy(text, head);
	for (size_t i = 0; i < count; i++, p += n)
		memcpy(p, part, n);
	strcpy(p, tail);
	return text;
}

static void refuses_repeated(const char *head, const char *part, size_t count, const char *tail, const char *what)
{
	_cleanup_free_ char *text = repeated(head, part, count, tail);

	refuses(text, what);
}

static void hostile_files_are_refused_within_bounds(void **state)
{
	_cleanup_free_ char *large = repeated("", "#", HP_SIZE_MAX + 1, "");
	_cleanup_free_ char *deep = repeated("", "{\"a\": ", 100000, "");

	refuses(large, "larger than 16 MiB");
	refuses_json(deep, "nested deeper than 100");
	refuses_repeated("v: ", "[", 100000, "", "nested deeper than 100");
	refuses_repeated("v:\n", "- ", 1000, "", "nested deeper than 100");
	refuses_repeated("", "%TAG !a! a\n", 100000, "---\n", "more than 16 directives");
	refuses_repeated("v: [", "a,", 300000, "]", "more than 262144 values");
	refuses_repeated("a: &a 1\nv: [", "*a ,", 300000, "]", "more than 262144 values");
	refuses_repeated("a: &a {b: 1, c: 2, d: 3}\nv:\n", "- {<<: [*a, *a]}\n", 50000, "", "more than 262144 values");
	refuses_repeated("a: &a [{}, {}, {}, {}, {}, {}, {}, {}]\nv:\n", "- {<<: *a }\n", 50000, "", "more than 262144 values");
	refuses_repeated("a: &a [", "\"a long string that stands here\",", 100000, "]\nb: [*a, *a, *a, *a, *a, *a]\n",
			 "its text is larger than 16 MiB");
}

static void an_alias_bomb_is_refused(void **state)
{
	char text[8192], *p = stpcpy(text, "a0: &a0 [x, x, x, x]\n");

	for (int i = 1; i < 60; i++)
		p += sprintf(p, "a%d: &a%d [*a%d , *a%d , *a%d , *a%d ]\n", i, i, i - 1, i - 1, i - 1, i - 1);
	refuses(text, "its text is larger");
	p = stpcpy(text, "a0: &a0 {x: 1}\n");
	for (int i = 1; i < 60; i++)
		p += sprintf(p, "a%d: &a%d {<<: [*a%d , *a%d , *a%d ]}\n", i, i, i - 1, i - 1, i - 1);
	refuses(text, "more than 262144 values");
}

static void nesting_is_taken_up_to_its_bound(void **state)
{
	char yaml[300] = "v: ", text[300] = "{\"v\": ";

	memset(yaml + 3, '[', 99);
	memset(yaml + 3 + 99, ']', 99);
	memset(text + 6, '[', 99);
	memset(text + 6 + 99, ']', 99);
	text[6 + 198] = '}';
	takes(yaml, text);
	takes_json(text, text);
	memset(yaml + 3, '[', 100);
	memset(yaml + 3 + 100, ']', 100);
	refuses(yaml, "nested deeper than 100");
}

static void the_ignored_keys_are_those_at_the_top(void **state)
{
	static const char *const names[] = { "seed", "", NULL };
	static const char yaml[] = "seed: 1\n\"\": 2\nsee: 3\nroot_log_dir: x\nv: {seed: 4}\n";
	_cleanup_free_ char *text = NULL, *error = NULL;

	assert_int_equal(hp_parse(yaml, strlen(yaml), "config.yaml", names, &text, &error), 0);
	assert_string_equal(text, "{\"root_log_dir\": \"x\", \"see\": 3, \"v\": {\"seed\": 4}}");
}

static void auditor_mode_is_added_in_its_place(void **state)
{
	whole("{\"auditor_mode\": false}", "c.yaml", "{}", NULL);
	whole("{\"a\": 1, \"auditor_mode\": false}", "c.yaml", "{\"a\": 1}", NULL);
	whole("{\"auditor_mode\": false, \"b\": 1}", "c.yaml", "{\"b\": 1}", NULL);
	whole("{\"auditor_mode\": true, \"b\": 1}", "c.yaml", "{\"auditor_mode\": true, \"b\": 1}", NULL);
	whole("{\"a\": {\"x\": [1, \"]}\\\\\\\"\"]}, \"auditor_mode\": false, \"b\": \", \"}", "c.yaml",
	      "{\"a\": {\"x\": [1, \"]}\\\\\\\"\"]}, \"b\": \", \"}", NULL);
	whole("{\"auditor_mod\": 1, \"auditor_mode\": false, \"auditor_modes\": 2}", "c.yaml",
	      "{\"auditor_mod\": 1, \"auditor_modes\": 2}", NULL);
	whole("{\"\\n\": 1, \"\\\"\": 2, \"\\\\\": 3, \"a\\u0001\": 4, \"auditor_mode\": false, "
	      "\"au\\u00e9\": 5, \"\\u007f\": 6}",
	      "c.yaml", "{\"\\n\": 1, \"\\\"\": 2, \"\\\\\": 3, \"a\\u0001\": 4, \"au\\u00e9\": 5, \"\\u007f\": 6}", NULL);
}

static void several_files_are_one_object_by_path(void **state)
{
	whole("{\"auditor_mode\": false}", NULL);
	whole("{\"a.yaml\": {\"x\": 1}, \"auditor_mode\": false, \"sub/b.yaml\": {}}", "sub/b.yaml", "{}", "a.yaml",
	      "{\"x\": 1}", NULL);
	whole("{\"a\": {\"auditor_mode\": true}, \"auditor_mode\": false, \"b\": {}}", "a", "{\"auditor_mode\": true}",
	      "b", "{}", NULL);
	whole("{\"auditor_mode\": {}, \"b\": {}}", "b", "{}", "auditor_mode", "{}", NULL);
}

static void paths_of_any_bytes_are_escaped_as_python_does(void **state)
{
	whole("{\"a\\\"\\n\": {}, \"auditor_mode\": false, \"\\u00e9\": {}, "
	      "\"\\udcff\\udced\\udca0\\udc80\": {}, \"\\uffff\": {}, \"\\ud83d\\ude00\": {}}",
	      "\xf0\x9f\x98\x80", "{}", "\xef\xbf\xbf", "{}", "\xff\xed\xa0\x80", "{}", "\xc3\xa9", "{}", "a\"\n", "{}",
	      NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(configurations_have_the_segments_that_weightslab_gives_them),
		cmocka_unit_test(order_comments_quotes_and_style_do_not_matter),
		cmocka_unit_test(keys_become_strings_as_in_json),
		cmocka_unit_test(of_equal_keys_the_first_stays_with_the_last_value),
		cmocka_unit_test(keys_that_do_not_compare_are_refused),
		cmocka_unit_test(maps_are_merged_where_they_have_no_key_yet),
		cmocka_unit_test(aliases_repeat_what_their_anchor_has),
		cmocka_unit_test(what_is_no_map_is_refused),
		cmocka_unit_test(mistakes_are_told_with_their_line),
		cmocka_unit_test(json_has_pythons_ways),
		cmocka_unit_test(hostile_files_are_refused_within_bounds),
		cmocka_unit_test(an_alias_bomb_is_refused),
		cmocka_unit_test(nesting_is_taken_up_to_its_bound),
		cmocka_unit_test(the_ignored_keys_are_those_at_the_top),
		cmocka_unit_test(auditor_mode_is_added_in_its_place),
		cmocka_unit_test(several_files_are_one_object_by_path),
		cmocka_unit_test(paths_of_any_bytes_are_escaped_as_python_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
