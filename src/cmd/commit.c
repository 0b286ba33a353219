#include <getopt.h>
#include <stdio.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"

static enum op_exit print(const json_t *answer)
{
	cmd_print_text(cmd_string(answer, "branch"));
	printf(": %s%s\n", json_is_true(json_object_get(answer, "committed")) ? "" : "nothing is pending, it is at ",
	       cmd_string(answer, "hash"));
	return OP_DONE;
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "commit" };
	enum op_exit exit = ask_options(&a, argc, argv, NULL, NULL);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind > 1)
		return cmd_bad_operands(&cmd_commit);
	exit = ask_branch(&a, argv[optind]);
	if (exit == OP_DONE)
		exit = ask_run(&a, "commit");
	return ask_print(&a, exit, print);
}

const struct command cmd_commit = {
	.name = "commit",
	.run = run,
	.usage = "[BRANCH|PATH] [--store STORE] [--json]",
	.summary = "make an experiment now",
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
