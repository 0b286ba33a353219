/* The samples in tests/data/format are of real writers; the rest is built here. */
#include <fcntl.h>

#include "format/whole.h"
#include "whole.h"

static const char *const framed[] = { "zip.pt",	       "stored.npz",	"deflated.npz", "three.safetensors",
				      "v0.weights.h5", "v3.weights.h5", "d.parquet" };

static void test_samples(void **state)
{
	static const char *const free_form[] = { "legacy.pt", "__0_0.distcp" };

	for (size_t i = 0; i < ARRAY_SIZE(framed); i++) {
		_cleanup_bytes_ struct bytes b = sample(framed[i]);

		assert_whole(framed[i], &b);
	}
	for (size_t i = 0; i < ARRAY_SIZE(free_form); i++) {
		_cleanup_bytes_ struct bytes b = sample(free_form[i]);

		assert_whole(free_form[i], &b);
	}
}

static void test_cuts(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(framed); i++) {
		_cleanup_bytes_ struct bytes b = sample(framed[i]);

		for (size_t n = 0; n < b.len; n++)
			if (!why(framed[i], b.p, n))
				fail_msg("%s: whole when cut to %zu of %zu bytes", framed[i], n, b.len);
	}
}

static void test_zeros(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(framed); i++) {
		_cleanup_bytes_ struct bytes b = sample(framed[i]);

		memset(b.p, 0, b.len);
		assert_non_null(why(framed[i], b.p, b.len));
	}
}

static struct bytes tensors(const char *header, size_t n)
{
	struct bytes b = { 0 };

	add_int(&b, strlen(header), 8);
	add_text(&b, header);
	for (size_t i = 0; i < n; i++)
		add(&b, "x", 1);
	return b;
}

#define TENSOR(name, dtype, shape, offsets) \
	"\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

struct tensors_case {
	const char *header;
	size_t n;
};

