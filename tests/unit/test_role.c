#include "format/role.h"
#include "test.h"

#define TEST(sentence, function) { sentence, function, NULL, NULL, NULL }

struct expected {
	const char *path; /* a slash at its end: a directory */
	enum role role;
};

static enum role ask(const struct role_rules *rules, const char *path)
{
	char copy[512];
	size_t n = strlen(path);
	bool is_dir = n > 0 && path[n - 1] == '/';

	assert_true(n < sizeof(copy));
	memcpy(copy, path, n + 1);
	if (is_dir)
		copy[n - 1] = '\0';
	return role_of(rules, copy, is_dir);
}

/* Whether role_class() of the last component has the role. */
static bool in_class(const struct role_rules *rules, const char *path, enum role role)
{
	size_t end = strlen(path), at;
	bool is_dir = end > 0 && path[end - 1] == '/';

	if (is_dir)
		end--;
	for (at = end; at > 0 && path[at - 1] != '/';)
		at--;
	return role_class(rules, path + at, end - at, is_dir) & 1u << role;
}

static void check_with(const struct role_rules *rules, const struct expected *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		enum role role = ask(rules, e[i].path);

		if (role != e[i].role)
			fail_msg("%s: %s, not %s", e[i].path, role_name(role), role_name(e[i].role));
	}
}

static void check(const struct expected *e, size_t n)
{
	_cleanup_role_rules_ struct role_rules *rules = NULL;

	assert_int_equal(role_rules_new(&rules), 0);
	check_with(rules, e, n);
}

#define CHECK(...)                                              \
	do {                                                    \
		static const struct expected e_[] = { __VA_ARGS__ }; \
		check(e_, ARRAY_SIZE(e_));              \
	} while (0)

static void test_none(void **state)
{
	CHECK({ "data/loggers.duckdb", ROLE_NONE }, { "data/loggers.duckdb.wal", ROLE_NONE },
	      { "checkpoints/data/data.h5", ROLE_NONE }, { "checkpoints/data/arrays.h5.backup", ROLE_NONE },
	      { "checkpoints/data/data.h5.lock", ROLE_NONE }, { "checkpoints/HP/a.log", ROLE_NONE },
	      { "data/index.db", ROLE_NONE }, { "data/index.db-journal", ROLE_NONE }, { "data/x.sqlite3", ROLE_NONE },
	      { "data/x.lock", ROLE_NONE }, { "latest.tmp", ROLE_NONE }, { "data/x.tmp", ROLE_NONE },
	      { "best.pt.part", ROLE_NONE }, { "data/x.part", ROLE_NONE }, { "best.pt~", ROLE_NONE },
	      { "data/x~", ROLE_NONE }, { "data/events.out.tfevents.1700000000.host", ROLE_NONE },
	      { "train.py", ROLE_NONE }, { "", ROLE_NONE }, { "img_00012.jpg", ROLE_NONE });
}

static void test_none_is_first(void **state)
{
	CHECK({ "data/labels.log", ROLE_NONE }, { "data/labels.txt", ROLE_DATA },
	      { "checkpoints/HP/config.yaml.tmp", ROLE_NONE }, { "x.db.pt", ROLE_NONE }, { "x.d.pt", ROLE_WEIGHTS },
	      { "log", ROLE_NONE }, { "data/log", ROLE_DATA });
}

static void test_weights_h5(void **state)
{
	CHECK({ "model.weights.h5", ROLE_WEIGHTS }, { "a/b/model.weights.h5", ROLE_WEIGHTS }, { "model.h5", ROLE_NONE },
	      { "model.weights.h5.bak", ROLE_NONE }, { "model.weights.h5.tmp", ROLE_NONE },
	      { "projection/model.weights.h5", ROLE_NONE }, { "model (1).weights.h5", ROLE_NONE },
	      { "modelweights.h5", ROLE_NONE });
}

static void test_projection(void **state)
{
	CHECK({ "projection/pca_encoder.pt", ROLE_NONE },
	      { "checkpoints/models/b5a79a78/projection/3dfd9bbfb5a79a78bb73166f_step_000100.pt", ROLE_NONE },
	      { "checkpoints/models/b5a79a78/projection/deep/step_1.pt", ROLE_NONE },
	      { "checkpoints/models/b5a79a78/3dfd9bbfb5a79a78bb73166f_step_000100.pt", ROLE_WEIGHTS },
	      { "projection/", ROLE_NONE }, { "projection/step_5/", ROLE_NONE }, { "my_projection/a.pt", ROLE_WEIGHTS },
	      { "projections/a.pt", ROLE_WEIGHTS }, { "projection.pt", ROLE_WEIGHTS }, { "data/projection", ROLE_DATA },
	      { ".ipynb_checkpoints/config.yaml", ROLE_NONE }, { "data/.ipynb_checkpoints/x", ROLE_NONE },
	      { ".ipynb_checkpoints/a.pt", ROLE_NONE });
}

