/* Files of torch, most of them written here. */
#include "tensors.h"

static void assert_refused(const char *pickle, const char *reason)
{
	_cleanup_bytes_ struct bytes b = torch_file(pickle);

	assert_refused_bytes(&b, reason);
}

static void assert_torch(const char *pickle, const char *wanted)
{
	_cleanup_bytes_ struct bytes b = torch_file(pickle);
	_cleanup_tensors_ struct tensors *ts = tensors_of(&b);

	assert_tensors(ts, wanted);
}

/* Real files */

static void test_torch_sample(void **state)
{
	_cleanup_bytes_ struct bytes b = sample("zip.pt");
	_cleanup_tensors_ struct tensors *ts = tensors_of(&b);

	assert_tensors(ts, "model.w:float32[4,5]/5,1@0* model.b:float32[5]/1@0* model.i:int64[3]/1@0*");
	assert_true(ts->has_step && ts->step == 3 && !ts->has_epoch);
	assert_memory_equal(b.p + ts->v[2].begin, "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 24);
	assert_int_equal(ts->v[2].end - ts->v[2].begin, 24);
}

static void test_other_samples(void **state)
{
	_cleanup_bytes_ struct bytes npz = sample("stored.npz"), st = sample("three.safetensors");
	_cleanup_tensors_ struct tensors *arrays = tensors_of(&npz), *three = tensors_of(&st);

	assert_tensors(arrays, "a:int64[5]/1@0* b:float64[2,2]/2,1@0*");
	assert_memory_equal(npz.p + arrays->v[0].begin + 8, "\1\0\0\0\0\0\0\0", 8);
	assert_int_equal(three->n, 3);
	assert_false(three->has_step);
	for (size_t i = 0; i < three->n; i++)
		assert_true(three->v[i].model && three->v[i].located);
}

static void test_refused_samples(void **state)
{
	_cleanup_bytes_ struct bytes legacy = sample("legacy.pt"), hdf5 = sample("v3.weights.h5"), tar = { 0 }, none = { 0 };

	assert_refused_bytes(&legacy, "pickle outside of a zip file, as torch before 1.6 wrote them");
	assert_refused_bytes(&hdf5, "no file of tensors that can be read here");
	add_int(&tar, 'x', 257);
	add(&tar, "ustar", 5);
	assert_refused_bytes(&tar, "tar file, as torch before 0.1.10 wrote them");
	add(&none, "", 0);
	assert_refused_bytes(&none, "empty");
}

static void test_cut_samples(void **state)
{
	static const char *const names[] = { "zip.pt", "stored.npz", "three.safetensors" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_bytes_ struct bytes b = sample(names[i]);

		for (; b.len > 0; b.len--) {
			struct bytes cut = { .p = b.p, .len = b.len - 1 };
			const char *why;
			_cleanup_tensors_ struct tensors *ts = read_tensors(&cut, &why);

			assert_null(ts);
		}
	}
}

/* Torch, by hand */

static void test_names(void **state)
{
	assert_torch("(Va\n(Vb\n" TENSOR "lI7\n" TENSOR "V\n" TENSOR "d.",
		     "a.1:float32[2,3]/3,1@0* 7:float32[2,3]/3,1@0* :float32[2,3]/3,1@0*");
	assert_torch(TENSOR ".", ":float32[2,3]/3,1@0*");
	assert_torch("(Va\ncm\nC\n(I1\n" TENSOR "tR(Vs\n" TENSOR "dbVk\n" TENSOR "sd.",
		     "a.1:float32[2,3]/3,1@0* a.k:float32[2,3]/3,1@0* a.s:float32[2,3]/3,1@0*");
}

static void test_kinds(void **state)
{
	assert_torch("ctorch._utils\n_rebuild_parameter\n(" TENSOR "I01\nNtR.", ":float32[2,3]/3,1@0*");
	assert_torch("ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_tensor_v2\nclib\nT\n(" STORAGE
		     "I4\n(I2\nt(I1\ntI00\nNtNtR.",
		     ":float32[2]/1@16*");
	assert_torch("ctorch._utils\n_rebuild_tensor_v3\n(" STORAGE_OF("UntypedStorage", "0", "64")
		     "I1\n(I2\nt(I1\ntI00\nNctorch\nfloat8_e4m3fn\ntR.",
		     ":float8_e4m3fn[2]/1@1*");
	assert_torch("ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE "I0\n(I2\nt(I1\ntI00\nN(Vconj\nI01\ndtR.", ":float32[2]?*");
	assert_torch("ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nfloat16\n(I9\nt(I1\ntI00\ntR.", ":float16[9]?*");
	assert_torch("(Vn\nctorch._utils\n_rebuild_nested_tensor\n(" TENSOR TENSOR "tRd.",
		     "n.0:float32[2,3]/3,1@0* n.1:float32[2,3]/3,1@0*");
	assert_torch("(Vn\nctorch._tensor\n_rebuild_from_type_v2\n(clib\nbuild\nclib\nT\n(I1\n" TENSOR "tNtRd.",
		     "n.2.1:float32[2,3]/3,1@0*");
}

#define ROW TENSOR_OF(STORAGE, "0", "I2\n", "I1\n")
#define LAYOUT(name) "ctorch.serialization\n_get_layout\n(Vtorch." name "\ntR"
#define SPARSE(layout, tensors) \
	"ctorch._utils\n_rebuild_sparse_tensor\n(" LAYOUT(layout) "(" tensors "ctorch\nSize\n((I5\nI6\nttRI01\nttR"
#define QUANTISED(args) \
	"ctorch._utils\n_rebuild_qtensor\n(" STORAGE_OF("QInt8Storage", "0", "64") "I0\n(I2\nt(I1\nt(ctorch\n" args "tI00\nNtR"
#define WRAPPED(state) \
	"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_wrapper_subclass\nclib\nT\n" \
	"(clib\nT\nctorch\nfloat32\n(I4\nt(I1\ntI0\nNNI00\nt" state "tR"

static void test_composed(void **state)
{
	assert_torch(SPARSE("sparse_coo", TENSOR ROW) ".",
		     ":float32[5,6](indices:float32[2,3]/3,1@0 values:float32[2]/1@0)*");
	assert_torch(SPARSE("sparse_bsr", ROW ROW TENSOR) ".",
		     ":float32[5,6](crow_indices:float32[2]/1@0 col_indices:float32[2]/1@0 values:float32[2,3]/3,1@0)*");
	assert_torch(SPARSE("sparse_csc", ROW ROW ROW) ".",
		     ":float32[5,6](ccol_indices:float32[2]/1@0 row_indices:float32[2]/1@0 values:float32[2]/1@0)*");
	assert_torch(QUANTISED("per_tensor_affine\nF0.5\nI-3\n") ".",
		     ":qint8[2](integers per_tensor_affine 0.5 -3:qint8[2]/1@0)*");
	assert_torch(QUANTISED("per_channel_affine\n" ROW ROW "I0\n") ".",
		     ":qint8[2](integers per_channel_affine 0:qint8[2]/1@0 scales:float32[2]/1@0 zeros:float32[2]/1@0)*");
	assert_torch(WRAPPED("(Va\n" ROW "V_b\n(N(Vc\n" TENSOR "dtVn\nI1\nd") ".",
		     ":float32[4](a:float32[2]/1@0 _b.1.c:float32[2,3]/3,1@0)*");
	assert_torch(WRAPPED("(N(V_local_tensor\n" ROW "V_spec\nctorch.distributed.tensor._dtensor_spec\nDTensorSpec\n(tR(Vr\n" ROW
			     "dbdt") ".",
		     ":float32[4](_local_tensor:float32[2]/1@0)*");
	assert_torch(WRAPPED("(Va\n" WRAPPED("(Vb\n" ROW "d") "d") ".", ":float32[4](a.b:float32[2]/1@0)*");
	assert_torch(WRAPPED("(Va\n" SPARSE("sparse_coo", TENSOR ROW) "d") ".",
		     ":float32[4](a.indices:float32[2,3]/3,1@0 a.values:float32[2]/1@0)*");
	assert_torch(WRAPPED("clib\nState\n(I1\ntR(Vs\n" ROW "db") ".", ":float32[4](s:float32[2]/1@0)*");
}

#define META "ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nfloat16\n(I9\nt(I1\ntI00\ntR"

static void test_not_composed(void **state)
{
	assert_torch(SPARSE("sparse_coo", TENSOR META) ".", ":float16[5,6]?*");
	assert_torch(WRAPPED("(Va\nI1\nd") ".", ":float32[4]?*");
	assert_torch(WRAPPED("((((((((((" ROW "tttttttttt") ".", ":float32[4]?*");
	assert_refused(SPARSE("sparse_coo", TENSOR) ".", "torch tensor that is put together in an unknown way");
	assert_refused(SPARSE("sparse_csr", ROW ROW) ".", "torch tensor that is put together in an unknown way");
	assert_refused(SPARSE("sparse_xyz", TENSOR ROW) ".", "torch tensor that is put together in an unknown way");
	assert_refused(SPARSE("sparse_coo", "N" ROW) ".", "torch tensor that is put together in an unknown way");
	assert_refused(QUANTISED("per_tensor_affine\nF0.5\n") ".", "torch tensor that is put together in an unknown way");
	assert_refused(QUANTISED("per_channel_affine\nI1\nI2\nI0\n") ".", "torch tensor that is put together in an unknown way");
}

static void test_model(void **state)
{
	_cleanup_bytes_ struct bytes b = torch_file("(Vmodule\n(Vw\n" TENSOR "dVmodel\nVresnet\nVstate_dict\n(Vw\n" TENSOR
						    "dVx\n" TENSOR "d.");
	_cleanup_tensors_ struct tensors *ts = tensors_of(&b);

	assert_tensors(ts, "module.w:float32[2,3]/3,1@0 state_dict.w:float32[2,3]/3,1@0* x:float32[2,3]/3,1@0");
	assert_string_equal(ts->v[1].name + ts->v[1].inner, "w");
	assert_torch("(Vmodel\n(Vw\n" TENSOR "dVx\n" TENSOR "d.", "model.w:float32[2,3]/3,1@0* x:float32[2,3]/3,1@0");
	assert_torch("(Vx\n" TENSOR "Vmodel_state_dict\n(Vw\n" TENSOR "dd.",
		     "x:float32[2,3]/3,1@0 model_state_dict.w:float32[2,3]/3,1@0*");
	assert_torch("(Vmodule\n(Vw\n" TENSOR "dVx\n" TENSOR "d.", "module.w:float32[2,3]/3,1@0* x:float32[2,3]/3,1@0");
	assert_torch("(Voptimizer_states\n(" TENSOR "lVlr_Schedulers\n(" TENSOR "lVgrad_scaler\n(" TENSOR "lVrng\n(" TENSOR
		     "lVopt\n(" TENSOR "lVoption\n(" TENSOR "lVscaler_mean\n" TENSOR "Vtorch_rng\n" TENSOR
		     "Vscaler.weight\n" TENSOR "Vmodel\n" TENSOR "d.",
		     "optimizer_states.0:float32[2,3]/3,1@0 lr_Schedulers.0:float32[2,3]/3,1@0 "
		     "grad_scaler.0:float32[2,3]/3,1@0 rng.0:float32[2,3]/3,1@0 opt.0:float32[2,3]/3,1@0 "
		     "option.0:float32[2,3]/3,1@0* scaler_mean:float32[2,3]/3,1@0* torch_rng:float32[2,3]/3,1@0 "
		     "scaler.weight:float32[2,3]/3,1@0* model:float32[2,3]/3,1@0*");
}

/* -1: none. */
static void assert_step(const char *pickle, int64_t step, bool has_epoch, int64_t epoch)
{
	_cleanup_bytes_ struct bytes b = torch_file(pickle);
	_cleanup_tensors_ struct tensors *ts = tensors_of(&b);

	assert_int_equal(ts->has_step ? (int64_t)ts->step : -1, step);
	assert_int_equal(ts->has_epoch, has_epoch);
	if (has_epoch)
		assert_int_equal(ts->epoch, epoch);
}

static void test_step(void **state)
{
	assert_step("(Viteration\nI1\nViter_num\nI2\nVstate\n(Vglobal_step\nI3\nVepoch\nI-1\ndd.", 3, true, -1);
	assert_step("(Vstep\nI4\nVglobal_step\nI5\nVepoch\nI6\nVstate\n(Vepoch\nI7\ndd.", 4, true, 6);
	assert_step("(Vstep\nF2.5\nVglobal_step\nF7.0\nVepoch\nF1e300\nd.", 7, false, 0);
	assert_step("(Vstep\nFnan\nVglobal_step\nFinf\nViter_num\nF-1.0\nViteration\nF9007199254740994.0\nd.", -1, false, 0);
	assert_step("(Vstep\nI01\nVglobal_step\nF2.5\nVepoch\nV7\nViter_num\nI-1\nViteration\nI9223372036854775807\nd.",
		    INT64_MAX, false, 0);
	assert_step("(Vstep\nI9223372036854775808\nd.", -1, false, 0);
	assert_step("(Vstep\\u0000\nI1\nd.", -1, false, 0);
	assert_step("(Vother\n(Vstep\nI1\ndd.", -1, false, 0);
	assert_step("(Vstep\n" TENSOR_OF(STORAGE_OF("LongStorage", "0", "8"), "1", "", "") "d.", 0x0f0e0d0c0b0a0908, false, 0);
	assert_step("(Vstep\n" TENSOR_OF(STORAGE_OF("CharStorage", "0", "8"), "5", "I1\n", "I1\n") "d.", 5, false, 0);
	assert_step("(Vstep\n" TENSOR_OF(STORAGE, "0", "", "") "d.", -1, false, 0);
	assert_step("(Vstep\n" TENSOR_OF(STORAGE_OF("LongStorage", "0", "8"), "0", "I2\n", "I1\n") "d.", -1, false, 0);
}

#define NUMPY_SCALAR(type, order, bytes) \
	"cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(V" type "\nI00\nI01\ntR(I3\nV" order "\ntb" bytes "tR"
#define LATIN1(text) "c_codecs\nencode\n(V" text "\nVlatin1\ntR"

static void test_numpy_steps(void **state)
{
	assert_step("(Vstep\n" NUMPY_SCALAR("i2", "<", LATIN1("\\u00e8\\u0003")) "d.", 1000, false, 0);
	assert_step("(Vstep\n" NUMPY_SCALAR("u2", ">", LATIN1("\\u0003\\u00e8")) "d.", 1000, false, 0);
	assert_step("(Vstep\n" NUMPY_SCALAR("u1", "|", "C\1\x07") "d.", 7, false, 0);
	assert_step("(Vstep\n" NUMPY_SCALAR("i1", "|", "C\1\xff") "Vepoch\n" NUMPY_SCALAR("i1", "|", "C\1\xfe") "d.", -1, true, -2);
	assert_step("(Vstep\n" NUMPY_SCALAR("b1", "|", "C\1\1") "d.", -1, false, 0);
	assert_step("(Vstep\n" NUMPY_SCALAR("f4", "<", "C\4\1\1\1\1") "d.", -1, false, 0);
	assert_step("(Vstep\n" NUMPY_SCALAR("u8", "<", "C\10\1\1\1\1\1\1\1\x80") "d.", -1, false, 0);
	assert_step("(Vstep\n" NUMPY_SCALAR("i2", "<", LATIN1("\\u00e8")) "d.", -1, false, 0);
	assert_step("(Vstep\n" NUMPY_SCALAR("i1", "|", LATIN1("\\u0100")) "d.", -1, false, 0);
	assert_step("(Vstep\n" NUMPY_SCALAR("i2", "<", "C\1\1") "d.", -1, false, 0);
	assert_step("(Vstep\ncnumpy.core.multiarray\nscalar\n(tRd.", -1, false, 0);
}

static void test_storage_faults(void **state)
{
	assert_refused(TENSOR_OF(STORAGE_OF("FloatStorage", "1", "16"), "0", "", "") ".", "torch storage that is missing");
	assert_refused(TENSOR_OF(STORAGE_OF("FloatStorage", "../data.pkl", "1"), "0", "", "") ".",
		       "torch storage that is missing");
	assert_refused(TENSOR_OF(STORAGE_OF("FloatStorage", "0", "17"), "0", "", "") ".",
		       "torch storage shorter than it should be");
	assert_refused(TENSOR_OF(STORAGE_OF("FloatStorage", "0", "4611686018427387905"), "0", "", "") ".",
		       "torch storage shorter than it should be");
	assert_refused(TENSOR_OF(STORAGE_OF("StringStorage", "0", "1"), "0", "", "") ".", "torch storage of an unknown type");
	assert_refused(TENSOR_OF(STORAGE_OF("FloatStorage", "0", "-1"), "0", "", "") ".",
		       "torch tensor that is put together in an unknown way");
	assert_refused(TENSOR_OF("I1\n", "0", "", "") ".", "torch tensor that is put together in an unknown way");
}

static void test_shape_faults(void **state)
{
	static const char outside[] = "torch tensor outside of its storage",
			  odd[] = "torch tensor that is put together in an unknown way";

	assert_torch(TENSOR_OF(STORAGE, "0", "I16\n", "I1\n") ".", ":float32[16]/1@0*");
	assert_torch(TENSOR_OF(STORAGE, "15", "I1000000000000\n", "I0\n") ".", ":float32[1000000000000]/0@60*");
	assert_torch(TENSOR_OF(STORAGE, "99", "I0\nI5\n", "I1\nI1\n") ".", ":float32[0,5]/1,1@396*");
	assert_refused(TENSOR_OF(STORAGE, "1", "I16\n", "I1\n") ".", outside);
	assert_refused(TENSOR_OF(STORAGE, "16", "", "") ".", outside);
	assert_refused(TENSOR_OF(STORAGE, "9223372036854775807", "", "") ".", outside);
	assert_refused(TENSOR_OF(STORAGE, "0", "I9223372036854775807\n", "I9223372036854775807\n") ".", outside);
	assert_refused(TENSOR_OF(STORAGE, "0", "I2\nI2\n", "I9223372036854775807\nI9223372036854775807\n") ".", outside);
	assert_refused(TENSOR_OF(STORAGE, "0", "I-1\n", "I1\n") ".", odd);
	assert_refused(TENSOR_OF(STORAGE, "0", "I1\n", "I-1\n") ".", odd);
	assert_refused(TENSOR_OF(STORAGE, "-1", "I1\n", "I1\n") ".", odd);
	assert_refused(TENSOR_OF(STORAGE, "0", "I1\n", "") ".", odd);
	assert_refused(TENSOR_OF(STORAGE, "0", "F1\n", "I1\n") ".", odd);
	assert_refused(TENSOR_OF(STORAGE, "0", "I9223372036854775808\n", "I1\n") ".", odd);
}

#define ONES "I1\nI1\nI1\nI1\nI1\nI1\nI1\nI1\nI1\nI1\nI1\nI1\nI1\nI1\nI1\nI1\n"

static void test_dimensions(void **state)
{
	_cleanup_bytes_ struct bytes b = torch_file(TENSOR_OF(STORAGE, "0", ONES ONES ONES ONES, ONES ONES ONES ONES) ".");
	_cleanup_tensors_ struct tensors *ts = tensors_of(&b);

	assert_int_equal(ts->v[0].ndim, 64);
	assert_refused(TENSOR_OF(STORAGE, "0", ONES ONES ONES ONES "I1\n", ONES ONES ONES ONES "I1\n") ".",
		       "tensor of too many dimensions");
}

static void test_unknown_builders(void **state)
{
	static const char odd[] = "torch tensor that is put together in an unknown way";

	assert_refused("ctorch._utils\n_rebuild_tensor_v9\n(tR.", odd);
	assert_refused("ctorch._utils\n_rebuild_xla_tensor\n(NtR.", odd);
	assert_refused("ctorch._utils\n_rebuild_tensor_v2\n(tR.", odd);
	assert_refused("ctorch._utils\n_rebuild_parameter\n(NtR.", odd);
	assert_refused("ctorch._utils\n_rebuild_sparse_tensor\n(N(NttR.", odd);
	assert_refused("ctorch._tensor\n_rebuild_from_type_v2\n(NNtR.", odd);
	assert_refused("ctorch._utils\n_rebuild_meta_tensor_no_storage\n(ctorch\nstr\n(ttR.", "torch tensor of an unknown type");
}

static void test_wraps_without_end(void **state)
{
	assert_refused("(lp0\n0ctorch._utils\n_rebuild_parameter\n(ctorch._utils\n_rebuild_parameter\n(Ntp1\nRtp2\nR.",
		       "torch tensor that is put together in an unknown way");
	/* a parameter whose data are itself, by way of its own arguments */
	assert_refused("ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._tensor\n_rebuild_from_type_v2\nN(tp0\nNtR.",
		       "torch tensor that is put together in an unknown way");
}

static void test_cycles(void **state)
{
	assert_torch("(Vw\n" TENSOR "dp0\nVself\ng0\ns.", "w:float32[2,3]/3,1@0*");
	assert_torch("(lp0\ng0\na(Vw\n" TENSOR "da.", "1.w:float32[2,3]/3,1@0*");
	assert_torch("cm\nC\n(tRp0\n(Vparent\ng0\nVw\n" TENSOR "db.", "w:float32[2,3]/3,1@0*");
}

static void test_depth(void **state)
{
	char pickle[4096];
	int n = 0;

	for (int depth = 0; depth < 129; depth++)
		n += sprintf(pickle + n, "(");
	for (int depth = 0; depth < 128; depth++)
		n += sprintf(pickle + n, "l");
	sprintf(pickle + n, "0l.");
	assert_torch(pickle, "");
	n = 0;
	for (int depth = 0; depth < 129; depth++)
		n += sprintf(pickle + n, "(");
	for (int depth = 0; depth < 129; depth++)
		n += sprintf(pickle + n, "l");
	sprintf(pickle + n, ".");
	assert_refused(pickle, "torch file nested too deeply");
}

static void test_bombs(void **state)
{
	_cleanup_free_ char *pickle = malloc(65536);
	int n;

	/* Each list holds the one before twice. */
	n = sprintf(pickle, "(lp0\n");
	for (int i = 0; i < 40; i++)
		n += sprintf(pickle + n, "(g%d\ng%d\nlp%d\n", i, i, i + 1);
	sprintf(pickle + n, ".");
	assert_refused(pickle, "torch file that unfolds to too much");
	/* The same with a tensor in the innermost one. */
	n = sprintf(pickle, "(" TENSOR "lp0\n");
	for (int i = 0; i < 40; i++)
		n += sprintf(pickle + n, "(g%d\ng%d\nlp%d\n", i, i, i + 1);
	sprintf(pickle + n, ".");
	assert_refused(pickle, "too many tensors");
}

static void test_long_names(void **state)
{
	_cleanup_free_ char *pickle = malloc(1 << 18), *name = malloc(70000);
	int n;

	memset(name, 'k', 70000);
	sprintf(pickle, "(V%.65536s\n" TENSOR "d.", name);
	{
		_cleanup_bytes_ struct bytes b = torch_file(pickle);
		_cleanup_tensors_ struct tensors *ts = tensors_of(&b);

		assert_int_equal(ts->v[0].name_len, 65536);
	}
	sprintf(pickle, "(V%.65537s\n" TENSOR "d.", name);
	assert_refused(pickle, "tensor of too long a name");
	n = sprintf(pickle, "(V%.60000s\n(" TENSOR "p0\n", name);
	for (int i = 0; i < 600; i++)
		n += sprintf(pickle + n, "g0\n");
	sprintf(pickle + n, "ld.");
	assert_refused(pickle, "too many names, or too long ones");
	sprintf(pickle, "(V%.65537s\n(I1\nVw\nldVw\n" TENSOR "s.", name);
	assert_torch(pickle, "w:float32[2,3]/3,1@0*");
}

static void test_keys_twice(void **state)
{
	static const char why[] = "torch file with a key that is set twice";

	assert_refused("(Vw\n" TENSOR "Vw\n" TENSOR "d.", why);
	assert_refused("(Va\n(I1\nNI01\nNdd.", why);
	assert_refused("cm\nC\n(tRVw\nNsVw\nNs.", why);
	assert_torch("(Vw\n" TENSOR "V1\nNI1\nNVw2\nNd.", "w:float32[2,3]/3,1@0*");
}

static void test_pickle_faults(void **state)
{
	assert_refused("cos\nsystem\n(Vreboot\ntR", "pickle that ends too early");
	assert_torch("cos\nsystem\n(Vreboot\ntR.", "");
	assert_refused("\xff", "pickle opcode that is not known");
}

static void test_zip_faults(void **state)
{
	const struct record compressed[] = { { "a/data.pkl", "N.", 2, 8 } };
	const struct record storage[] = { { "a/data.pkl", TENSOR ".", strlen(TENSOR "."), 0 }, { "a/data/0", "", 0, 8 } };
	const struct record twice[] = { { "a/data.pkl", "N.", 2, 0 }, { "a/data.pkl", "(l.", 3, 0 } };
	const struct record prefix[] = { { "a/x", "", 0, 0 }, { "b/data.pkl", "N.", 2, 0 } };
	const struct record flat[] = { { "data.pkl", "N.", 2, 0 } };
	const struct record order[] = { { "a/data.pkl", "N.", 2, 0 }, { "a/byteorder", "middle", 6, 0 } };
	const struct {
		const struct record *records;
		size_t n;
		const char *why;
	} cases[] = {
		{ compressed, 1, "torch file whose pickle is compressed" },
		{ storage, 2, "torch storage that is compressed" },
		{ twice, 2, "zip records of one name" },
		{ prefix, 2, "zip file that is neither torch's nor numpy's" },
		{ flat, 1, "zip file that is neither torch's nor numpy's" },
		{ order, 2, "torch file of unknown byte order" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_bytes_ struct bytes b = zip(cases[i].records, cases[i].n);

		assert_refused_bytes(&b, cases[i].why);
	}
}

static void test_errors(void **state)
{
	struct tensors *ts;
	const char *why = "unset";

	assert_int_equal(tensors_read(-1, 100, &ts, &why), -EBADF);
	assert_null(why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a file that torch saved is told with its step and where its tensors are", test_torch_sample),
		TEST("files of numpy and safetensors are told", test_other_samples),
		TEST("older and compressed formats are refused with the reason", test_refused_samples),
		TEST("a file cut anywhere is refused", test_cut_samples),
		TEST("names are made of keys, indices and attributes", test_names),
		TEST("parameters, subclasses, sparse and other tensors are told", test_kinds),
		TEST("sparse, quantised and wrapped tensors are told as those that they are made of", test_composed),
		TEST("or why not, where these are none, or hold nothing", test_not_composed),
		TEST("what lies below the first of the model's keys is the model's, else what is not of training", test_model),
		TEST("the step is the first of the keys with an integer from 0 to 2^63-1", test_step),
		TEST("an integer of numpy tells the step in either order of its bytes, what is no such integer tells none", test_numpy_steps),
		TEST("a tensor without a whole storage is refused", test_storage_faults),
		TEST("a tensor that reaches out of its storage is refused, whatever its strides", test_shape_faults),
		TEST("a tensor may have 64 dimensions and no more", test_dimensions),
		TEST("tensors that are built in an unknown way are refused, not left out", test_unknown_builders),
		TEST("a tensor wrapped in itself is refused", test_wraps_without_end),
		TEST("a container that holds itself is walked once", test_cycles),
		TEST("containers may stand 128 deep and no more", test_depth),
		TEST("lists that hold each other twice, forty times, are refused", test_bombs),
		TEST("a name may have 64 KiB and no more, and all names 32 MiB", test_long_names),
		TEST("a dictionary with a key twice is refused", test_keys_twice),
		TEST("a pickle that would run a command is told and runs nothing", test_pickle_faults),
		TEST("zip files with a compressed, ambiguous or missing part are refused", test_zip_faults),
		TEST("an error of the disk is no refusal", test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
