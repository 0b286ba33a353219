#include <getopt.h>
#include <stdio.h>

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "cmd/target.h"
#include "op/reply.h"

static void print(const json_t *answer)
{
	cmd_print_text(cmd_string(answer, "branch"));
	printf(": %s%s\n", json_is_true(json_object_get(answer, "committed")) ? "" : "nothing is pending, it is at ",
	       cmd_string(answer, "hash"));
}

static int run(int argc, char **argv)
{
	_cleanup_json_ json_t *args = json_object(), *answer = NULL;
	_cleanup_target_ struct target t = { 0 };
	struct target_options o;
	enum op_exit exit = target_options(argc, argv, &o);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind > 1)
		return cmd_bad_operands(&cmd_commit);
	exit = target_open_branch("commit", argv[optind], o.store, args, &t);
	if (exit == OP_DONE)
		exit = client_run(t.store, "commit", args, &answer);
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

const struct command cmd_commit = {
	.name = "commit",
	.run = run,
	.usage = "[BRANCH|PATH] [--store STORE] [--json]",
	.summary = "make what was edited in a run an experiment now",
	.help = "Makes the state of a run's configuration, model and data files an experiment of\n"
		"its branch, without waiting for the next checkpoint. Where nothing is pending,\n"
		"the experiment stays that is there. Shows its hash.\n"
		"\n"
		"What has a slash in it, or is . or .., is a PATH in a mount, and the branch is\n"
		"that of the run in which it lies; anything else is the name of a BRANCH. Without\n"
		"either it is the run of the working directory or, with --store, the top.\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Exit status 1: there is no such branch, or nothing in it makes an experiment.\n",
};