static void test_conflict_copies(void **state)
{
	CHECK({ "best.sync-conflict-20240101-101010-ABCDEFG.pt", ROLE_NONE },
	      { "best (host's conflicted copy 2024-01-01).pt", ROLE_NONE }, { "best (1).pt", ROLE_NONE },
	      { "best (9).ckpt", ROLE_NONE }, { "best(1).pt", ROLE_WEIGHTS }, { "best (12).pt", ROLE_WEIGHTS },
	      { "data/split (2).json", ROLE_NONE }, { "checkpoint-5 (conflicted copy)/model.safetensors", ROLE_NONE });
}

static void test_unfinished(void **state)
{
	CHECK({ "step_7.incomplete/", ROLE_NONE }, { "step_7.incomplete/model.pt", ROLE_NONE },
	      { "tmp-checkpoint-5/", ROLE_NONE }, { "tmp-checkpoint-5/model.safetensors", ROLE_NONE },
	      { "checkpoint-5.tmp/", ROLE_NONE }, { "checkpoint-5.tmp/model.safetensors", ROLE_NONE },
	      { "100.orbax-checkpoint-tmp-17/a.npz", ROLE_NONE }, { "tmp_epoch1_step5/", ROLE_NONE },
	      { "tmp-5/model.pt", ROLE_NONE }, { "tmp_models/best.pt", ROLE_WEIGHTS },
	      { "model_000200_backup.pt", ROLE_NONE }, { "backup.pt", ROLE_WEIGHTS }, { "step_7.x/", ROLE_NONE },
	      { "checkpoint-5-best/", ROLE_NONE }, { "checkpoint-5-best/model.safetensors", ROLE_WEIGHTS });
}

static void test_rsync(void **state)
{
	CHECK({ ".best.pt.Xy12Za", ROLE_NONE }, { ".step_10.pt.a8Kd0q", ROLE_NONE },
	      { ".epoch=9-step=100.ckpt.QwErTy", ROLE_NONE }, { ".a-step5.pt.AbCdEf", ROLE_NONE },
	      { ".iter-5.pt.AbCdEf", ROLE_NONE }, { ".metrics.csv.AbCdEf", ROLE_NONE }, { ".~tmp~/best.pt", ROLE_NONE });
}

static void test_weights_with_step(void **state)
{
	CHECK({ "checkpoints/models/b5a79a78/3dfd9bbfb5a79a78bb73166f_step_000100.pt", ROLE_WEIGHTS },
	      { "checkpoints/models/b5a79a78/b5a79a78_step_000100.pt", ROLE_WEIGHTS }, { "step_9.bin", ROLE_WEIGHTS },
	      { "step9.bin", ROLE_WEIGHTS }, { "a_step_9.bin", ROLE_WEIGHTS }, { "a-step9-x.bin", ROLE_WEIGHTS },
	      { "iter-120000.bin", ROLE_WEIGHTS }, { "ckpt-5.bin", ROLE_WEIGHTS }, { "ckpt_5.bin", ROLE_WEIGHTS },
	      { "model_5.bin", ROLE_WEIGHTS }, { "step_9.txt", ROLE_NONE }, { "step_9", ROLE_NONE },
	      { "model_5.jpg", ROLE_NONE }, { "ckpt-5.index", ROLE_NONE }, { "a-step9-x", ROLE_NONE },
	      { "epoch=9-step=100.ckpt", ROLE_WEIGHTS }, { "epoch=9-step=100-v1.ckpt", ROLE_WEIGHTS },
	      { "epoch=9-step=100.txt", ROLE_NONE }, { "epoch=3-val/loss=0.31.ckpt", ROLE_WEIGHTS });
}