static void test_tensors_whole(void **state)
{
	static const struct tensors_case cases[] = {
		{ "{}", 0 },
		{ "{} \n\t ", 0 },
		{ "{" TENSOR("a", "U8", "[8]", "[0,8]") "}", 8 },
		{ " { " TENSOR("a", "F32", "[ 2 , 1 ]", "[ 0 , 8 ]") " } ", 8 },
		{ "{" TENSOR("a", "F64", "[]", "[0,8]") "}", 8 },
		{ "{" TENSOR("b", "BF16", "[2]", "[4,8]") "," TENSOR("a", "I32", "[1]", "[0,4]") "}", 8 },
		{ "{" TENSOR("a", "U8", "[8]", "[0,8]") "," TENSOR("z", "F32", "[0,4]", "[8,8]") "}", 8 },
		{ "{" TENSOR("a", "F4", "[4]", "[0,2]") "}", 2 },
		{ "{" TENSOR("a", "NEW_TYPE", "[4]", "[0,3]") "}", 3 },
		{ "{\"__metadata__\":{\"a\":\"\\\"\\uafAF\\\\{\"}," TENSOR("a", "U8", "[1]", "[0,1]") "}", 1 },
		{ "{\"a\":{\"x\":[1,-2.5e3,null,{\"y\":true}],\"shape\":[1],\"data_offsets\":[0,1],\"dtype\":\"I8\"}}", 1 },
		{ "{" TENSOR("\\u0061 very long name of a tensor, with escapes \\n", "U8", "[1]", "[0,1]") "}", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_bytes_ struct bytes b = tensors(cases[i].header, cases[i].n);
		const char *reason = why("a.safetensors", b.p, b.len);

		if (reason)
			fail_msg("%s: %s", cases[i].header, reason);
	}
}

static void test_tensors_tiling(void **state)
{
	static const struct tensors_case cases[] = {
		{ "{}", 1 },
		{ "{" TENSOR("a", "U8", "[8]", "[0,8]") "}", 9 },
		{ "{" TENSOR("a", "U8", "[7]", "[1,8]") "}", 8 },
		{ "{" TENSOR("a", "U8", "[4]", "[0,4]") "," TENSOR("b", "U8", "[3]", "[5,8]") "}", 8 },
		{ "{" TENSOR("a", "U8", "[5]", "[0,5]") "," TENSOR("b", "U8", "[4]", "[4,8]") "}", 8 },
		{ "{" TENSOR("a", "U8", "[4]", "[0,4]") "," TENSOR("b", "U8", "[4]", "[0,4]") "}", 8 },
		{ "{" TENSOR("a", "U8", "[4]", "[0,4]") "," TENSOR("b", "U8", "[4]", "[2,6]") "}", 8 },
		{ "{" TENSOR("a", "U8", "[8]", "[0,8]") "," TENSOR("b", "U8", "[8]", "[0,8]") "}", 8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_bytes_ struct bytes b = tensors(cases[i].header, cases[i].n);

		assert_torn("a.safetensors", &b, "tensors do not fill the file");
	}
}

static void test_tensors_bounds(void **state)
{
	static const struct tensors_case outside[] = {
		{ "{" TENSOR("a", "U8", "[8]", "[0,8]") "}", 7 },
		{ "{" TENSOR("a", "U8", "[8]", "[8,0]") "}", 8 },
		{ "{" TENSOR("a", "X", "[8]", "[0,18446744073709551615]") "}", 8 },
	};
	static const struct tensors_case shapes[] = {
		{ "{" TENSOR("a", "U8", "[7]", "[0,8]") "}", 8 },
		{ "{" TENSOR("a", "F32", "[8]", "[0,8]") "}", 8 },
		{ "{" TENSOR("a", "F4", "[3]", "[0,2]") "}", 2 },
		{ "{" TENSOR("a", "F64", "[2305843009213693953]", "[0,8]") "}", 8 },
	};
	_cleanup_bytes_ struct bytes many = tensors("{" TENSOR("a", "U8", "[4294967296,4294967296]", "[0,8]") "}", 8);

	for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
		_cleanup_bytes_ struct bytes b = tensors(outside[i].header, outside[i].n);

		assert_torn("a.safetensors", &b, "tensor outside of the file");
	}
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		_cleanup_bytes_ struct bytes b = tensors(shapes[i].header, shapes[i].n);

		assert_torn("a.safetensors", &b, "tensor whose shape does not give its length");
	}
	assert_torn("a.safetensors", &many, "tensor of too many elements");
}

static void test_tensors_json(void **state)
{
	static const char *const bad[] = {
		"", " ", "[]", "{", "}", "{}x", "{}{}", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1}", "{\"a\":{}}", "{a:1}",
		"{" TENSOR("a", "U8", "[0]", "[0,0]") ",}",
		"{" TENSOR("a", "U8", "[0]", "[0,0]") " " TENSOR("b", "U8", "[0]", "[0,0]") "}",
		"{" TENSOR("a", "U8", "[0]", "[0]") "}",
		"{" TENSOR("a", "U8", "[0]", "[0,0,0]") "}",
		"{" TENSOR("a", "U8", "[0,]", "[0,0]") "}",
		"{" TENSOR("a", "U8", "[00]", "[0,0]") "}",
		"{" TENSOR("a", "U8", "[-0]", "[0,0]") "}",
		"{" TENSOR("a", "U8", "[0.0]", "[0,0]") "}",
		"{" TENSOR("a", "U8", "0", "[0,0]") "}",
		"{" TENSOR("a", "U8", "[0]", "[18446744073709551616,0]") "}",
		"{" TENSOR("a", "U8", "[0]", "[0,0],\"shape\":[0]") "}",
		"{\"a\":{\"dtype\":1,\"shape\":[0],\"data_offsets\":[0,0]}}",
		"{\"a\":{\"shape\":[0],\"data_offsets\":[0,0]}}",
		"{\"__metadata__\":{\"a\":\"\\x\"}}",
		"{\"__metadata__\":{\"a\":\"\\u00g0\"}}",
		"{\"__metadata__\":{\"a\":\"\n\"}}",
		"{\"__metadata__\":{\"a\":}}",
		"{\"__metadata__\":[1}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_bytes_ struct bytes b = tensors(bad[i], 0);
		const char *reason = why("a.safetensors", b.p, b.len);

		if (!reason || strcmp(reason, "safetensors header does not parse") != 0)
			fail_msg("%s: %s", bad[i], reason ? reason : "whole");
	}
}

