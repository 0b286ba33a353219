#include <getopt.h>
#include <stdio.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"
#include "op/reply.h"
#include "util/human.h"
#include "util/util.h"

static void print_version(const json_t *v)
{
	const json_t *step = json_object_get(v, "step");
	const char *digest = cmd_string(v, "digest");
	char when[REPLY_TIME_TEXT], size[HUMAN_TEXT], at[24] = "-";

	reply_time_text(cmd_string(v, "mtime"), when);
	human_bytes((double)cmd_number(v, "size"), size);
	if (json_is_integer(step))
		snprintf(at, sizeof(at), "%" JSON_INTEGER_FORMAT, json_integer_value(step));
	printf("%s %5" JSON_INTEGER_FORMAT "  %-19s  %10s  %-10s  %8s  %-32s  ", json_is_true(json_object_get(v, "held")) ? "*" : " ",
	       cmd_number(v, "n"), when, size, json_is_true(json_object_get(v, "complete")) ? "complete" : "incomplete", at,
	       *digest ? digest : "-");
	cmd_print_text(cmd_string(v, "found"));
	putchar('\n');
}

static enum op_exit print(const json_t *answer)
{
	const json_t *v;
	size_t i;

	printf("%7s  %-19s  %10s  %-10s  %8s  %-32s  %s\n", "version", "time", "size", "", "step", "digest", "found at");
	json_array_foreach (json_object_get(answer, "versions"), i, v)
		print_version(v);
	return OP_DONE;
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "history" };
	enum op_exit exit = ask_options(&a, argc, argv, NULL, NULL);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind != 1)
		return cmd_bad_operands(&cmd_history);
	exit = ask_path(&a, argv[optind], TARGET_GONE);
	if (exit == OP_DONE)
		exit = ask_run(&a, "history");
	if (exit == OP_NO)
		return target_say_unknown("history", &a.target, a.answer);
	return ask_print(&a, exit, print);
}

const struct command cmd_history = {
	.name = "history",
	.run = run,
	.usage = "PATH [--store STORE] [--json]",
	.summary = "the versions of a path",
	.help = "Shows what a file with a role, or a checkpoint directory, held each time that\n"
		"its last writer closed it (a directory: that it was complete), the oldest\n"
		"first; of paths that are gone, too. * is what the path holds now. Each version\n"
		"is found, read-only, in the mount at the path that is printed last.\n"
		"\n"
		"PATH lies in a mount. Otherwise it counts from the top of the store that\n"
		"--store or the environment variable EXPFS_STORE names.\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Exit status 1: nothing is known of the path.\n",
};
