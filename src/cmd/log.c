#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"
#include "cmd/paint.h"
#include "op/experiments.h"

/* Of a line that begins with what it tells; one that begins with a space goes on with the one before. */
static enum paint colour_of(const char *line)
{
	return !strncmp(line, "experiment ", 11) ? PAINT_BOLD : !strncmp(line, "label ", 6) ? PAINT_YELLOW : PAINT_NONE;
}

static enum op_exit print(const json_t *answer)
{
	_cleanup_free_ char *text = experiments_text(answer);
	enum paint p = PAINT_NONE;

	if (!text)
		return OP_FAILED;
	for (const char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		end += *end == '\n';
		p = *line == ' ' ? p : colour_of(line);
		if (p == PAINT_NONE)
			fwrite(line, 1, (size_t)(end - line), stdout);
		else
			paint_printf(p, "%.*s", (int)(end - line), line);
	}
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
	exit = ask_branch(&a, argv[optind]);
	if (exit == OP_DONE)
		exit = ask_run(&a, "log");
	return ask_print(&a, exit, print);
}

const struct command cmd_log = {
	.name = "log",
	.run = run,
	.usage = "[BRANCH|PATH] [--store STORE] [--json]",
	.summary = "the experiments of branches",
	.help = "Shows the experiments through which a branch went, the last one first, each with\n"
		"its parent, what changed against that (of configurations each key, with both\n"
		"values), the steps of its checkpoints and the newest of them: those of the\n"
		"branch's own run or, where it has none, of all. In front of them stands what is\n"
		"pending: changes that become an experiment with the next checkpoint. HEAD is\n"
		"where a branch is.\n"
		"\n"
		"What has a slash in it, or is . or .., is a PATH, and means the branches whose\n"
		"runs lie there or below or, where there are none, that of the run in which it\n"
		"lies; anything else is the name of a BRANCH. Without either it is the working\n"
		"directory, or all of the store that --store or EXPFS_STORE names.\n"
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
