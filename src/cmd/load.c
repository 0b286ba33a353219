#include <getopt.h>
#include <stdio.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"
#include "util/log.h"

enum op_exit cmd_print_loaded(const json_t *answer)
{
	const char *checkpoint = cmd_string(answer, "checkpoint");

	cmd_print_text(cmd_string(answer, "run"));
	printf(": %s", cmd_string(answer, "hash"));
	if (*checkpoint)
		printf(", ");
	cmd_print_text(checkpoint);
	if (json_is_integer(json_object_get(answer, "step")))
		printf(", step %" JSON_INTEGER_FORMAT, cmd_number(answer, "step"));
	printf(*checkpoint ? "\n" : ", which has no checkpoint\n");
	return OP_DONE;
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "load" };
	enum op_exit exit = ask_options(&a, argc, argv, NULL, NULL);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind < 1 || argc - optind > 2)
		return cmd_bad_operands(&cmd_load);
	if (json_object_set_new(a.args, "hash", json_string(argv[optind])) < 0) {
		log_msg("load: that is no hash; give HASH or HASH@STEP, as expfs log shows them");
		return OP_USAGE;
	}
	exit = ask_branch(&a, argv[optind + 1]);
	if (exit == OP_DONE)
		exit = ask_run(&a, "load");
	return ask_print(&a, exit, cmd_print_loaded);
}

const struct command cmd_load = {
	.name = "load",
	.run = run,
	.usage = "HASH[@STEP] [BRANCH|PATH] [--store STORE] [--json]",
	.summary = "bring an experiment back",
	.help = "Brings the configuration, model and data files of an experiment and its newest\n"
		"checkpoint, or that of STEP, back into the run of a branch, and takes those\n"
		"away that the experiment did not have. Other checkpoints, and files that are\n"
		"none of these, stay. What was there stays in history. Nothing is copied, and\n"
		"all of it is there at once, or nothing.\n"
		"\n"
		"The branch is then at that experiment, and its line goes on from the step that\n"
		"was loaded: later checkpoints are off it, though their files stay. The next\n"
		"checkpoint begins a new experiment that comes from the loaded one.\n"
		"\n"
		"Of HASH the first characters will do. What has a slash in it, or is . or .., is\n"
		"a PATH in a mount, and the run is that in which it lies; anything else is the\n"
		"name of a BRANCH. Without either it is the run of the working directory or, with\n"
		"--store, the top. In a mount a line HASH or HASH@STEP that is written to\n"
		"branches/BRANCH/HEAD does the same.\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Exit status 1: there is no such experiment, step or branch.\n",
};