static void test_tensors_depth(void **state)
{
	_cleanup_bytes_ struct bytes b = { 0 };
	enum { DEPTH = 100000 };

	add_int(&b, 16 + DEPTH, 8);
	add_text(&b, "{\"__metadata__\":");
	for (int i = 0; i < DEPTH; i++)
		add_text(&b, "[");
	assert_torn("a.safetensors", &b, "safetensors header does not parse");
}

static void test_tensors_large_header(void **state)
{
	enum { N = 20000 }; /* several times the window */
	_cleanup_bytes_ struct bytes header = { 0 };
	_cleanup_bytes_ struct bytes b = { 0 };
	char text[128];

	for (unsigned i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "%c" TENSOR("layer.%u", "F32", "[1]", "[%u,%u]"), i ? ',' : '{', i, 4 * i, 4 * i + 4);
		add_text(&header, text);
	}
	add_text(&header, "}");
	add_int(&b, header.len, 8);
	add(&b, header.p, header.len);
	for (unsigned i = 0; i < N; i++)
		add_int(&b, i, 4);
	assert_whole("a.safetensors", &b);
	b.len--;
	assert_torn("a.safetensors", &b, "tensor outside of the file");
}

static void test_tensors_header_length(void **state)
{
	_cleanup_bytes_ struct bytes b = tensors("{}", 0);

	put_int(b.p, UINT64_MAX, 8);
	assert_torn("a.safetensors", &b, "safetensors header over 100 MB");
	put_int(b.p, 100000001, 8);
	assert_torn("a.safetensors", &b, "safetensors header over 100 MB");
	put_int(b.p, 3, 8);
	assert_torn("a.safetensors", &b, "ends in its safetensors header");
}

static void test_parquet(void **state)
{
	_cleanup_bytes_ struct bytes b = sample("d.parquet");

	assert_each_counts("a.parquet", &b, 0, 4);
	assert_each_counts("a.parquet", &b, b.len - 4, 4);
	assert_whole("a", &b);
	put_int(b.p + b.len - 8, b.len - 12, 4);
	assert_whole("a.parquet", &b);
	put_int(b.p + b.len - 8, b.len - 11, 4);
	assert_torn("a", &b, "Parquet footer larger than the file");
	put_int(b.p + b.len - 8, 0, 4);
	assert_torn("a.parquet", &b, "Parquet without a footer");
	put_int(b.p + b.len - 8, 20, 4);
	b.p[3] = b.p[b.len - 1] = 'E'; /* encrypted */
	assert_whole("a.parquet", &b);
}

static void test_hdf5(void **state)
{
	_cleanup_bytes_ struct bytes v0 = sample("v0.weights.h5"), v3 = sample("v3.weights.h5");
	uint8_t v1[96] = "\x89HDF\r\n\x1a\n\1";

	assert_int_equal(get_int(v0.p + 24 + 16, 8), v0.len);
	assert_int_equal(get_int(v3.p + 12 + 16, 8), v3.len);
	assert_each_counts("a.weights.h5", &v0, 0, 8);
	v0.p[24 + 16]++;
	assert_torn("a.weights.h5", &v0, "shorter than its HDF5 superblock says");
	assert_torn("a.keras", &v0, "shorter than its HDF5 superblock says");
	v0.p[24 + 16]--;
	v0.p[24 + 20] = 1; /* the upper half of the address */
	assert_torn("a.weights.h5", &v0, "shorter than its HDF5 superblock says");
	v3.p[8] = 2;
	v3.p[11] |= 1; /* says nothing there */
	assert_whole("a.weights.h5", &v3);
	v3.p[12 + 16]++;
	assert_torn("a.weights.h5", &v3, "shorter than its HDF5 superblock says");
	v3.p[12 + 16]--;
	v3.p[8] = 3;
	assert_torn("a.weights.h5", &v3, "HDF5 file that its writer did not close");
	v3.p[8] = 4;
	assert_torn("a.weights.h5", &v3, "HDF5 superblock of an unknown version");
	v1[13] = 4;
	put_int(v1 + 28 + 8, 96, 4);
	assert_null(why("a.weights.h5", v1, sizeof(v1)));
	put_int(v1 + 28 + 8, 97, 4);
	assert_non_null(why("a.weights.h5", v1, sizeof(v1)));
	v1[13] = 3;
	assert_string_equal(why("a.weights.h5", v1, sizeof(v1)), "HDF5 addresses of an unknown length");
}

