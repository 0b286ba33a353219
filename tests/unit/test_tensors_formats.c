/* Files of numpy and safetensors, and the structure of a model in files of any format. */
#include "format/structure.h"
#include "tensors.h"

/* numpy */

static struct bytes npz(const char *header, size_t len, size_t data)
{
	struct bytes array = { 0 }, b;

	add(&array, header, len);
	add_int(&array, 0, data);
	b = zip(&(struct record){ "a.npy", array.p, array.len, 0 }, 1);
	free(array.p);
	return b;
}

/* data: how many bytes follow the header of version 1. */
static struct bytes npz_of(const char *header, size_t data)
{
	char preamble[2048] = "\x93NUMPY\1";
	size_t n = strlen(header);

	preamble[8] = (char)(n & 0xff);
	preamble[9] = (char)(n >> 8);
	memcpy(preamble + 10, header, n);
	return npz(preamble, 10 + n, data);
}

static void assert_array(const char *header, size_t data, const char *wanted)
{
	_cleanup_bytes_ struct bytes b = npz_of(header, data);
	_cleanup_tensors_ struct tensors *ts = tensors_of(&b);

	assert_tensors(ts, wanted);
}

static void assert_array_refused(const char *header, size_t data, const char *why)
{
	_cleanup_bytes_ struct bytes b = npz_of(header, data);

	assert_refused_bytes(&b, why);
}

static void test_arrays(void **state)
{
	static const char v3[] = "\x93NUMPY\3\0\x36\0\0\0{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}";
	_cleanup_bytes_ struct bytes b = npz(v3, sizeof(v3) - 1, 4);

	assert_array("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", 24, "a:float32[2,3]/3,1@0*");
	assert_array("{'shape':(2L,3L),'fortran_order':True,\"descr\":\"|u1\"}", 6, "a:uint8[2,3]/1,2@0*");
	assert_array("{'descr': '>i8', 'fortran_order': False, 'shape': ()}", 8, "a:int64[]/@0*");
	assert_array("{'descr': '<U5', 'fortran_order': False, 'shape': (4,)}", 80, "a:<U5[4]?*");
	assert_array("{'descr': [('a]', '<f4', (2, 2)), ('b', [('c', '|S1')])], 'fortran_order': False, 'shape': (1,)}", 17,
		     "a:[('a]', '<f4', (2, 2)), ('b', [('c', '|S1')])][1]?*");
	assert_refused_bytes(&b, "numpy header does not parse"); /* its length is one short */
}

static void test_array_faults(void **state)
{
	static const char *const headers[] = {
		"",
		"{",
		"{}",
		"{'descr': '<f4', 'fortran_order': False}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (2,",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
		"{'descr': '<f4', 'fortran_order': None, 'shape': ()}",
		"{'descr': '<f4, 'fortran_order': False, 'shape': ()}",
		"{'descr': '<\\f4', 'fortran_order': False, 'shape': ()}",
		"{'descr': [('a', '<f4'), 'fortran_order': False, 'shape': ()}",
		"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': ()}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
		"os.system('reboot')",
	};

	static const char nul[] = "\x93NUMPY\1\0\x37\0{'descr': '<\0004', 'fortran_order': False, 'shape': ()}  ";
	_cleanup_bytes_ struct bytes b = npz(nul, sizeof(nul) - 1, 4);

	assert_refused_bytes(&b, "numpy header does not parse");
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		assert_array_refused(headers[i], 64, "numpy header does not parse");
	assert_array_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23, "numpy array that is cut");
	assert_array_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 64,
			     "tensor of too many elements");
	assert_array_refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", 64,
			     "numpy array that is cut");
}

/* safetensors */

static void test_safetensors(void **state)
{
	_cleanup_bytes_ struct bytes b = safetensors(
		"{\"__metadata__\": {\"iteration\": \"7\", \"global_step\": \"3\", \"step\": \"1e3\", \"epoch\": 5},"
		"\"\\ud83d\\ude42\\u00e9\\n\\ud800x\": {\"dtype\": \"F8_E4M3\", \"shape\": [2], \"data_offsets\": [0, 2]},"
		"\"b\": {\"dtype\": \"NEW\", \"shape\": [], \"data_offsets\": [2, 5]},"
		"\"\\u005f_metadata__\\u0000\": {\"dtype\": \"BF16\", \"shape\": [0, 3], \"data_offsets\": [5, 5]}}",
		5);
	_cleanup_tensors_ struct tensors *ts = tensors_of(&b);

	assert_tensors(ts, "__metadata__:bfloat16[0,3]/3,1@0* b:NEW[]?* "
			   "\xf0\x9f\x99\x82\xc3\xa9\n\xed\xa0\x80x:float8_e4m3fn[2]/1@0*");
	assert_int_equal(ts->v[0].name_len, strlen("__metadata__") + 1);
	assert_true(ts->has_step && ts->step == 3 && !ts->has_epoch);
}

