#include "format/listing.h"
#include "format/snapshot.h"
#include "test.h"

#include <openssl/evp.h>

static int parse(const char *text, struct snapshot *ret, char *ret_why)
{
	struct reason why = { "" };
	int r = snapshot_parse(text, strlen(text), ret, &why);

	assert_true(r == 0 || (r == -EINVAL && why.text[0]));
	strcpy(ret_why, why.text);
	return r;
}

static void hex8(const uint8_t *sha256, char ret[9])
{
	snprintf(ret, 9, "%02x%02x%02x%02x", sha256[0], sha256[1], sha256[2], sha256[3]);
}

/* The snapshot gives this text, and this segment. */
static void gives(const char *json, const char *text, const char *segment)
{
	_cleanup_(snapshot_clear) struct snapshot s = { 0 };
	uint8_t sha256[EVP_MAX_MD_SIZE];
	char why[256], found[9];

	if (parse(json, &s, why) < 0)
		fail_msg("%s", why);
	assert_non_null(s.text);
	assert_string_equal(s.text, text);
	assert_int_equal(s.len, strlen(text));
	assert_true(EVP_Digest(s.text, s.len, sha256, NULL, EVP_sha256(), NULL));
	hex8(sha256, found);
	if (segment)
		assert_string_equal(found, segment);
}

static void refused(const char *json, const char *what)
{
	struct snapshot s = { 0 };
	char why[256];

	assert_int_equal(parse(json, &s, why), -EINVAL);
	if (!strstr(why, what))
		fail_msg("expected '%s' in: %s", what, why);
	assert_null(s.text);
}

#define ROW(id, discarded) "{\"sample_id\": " id ", \"annotation_id\": 0, \"discarded\": " discarded ", \"tag:ugly\": true}"

static void rows_give_the_text_and_segment_of_weightslab(void **state)
{
	gives("{\"data\": []}", "", "e3b0c442");
	gives("{\"data\": [" ROW("\"1\"", "false") ", " ROW("\"2\"", "true") "]}", "1:d0:t|2:d1:t", "66585217");
	gives("{\"data\": [" ROW("9", "false") "," ROW("2", "true") "," ROW("10", "NaN") "]}", "10:d0:t|2:d1:t|9:d0:t", "a654d21c");
	gives("{\"exp_hash\": \"f25b5702c76d0291bb73166f\", \"data\": [" ROW("\"0\"", "false") "," ROW("\"1\"", "false") ","
	      ROW("\"2\"", "false") "," ROW("\"3\"", "false") "," ROW("\"4\"", "false") "," ROW("\"5\"", "false") ","
	      ROW("\"6\"", "false") "," ROW("\"7\"", "false") "," ROW("\"8\"", "false") "," ROW("\"9\"", "false") "], \"rng_state\": {}}",
	      "0:d0:t|1:d0:t|2:d0:t|3:d0:t|4:d0:t|5:d0:t|6:d0:t|7:d0:t|8:d0:t|9:d0:t", "bb73166f");
}

static void columns_give_them_too(void **state)
{
	gives("{\"sample_id\":{\"0\":\"0\",\"1\":\"1\",\"2\":\"2\",\"3\":\"3\",\"4\":\"4\",\"5\":\"5\",\"6\":\"6\",\"7\":\"7\",\"8\":\"8\",\"9\":\"9\"},"
	      "\"annotation_id\":{\"0\":0,\"1\":0,\"2\":0,\"3\":0,\"4\":0,\"5\":0,\"6\":0,\"7\":0,\"8\":0,\"9\":0},"
	      "\"tag:ugly\":{\"0\":null,\"1\":true},"
	      "\"discarded\":{\"0\":true,\"1\":false,\"2\":null,\"3\":0,\"4\":0.0,\"5\":\"\",\"6\":false,\"7\":false,\"8\":false,\"9\":false}}",
	      "0:d1:t|1:d0:t|2:d0:t|3:d0:t|4:d0:t|5:d0:t|6:d0:t|7:d0:t|8:d0:t|9:d0:t", "6463440d");
	gives("{\"discarded\":{\"0\":true},\"sample_id\":{\"0\":\"b\",\"1\":\"a\"}}", "a:d0:t|b:d1:t", NULL);
	refused("{\"sample_id\":{\"1\":\"a\"}}", "order");
	refused("{\"sample_id\":{\"0\":\"a\"},\"discarded\":{\"0\":true,\"1\":true}}", "without sample_id");
	refused("{\"sample_id\":[\"a\"]}", "column");
	refused("{\"sample_id\":{\"0\":\"a\"},\"data\":[]}", "rows and columns");
}

