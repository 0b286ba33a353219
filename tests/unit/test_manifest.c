#include "format/manifest.h"
#include "test.h"

static void cleanup_manifest(struct manifest **m)
{
	manifest_free(*m);
}
#define _cleanup_manifest_ _cleanup_(cleanup_manifest)

#define A "f25b5702c76d0291bb73166f"
#define B "09999999e1234567bb73166f"

static const char whole[] =
	"experiments:\n"
	"  " A ":\n"
	"    hp_hash: f25b5702\n"
	"    model_hash: c76d0291\n"
	"    data_hash: bb73166f\n"
	"    created: '2026-11-30T01:02:38.833601'\n"
	"    last_used: '2026-11-30T01:02:39.042429'\n"
	"    latest_weight_checkpoint: " A "_step_000010.pt\n"
	"    latest_weight_step: 10\n"
	"    experiment_name: demo\n"
	"    notes: ''\n"
	"  " B ":\n"
	"    hp_hash: 09999999\n"
	"    model_hash: 1e345678\n"
	"    data_hash: null\n"
	"    created: '2026-11-30T01:02:40'\n"
	"    last_used: '2026-11-30T01:02:40'\n"
	"    latest_weight_checkpoint: null\n"
	"    latest_weight_step: null\n"
	"    experiment_name: wl-calm-river\n"
	"    notes: \"first\\nsecond \\xE9 \\U0001F642\"\n"
	"latest_hash: " B "\n"
	"last_updated: '2026-11-30T01:02:40.068572'\n";

static struct manifest *parse(const char *text, size_t len)
{
	struct manifest *m = NULL;

	assert_int_equal(manifest_parse(text, len, &m), 0);
	assert_non_null(m);
	assert_true(m->state == MANIFEST_BROKEN ? m->count == 0 && m->why.text[0] : !m->why.text[0]);
	return m;
}

static enum manifest_state state_of(const char *text)
{
	_cleanup_manifest_ struct manifest *m = parse(text, strlen(text));

	return m->state;
}

static void all_fields_are_read_as_text(void **state)
{
	_cleanup_manifest_ struct manifest *m = parse(whole, strlen(whole));

	assert_int_equal(m->state, MANIFEST_WHOLE);
	assert_int_equal(m->count, 2);
	assert_string_equal(m->latest_hash, B);
	assert_string_equal(m->last_updated, "2026-11-30T01:02:40.068572");
	assert_string_equal(m->entries[0].hash, A);
	assert_string_equal(m->entries[0].model_hash, "c76d0291");
	assert_string_equal(m->entries[0].created, "2026-11-30T01:02:38.833601");
	assert_string_equal(m->entries[0].latest_weight_checkpoint, A "_step_000010.pt");
	assert_int_equal(m->entries[0].latest_weight_step, 10);
	assert_string_equal(m->entries[0].experiment_name, "demo");
	assert_string_equal(m->entries[0].notes, "");
	assert_string_equal(m->entries[1].hp_hash, "09999999");
	assert_string_equal(m->entries[1].model_hash, "1e345678");
	assert_null(m->entries[1].data_hash);
	assert_null(m->entries[1].latest_weight_checkpoint);
	assert_int_equal(m->entries[1].latest_weight_step, -1);
	assert_string_equal(m->entries[1].notes, "first\nsecond \xc3\xa9 \xf0\x9f\x99\x82");
}

static void keys_that_look_like_numbers_are_text(void **state)
{
	static const char *const keys[] = { "09999999", "1e345678", "12345e67", "0x123456", "1_000", "0b10", "1:30", "yes", "null", "~" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		_cleanup_manifest_ struct manifest *m = NULL;
		char text[100];

		snprintf(text, sizeof(text), "experiments:\n  %s: {}\nlatest_hash: x\n", keys[i]);
		m = parse(text, strlen(text));
		assert_int_equal(m->count, 1);
		assert_string_equal(m->entries[0].hash, keys[i]);
	}
}

static void a_hash_is_found(void **state)
{
	_cleanup_manifest_ struct manifest *m = parse(whole, strlen(whole));

	assert_ptr_equal(manifest_find(m, A), &m->entries[0]);
	assert_ptr_equal(manifest_find(m, B), &m->entries[1]);
	assert_null(manifest_find(m, ""));
	assert_null(manifest_find(m, A "0"));
}