static void test_safetensors_faults(void **state)
{
	_cleanup_free_ char *header = malloc(1 << 18), *name = malloc(70000);

	memset(name, 'k', 70000);
	sprintf(header, "{\"%.69999s\": {\"dtype\": \"U8\", \"shape\": [], \"data_offsets\": [0, 1]}}", name);
	{
		_cleanup_bytes_ struct bytes b = safetensors(header, 1);

		assert_refused_bytes(&b, "tensor of too long a name");
	}
	{
		_cleanup_bytes_ struct bytes b =
			safetensors("{\"a\": {\"dtype\": \"U8\", \"shape\": [], \"data_offsets\": [0, 1]}}", 2);

		assert_refused_bytes(&b, "tensors do not fill the file");
	}
	{
		_cleanup_bytes_ struct bytes b =
			safetensors("{\"a\": {\"dtype\": \"U8\", \"shape\": [], \"data_offsets\": [0, 1]},"
				    "\"\\u0061\": {\"dtype\": \"U8\", \"shape\": [], \"data_offsets\": [1, 2]}}", 2);

		assert_refused_bytes(&b, "safetensors of one name");
	}
}

static void test_deflated(void **state)
{
	_cleanup_bytes_ struct bytes b = sample("deflated.npz"), step = sample("step.npz"),
				     other = zip(&(struct record){ "a.npy", "x", 1, 12 }, 1);
	_cleanup_tensors_ struct tensors *ts = tensors_of(&b), *told = tensors_of(&step);

	assert_tensors(ts, "a:int64[50]/1@0* b:float64[9,9]/9,1@0*");
	assert_true(ts->v[0].packed && ts->v[0].begin == 128 && ts->v[0].end == 528);
	assert_tensors(told, "big:float32[4100,4100]?* step:int64[]/@0*");
	assert_string_equal(told->v[0].why, "a compressed array in the order of columns, over 64 MiB");
	assert_true(told->has_step && told->step == 77);
	for (size_t i = 60; i < 90; i++) { /* in the first record */
		_cleanup_bytes_ struct bytes damaged = sample("deflated.npz");
		const char *why;
		_cleanup_tensors_ struct tensors *found = NULL;

		damaged.p[i] ^= 0x55;
		found = read_tensors(&damaged, &why);
		assert_true(found || why);
	}
	assert_refused_bytes(&other, "numpy arrays that are encrypted, or compressed in another way than deflated");
}

/* The structure */

static void test_structure(void **state)
{
	_cleanup_bytes_ struct bytes b = torch_file("(Vmodel\n(Vb:\\u005c\\u000a\n" TENSOR "Va\n" TENSOR_OF(STORAGE, "0", "", "")
						    "VA\n" TENSOR_OF(STORAGE, "0", "I2\n", "I1\n") "dVopt\n(" TENSOR "ld.");
	static const char text[] = "init_step:25\n"
				   "A:float32:[2]\n"
				   "a:float32:[]\n"
				   "b\\x3a\\x5c\\x0a:float32:[2,3]\n";
	static const uint8_t digest[] = {
		0x45, 0x71, 0xaf, 0xa9, 0x70, 0x08, 0x7e, 0xd0, 0xc8, 0x75, 0x1d, 0xdb, 0x3b, 0x15, 0x10, 0xe2,
		0x6a, 0x7a, 0x0f, 0xc1, 0x78, 0x61, 0x1e, 0xaf, 0xea, 0x84, 0xc2, 0xe0, 0x9b, 0x76, 0xeb, 0xca
	};
	_cleanup_tensors_ struct tensors *ts = tensors_of(&b);
	_cleanup_free_ char *structure = NULL;
	uint8_t found[STRUCTURE_DIGEST_SIZE];
	size_t len;

	assert_int_equal(model_structure(ts, 25, &structure, &len, found), 0);
	assert_string_equal(structure, text);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(found, digest, sizeof(digest));
}

static void test_one_structure(void **state)
{
	_cleanup_bytes_ struct bytes plain = torch_file("(Vw.b\n" TENSOR "d."),
				     below = torch_file("(Vmodule\n(Vw.b\n" TENSOR "dd."),
				     flat = safetensors("{\"w.b\": {\"dtype\": \"F32\", \"shape\": [2, 3], \"data_offsets\": [0, 24]}}", 24);
	const struct bytes *const files[] = { &plain, &below, &flat };
	uint8_t digests[ARRAY_SIZE(files)][STRUCTURE_DIGEST_SIZE], other[STRUCTURE_DIGEST_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_tensors_ struct tensors *ts = tensors_of(files[i]);
		_cleanup_free_ char *text = NULL;

		assert_int_equal(model_structure(ts, 0, &text, NULL, digests[i]), 0);
		assert_memory_equal(digests[i], digests[0], sizeof(digests[0]));
		free(steal(&text));
		assert_int_equal(model_structure(ts, 1, &text, NULL, other), 0);
		assert_memory_not_equal(other, digests[0], sizeof(other));
	}
}

static void test_no_structure(void **state)
{
	_cleanup_bytes_ struct bytes b = torch_file("(Voptimizer\n(" TENSOR "ld.");
	_cleanup_tensors_ struct tensors *ts = tensors_of(&b);
	uint8_t digest[STRUCTURE_DIGEST_SIZE];
	char *text;

	assert_int_equal(model_structure(ts, 0, &text, NULL, digest), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("headers of numpy's arrays are read as numpy writes them", test_arrays),
		TEST("compressed arrays are told, and a step in one; columns of over 64 MiB with the reason", test_deflated),
		TEST("other headers, and arrays that are cut, are refused", test_array_faults),
		TEST("names in safetensors are told without escapes, and the step of the metadata", test_safetensors),
		TEST("safetensors that are not whole, or have a name twice or too long a one, are refused", test_safetensors_faults),
		TEST("the structure is the sorted lines of the model's tensors", test_structure),
		TEST("one model has one structure, however it is saved", test_one_structure),
		TEST("a file without a model's tensors has no structure", test_no_structure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
