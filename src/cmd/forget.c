#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "cmd/target.h"
#include "op/reply.h"

static void print(const json_t *answer)
{
	size_t n = json_array_size(json_object_get(answer, "forgotten")), i;
	const json_t *kept;

	cmd_print_text(cmd_string(answer, "path"));
	printf(": %zu version%s forgotten, ", n, n == 1 ? "" : "s");
	cmd_print_bytes((double)cmd_number(answer, "freed"));
	printf(" freed\n");
	json_array_foreach (json_object_get(answer, "kept"), i, kept)
		printf("version %" JSON_INTEGER_FORMAT " is kept: %s\n", cmd_number(kept, "n"), cmd_string(kept, "why"));
}

static int run(int argc, char **argv)
{
	_cleanup_json_ json_t *args = json_object(), *answer = NULL;
	_cleanup_target_ struct target t = { 0 };
	_cleanup_free_ char *path = NULL;
	struct target_options o;
	enum op_exit exit = target_options(argc, argv, &o);
	uint64_t n = 0;

	if (exit != OP_DONE)
		return exit;
	if (argc - optind != 1)
		return cmd_bad_operands(&cmd_forget);
	exit = target_split("forget", argv[optind], &path, &n);
	if (exit == OP_DONE)
		exit = target_open("forget", path, o.store, TARGET_GONE, &t);
	if (exit == OP_DONE && (reply_put_path(args, t.path) < 0 || (n && json_object_set_new(args, "n", json_integer((json_int_t)n)) < 0)))
		exit = OP_FAILED;
	if (exit == OP_DONE)
		exit = client_run(t.store, "forget", args, &answer);
	if (exit == OP_NO && n == 0)
		return target_say_unknown("forget", &t, answer);
	if (exit == OP_NO)
		cmd_say_no(answer);
	if (exit != OP_DONE)
		return exit;
	if (o.json)
		cmd_print_json(answer);
	else
		print(answer);
	return exit;
}

const struct command cmd_forget = {
	.name = "forget",
	.run = run,
	.usage = "PATH[@N] [--store STORE] [--json]",
	.summary = "let versions of a file or a checkpoint go",
	.help = "Lets the version N of PATH go; without @N all that nothing needs, of a path that\n"
		"is gone all. The space of what nothing else has is freed. This cannot be undone.\n"
		"\n"
		"Never forgotten is what the path holds; the last complete version of a\n"
		"checkpoint that is there, for latest and step/ lead to it; and, of a run that is\n"
		"there, the configurations, models and data of its experiments and the last\n"
		"checkpoint of each. expfs history shows the versions and their numbers. A path\n"
		"that itself ends in @ and digits is written with one more @: model@2@ or\n"
		"model@2@1.\n"
		"\n"
		"PATH lies in a mount. Otherwise it counts from the top of the store that\n"
		"--store or the environment variable EXPFS_STORE names.\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Exit status 1: there is no such version, or it is needed.\n",
};
