#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/operand.h"
#include "util/log.h"

static enum op_exit print(const json_t *d)
{
	cmd_print_text(cmd_string(d, "branch"));
	putchar(':');
	cmd_print_text(cmd_string(d, "name"));
	printf(" (%s): %s by ", cmd_string(d, "selection"), cmd_string(d, "decision"));
	cmd_print_text(cmd_string(d, "by"));
	putchar('\n');
	return OP_DONE;
}

static int put_text(json_t *args, const char *key, const char *text)
{
	if (!text || json_object_set_new(args, key, json_string(text)) == 0)
		return 0;
	log_msg("decide: %s: is not UTF-8; write it so", text);
	return -EINVAL;
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "decide", .args = json_object() };
	const char *by = NULL, *note = NULL;
	const struct cmd_option options[] = {
		{ "by", .value = &by },		{ "note", .value = &note },  { "store", .value = &a.store },
		{ "json", .flag = &a.json },	{ NULL },
	};
	enum op_exit exit = cmd_options(argc, argv, options);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind != 2 || !by)
		return cmd_bad_operands(&cmd_decide);
	if (put_text(a.args, "selection", argv[optind]) < 0 || put_text(a.args, "decision", argv[optind + 1]) < 0 ||
	    put_text(a.args, "by", by) < 0 || put_text(a.args, "note", note) < 0)
		return OP_USAGE;
	exit = target_open("decide", NULL, a.store, TARGET_GONE, &a.target);
	if (exit == OP_DONE && operand_put_selection(&a, argv[optind], a.args) < 0)
		exit = OP_FAILED;
	if (exit == OP_DONE)
		exit = ask_run(&a, "decide");
	return ask_print(&a, exit, print);
}

const struct command cmd_decide = {
	.name = "decide",
	.run = run,
	.usage = "SELECTION DECISION --by NAME [--note TEXT] [--store DIR] [--json]",
	.summary = "add a reviewer's decision",
	.help = "Adds a decision to the record of a selection: ACCEPT, RECOVER, RECAPTURE, RERUN\n"
		"or HOLD, as verify answers. It changes nothing else, and stays for good;\n"
		"who decides otherwise adds another. expfs show SELECTION shows all.\n"
		"\n"
		"The store is that of the mount in which the working directory lies, or what\n"
		"--store or the environment variable EXPFS_STORE name.\n"
		"\n"
		"  --by NAME      who decides\n"
		"  --note TEXT    why, on one line\n"
		"  --store DIR    the store, mounted or not\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Exit status 1: there is no such selection, or several branches have one; expfs\n"
		"help select says how it is written.\n",
};