static void of_equal_hashes_the_last_one_counts_in_the_place_of_the_first(void **state)
{
	static const char text[] = "experiments:\n  b: {notes: 1}\n  a: {notes: 2}\n  b: {notes: 3}\n  c:\n  b: {notes: 4}\n"
				   "latest_hash: x\nlatest_hash: b\n";
	_cleanup_manifest_ struct manifest *m = parse(text, strlen(text));

	assert_int_equal(m->count, 3);
	assert_string_equal(m->entries[0].hash, "b");
	assert_string_equal(m->entries[0].notes, "4");
	assert_string_equal(m->entries[1].hash, "a");
	assert_string_equal(m->entries[2].hash, "c");
	assert_string_equal(manifest_find(m, "b")->notes, "4");
	assert_string_equal(m->latest_hash, "b");
}

static void each_kind_of_damage_is_told_apart(void **state)
{
	assert_int_equal(state_of(""), MANIFEST_EMPTY);
	assert_int_equal(state_of("# nothing\n\n"), MANIFEST_EMPTY);
	assert_int_equal(state_of("null\n"), MANIFEST_EMPTY);
	assert_int_equal(state_of("experiments:\n"), MANIFEST_NO_EXPERIMENTS);
	assert_int_equal(state_of("experiments: []\nlatest_hash: a\n"), MANIFEST_NO_EXPERIMENTS);
	assert_int_equal(state_of("latest_hash: a\n"), MANIFEST_NO_EXPERIMENTS);
	assert_int_equal(state_of("experiments: {a: {}}\n"), MANIFEST_NO_LATEST);
	assert_int_equal(state_of("experiments: {a: {}}\nlatest_hash:\n"), MANIFEST_NO_LATEST);
	assert_int_equal(state_of("experiments: {a: {}}\nlatest_hash: a\n"), MANIFEST_WHOLE);
	assert_int_equal(state_of("experiments: {}\nlatest_hash: a\n"), MANIFEST_WHOLE);
	assert_int_equal(state_of("experiments: {a: {}, b\n"), MANIFEST_BROKEN);
	assert_int_equal(state_of("experiments: {a: text}\n"), MANIFEST_BROKEN);
	assert_int_equal(state_of("experiments: {[a]: {}}\n"), MANIFEST_BROKEN);
	assert_int_equal(state_of("- a\n"), MANIFEST_BROKEN);
	assert_int_equal(state_of("text\n"), MANIFEST_BROKEN);
	assert_int_equal(state_of("a: b\n---\na: b\n"), MANIFEST_BROKEN);
	assert_int_equal(state_of("experiments: {a: {notes: \xff}}\n"), MANIFEST_BROKEN);
}

static void a_tag_that_is_not_safe_breaks_it_and_others_do_not(void **state)
{
	_cleanup_manifest_ struct manifest *m = NULL;
	static const char unsafe[] = "experiments:\n  a:\n    experiment_name: !!python/object:x.Y {}\nlatest_hash: a\n";

	m = parse(unsafe, strlen(unsafe));
	assert_int_equal(m->state, MANIFEST_BROKEN);
	assert_non_null(strstr(m->why.text, "line 3: tag:yaml.org,2002:python/object"));
	assert_int_equal(state_of("experiments: {a: {notes: !!str 5}}\nlatest_hash: ! a\n"), MANIFEST_WHOLE);
	assert_int_equal(state_of("experiments: {a: {notes: !mine 5}}\nlatest_hash: a\n"), MANIFEST_BROKEN);
}

static void unknown_fields_of_any_kind_are_passed_over(void **state)
{
	static const char text[] = "new: {a: [1, {b: c}]}\n? [complex]\n: value\nexperiments:\n  a:\n    later: [1, 2]\n    ? {x: y}\n    : z\n"
				   "    notes: [1]\n    hp_hash: {a: b}\n    latest_weight_step: [5]\n    data_hash: &x 12\n    model_hash: *x\n"
				   "latest_hash: a\nlast_updated: 2026-01-01\n";
	_cleanup_manifest_ struct manifest *m = parse(text, strlen(text));

	assert_int_equal(m->state, MANIFEST_WHOLE);
	assert_null(m->entries[0].notes);
	assert_null(m->entries[0].hp_hash);
	assert_null(m->entries[0].model_hash);
	assert_string_equal(m->entries[0].data_hash, "12");
	assert_int_equal(m->entries[0].latest_weight_step, -1);
	assert_string_equal(m->last_updated, "2026-01-01");
}

