#include <getopt.h>
#include <stdio.h>

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "op/reply.h"

static void print_problem(const json_t *problem)
{
	const char *path = cmd_string(problem, "path");

	printf("%s: ", cmd_string(problem, "kind"));
	cmd_print_text(path);
	printf(*path ? ": " : "");
	cmd_print_text(cmd_string(problem, "text"));
	printf("%s\n", json_is_true(json_object_get(problem, "repaired")) ? " (repaired)" : "");
}

static void print(const json_t *answer)
{
	json_int_t found = cmd_number(answer, "found");
	const json_t *problem;
	size_t i;

	json_array_foreach (json_object_get(answer, "problems"), i, problem)
		print_problem(problem);
	if ((json_int_t)i < found)
		printf("problems that are not listed: %" JSON_INTEGER_FORMAT "\n", found - (json_int_t)i);
	if (found == 0)
		printf("the store is sound: ");
	else
		printf("problems: %" JSON_INTEGER_FORMAT ", repaired: %" JSON_INTEGER_FORMAT "; ", found,
		       found - cmd_number(answer, "left"));
	cmd_print_count(cmd_number(answer, "inodes"), "inode");
	printf(", ");
	cmd_print_count(cmd_number(answer, "objects"), "content");
	printf(", ");
	cmd_print_bytes((double)cmd_number(answer, "bytes"));
	printf(" read\n");
}

static int run(int argc, char **argv)
{
	bool repair = false, json = false;
	const struct cmd_option options[] = { { "repair", .flag = &repair }, { "json", .flag = &json }, { NULL } };
	_cleanup_json_ json_t *args = NULL, *answer = NULL;
	enum op_exit exit = cmd_options(argc, argv, options);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind != 1)
		return cmd_bad_operands(&cmd_fsck);
	args = json_pack("{s:b}", "repair", repair);
	exit = client_run(argv[optind], "fsck", args, &answer);
	if (!answer)
		return exit;
	if (json)
		cmd_print_json(answer);
	else
		print(answer);
	return exit;
}

const struct command cmd_fsck = {
	.name = "fsck",
	.run = run,
	.usage = "STORE [--repair] [--json]",
	.summary = "check or repair a store",
	.help = "Checks the database, reads every content, compares it with its digest, and names\n"
		"each file that is damaged. Exit status 0: sound; 1: damage was found (with\n"
		"--repair: and some is left). While the store is mounted, the daemon does it\n"
		"beside its other work and leaves out what is being written.\n"
		"\n"
		"  --repair  put in order what has one right answer only: wrong counts and\n"
		"            sizes, names that lead nowhere, directories with several names,\n"
		"            files that nothing refers to, a missing index; what lost its name is\n"
		"            put into /lost+found. Damaged contents are never removed. The store\n"
		"            must not be mounted.\n"
		"  --json    the answer as JSON\n",
};
