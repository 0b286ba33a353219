/* Scalars of a configuration as PyYAML reads them and json writes them. */
#include "hp.h"

static void utf_16_is_read_by_its_mark(void **state)
{
	static const char little[] = "\xff\xfe" "a\0:\0 \0\xe9\0\n", big[] = "\xfe\xff" "\0a\0:\0 \0\xe9\0\n";

	takes_bytes(little, sizeof(little), "config.yaml", "{\"a\": \"\\u00e9\"}");
	takes_bytes(big, sizeof(big) - 1, "config.yaml", "{\"a\": \"\\u00e9\"}");
}

static void words_are_booleans_or_null_as_in_yaml_1_1(void **state)
{
	is("yes", "true");
	is("On", "true");
	is("TRUE", "true");
	is("no", "false");
	is("OFF", "false");
	is("yEs", "\"yEs\"");
	is("y", "\"y\"");
	is("'yes'", "\"yes\"");
	is("~", "null");
	is("", "null");
	is("NULL", "null");
	is("nULL", "\"nULL\"");
	is("\"\"", "\"\"");
	is("!!bool \"YES\"", "true");
	is("!!null x", "null");
	refuses("v: !!bool y", "line 1: no boolean: y");
}

static void integers_are_read_in_all_bases(void **state)
{
	is("012", "10");
	is("08", "\"08\"");
	is("0o12", "\"0o12\"");
	is("!!int 0o12", "10");
	is("0x1F", "31");
	is("-0xff", "-255");
	is("0b1_01", "5");
	is("0b", "\"0b\"");
	is("1_000", "1000");
	is("_1", "\"_1\"");
	is("0_", "0");
	is("-0", "0");
	is("+12", "12");
	is("1:30", "90");
	is("-190:20:30", "-685230");
	is("1:60", "\"1:60\"");
	is("01:30", "\"01:30\"");
	is("!!int '--5 '", "5");
	is("! \"12\"", "12");
	is("! |\n  12\n", "12");
	is("1234567890123456789012345678901234567890", "1234567890123456789012345678901234567890");
	is("0xffffffffffffffffffffffff", "79228162514264337593543950335");
	is("-01000000000000000000000000000000", "-1237940039285380274899124224");
	refuses("v: 0b_", "line 1: no integer: 0b_");
	refuses("v: 0x_", "no integer");
	refuses("v: !!int 1.5", "no integer: 1.5");
	refuses("v: !!int ''", "no integer");
	refuses("v: !!int 1:2:3:4:5:6:7:8:9:10:11:12:13:14:15", "no integer that");
}

static void integers_are_as_long_as_python_writes_them(void **state)
{
	char yaml[5000] = "v: ", text[5000] = "{\"v\": ";

	memset(yaml + 3, '7', 4300);
	memset(text + 6, '7', 4300);
	strcpy(text + 6 + 4300, "}");
	takes(yaml, text);
	yaml[3 + 4300] = '7';
	refuses(yaml, "no integer that Python would write: 7777777777777777777777777777777777777777...");
	memcpy(yaml + 3, "0x", 2);
	refuses(yaml, "no integer that");
}

static void numbers_are_floats_only_with_a_point_and_a_signed_exponent(void **state)
{
	is("1e-4", "\"1e-4\"");
	is("1.0e-4", "0.0001");
	is("1.0e4", "\"1.0e4\"");
	is("1E5", "\"1E5\"");
	is("1.e+3", "1000.0");
	is(".5", "0.5");
	is("-.5", "\"-.5\"");
	is("5.", "5.0");
	is("1_0.5_", "10.5");
	is("08.5", "8.5");
	is("-0.0", "-0.0");
	is("190:20:30.15", "685230.15");
	is("1:30.", "90.0");
	is(".inf", "Infinity");
	is("-.INF", "-Infinity");
	is("+.Inf", "Infinity");
	is(".iNf", "\".iNf\"");
	is(".NaN", "NaN");
	is("-.nan", "\"-.nan\"");
	is("1.0e+400", "Infinity");
	is("!!float 1e-4", "0.0001");
	is("!!float infinity", "Infinity");
	is("!!float 0", "0.0");
	refuses("v: !!float 0x1p3", "no number");
	refuses("v: !!float x", "no number: x");
}

static void floats_are_written_as_python_writes_them(void **state)
{
	is("0.1", "0.1");
	is("0.0001", "0.0001");
	is("0.00001", "1e-05");
	is("0.000012", "1.2e-05");
	is("9999999999999998.0", "9999999999999998.0");
	is("10000000000000000.0", "1e+16");
	is("123456789012345680.0", "1.2345678901234568e+17");
	is("100.0", "100.0");
	is("123456.5", "123456.5");
	is("0.30000000000000004", "0.30000000000000004");
	is("0.1000000000000000055511151231257827", "0.1");
	is("9007199254740993.0", "9007199254740992.0");
	is("5.0e-324", "5e-324");
	is("2.2250738585072014e-308", "2.2250738585072014e-308");
	is("1.7976931348623157e+308", "1.7976931348623157e+308");
	is("5.684341886080802e-14", "5.684341886080802e-14"); /* 2 to the -44: closer neighbours below */
	is("9.5367431640625e-07", "9.5367431640625e-07");
}