static void test_others(void **state)
{
	static const char *const weights[] = { "a.pt", "a.pth", "a.ckpt", "a.bin", "a.safetensors", "a.npz", "a.keras",
					       "a.weights.h5", "a.parquet" };
	uint8_t *zeros = calloc(1, 10000);

	assert_non_null(zeros);
	assert_string_equal(why("a.txt", "", 0), "empty");
	assert_string_equal(why("a.pt", "", 0), "empty");
	assert_null(why("a.txt", zeros, 10000));
	assert_null(why("P", "P", 1));
	for (size_t i = 0; i < ARRAY_SIZE(weights); i++)
		assert_non_null(why(weights[i], zeros, 10000));
	assert_string_equal(why("a.pt", zeros, 1), "begins with nothing but zeros");
	zeros[0] = 1;
	assert_null(why("a.pt", zeros, 10000));
	zeros[0] = 0;
	zeros[4095] = 1;
	assert_null(why("a.pt", zeros, 10000));
	zeros[4095] = 0;
	zeros[4096] = 1;
	assert_string_equal(why("a.pt", zeros, 10000), "begins with nothing but zeros");
	free(zeros);
}

static void test_errors(void **state)
{
	_cleanup_close_ int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *reason = "unset";
	bool whole = true;

	assert_true(dir >= 0);
	assert_int_equal(format_whole(-1, 100, "a.pt", &whole, &reason), -EBADF);
	assert_int_equal(format_whole(dir, 100, "a.npz", &whole, &reason), -EISDIR);
	assert_true(whole);
	assert_string_equal(reason, "unset");
}

static void test_shrunk(void **state)
{
	_cleanup_bytes_ struct bytes b = sample("zip.pt");
	FILE *f = tmpfile();
	const char *reason;
	bool whole = true;

	assert_non_null(f);
	assert_int_equal(pwrite(fileno(f), b.p, b.len / 2, 0), (ssize_t)b.len / 2);
	assert_int_equal(format_whole(fileno(f), b.len, "a.pt", &whole, &reason), 0);
	assert_false(whole);
	assert_string_equal(reason, "shorter than its size");
	fclose(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("what real writers closed is whole", test_samples),
		TEST("what is cut at any length is not whole", test_cuts),
		TEST("what became zeros is not whole", test_zeros),
		TEST("safetensors with a header that explains the length are whole", test_tensors_whole),
		TEST("tensors with holes or overlaps are not whole", test_tensors_tiling),
		TEST("tensors out of bounds or of another length than their shape are not whole", test_tensors_bounds),
		TEST("a safetensors header that is no JSON is not whole", test_tensors_json),
		TEST("a safetensors header may not nest without end", test_tensors_depth),
		TEST("a safetensors header may be larger than the memory that reads it", test_tensors_large_header),
		TEST("the length of a safetensors header is bounded", test_tensors_header_length),
		TEST("Parquet needs its magic at both ends and its footer", test_parquet),
		TEST("HDF5 is as long as its superblock says, and closed", test_hdf5),
		TEST("other files are whole when they are not empty, weights when not zero", test_others),
		TEST("an error of the disk is neither whole nor torn", test_errors),
		TEST("a file shorter than its size is not whole", test_shrunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