static void truth_is_that_of_python(void **state)
{
	gives("{\"data\": [" ROW("1", "1") "," ROW("2", "-0.5") "," ROW("3", "\"False\"") "," ROW("4", "0") "," ROW("5", "\"\"") ","
	      "{\"sample_id\": 6}, " ROW("7", "Infinity") "]}",
	      "1:d1:t|2:d1:t|3:d1:t|4:d0:t|5:d0:t|6:d0:t|7:d1:t", NULL);
	refused("{\"data\": [" ROW("1", "[]") "]}", "neither");
}

static void parts_of_a_sample_do_not_count_and_of_one_id_the_last_row_does(void **state)
{
	gives("{\"data\": [{\"sample_id\": \"a\", \"annotation_id\": 1, \"discarded\": true}, {\"sample_id\": \"a\", \"annotation_id\": 0},"
	      "{\"annotation_id\": 0.0, \"sample_id\": \"b\", \"discarded\": true}, {\"sample_id\": \"c\", \"annotation_id\": NaN}]}",
	      "a:d0:t|b:d1:t", NULL);
	gives("{\"data\": [" ROW("\"b\"", "false") "," ROW("\"a\"", "true") "," ROW("\"b\"", "true") "," ROW("\"a\"", "false") "]}",
	      "a:d0:t|b:d1:t", NULL);
}

static void ids_are_sorted_by_code_points(void **state)
{
	gives("{\"data\": [" ROW("\"\\uffff\"", "false") "," ROW("\"\\ud83d\\ude42\"", "false") "," ROW("\"Z\"", "false") ","
	      ROW("\"a\"", "false") "," ROW("\"\"", "false") "," ROW("\"a b\"", "false") "," ROW("-3", "false") "]}",
	      ":d0:t|-3:d0:t|Z:d0:t|a:d0:t|a b:d0:t|\xef\xbf\xbf:d0:t|\xf0\x9f\x99\x82:d0:t", NULL);
}

static void a_sidecar_is_named_and_gives_no_text(void **state)
{
	_cleanup_(snapshot_clear) struct snapshot s = { 0 };
	char why[256];

	assert_int_equal(parse("{\"exp_hash\": \"f25b5702c76d0291bb73166f\", \"timestamp\": \"2026\", \"data_format\": \"parquet\","
			       "\"data_file\": \"bb73166f_data_snapshot.parquet\", \"data_rows\": 10, \"rng_state\": {\"a\": [1, 2]}}",
			       &s, why), 0);
	assert_null(s.text);
	assert_string_equal(s.data_file, "bb73166f_data_snapshot.parquet");
	assert_string_equal(s.exp_hash, "f25b5702c76d0291bb73166f");
	refused("{\"data_file\": \"../x\"}", "data_file");
	refused("{\"data_file\": \"\"}", "data_file");
	refused("{\"data_file\": \"..\"}", "data_file");
	refused("{\"data_file\": 5}", "data_file");
}

static void what_is_no_snapshot_is_refused(void **state)
{
	refused("", "ends");
	refused("[]", "an object");
	refused("{}", "no data snapshot");
	refused("{\"data_file\": null}", "no data snapshot");
	refused("{\"data\": {}}", "list");
	refused("{\"data\": [5]}", "row");
	refused("{\"data\": [{}]}", "without sample_id");
	refused("{\"data\": [{\"sample_id\": 1.5}]}", "sample_id");
	refused("{\"data\": [{\"sample_id\": null}]}", "sample_id");
	refused("{\"data\": [{\"sample_id\": \"a\\u0000b\"}]}", "sample_id");
	refused("{\"data\": [{\"sample_id\": \"a\"}], \"rng_state\": {", "ends");
	refused("{\"data\": [\n{\"sample_id\": \"a\"},\n{\"sample_id\": }]}", "line 3");
}