static int64_t step_of(const char *step)
{
	_cleanup_manifest_ struct manifest *m = NULL;
	char text[100];

	snprintf(text, sizeof(text), "experiments: {a: {latest_weight_step: %s}}\nlatest_hash: a\n", step);
	m = parse(text, strlen(text));
	return m->entries[0].latest_weight_step;
}

static void steps_are_whole_numbers(void **state)
{
	assert_int_equal(step_of("0"), 0);
	assert_int_equal(step_of("1000000"), 1000000);
	assert_int_equal(step_of("9223372036854775807"), INT64_MAX);
	assert_int_equal(step_of("9223372036854775808"), -1);
	assert_int_equal(step_of("010"), -1);
	assert_int_equal(step_of("-1"), -1);
	assert_int_equal(step_of("1.5"), -1);
	assert_int_equal(step_of("x"), -1);
}

static bool lost(const char *before, size_t before_len, const char *after, size_t after_len)
{
	_cleanup_manifest_ struct manifest *b = parse(before, before_len), *a = parse(after, after_len);

	return manifest_lost(b, a);
}

static void no_cut_of_a_manifest_before_its_latest_hash_goes_unnoticed(void **state)
{
	size_t n = strlen(whole), latest = (size_t)(strstr(whole, "latest_hash: ") - whole) + strlen("latest_hash: ");

	for (size_t cut = 0; cut <= latest; cut++)
		if (!lost(whole, n, whole, cut))
			fail_msg("cut at %zu", cut);
	assert_false(lost(whole, n, whole, n));
	assert_false(lost(whole, n, whole, n - strlen("last_updated: '2026-11-30T01:02:40.068572'\n")));
}

static void a_later_manifest_may_add_and_may_not_lack(void **state)
{
	static const char one[] = "experiments: {a: {}}\nlatest_hash: a\n", two[] = "experiments: {b: {}, a: {}}\nlatest_hash: b\n";
	static const char other[] = "experiments: {b: {}}\nlatest_hash: b\n", cut[] = "experiments: {a: {}}\n";

	assert_false(lost(one, strlen(one), two, strlen(two)));
	assert_true(lost(two, strlen(two), one, strlen(one)));
	assert_true(lost(one, strlen(one), other, strlen(other)));
	assert_true(lost(one, strlen(one), "", 0));
	assert_true(lost(one, strlen(one), "{", 1));
	assert_true(lost(one, strlen(one), cut, strlen(cut)));
	assert_false(lost("", 0, one, strlen(one)));
	assert_false(lost("", 0, "", 0));
	assert_false(lost("{", 1, "", 0));
	assert_false(lost(cut, strlen(cut), cut, strlen(cut)));
}

static void same_text(const char *a, const char *b)
{
	if (a && b)
		assert_string_equal(a, b);
	else
		assert_true(!a && !b);
}

static void read_back(const struct manifest *m)
{
	_cleanup_manifest_ struct manifest *again = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len = 0;

	assert_int_equal(manifest_write(m, &text, &len), 0);
	assert_int_equal(strlen(text), len);
	again = parse(text, len);
	assert_int_equal(again->count, m->count);
	same_text(again->latest_hash, m->latest_hash);
	same_text(again->last_updated, m->last_updated);
	for (size_t i = 0; i < m->count; i++) {
		same_text(again->entries[i].hash, m->entries[i].hash);
		same_text(again->entries[i].hp_hash, m->entries[i].hp_hash);
		same_text(again->entries[i].data_hash, m->entries[i].data_hash);
		same_text(again->entries[i].latest_weight_checkpoint, m->entries[i].latest_weight_checkpoint);
		same_text(again->entries[i].experiment_name, m->entries[i].experiment_name);
		same_text(again->entries[i].notes, m->entries[i].notes ? m->entries[i].notes : "");
		assert_int_equal(again->entries[i].latest_weight_step, m->entries[i].latest_weight_step);
	}
}

