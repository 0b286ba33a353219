#include <getopt.h>
#include <stdio.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"

static enum op_exit print(const json_t *answer)
{
	const json_t *kept;
	size_t i;

	cmd_print_text(cmd_string(answer, "path"));
	printf(": ");
	cmd_print_count((json_int_t)json_array_size(json_object_get(answer, "forgotten")), "version");
	printf(" forgotten, ");
	cmd_print_bytes((double)cmd_number(answer, "freed"));
	printf(" freed\n");
	json_array_foreach (json_object_get(answer, "kept"), i, kept)
		printf("version %" JSON_INTEGER_FORMAT " is kept: %s\n", cmd_number(kept, "n"), cmd_string(kept, "why"));
	return OP_DONE;
}

/* As JSON with which need what. */
static enum op_exit say_needed(const struct ask *a)
{
	cmd_say_no(a->answer);
	if (a->json)
		cmd_print_json(a->answer);
	return OP_NO;
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "forget" };
	_cleanup_free_ char *path = NULL;
	uint64_t n = 0;
	enum op_exit exit = ask_options(&a, argc, argv, NULL, NULL);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind != 1)
		return cmd_bad_operands(&cmd_forget);
	exit = target_split("forget", argv[optind], &path, &n);
	if (exit == OP_DONE)
		exit = ask_path(&a, path, TARGET_GONE);
	if (exit == OP_DONE && n && json_object_set_new(a.args, "n", json_integer((json_int_t)n)) < 0)
		exit = OP_FAILED;
	if (exit == OP_DONE)
		exit = ask_run(&a, "forget");
	if (exit == OP_NO && json_object_get(a.answer, "kept"))
		return say_needed(&a);
	if (exit == OP_NO && n == 0)
		return target_say_unknown("forget", &a.target, a.answer);
	return ask_print(&a, exit, print);
}

const struct command cmd_forget = {
	.name = "forget",
	.run = run,
	.usage = "PATH[@N] [--store STORE] [--json]",
	.summary = "let versions go",
	.help = "Lets the version N of PATH go; without @N all that nothing needs, of a path that\n"
		"is gone all. The space of what nothing else has is freed. This cannot be undone.\n"
		"\n"
		"Never forgotten is what the path holds; the last complete version of a\n"
		"checkpoint that is there, for latest and step/ lead to it; what is selected\n"
		"(expfs select), until another one is selected under that name; and, of a run\n"
		"that is there, its best checkpoint, the configurations, models and data of its\n"
		"experiments and the last checkpoint of each. expfs history shows the versions\n"
		"and their numbers. A path that itself ends in @ and digits is written with one\n"
		"more @: model@2@ or model@2@1.\n"
		"\n"
		"PATH lies in a mount. Otherwise it counts from the top of the store that\n"
		"--store or the environment variable EXPFS_STORE names.\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON; also where all versions are needed\n"
		"\n"
		"Exit status 1: there is no such version, or all that there are are needed.\n",
};