static void test_checkpoint_dirs(void **state)
{
	CHECK({ "checkpoint-500/", ROLE_WEIGHTS }, { "checkpoint_500/", ROLE_WEIGHTS }, { "a/b/checkpoint-1/", ROLE_WEIGHTS },
	      { "global_step100/", ROLE_WEIGHTS }, { "iter_0000100/", ROLE_WEIGHTS }, { "iter-100/", ROLE_WEIGHTS },
	      { "step_10/", ROLE_WEIGHTS }, { "step-10/", ROLE_WEIGHTS }, { "step10/", ROLE_WEIGHTS },
	      { "epoch_3/", ROLE_WEIGHTS }, { "epoch-3/", ROLE_WEIGHTS }, { "epoch10_step3/", ROLE_WEIGHTS },
	      { "model_epoch2_step7/", ROLE_WEIGHTS }, { "ckpt-5/", ROLE_WEIGHTS }, { "epoch=0-step=10.ckpt/", ROLE_WEIGHTS },
	      { "checkpoint-/", ROLE_NONE }, { "checkpoint-5x/", ROLE_NONE }, { "my-checkpoint-5/", ROLE_NONE },
	      { "checkpoints/", ROLE_NONE }, { "models/", ROLE_NONE }, { "stage_step2/", ROLE_NONE },
	      { "best.pt/", ROLE_NONE }, { ".ckpt/", ROLE_NONE }, { "100/", ROLE_NONE }, { "metrics.csv/", ROLE_NONE },
	      { "data/checkpoint-5/", ROLE_NONE }, { "data/", ROLE_NONE }, { "architecture.d/", ROLE_NONE },
	      { "checkpoint-99999999999999999999999/", ROLE_WEIGHTS }, { "checkpoint-500", ROLE_NONE });
}

static void test_inside_checkpoint_dirs(void **state)
{
	CHECK({ "checkpoint-500/model.safetensors", ROLE_NONE }, { "checkpoint-500/optimizer.pt", ROLE_NONE },
	      { "checkpoint-500/trainer_state.json", ROLE_SIGNALS },
	      { "checkpoint-500/x_architecture.txt", ROLE_MODEL }, { "step_10/model.pt", ROLE_NONE },
	      { "checkpoint-500/global_step500/", ROLE_NONE },
	      { "checkpoint-500/global_step500/mp_rank_00_model_states.pt", ROLE_NONE },
	      { "epoch=0-step=10.ckpt/checkpoint/mp_rank_00_model_states.pt", ROLE_NONE },
	      { "checkpoint-500.d/model.safetensors", ROLE_WEIGHTS }, { "data/checkpoint-5/model.pt", ROLE_DATA },
	      { "100/model.pt", ROLE_WEIGHTS },
	      { "a/b/checkpoint-1/model.pt", ROLE_NONE }, { "a/b/checkpoint-1/c/d/model.pt", ROLE_NONE });
}

static void test_weights_without_step(void **state)
{
	CHECK({ "latest.pt", ROLE_WEIGHTS }, { "last.pt", ROLE_WEIGHTS }, { "weights/best.pt", ROLE_WEIGHTS },
	      { "model_last.pt", ROLE_WEIGHTS }, { "model_best.pt", ROLE_WEIGHTS }, { "last.ckpt", ROLE_WEIGHTS },
	      { "last-v1.ckpt", ROLE_WEIGHTS }, { "model.safetensors", ROLE_WEIGHTS }, { "pytorch_model.bin", ROLE_WEIGHTS },
	      { "final/pytorch_model.bin", ROLE_WEIGHTS }, { "a.pth", ROLE_WEIGHTS }, { "a.keras", ROLE_WEIGHTS },
	      { "a.npz", ROLE_WEIGHTS }, { "gr\xc3\xb6\xc3\x9f" "e-\xff.pt", ROLE_WEIGHTS },
	      { "a b,c%:\n.pt", ROLE_WEIGHTS }, { "-x.pt", ROLE_WEIGHTS }, { "train.bin", ROLE_NONE },
	      { "my_pytorch_model.bin", ROLE_NONE }, { "best.PT", ROLE_NONE }, { "bestpt", ROLE_NONE },
	      { "best.pt2", ROLE_NONE });
}

static void test_hp(void **state)
{
	CHECK({ "config.yaml", ROLE_HP }, { "config.yml", ROLE_HP }, { "hyperparameters.yaml", ROLE_HP },
	      { "hparams.yaml", ROLE_HP }, { "params.yaml", ROLE_HP }, { "args.json", ROLE_HP },
	      { ".hydra/config.yaml", ROLE_HP }, { "checkpoints/HP/3dfd9bbf/3dfd9bbf_config.yaml", ROLE_HP },
	      { "checkpoints/HP/x", ROLE_HP }, { "a/config.yaml", ROLE_NONE }, { "xconfig.yaml", ROLE_NONE },
	      { "config.yaml.orig", ROLE_NONE }, { "Config.yaml", ROLE_NONE }, { "a/.hydra/config.yaml", ROLE_NONE },
	      { "hydra/config.yaml", ROLE_NONE }, { "checkpoints/HP", ROLE_NONE }, { "a/checkpoints/HP/x", ROLE_NONE },
	      { "checkpoints/hp/x", ROLE_NONE }, { "lightning_logs/version_0/hparams.yaml", ROLE_HP },
	      { "lightning_logs/version_12/hparams.yaml", ROLE_HP }, { "lightning_logs/version_x/hparams.yaml", ROLE_NONE },
	      { "lightning_logs/hparams.yaml", ROLE_NONE }, { "a/lightning_logs/version_0/hparams.yaml", ROLE_NONE });
}