static void a_hundred_thousand_rows_are_sorted(void **state)
{
	size_t count = 100000, len = 0;
	_cleanup_free_ char *text = malloc(count * 40 + 100);
	struct snapshot s;
	char why[256];

	assert_non_null(text);
	len += (size_t)sprintf(text, "{\"data\": [");
	for (size_t i = 0; i < count; i++)
		len += (size_t)sprintf(text + len, "%s{\"sample_id\": %zu}", i ? "," : "", count - i);
	strcpy(text + len, "]}");
	assert_int_equal(parse(text, &s, why), 0);
	assert_int_equal(s.samples, count);
	assert_memory_equal(s.text, "1:d0:t|10:d0:t|100:d0:t|1000:d0:t|10000:d0:t|100000:d0:t|10001:d0:t|", 66);
	snapshot_clear(&s);
}

static void cleanup_listing(struct listing **l)
{
	listing_free(*l);
}

static void a_listing_is_the_sha256_of_its_text(void **state)
{
	static const char text[] = "000102030405060708090a0b0c0d0e0f a-b\0" "ffffffffffffffffffffffffffffffff a/\xff\n\0";
	static const uint8_t one[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	_cleanup_(cleanup_listing) struct listing *l = NULL, *empty = NULL;
	uint8_t two[16], found[32], expected[EVP_MAX_MD_SIZE];
	char hex[9];

	memset(two, 0xff, sizeof(two));
	assert_int_equal(listing_new(&l), 0);
	assert_int_equal(listing_add(l, "a-b", one), 0);
	assert_int_equal(listing_add(l, "a-b", one), -EINVAL);
	assert_int_equal(listing_add(l, "a", one), -EINVAL);
	assert_int_equal(listing_add(l, "a/\xff\n", two), 0);
	assert_int_equal(listing_finish(l, found), 0);
	assert_true(EVP_Digest(text, sizeof(text) - 1, expected, NULL, EVP_sha256(), NULL));
	assert_memory_equal(found, expected, sizeof(found));
	assert_int_equal(listing_new(&empty), 0);
	assert_int_equal(listing_finish(empty, found), 0);
	hex8(found, hex);
	assert_string_equal(hex, "e3b0c442");
}

static void a_listing_tells_any_change_of_a_path_or_content(void **state)
{
	static const char *const paths[] = { "a", "b", "a b", "a\n", "aa" };
	uint8_t seen[2 * ARRAY_SIZE(paths)][32], digest[16] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		for (digest[15] = 0; digest[15] < 2; digest[15]++) {
			_cleanup_(cleanup_listing) struct listing *l = NULL;

			assert_int_equal(listing_new(&l), 0);
			assert_int_equal(listing_add(l, paths[i], digest), 0);
			assert_int_equal(listing_finish(l, seen[n]), 0);
			for (size_t k = 0; k < n; k++)
				assert_memory_not_equal(seen[k], seen[n], 32);
			n++;
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_give_the_text_and_segment_of_weightslab),
		cmocka_unit_test(columns_give_them_too),
		cmocka_unit_test(truth_is_that_of_python),
		cmocka_unit_test(parts_of_a_sample_do_not_count_and_of_one_id_the_last_row_does),
		cmocka_unit_test(ids_are_sorted_by_code_points),
		cmocka_unit_test(a_sidecar_is_named_and_gives_no_text),
		cmocka_unit_test(what_is_no_snapshot_is_refused),
		cmocka_unit_test(a_hundred_thousand_rows_are_sorted),
		cmocka_unit_test(a_listing_is_the_sha256_of_its_text),
		cmocka_unit_test(a_listing_tells_any_change_of_a_path_or_content),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