static void dates_are_the_text_of_pythons_str(void **state)
{
	is("2026-01-01", "\"2026-01-01\"");
	is("2026-1-1", "\"2026-1-1\"");
	is("!!timestamp 2026-1-1", "\"2026-01-01\"");
	is("2001-12-14t21:59:43.10-05:00", "\"2001-12-14 21:59:43.100000-05:00\"");
	is("2001-12-14 21:59:43.1234567 Z", "\"2001-12-14 21:59:43.123456+00:00\"");
	is("2001-1-4 1:59:43.", "\"2001-01-04 01:59:43\"");
	is("2001-12-14T21:59:43+5", "\"2001-12-14 21:59:43+05:00\"");
	is("2001-12-14T21:59:43-00:30", "\"2001-12-14 21:59:43-00:30\"");
	is("2001-12-14T21:59:43+05:99", "\"2001-12-14 21:59:43+06:39\"");
	is("2000-02-29", "\"2000-02-29\"");
	is("'2026-13-01'", "\"2026-13-01\"");
	refuses("a: 1\nv: 2026-13-01", "line 2: no date: 2026-13-01");
	refuses("v: 1900-02-29", "no date");
	refuses("v: 0000-01-01", "no date");
	refuses("v: 2001-12-14T24:00:00", "no date");
	refuses("v: 2001-12-14T21:59:43+24", "no date");
	refuses("v: !!timestamp x", "no date");
}

static void strings_are_escaped_to_ascii(void **state)
{
	is("é 日本 😀", "\"\\u00e9 \\u65e5\\u672c \\ud83d\\ude00\"");
	is("\"\\0\\a\\t\\n\\e\\x7f\\\\\\\"\"", "\"\\u0000\\u0007\\t\\n\\u001b\\u007f\\\\\\\"\"");
	is("\"\\N\\_\\L\\U0001F600/\\/\"", "\"\\u0085\\u00a0\\u2028\\ud83d\\ude00//\"");
	is("|\n  a\n   b\n\n", "\"a\\n b\\n\"");
	is(">-\n  a\n  b\n", "\"a b\"");
	is("!!str 12", "\"12\"");
	is("a:b#c", "\"a:b#c\"");
}

static void bytes_and_sets_are_the_text_of_pythons_str(void **state)
{
	is("!!binary aGkn", "\"b\\\"hi'\\\"\"");
	is("!!binary |\n  AAkK\n  DVx/gA==\n", "\"b'\\\\x00\\\\t\\\\n\\\\r\\\\\\\\\\\\x7f\\\\x80'\"");
	is("!!binary \"Jy I=\\n\"", "\"b'\\\\'\\\"'\"");
	is("!!binary ''", "\"b''\"");
	is("!!set {}", "\"set()\"");
	is("!!set {a}", "\"{'a'}\"");
	is("!!set {\"it's\"}", "\"{\\\"it's\\\"}\"");
	is("!!set {1.0: x, 1, true}", "\"{1.0}\"");
	is("!!set {~}", "\"{None}\"");
	is("!!set {b, a, <<: {c: 1}}", "\"{'a', 'b', 'c'}\"");
	refuses("v: !!binary a", "line 1: no base64: a");
	refuses("v: !!binary AA=", "no base64");
	refuses("v: !!set [a]", "a tag that it cannot have");
	refuses("v: !!set {é}", "a set with a string");
}

static void ordered_maps_and_pairs_are_lists_of_lists(void **state)
{
	is("!!omap [b: 1, a: [2]]", "[[\"b\", 1], [\"a\", [2]]]");
	is("!!pairs [b: 1, b: 2, {[1]: {x: y}}]", "[[\"b\", 1], [\"b\", 2], [[1], {\"x\": \"y\"}]]");
	is("!!omap []", "[]");
	refuses("v: !!omap {a: 1}", "a tag that it cannot have");
	refuses("v: !!omap [{a: 1, b: 2}]", "a map of one key");
	refuses("v: !!pairs [a]", "a map of one key");
}

static void tags_that_safe_load_does_not_know_are_refused(void **state)
{
	is("!<tag:yaml.org,2002:int> '5'", "5");
	is("!!map {a: 1}", "{\"a\": 1}");
	is("!", "null");
	takes("%TAG !y! tag:yaml.org,2002:\n---\nv: !y!int '5'\n", "{\"v\": 5}");
	refuses("v: !x 1", "line 1: a tag that is not known");
	refuses("v: !!python/tuple [1]", "a tag that is not known");
	refuses("v: !!seq 1", "a tag that it cannot have");
	refuses("v: !!str [1]", "a tag that it cannot have");
	refuses("v: ! '&'", "a tag that is not known");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf_16_is_read_by_its_mark),
		cmocka_unit_test(words_are_booleans_or_null_as_in_yaml_1_1),
		cmocka_unit_test(integers_are_read_in_all_bases),
		cmocka_unit_test(integers_are_as_long_as_python_writes_them),
		cmocka_unit_test(numbers_are_floats_only_with_a_point_and_a_signed_exponent),
		cmocka_unit_test(floats_are_written_as_python_writes_them),
		cmocka_unit_test(dates_are_the_text_of_pythons_str),
		cmocka_unit_test(strings_are_escaped_to_ascii),
		cmocka_unit_test(bytes_and_sets_are_the_text_of_pythons_str),
		cmocka_unit_test(ordered_maps_and_pairs_are_lists_of_lists),
		cmocka_unit_test(tags_that_safe_load_does_not_know_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