static void test_model(void **state)
{
	CHECK({ "architecture.py", ROLE_MODEL }, { "architecture.json", ROLE_MODEL },
	      { "checkpoints/models/b5a79a78/b5a79a78_architecture.pkl", ROLE_MODEL },
	      { "b5a79a78_architecture.txt", ROLE_MODEL }, { "a/architecture.py", ROLE_NONE },
	      { "architecture", ROLE_NONE }, { "b5a79a78_architecture.json", ROLE_NONE },
	      { "architecture.pt", ROLE_MODEL }, { "architecture.txt", ROLE_MODEL });
}

static void test_data(void **state)
{
	CHECK({ "checkpoints/data/bb73166f/bb73166f_data_snapshot.json", ROLE_DATA }, { "a_data_snapshot.json", ROLE_DATA },
	      { "x/a_data_snapshot.parquet", ROLE_DATA }, { "data/a", ROLE_DATA }, { "data/a/b/c.pt", ROLE_DATA },
	      { "checkpoints/data/x", ROLE_DATA }, { "split.json", ROLE_DATA }, { "split_train.json", ROLE_DATA },
	      { "a/split.json", ROLE_NONE }, { "split_train.jsonl", ROLE_NONE }, { "data", ROLE_NONE },
	      { "a/data/b", ROLE_NONE }, { "dataset/b", ROLE_NONE }, { "data_snapshot.json", ROLE_NONE },
	      { "data/config.yaml", ROLE_DATA }, { "data/metrics.csv", ROLE_DATA }, { "data/checkpoints/manifest.yaml", ROLE_DATA });
}

static void test_signals(void **state)
{
	CHECK({ "metrics.jsonl", ROLE_SIGNALS }, { "a/metrics.csv", ROLE_SIGNALS }, { "trainer_state.json", ROLE_SIGNALS },
	      { "metrics.json", ROLE_NONE }, { "my_metrics.csv", ROLE_NONE });
}

static void test_manifest(void **state)
{
	CHECK({ "checkpoints/manifest.yaml", ROLE_MANIFEST }, { ".checkpoint_manager_state.json", ROLE_MANIFEST },
	      { "a/.checkpoint_manager_state.json", ROLE_MANIFEST }, { "data/.checkpoint_manager_state.json", ROLE_MANIFEST },
	      { "manifest.yaml", ROLE_NONE }, { "a/checkpoints/manifest.yaml", ROLE_NONE },
	      { "checkpoints/manifest.yml", ROLE_NONE });
}

