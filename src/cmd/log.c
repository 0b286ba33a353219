#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "cmd/target.h"
#include "op/experiments.h"
#include "op/reply.h"

static int run(int argc, char **argv)
{
	_cleanup_json_ json_t *args = json_object(), *answer = NULL;
	_cleanup_target_ struct target t = { 0 };
	_cleanup_free_ char *text = NULL;
	struct target_options o;
	enum op_exit exit = target_options(argc, argv, &o);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind > 1)
		return cmd_bad_operands(&cmd_log);
	exit = argv[optind] ? target_open_branch("log", argv[optind], o.store, args, &t) :
			      target_open("log", NULL, o.store, TARGET_THERE, &t);
	if (exit == OP_DONE)
		exit = client_run(t.store, "log", args, &answer);
	if (exit == OP_NO)
		cmd_say_no(answer);
	if (exit != OP_DONE)
		return exit;
	if (o.json) {
		cmd_print_json(answer);
		return exit;
	}
	text = experiments_text(answer);
	if (!text)
		return OP_FAILED;
	fputs(text, stdout);
	return exit;
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
		"\n"
		"PATH lies in a mount. Otherwise it counts from the top of the store that\n"
		"--store or the environment variable EXPFS_STORE names.\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Exit status 1: there is no such branch or path.\n",
};