static void what_is_written_is_read_back(void **state)
{
	_cleanup_manifest_ struct manifest *m = parse(whole, strlen(whole));
	struct manifest nothing = { .count = 0 };

	read_back(m);
	read_back(&nothing);
}

static void any_text_is_written_so_that_it_is_read_back(void **state)
{
	static char texts[][40] = {
		"", " ", " a ", "a b", "'", "''", "\"", "\\", "#", "a #b", "a: b", ":", "- a", "-", "?", "[", "{", "*a", "&a", "!a", "%TAG", "@", "`",
		"|", ">", "---", "...", "~", "null", "NULL", "yes", "No", "y", "on", "true", "1", "0x1f", "1e5", "1_0", ".5", ".inf", ".nan", "=",
		"<<", "2026-11-30", "12:30", "a\nb", "\n", "a\n\nb\n", "\t", "a\tb", "\r", "\x01", "\x7f", "\xc2\x85", "\xc3\xa9", "\xe2\x80\xa8",
		"\xef\xbb\xbf", "\xef\xbf\xbf", "\xf0\x9f\x99\x82", "e345678", "a-b_c.d",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct manifest_entry e = { .hash = texts[i], .hp_hash = texts[i], .notes = texts[i], .latest_weight_step = 0 };
		struct manifest m = { .entries = &e, .count = 1, .latest_hash = texts[i], .last_updated = texts[i] };

		read_back(&m);
	}
}

static void what_no_yaml_can_hold_is_not_written(void **state)
{
	char bad[] = "\xff", hash[] = "a", many[200];
	struct manifest_entry e = { .hash = hash, .notes = bad };
	struct manifest m = { .entries = &e, .count = 1 };
	char *text = NULL;
	size_t len = 0;

	assert_int_equal(manifest_write(&m, &text, &len), -EINVAL);
	memset(many, 'a', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	e = (struct manifest_entry){ .hash = many };
	assert_int_equal(manifest_write(&m, &text, &len), -EINVAL);
	assert_null(text);
}

static void size_and_depth_are_bounded(void **state)
{
	size_t n = MANIFEST_SIZE_MAX + 1;
	_cleanup_free_ char *text = malloc(n);
	_cleanup_manifest_ struct manifest *m = NULL;
	struct manifest *deep;

	assert_non_null(text);
	memset(text, '\n', n);
	m = parse(text, n);
	assert_string_equal(m->why.text, "larger than 8 MiB");
	memset(text, '[', 100000);
	memcpy(text, "a: ", 3);
	deep = parse(text, 100000);
	assert_non_null(strstr(deep->why.text, "deep"));
	manifest_free(deep);
}

static void no_changed_byte_does_harm(void **state)
{
	char copy[sizeof(whole)];

	for (size_t n = 0; n < sizeof(whole) - 1; n++)
		for (int byte = 0; byte < 256; byte += 3) {
			memcpy(copy, whole, sizeof(whole));
			copy[n] = (char)byte;
			manifest_free(parse(copy, sizeof(whole) - 1));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_fields_are_read_as_text),
		cmocka_unit_test(keys_that_look_like_numbers_are_text),
		cmocka_unit_test(a_hash_is_found),
		cmocka_unit_test(of_equal_hashes_the_last_one_counts_in_the_place_of_the_first),
		cmocka_unit_test(each_kind_of_damage_is_told_apart),
		cmocka_unit_test(a_tag_that_is_not_safe_breaks_it_and_others_do_not),
		cmocka_unit_test(unknown_fields_of_any_kind_are_passed_over),
		cmocka_unit_test(steps_are_whole_numbers),
		cmocka_unit_test(no_cut_of_a_manifest_before_its_latest_hash_goes_unnoticed),
		cmocka_unit_test(a_later_manifest_may_add_and_may_not_lack),
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(any_text_is_written_so_that_it_is_read_back),
		cmocka_unit_test(what_no_yaml_can_hold_is_not_written),
		cmocka_unit_test(size_and_depth_are_bounded),
		cmocka_unit_test(no_changed_byte_does_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