static void test_configured(void **state)
{
	static const struct expected expected[] = {
		{ "a/snap-5.dat", ROLE_WEIGHTS },    { "a/snap-x.dat", ROLE_NONE }, { "runs.h5", ROLE_SIGNALS },
		{ "projection/x.pt", ROLE_NONE },    { "step_5.pt", ROLE_NONE },    { "step_6.pt", ROLE_WEIGHTS },
		{ "conf/a/b.yaml", ROLE_HP },	     { "conf", ROLE_NONE },	    { "x/conf/b.yaml", ROLE_HP },
		{ "keep-3/", ROLE_WEIGHTS },	     { "keep-3/a.pt", ROLE_NONE },  { "keep-3", ROLE_NONE },
		{ "keep-3/metrics.csv", ROLE_SIGNALS }, { "sets/a/x.json", ROLE_DATA }, { "sets/x.json", ROLE_DATA },
		{ "old/config.yaml", ROLE_NONE },    { "old/deep/a.pt", ROLE_NONE }, { "a/old/a.pt", ROLE_WEIGHTS },
		{ "x[1].pt", ROLE_NONE },	     { "x1.pt", ROLE_WEIGHTS },	    { "metrics.csv", ROLE_SIGNALS },
		{ "snap-5.dat/", ROLE_NONE },	     { "trainer_state.json", ROLE_WEIGHTS },
		{ "checkpoint-5/trainer_state.json", ROLE_SIGNALS },
	};
	_cleanup_role_rules_ struct role_rules *rules = NULL;

	assert_int_equal(role_rules_new(&rules), 0);
	assert_int_equal(role_rules_add(rules, ROLE_WEIGHTS, "keep-*/"), 0);
	assert_int_equal(role_rules_add(rules, ROLE_WEIGHTS, "snap-<n>.dat"), 0);
	assert_int_equal(role_rules_add(rules, ROLE_WEIGHTS, "trainer_state.json"), 0);
	assert_int_equal(role_rules_add(rules, ROLE_SIGNALS, "runs.h5"), 0);
	assert_int_equal(role_rules_add(rules, ROLE_HP, "conf/"), 0);
	assert_int_equal(role_rules_add(rules, ROLE_DATA, "/sets/**/*.json"), 0);
	assert_int_equal(role_rules_add(rules, ROLE_WEIGHTS, "step_?.pt"), 0);
	assert_int_equal(role_rules_add(rules, ROLE_NONE, "/step_[0-5].pt"), 0);
	assert_int_equal(role_rules_add(rules, ROLE_NONE, "/old/"), 0);
	assert_int_equal(role_rules_add(rules, ROLE_NONE, "x\\[1].pt"), 0);
	check_with(rules, expected, ARRAY_SIZE(expected));
	assert_true(in_class(rules, "a/snap-5.dat", ROLE_WEIGHTS));
	assert_true(in_class(rules, "keep-3/", ROLE_WEIGHTS));
	assert_true(in_class(rules, "step_5.pt", ROLE_WEIGHTS));
	assert_int_equal(role_class(rules, "x[1].pt", 7, false), 0);
	assert_int_equal(role_class(rules, "x.jpg", 5, false), 0);
}

/* Whatever the order they were added in. */
static void test_order(void **state)
{
	static const enum role order[] = { ROLE_NONE,  ROLE_MANIFEST, ROLE_DATA,   ROLE_HP,
					   ROLE_MODEL, ROLE_SIGNALS,  ROLE_WEIGHTS };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		for (size_t j = 0; j < ARRAY_SIZE(order); j++) {
			_cleanup_role_rules_ struct role_rules *rules = NULL;

			assert_int_equal(role_rules_new(&rules), 0);
			assert_int_equal(role_rules_add(rules, order[i], "x"), 0);
			assert_int_equal(role_rules_add(rules, order[j], "[x]"), 0);
			assert_int_equal(role_of(rules, "x", false), order[MIN(i, j)]);
		}
}

