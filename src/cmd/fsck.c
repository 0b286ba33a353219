#include <getopt.h>
#include <stdio.h>

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "op/reply.h"
#include "util/progress.h"

static void print(json_t *answer)
{
	json_t *problem;
	size_t i;
	json_int_t found, left, objects, inodes, bytes;

	if (json_unpack(answer, "{s:I, s:I, s:I, s:I, s:I}", "found", &found, "left", &left, "objects",
			&objects, "inodes", &inodes, "bytes", &bytes) < 0)
		return;
	json_array_foreach (json_object_get(answer, "problems"), i, problem) {
		const char *kind, *path, *text;
		int repaired;

		if (json_unpack(problem, "{s:s, s:s?, s:s, s:b}", "kind", &kind, "path", &path, "text", &text, "repaired",
				&repaired) < 0)
			return;
		printf("%s: ", kind);
		if (path) {
			cmd_print_text(path);
			printf(": ");
		}
		cmd_print_text(text);
		printf("%s\n", repaired ? " (repaired)" : "");
	}
	if ((json_int_t)i < found)
		printf("%" JSON_INTEGER_FORMAT " more problems\n", found - (json_int_t)i);
	if (found == 0)
		printf("the store is sound");
	else
		printf("%" JSON_INTEGER_FORMAT " problems, %" JSON_INTEGER_FORMAT " repaired", found, found - left);
	printf(": %" JSON_INTEGER_FORMAT " inodes, %" JSON_INTEGER_FORMAT " objects, ", inodes, objects);
	cmd_print_bytes((double)bytes);
	printf(" read\n");
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "repair", no_argument, NULL, 'r' }, { "json", no_argument, NULL, 'j' }, { 0 }
	};
	_cleanup_json_ json_t *args = NULL, *answer = NULL;
	bool repair = false, json = false;
	enum op_exit exit;
	int c;

	while ((c = getopt_long(argc, argv, ":", options, NULL)) >= 0) {
		if (c == 'r')
			repair = true;
		else if (c == 'j')
			json = true;
		else
			return cmd_bad_option(argc, argv, c);
	}
	if (argc - optind != 1)
		return cmd_bad_operands(&cmd_fsck);
	progress_enable();
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
	.summary = "check whether a store is sound",
	.help = "Checks the database, reads every content and compares it with its digest, and\n"
		"names each file that is damaged. Exit status 0: sound, 1: damage was found (with\n"
		"--repair: and some of it is left). While the store is mounted, the daemon does it\n"
		"beside its other work, and contents that are being written are left out.\n"
		"\n"
		"  --repair  put in order what has one right answer only: wrong counts and sizes,\n"
		"            names that lead nowhere, files that nothing refers to; what lost its\n"
		"            name is put into /lost+found. Damaged contents are never removed. The\n"
		"            store must not be mounted.\n"
		"  --json    the answer as JSON\n",
};
