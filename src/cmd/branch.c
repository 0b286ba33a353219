#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "cmd/target.h"
#include "op/reply.h"
#include "util/log.h"

struct options {
	const char *store, *from;
	bool json;
};

static enum op_exit parse_options(int argc, char **argv, struct options *ret)
{
	static const struct option options[] = { { "store", required_argument, NULL, 's' },
						 { "from", required_argument, NULL, 'f' },
						 { "json", no_argument, NULL, 'j' },
						 { 0 } };
	int c;

	while ((c = getopt_long(argc, argv, ":", options, NULL)) >= 0) {
		if (c == 's')
			ret->store = optarg;
		else if (c == 'f')
			ret->from = optarg;
		else if (c == 'j')
			ret->json = true;
		else
			return (enum op_exit)cmd_bad_option(argc, argv, c);
	}
	return OP_DONE;
}

static void print_branches(const json_t *branches)
{
	const json_t *b;
	size_t i;

	json_array_foreach (branches, i, b) {
		const json_t *latest = json_object_get(b, "latest");
		const char *head = cmd_string(b, "head");

		cmd_print_text(cmd_string(b, "name"));
		printf("  %s  ", *head ? head : "no experiment");
		cmd_print_text(json_is_null(latest) ? "no checkpoint" : cmd_string(latest, "path"));
		if (json_is_integer(json_object_get(latest, "step")))
			printf(", step %" JSON_INTEGER_FORMAT, cmd_number(latest, "step"));
		putchar('\n');
	}
}

static enum op_exit list(const struct options *o)
{
	_cleanup_json_ json_t *status = NULL, *answer = NULL;
	_cleanup_target_ struct target t = { 0 };
	enum op_exit exit = target_open("branch", NULL, o->store, TARGET_THERE, &t);

	if (exit == OP_DONE)
		exit = client_run(t.store, "status", NULL, &status);
	if (exit != OP_DONE)
		return exit;
	if (!o->json) {
		print_branches(json_object_get(status, "branches"));
		return exit;
	}
	answer = json_pack("{s:O}", "branches", json_object_get(status, "branches"));
	cmd_print_json(answer);
	return exit;
}

/* The name of the run, as it is given or as runs/NAME in a mount. */
static enum op_exit put_name(const char *operand, const struct target *t, json_t *args)
{
	const char *name = t->path ? t->path : operand;

	if (t->path && strncmp(name, "runs/", 5) == 0)
		name += 5;
	else if (t->path)
		name = "";
	if (*name && !strchr(name, '/') && json_object_set_new(args, "new", json_string(name)) == 0)
		return OP_DONE;
	log_msg("branch: %s: is no name of a run; give NAME, or PATH/runs/NAME", operand);
	return OP_USAGE;
}

static enum op_exit make(const char *operand, const struct options *o)
{
	_cleanup_json_ json_t *args = json_pack("{s:s}", "from", o->from), *answer = NULL;
	_cleanup_target_ struct target t = { 0 };
	const char *path = strchr(operand, '/') ? operand : NULL;
	enum op_exit exit = target_open("branch", path, o->store, TARGET_GONE, &t);

	if (exit == OP_DONE)
		exit = put_name(operand, &t, args);
	if (exit == OP_DONE)
		exit = client_run(t.store, "branch", args, &answer);
	if (exit == OP_NO)
		cmd_say_no(answer);
	if (exit != OP_DONE)
		return exit;
	if (o->json)
		cmd_print_json(answer);
	else
		cmd_print_loaded(answer);
	return exit;
}

static int run(int argc, char **argv)
{
	struct options o = { .json = false };
	enum op_exit exit = parse_options(argc, argv, &o);

	if (exit != OP_DONE)
		return exit;
	if (argc == optind && !o.from)
		return list(&o);
	if (argc - optind != 1 || !o.from)
		return cmd_bad_operands(&cmd_branch);
	return make(argv[optind], &o);
}

const struct command cmd_branch = {
	.name = "branch",
	.run = run,
	.usage = "[NEW --from HASH|BRANCH[@STEP]] [--store STORE] [--json]",
	.summary = "show the branches, or begin a new one from a state",
	.help = "Shows the branches, each with the experiment at which it is and its newest\n"
		"checkpoint.\n"
		"\n"
		"With NEW it makes the run runs/NEW and loads a state into it, as expfs load\n"
		"does: that of an experiment, of which the first characters of the hash will do,\n"
		"or that at which a branch is; with STEP that of the checkpoint of this step.\n"
		"The branch from which it comes stays as it is, and nothing is copied.\n"
		"\n"
		"NEW is a name or a path, MNT/runs/NAME. The store is that in which this path or\n"
		"the working directory lies, or that of --store or the environment variable\n"
		"EXPFS_STORE.\n"
		"\n"
		"  --from FROM    the experiment or branch with which it begins\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Exit status 1: there is no such experiment, branch or step.\n",
};