static void test_bad_patterns(void **state)
{
	static const char *const bad[] = { "", "/", "//", "a//b", "!a", "[a", "[", "a\\", "a/./b", "../a", "<n", "<step>", "<",
					   "[[:alpha:]]", "a/[", "//a", "a//", "[a\\", "[\\]", "[a-\\", "[a-\\]" };
	static const char *const good[] = { "a", "/a", "a/", "*", "**", "**/a", "a/**", "[]a]", "[!a]", "[^a-z]", "\\<n>", "<n>",
					    "a**b", "...", " ", "#a" };
	_cleanup_role_rules_ struct role_rules *rules = NULL;

	assert_int_equal(role_rules_new(&rules), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (role_rules_add(rules, ROLE_HP, bad[i]) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (role_rules_add(rules, ROLE_HP, good[i]) != 0)
			fail_msg("refused: %s", good[i]);
}

static void test_bounds(void **state)
{
	_cleanup_role_rules_ struct role_rules *rules = NULL;
	char text[4096];

	assert_int_equal(role_rules_new(&rules), 0);
	memset(text, 'a', sizeof(text));
	text[1025] = '\0';
	assert_int_equal(role_rules_add(rules, ROLE_HP, text), -EINVAL);
	text[1024] = '\0';
	for (int i = 0; i < ROLE_RULES_MAX; i++)
		assert_int_equal(role_rules_add(rules, ROLE_HP, text), 0);
	assert_int_equal(role_rules_add(rules, ROLE_HP, "a"), -E2BIG);
	assert_int_equal(role_of(rules, text, false), ROLE_HP);
}

static void test_globs(void **state)
{
	static const struct {
		const char *pattern, *path;
		bool matches;
	} cases[] = {
		{ "a*b", "ab", true },		{ "a*b", "axxb", true },	{ "a*b", "axxbc", false },
		{ "a*b*c", "abbc", true },	{ "*", "x", true },		{ "a?c", "abc", true },
		{ "a?c", "ac", false },		{ "?", "\xff", true },		{ "[a-c]x", "bx", true },
		{ "[a-c]x", "dx", false },	{ "[!a-c]x", "dx", true },	{ "[^a-c]x", "bx", false },
		{ "[]-]x", "]x", true },	{ "[]-]x", "-x", true },	{ "[a\\]]x", "]x", true },
		{ "[\\\\]x", "\\x", true },	{ "[[]x", "[x", true },
		{ "[a-\\]]x", "]x", false },	{ "[A-\\]]x", "]x", true },	{ "[\x80-\xff]x", "\xc3x", true }, { "\\*x", "*x", true },
		{ "\\*x", "ax", false },	{ "<n>", "12", true },		{ "<n>", "1a", false },
		{ "a<n>", "a", false },		{ "*<n>.x", "a12.x", true },	{ "<n>2", "12", false },
		{ "1<n>", "12", false },	{ "*<n>*<n>", "a1b2", true },	{ "*<n>*<n>", "a12", false },
		{ "/a/b", "a/b", true },	{ "/a/b", "x/a/b", false },	{ "a/b", "x/a/b", false },
		{ "**/b", "b", true },		{ "**/b", "x/y/b", true },	{ "a/**", "a/b/c", true },
		{ "a/**", "a", false },		{ "a/**/b", "a/b", true },	{ "a/**/b", "a/x/y/b", true },
		{ "a/**/b", "a/x/y/c", false }, { "a/**/b/**/c", "a/b/x/b/c", true }, { "a/*/c", "a/b/c", true },
		{ "a/*/c", "a/b/b/c", false },	{ "/*", "a", true },		{ "a", "b/a", true },
		{ "a", "a/b", true },		{ "/a", "a/b", true },		{ "a/", "a", false },
		{ "a/", "a/b", true },		{ "a/", "x/a/b", true },	{ "/a/", "x/a/b", false },
		{ "*.x", ".x", true },		{ "a**b", "a--b", true },	{ "A", "a", false },
		{ "*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
		{ "**/**/**/**/**/x", "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_role_rules_ struct role_rules *rules = NULL;
		enum role role;

		assert_int_equal(role_rules_new(&rules), 0);
		assert_int_equal(role_rules_add(rules, ROLE_HP, cases[i].pattern), 0);
		role = role_of(rules, cases[i].path, false);
		if ((role == ROLE_HP) != cases[i].matches)
			fail_msg("%s on %s: %s", cases[i].pattern, cases[i].path, role_name(role));
	}
}

static void test_class(void **state)
{
	static const struct expected expected[] = {
		{ "checkpoints/manifest.yaml", ROLE_MANIFEST }, { "a/.checkpoint_manager_state.json", ROLE_MANIFEST },
		{ "a_data_snapshot.json", ROLE_DATA },	{ "split_a.json", ROLE_DATA },	{ ".hydra/config.yaml", ROLE_HP },
		{ "config.yml", ROLE_HP },		{ "lightning_logs/version_3/hparams.yaml", ROLE_HP },
		{ "architecture.py", ROLE_MODEL },	{ "x_architecture.txt", ROLE_MODEL }, { "a/metrics.csv", ROLE_SIGNALS },
		{ "a/step_5.pt", ROLE_WEIGHTS },	{ "step_5.bin", ROLE_WEIGHTS }, { "pytorch_model.bin", ROLE_WEIGHTS },
		{ "m.weights.h5", ROLE_WEIGHTS },	{ "a/checkpoint-5/", ROLE_WEIGHTS }, { "epoch_5/", ROLE_WEIGHTS },
		{ "x.ckpt/", ROLE_WEIGHTS },
	};
	static const char *const ordinary[] = { "train.py", "img_00012.jpg", "x.log",	"x.pt.tmp", "best (1).pt", "manifest.yml",
						"100",	    "README",	     "model.h5", ".best.pt.Xy12Za", "labels.json" };
	_cleanup_role_rules_ struct role_rules *rules = NULL;

	assert_int_equal(role_rules_new(&rules), 0);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		if (ask(rules, expected[i].path) != expected[i].role || !in_class(rules, expected[i].path, expected[i].role))
			fail_msg("%s", expected[i].path);
	for (size_t i = 0; i < ARRAY_SIZE(ordinary); i++)
		if (role_class(rules, ordinary[i], strlen(ordinary[i]), false))
			fail_msg("%s", ordinary[i]);
	assert_int_equal(role_class(rules, "config.yaml", 11, true), 0);
	assert_int_equal(role_class(rules, "best.pt and more", 7, false), 1u << ROLE_WEIGHTS);
	assert_int_equal(role_class(rules, "100", 3, true), 0);
}

static void test_steps(void **state)
{
	static const struct {
		const char *name; /* a slash at its end: a directory */
		int64_t step;	  /* -1: none */
	} cases[] = {
		{ "3dfd9bbfb5a79a78bb73166f_step_000100.pt", 100 }, { "b5a79a78_step_000005.pt", 5 },
		{ "3dfd9bbfb5a79a78bb73166f_step_1000000.pt", 1000000 }, { "3dfd9bbfb5a79a78bb73166f_step_abc.pt", -1 },
		{ "step_9.pt", 9 },	   { "step_10.pt", 10 },	 { "step9.safetensors", 9 },  { "step-9.pth", 9 },
		{ "step_9.ema.pt", 9 },	   { "step_9.weights.h5", 9 },	 { "step_9.npz", 9 },	      { "step_9.keras", 9 },
		{ "step_9.bin", 9 },	   { "step_9.txt", -1 },	 { "step_9", -1 },	      { "step_9x.pt", -1 },
		{ "mystep9.pt", -1 },	   { "a_step_12.pt", 12 },	 { "a-step12.pt", 12 },	      { "a-step12-loss0.3.pt", 12 },
		{ "a-step-12.pt", 12 },	   { "a_step_12_ema.pt", -1 },	 { "iter-120000.pth", 120000 },
		{ "iter-1080000-ckpt.pth", 1080000 }, { "iter_5.pth", 5 }, { "ckpt-5.pt", 5 },	      { "ckpt_5.pt", 5 },
		{ "ckpt5.pt", -1 },	   { "model_000200.pt", 200 },	 { "model_000200_backup.pt", -1 }, { "model_x.pt", -1 },
		{ "checkpoint_7.pt", 7 },  { "epoch=9-step=100.ckpt", 100 }, { "epoch=9-step=100-v3.ckpt", 100 },
		{ "epoch=9.ckpt", -1 },	   { "epoch=9-val_loss=0.3.ckpt", -1 }, { "x-epoch=09-step=7-val_loss=0.3.ckpt", 7 },
		{ "last.ckpt", -1 },	   { "last-v1.ckpt", -1 },	 { "best.pt", -1 },	      { "model_epoch2_step7.pt", 7 },
		{ "epoch10_step3.pt", 3 }, { "epoch10_step3/", 3 },	 { "model_epoch2_step7/", 7 }, { "checkpoint-500/", 500 },
		{ "checkpoint_500/", 500 }, { "global_step100/", 100 },	 { "iter_0000100/", 100 },    { "iter-100/", 100 },
		{ "step_10/", 10 },	   { "step-10/", 10 },		 { "epoch_3/", -1 },	      { "epoch=0-step=10.ckpt/", 10 },
		{ "step_7.incomplete/", -1 }, { "tmp-checkpoint-5/", -1 }, { "checkpoint-5.tmp/", -1 }, { "step_9.pt/", -1 },
		{ "0900000/", -1 },	   { "checkpoint-0900000/", 900000 }, { "step_0.pt", 0 },
		{ "step_9223372036854775807.pt", INT64_MAX }, { "step_9223372036854775808.pt", -1 },
		{ "step_18446744073709551617.pt", -1 }, { "step_00000000000000000000000000000000009.pt", 9 },
		{ "checkpoint-99999999999999999999/", -1 }, { "step_-5.pt", -1 }, { "", -1 },
		{ "epoch_12.pt", -1 },	   { "model-7.pt", -1 },	 { "weights.010.pt", -1 },    { "net_13.pt", -1 },
		{ "iteration-18.pt", -1 }, { "step9/", 9 },		 { "ckpt_9/", 9 },	      { "epoch-9/", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char name[256];
		size_t n = strlen(cases[i].name);
		bool is_dir = n > 0 && cases[i].name[n - 1] == '/', found;
		uint64_t step = 4711;

		snprintf(name, sizeof(name), "%.*s", (int)(is_dir ? n - 1 : n), cases[i].name);
		found = step_of_name(name, is_dir, &step);
		if (found != (cases[i].step >= 0) || step != (found ? (uint64_t)cases[i].step : 4711))
			fail_msg("%s: %s %llu", cases[i].name, found ? "step" : "no step", (unsigned long long)step);
	}
}

static void test_digit_dirs(void **state)
{
	assert_true(role_digit_dir("0"));
	assert_true(role_digit_dir("0900000"));
	assert_false(role_digit_dir(""));
	assert_false(role_digit_dir("1a"));
	assert_false(role_digit_dir("-1"));
	assert_false(role_digit_dir("1.orbax-checkpoint-tmp-2"));
}

static void test_hp_version(void **state)
{
	uint64_t n = 0;

	assert_true(role_hp_version("lightning_logs/version_12/hparams.yaml", &n));
	assert_int_equal(n, 12);
	assert_false(role_hp_version("hparams.yaml", &n));
	assert_false(role_hp_version("lightning_logs/version_/hparams.yaml", &n));
	assert_false(role_hp_version("lightning_logs/hparams.yaml", &n));
	assert_false(role_hp_version("lightning_logs/version_1/x/hparams.yaml", &n));
	assert_false(role_hp_version("lightning_logs/version_1/hparams.yml0", &n));
	assert_false(role_hp_version("Lightning_logs/version_1/hparams.yaml", &n));
	assert_false(role_hp_version("x/lightning_logs/version_1/hparams.yaml", &n));
	assert_false(role_hp_version("lightning_logs/version_99999999999999999999/hparams.yaml", &n));
	assert_int_equal(n, 12);
}

static void test_markers(void **state)
{
	assert_true(role_is_marker("trainer_state.json"));
	assert_true(role_is_marker("_CHECKPOINT_METADATA"));
	assert_true(role_is_marker(".metadata"));
	assert_false(role_is_marker("metadata"));
	assert_false(role_is_marker("latest"));
}

static void test_trackers(void **state)
{
	static const struct {
		const char *text, *dir;
		bool names;
	} cases[] = {
		{ "global_step100", "global_step100", true },	{ "global_step100\n", "global_step100", true },
		{ "global_step100\r\n", "global_step100", true }, { "global_step100", "global_step10", false },
		{ "global_step10", "global_step100", false },	{ "100", "iter_0000100", true },
		{ "100\n", "iter_0000100", true },		{ "100", "iter_0000200", false },
		{ "0000100", "iter_0000100", true },		{ "release", "release", true },
		{ "release", "iter_0000100", false },		{ "100", "100", true },
		{ "", "global_step100", false },		{ "\n", "", false },
		{ "global_step100\nglobal_step200", "global_step200", false }, { "100 200", "iter_0000100", false },
		{ "99999999999999999999", "iter_99999999999999999999", false }, { "-100", "iter_0000100", false },
		{ "100", "epoch_100", false },			{ "99", "iter_0000099", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (tracker_names(cases[i].text, strlen(cases[i].text), cases[i].dir) != cases[i].names)
			fail_msg("%s in %s", cases[i].dir, cases[i].text);
	assert_false(tracker_names("100\0", 4, "iter_0000100"));
	assert_false(tracker_names("iter_1\0", 7, "iter_1"));
	assert_false(tracker_names(NULL, 0, "iter_1"));
	assert_true(tracker_names("iter_1 and more", 6, "iter_1"));
	assert_true(tracker_names("1000", 3, "iter_0000100"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("databases, logs, locks and temporaries have no role", test_none),
		TEST("no role comes before every role", test_none_is_first),
		TEST("*.weights.h5 are weights though *.h5* are nothing", test_weights_h5),
		TEST("nothing below projection/ and .ipynb_checkpoints/ has a role", test_projection),
		TEST("conflict copies have no role", test_conflict_copies),
		TEST("staging directories, what lies in them, and backups have no role", test_unfinished),
		TEST("temporaries of rsync have no role", test_rsync),
		TEST("names with a step and a suffix of weights are weights", test_weights_with_step),
		TEST("directories named by a step are checkpoints", test_checkpoint_dirs),
		TEST("files inside a checkpoint directory are no weights of their own", test_inside_checkpoint_dirs),
		TEST("names with a suffix of weights are weights", test_weights_without_step),
		TEST("configurations at the top and in checkpoints/HP are HP", test_hp),
		TEST("architecture files are MODEL", test_model),
		TEST("data snapshots, splits and what lies in data/ are DATA", test_data),
		TEST("metrics are SIGNALS", test_signals),
		TEST("the manifest and the state file are MANIFEST", test_manifest),
		TEST("configured patterns come before the defaults", test_configured),
		TEST("of several roles the first in the order counts", test_order),
		TEST("a bad pattern is refused", test_bad_patterns),
		TEST("the number and the length of patterns are bounded", test_bounds),
		TEST("patterns match as in gitignore", test_globs),
		TEST("the class of a name has every role that its paths can have", test_class),
		TEST("a step is the number in the name", test_steps),
		TEST("all digits may be a checkpoint directory", test_digit_dirs),
		TEST("the version of Lightning's hparams.yaml is known", test_hp_version),
		TEST("markers are known by name", test_markers),
		TEST("a tracker names a directory by name or by step", test_trackers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
