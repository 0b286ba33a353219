#include <getopt.h>
#include <stdio.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"
#include "op/experiments.h"

static enum op_exit print(const json_t *answer)
{
	_cleanup_free_ char *text = experiments_text(answer);

	if (!text)
		return OP_FAILED;
	fputs(text, stdout);
	return OP_DONE;
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "log" };
	enum op_exit exit = ask_options(&a, argc, argv, NULL, NULL);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind > 1)
		return cmd_bad_operands(&cmd_log);
	exit = argv[optind] ? ask_branch(&a, argv[optind]) : ask_path(&a, NULL, TARGET_THERE);
	if (exit == OP_DONE)
		exit = ask_run(&a, "log");
	return ask_print(&a, exit, print);
}

const struct command cmd_log = {
	.name = "log",
	.run = run,
	.usage = "[BRANCH|PATH] [--store STORE] [--json]",
	.summary = "show the experiments of branches",
	.help = "Shows the experiments through which a branch went, the last one first, each with\n"
		"its parent, what changed against that (of configurations each key, with both\n"
		"values), the steps of its checkpoints and the newest of them. In front of them\n"
		"stands what is pending: changes that become an experiment with the next\n"
		"checkpoint. HEAD is where a branch is.\n"
		"\n"
		"What has a slash in it, or is . or .., is a PATH, and means the branches whose\n"
		"runs lie there or below or, where there are none, that of the run in which it\n"
		"lies; anything else is the name of a BRANCH. Without either all are shown.\n"
		"A run that was removed keeps its branch, by its name or, when that was taken\n"
		"again, as NAME~1.\n"
		"\n"
		"PATH lies in a mount. Otherwise it counts from the top of the store that\n"
		"--store or the environment variable EXPFS_STORE names.\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Exit status 1: there is no such branch or path.\n",
};
