#include "format/pyjson.h"
#include "test.h"

#include <math.h>

/* The text's tokens in letters: {} [] k s n(umber) t f 0(null) . for the end; ! where it is refused. */
static const char *tokens(const char *text, size_t len, char *to, size_t size)
{
	static const char letters[] = ".{}[]ksntf0";
	struct reason why = { "" };
	struct pyjson j;
	size_t n = 0;
	int r;

	pyjson_begin(&j, text, len, &why);
	do {
		r = pyjson_next(&j);
		if (n < size - 1)
			to[n++] = r < 0 ? '!' : letters[j.type];
	} while (r == 0 && j.type != PYJSON_END);
	assert_true(r == 0 ? !*why.text : *why.text);
	to[n] = '\0';
	return to;
}

static void gives(const char *text, const char *expected)
{
	char found[100];

	assert_string_equal(tokens(text, strlen(text), found, sizeof(found)), expected);
}

static void tokens_come_in_their_order(void **state)
{
	gives("{}", "{}.");
	gives(" [ ] ", "[].");
	gives("{\"a\": [1, -2.5e+3, \"x\"], \"b\": {\"c\": null}}\n", "{k[nns]k{k0}}.");
	gives("[true, false, null, NaN, Infinity, -Infinity]", "[tf0nnn].");
	gives("7", "n.");
	gives("\"a\"", "s.");
}

static void what_is_no_json_is_refused(void **state)
{
	static const char *const texts[] = {
		"", " ", "{", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:2}",
		"{\"a\" 1}", "[1}", "{\"a\":1]", "1 2", "{}{}", "]", "01", "1.", ".5", "1e", "+1", "- 1", "-", "nan", "inf", "-NaN",
		"True", "'a'", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\t\"", "\"\n\"",
		"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe2\x82\"", "0x10", "1_0", "// c\n1", "\xef\xbb\xbf" "1",
	};
	char found[100];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		tokens(texts[i], strlen(texts[i]), found, sizeof(found));
		if (!strchr(found, '!'))
			fail_msg("is taken: %s", texts[i]);
	}
}

static void number(const char *text, double expected, bool is_integer, int64_t integer)
{
	struct reason why;
	struct pyjson j;

	pyjson_begin(&j, text, strlen(text), &why);
	assert_int_equal(pyjson_next(&j), 0);
	assert_int_equal(j.type, PYJSON_NUMBER);
	assert_true(isnan(expected) ? isnan(j.number) : j.number == expected);
	assert_int_equal(j.is_integer, is_integer);
	if (is_integer)
		assert_int_equal(j.integer, integer);
}

static void numbers_are_exact(void **state)
{
	number("0", 0, true, 0);
	number("-12", -12, true, -12);
	number("9223372036854775807", 0x1p63, true, INT64_MAX);
	number("9223372036854775808", 0x1p63, false, 0);
	number("1.0", 1, false, 0);
	number("1e-05", 1e-05, false, 0);
	number("2.220446049250313e-16", 0x1p-52, false, 0);
	number("1e999", INFINITY, false, 0);
	number("NaN", NAN, false, 0);
	number("-Infinity", -INFINITY, false, 0);
}

static void strings_are_decoded(void **state)
{
	static const char text[] = "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude42\xc3\xa9\\u0000x\"";
	static const char expected[] = "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82\xc3\xa9\0x";
	struct reason why;
	struct pyjson j;

	pyjson_begin(&j, text, sizeof(text) - 1, &why);
	assert_int_equal(pyjson_next(&j), 0);
	assert_int_equal(j.len, sizeof(expected) - 1);
	assert_memory_equal(j.text, expected, sizeof(expected));
	assert_false(pyjson_is_text(&j));
}

static void long_strings_are_cut_between_characters(void **state)
{
	struct reason why;
	struct pyjson j;
	char text[3 * PYJSON_TEXT_MAX];
	size_t n = 0;

	text[n++] = '"';
	text[n++] = 'x';
	for (int i = 0; i < PYJSON_TEXT_MAX / 2; i++) {
		text[n++] = '\xc3';
		text[n++] = '\xa9';
	}
	text[n++] = 'y'; /* is not taken for what stands before it */
	text[n++] = '"';
	pyjson_begin(&j, text, n, &why);
	assert_int_equal(pyjson_next(&j), 0);
	assert_true(j.cut);
	assert_int_equal(j.len, PYJSON_TEXT_MAX - 1);
	assert_int_equal(pyjson_next(&j), 0);
	assert_int_equal(j.type, PYJSON_END);
}

static void depth_is_bounded(void **state)
{
	char text[1000], found[1000];

	memset(text, '[', sizeof(text));
	assert_int_equal(strlen(tokens(text, sizeof(text), found, sizeof(found))), PYJSON_DEPTH_MAX + 1);
	memset(text + PYJSON_DEPTH_MAX, ']', PYJSON_DEPTH_MAX);
	assert_null(strchr(tokens(text, 2 * PYJSON_DEPTH_MAX, found, sizeof(found)), '!'));
}

static void skipping_goes_over_a_value(void **state)
{
	static const char text[] = "{\"a\": {\"b\": [1, {}]}, \"c\": 5}";
	struct reason why;
	struct pyjson j;

	pyjson_begin(&j, text, sizeof(text) - 1, &why);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pyjson_next(&j), 0);
	assert_int_equal(j.type, PYJSON_OBJECT);
	assert_int_equal(pyjson_skip(&j), 0);
	assert_int_equal(pyjson_next(&j), 0);
	assert_true(j.type == PYJSON_KEY && pyjson_is(&j, "c"));
}

static void a_mistake_is_told_with_its_line(void **state)
{
	static const char text[] = "{\"a\": 1,\n \"b\": 2,\n \"c\" 3}";
	struct reason why;
	struct pyjson j;
	int r;

	pyjson_begin(&j, text, sizeof(text) - 1, &why);
	while ((r = pyjson_next(&j)) == 0)
		assert_int_not_equal(j.type, PYJSON_END);
	assert_int_equal(r, -EINVAL);
	assert_string_equal(why.text, "line 3: a colon is wanted here");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_come_in_their_order),
		cmocka_unit_test(what_is_no_json_is_refused),
		cmocka_unit_test(numbers_are_exact),
		cmocka_unit_test(strings_are_decoded),
		cmocka_unit_test(long_strings_are_cut_between_characters),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(skipping_goes_over_a_value),
		cmocka_unit_test(a_mistake_is_told_with_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
