#include "exp/view_path.h"
#include "test.h"

#define TEST(sentence, function) { sentence, function, NULL, NULL, NULL }

static void test_paths(void **state)
{
	static const struct {
		const char *path;
		enum view_path view;
		const char *below;
	} paths[] = {
		{ "", VIEW_PATH_NONE, "" },
		{ "runs/r", VIEW_PATH_NONE, "" },
		{ "branches", VIEW_PATH_NONE, "" },
		{ "branches/", VIEW_PATH_BRANCHES, "" },
		{ "branches/a/latest", VIEW_PATH_BRANCHES, "a/latest" },
		{ "branches.d/a", VIEW_PATH_NONE, "" },
		{ "runs/branches/a", VIEW_PATH_NONE, "" },
		{ "experiments/0123", VIEW_PATH_EXPERIMENTS, "0123" },
		{ "models/0123", VIEW_PATH_MODELS, "0123" },
		{ "HP/0123", VIEW_PATH_HP, "0123" },
		{ "data/0123", VIEW_PATH_DATA, "0123" },
		{ ".expfs", VIEW_PATH_BESIDE, "" },
		{ "runs/r/.expfs/step/1", VIEW_PATH_BESIDE, "step/1" },
		{ "runs/r/.expfsx/y", VIEW_PATH_NONE, "" },
		{ "runs/my.expfs/y", VIEW_PATH_NONE, "" },
		{ "runs/my.expfs/.expfs/history/a", VIEW_PATH_BESIDE, "history/a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const char *below;

		assert_int_equal(view_path(paths[i].path, &below), paths[i].view);
		assert_string_equal(below, paths[i].below);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("a path lies in the view that its components name", test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
