/* What a training needs to go on, and what names of checkpoints say. Pickles are in the lines of protocol 0. */
#include "format/checkpoint_name.h"
#include "format/parts.h"
#include "test.h"

#define TEST(sentence, function) { sentence, function, NULL, NULL, NULL }

#define RNG_ALL (PART_RNG_PYTHON | PART_RNG_NUMPY | PART_RNG_TORCH | PART_RNG_CUDA)
#define FULL "(dVa\nI1\ns"                         /* {"a": 1} */
#define TENSOR "ctorch._utils\n_rebuild_tensor_v2\n(I0\ntR" /* as far as matters here */
#define PYTHON "(I3\n(I1\nI2\ntNt"
#define NUMPY "(VMT19937\nI0\nI0\nt"

static unsigned parts(const char *text)
{
	_cleanup_pickle_ struct pickle *p = NULL;
	const char *why;

	assert_int_equal(pickle_parse((const uint8_t *)text, strlen(text), &p, &why), 0);
	return parts_of(pickle_top(p));
}

static void loops(void **state)
{
	assert_int_equal(parts("(dVmodel\n" FULL "sVoptimizer\n" FULL "sVlr_scheduler\n" FULL "sVgrad_scaler\n" FULL "s."),
			 PART_OPTIMIZER | PART_SCHEDULER | PART_SCALER);
	assert_int_equal(parts("(dVmodel_state_dict\n" FULL "sVoptimizer_state_dict\n" FULL "s."), PART_OPTIMIZER);
	assert_int_equal(parts("(dVstate_dict\n" FULL "sVoptimizer_states\n(l" FULL "asVlr_schedulers\n(lsVMixedPrecision\n" FULL
			       "s."), PART_OPTIMIZER | PART_SCALER); /* Lightning */
	assert_int_equal(parts("(dVtrainer\n(dVopt\n" FULL "sVdataloader_state\n" FULL "ss."), PART_OPTIMIZER | PART_LOADER);
	assert_int_equal(parts("(dVstate\n(dVbatches_into_epoch\nI3\nss."), PART_LOADER);
}

static void empty_ones(void **state)
{
	assert_int_equal(parts("(dVoptimizer\nNsVscheduler\n(dsVscaler\n(lsVrng\n(ts."), 0);
	assert_int_equal(parts("(dVoptimizer\nVadam\nsVshuffle_rng\nI01\ns."), 0);
}

static void models(void **state)
{
	assert_int_equal(parts("(dVmodel\n(dVoptimizer\n" FULL "ss."), 0);
	assert_int_equal(parts("(dVoptim.weight\n" TENSOR "sVsampler.bias\n" TENSOR "s."), 0);
}

static void generators(void **state)
{
	assert_int_equal(parts("(dVrng\n(dVtorch\n" TENSOR "sVcuda\n(l" TENSOR "asVpython\n" PYTHON "sVnumpy\n" NUMPY "ss."), RNG_ALL);
	assert_int_equal(parts("(dVrng\n(dVtorch\n" TENSOR "sVcuda\nNss."), PART_RNG_TORCH);
	assert_int_equal(parts("(dVrng_state\n(dVpython_random\n" PYTHON "sVtorch_rng\n" TENSOR "sVnumpy_random\n" NUMPY
			       "sVtorch_cuda_rng\n(l" TENSOR "ass."), RNG_ALL);
	assert_int_equal(parts("(dVtorch_rng_state\n" TENSOR "sVcuda_rng_state_all\n(lsVnp_random_state\n" NUMPY "s."),
			 PART_RNG_TORCH | PART_RNG_NUMPY);
	assert_int_equal(parts("(dVpython\n" PYTHON "sVnumpy\n" NUMPY "sVcpu\n" TENSOR "s."),
			 PART_RNG_PYTHON | PART_RNG_NUMPY | PART_RNG_TORCH); /* Hugging Face */
	assert_int_equal(parts("(dVrng_states\n(l" TENSOR "as."), PART_RNG_TORCH);
	assert_int_equal(parts("(dVrng\n" PYTHON "s."), PART_RNG_PYTHON);
	assert_int_equal(parts("(dVrng\n" NUMPY "s."), PART_RNG_NUMPY);
}

static void odd_ones(void **state)
{
	assert_int_equal(parts("I1\n."), 0);
	assert_int_equal(parts("(lVoptimizer\na."), 0);
	assert_int_equal(parts("(dp0\nVself\ng0\nsVoptimizer\n" FULL "s."), PART_OPTIMIZER); /* holds itself */
	assert_int_equal(parts("(dI1\n" FULL "s(I1\nt" FULL "s."), 0);
}

static void members(void **state)
{
	assert_int_equal(parts_of_member("optimizer.pt"), PART_OPTIMIZER);
	assert_int_equal(parts_of_member("sub/zero_pp_rank_0_mp_rank_00_optim_states.pt"), PART_OPTIMIZER);
	assert_int_equal(parts_of_member("trainer_state.json"), PART_LOADER);
	assert_int_equal(parts_of_member("model.safetensors"), 0);
	assert_true(member_holds_model("sub/model.safetensors"));
	assert_false(member_holds_model("optimizer.bin"));
	assert_false(member_holds_model("rng_state_0.pth"));
}

static void flat_names(void **state)
{
	static const struct {
		const char *name;
		unsigned parts;
	} names[] = {
		{ "optimizer.state.0.exp_avg", PART_OPTIMIZER }, { "optimizer", PART_OPTIMIZER }, { "Optim/m", PART_OPTIMIZER },
		{ "adam_optimizer_state.m", PART_OPTIMIZER },	 { "model.optimizer.m", 0 },	  { "opt.decoder.weight", 0 },
		{ "sampler.conv.weight", 0 },			 { "scaler.mean", 0 },		  { "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(parts_of_tensor(names[i].name, strlen(names[i].name)), names[i].parts);
}

static void check_epoch(const char *name, int64_t want)
{
	int64_t epoch = -1;

	assert_int_equal(epoch_of_name(name, &epoch) ? epoch : -1, want);
}

static void epochs(void **state)
{
	check_epoch("best_epoch_07.pt", 7);
	check_epoch("epoch=3-step=90.ckpt", 3);
	check_epoch("model-ep12.pt", 12);
	check_epoch("Epoch12.pth", 12);
	check_epoch("epoch_3_of_epoch_4.pt", -1);
	check_epoch("epoch_3-epoch=3.pt", 3);
	check_epoch("step_9.pt", -1);
	check_epoch("sleep3.pt", -1);
	check_epoch("deep_4.pt", -1);
	check_epoch("epochs.pt", -1);
	check_epoch("epoch_99999999999999999999.pt", -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("optimizer, scheduler, scaler and loader are found under the keys of many loops", loops),
		TEST("what is empty, or only a setting, is not there", empty_ones),
		TEST("what lies in the model is the model's", models),
		TEST("whose random numbers a state is of, the key says, those below, or its form", generators),
		TEST("other pickles have none, and one that holds itself is read once", odd_ones),
		TEST("names of files in a directory say what is in them", members),
		TEST("of a flat list of tensors the optimizer is told", flat_names),
		TEST("names tell epochs at the beginnings of words", epochs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
