#include "sync/portable.h"
#include "test.h"

#define TEST(sentence, function) { sentence, function, NULL, NULL, NULL }

static void check_one(const char *name, const char *wanted)
{
	_cleanup_free_ char *mapped = NULL, *back = NULL;

	assert_int_equal(portable_map(name, &mapped), 0);
	assert_string_equal(mapped, wanted);
	assert_int_equal(portable_unmap(mapped, &back), 0);
	assert_string_equal(back, name);
}

static void test_kept(void **state)
{
	static const char *const names[] = { "latest.pt", "épreuve", "epoch=3-step=12.ckpt", "100%", "50% off", "%4", ".hidden", "a b",
					     "COM", "COM10", "CONSOLE.txt", "+,;=[]{}~$&'()!@#^`", "日本" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		check_one(names[i], names[i]);
}

static void test_refused(void **state)
{
	check_one("epoch=3:val.pt", "epoch=3%3Aval.pt");
	check_one("a?.pt", "a%3F.pt");
	check_one("\"<*|>\\", "%22%3C%2A%7C%3E%5C");
	check_one("a\nb\x7f", "a%0Ab%7F");
	check_one("x.", "x%2E");
	check_one("x ", "x%20");
	check_one("x. ", "x.%20");
	check_one(" x", "%20x");
	check_one(" ", "%20");
	check_one("...", "..%2E");
	check_one("m\xff.pt", "m%FF.pt");
	check_one("\xc3", "%C3");
	check_one("\xed\xa0\x80", "%ED%A0%80");
}

static void test_devices(void **state)
{
	check_one("CON", "%43ON");
	check_one("con.tar.gz", "%63on.tar.gz");
	check_one("Aux .txt", "%41ux .txt");
	check_one("com1.pt", "%63om1.pt");
	check_one("LPT²", "%4CPT²");
	check_one("conin$", "%63onin$");
}

static void test_escapes(void **state)
{
	check_one("a%3Ab", "a%253Ab");
	check_one("%25", "%2525");
	check_one("%2x%fg%ff", "%2x%fg%25ff");
	check_one("%:", "%%3A");
	check_one("%4:", "%4%3A");
	check_one(".expfs-part-latest.pt", "%2Eexpfs-part-latest.pt");
}

static void test_length(void **state)
{
	char name[PORTABLE_MAX + 2] = { 0 };
	char *mapped;

	memset(name, 'n', PORTABLE_MAX);
	check_one(name, name);
	name[100] = ':';
	assert_int_equal(portable_map(name, &mapped), -ENAMETOOLONG);
	name[PORTABLE_MAX - 2] = 0;
	assert_int_equal(portable_map(name, &mapped), 0);
	free(mapped);
}

#define FOLDER(...)                                                                                   \
	do {                                                                                          \
		static const char *const names_[][2] = { __VA_ARGS__ };                               \
		check_folder(names_, ARRAY_SIZE(names_));                                             \
	} while (0)

static void check_folder(const char *const (*names)[2], size_t n)
{
	const char *from[8];
	char *to[8];

	assert_true(n <= ARRAY_SIZE(from));
	for (size_t i = 0; i < n; i++)
		from[i] = names[i][0];
	assert_int_equal(portable_map_all(from, n, to), 0);
	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *mapped = to[i], *back = NULL;

		assert_string_equal(mapped, names[i][1]);
		assert_int_equal(portable_unmap(mapped, &back), 0);
		assert_string_equal(back, from[i]);
	}
}

static void test_case(void **state)
{
	FOLDER({ "best.pt", "%62est.pt" }, { "other", "other" }, { "Best.pt", "Best.pt" });
	FOLDER({ "ab", "a%62" }, { "aB", "%61B" }, { "Ab", "%41b" }, { "AB", "AB" });
	FOLDER({ "é", "%C3%A9" }, { "É", "É" });
	FOLDER({ "con", "%63on" }, { "CON", "%43ON" });
	FOLDER({ "%62est", "%2562est" }, { "best", "%62est" }, { "Best", "Best" });
	FOLDER({ "1:a", "1%3A%61" }, { "1:A", "1%3AA" });
}

static void test_case_length(void **state)
{
	char lower[PORTABLE_MAX + 1] = { 0 }, upper[PORTABLE_MAX + 1] = { 0 };
	const char *names[] = { lower, upper };
	char *to[2];

	memset(lower, 'n', PORTABLE_MAX);
	memset(upper, 'N', PORTABLE_MAX);
	assert_int_equal(portable_map_all(names, 2, to), 0);
	assert_null(to[0]);
	assert_string_equal(to[1], upper);
	free(to[1]);
}

static void test_foreign(void **state)
{
	static const char *const names[] = { "my%20file", "%zz", "%3a", "%2F", "%00", "a%2Fb", "%2e%2e", "%2E", ".%2E", "%61%62c", "100%25", "%E9t%E9%20" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *back = NULL;

		assert_int_equal(portable_unmap(names[i], &back), 0);
		if (strcmp(names[i], "%E9t%E9%20") != 0)
			assert_string_equal(back, names[i]);
		else
			assert_string_equal(back, "\xe9t\xe9 ");
	}
}

static void test_paths(void **state)
{
	static const char *const paths[] = { "A:", "a:", "a:/x?", "a:/y", "b", "b/CON/deep", "", "/top" };
	static const char *const wanted[] = { "A%3A", "%61%3A", "%61%3A/x%3F", "%61%3A/y", "b", "b/%43ON/deep", NULL, NULL };
	char *to[ARRAY_SIZE(paths)];

	assert_int_equal(portable_map_paths(paths, ARRAY_SIZE(paths), to), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (wanted[i])
			assert_string_equal(to[i], wanted[i]);
		else
			assert_null(to[i]);
		free(to[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("names that sync folders take are kept", test_kept),
		TEST("what sync folders refuse is written as bytes, and read back", test_refused),
		TEST("names of devices are written so that they are none", test_devices),
		TEST("a name that looks mapped is told apart from one that is", test_escapes),
		TEST("a name that gets too long is refused", test_length),
		TEST("names that differ in case alone become names that differ otherwise", test_case),
		TEST("of long names that differ in case alone one is kept", test_case_length),
		TEST("of paths each name of each directory is mapped, and none leads out", test_paths),
		TEST("names that no mapping made are left as they are", test_foreign),
	};

	return cmocka_run_group_tests_name("portable", tests, NULL, NULL);
}
