#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/ask.h"
#include "cmd/client.h"
#include "cmd/cmd.h"
#include "cmd/operand.h"
#include "op/reply.h"
#include "util/log.h"

/* Letters, of which more than one byte may be needed for each. */
static int width_of(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static enum op_exit print_branches(const json_t *answer)
{
	const json_t *branches = json_object_get(answer, "branches"), *b;
	int width = 0;
	size_t i;

	json_array_foreach (branches, i, b)
		width = MAX(width, width_of(cmd_string(b, "name")));
	json_array_foreach (branches, i, b) {
		const json_t *latest = json_object_get(b, "latest");
		const char *name = cmd_string(b, "name"), *head = cmd_string(b, "head");

		cmd_print_text(name);
		printf("%*s  %-24s  ", width - width_of(name), "", *head ? head : "no experiment");
		cmd_print_text(json_is_null(latest) ? "no checkpoint" : cmd_string(latest, "path"));
		if (json_is_integer(json_object_get(latest, "step")))
			printf(", step %" JSON_INTEGER_FORMAT, cmd_number(latest, "step"));
		putchar('\n');
	}
	return OP_DONE;
}

static enum op_exit list(struct ask *a)
{
	_cleanup_json_ json_t *status = NULL;
	enum op_exit exit = ask_path(a, NULL, TARGET_THERE);

	if (exit == OP_DONE)
		exit = client_run(a->target.store, "status", NULL, &status);
	if (exit == OP_DONE)
		a->answer = json_pack("{s:O}", "branches", json_object_get(status, "branches"));
	return ask_print(a, exit, print_branches);
}

/* The name of the run, as it is given or as runs/NAME in a mount. */
static enum op_exit put_name(struct ask *a, const char *operand)
{
	bool path = target_is_path(operand);
	enum op_exit exit = path ? target_open("branch", operand, a->store, TARGET_GONE, &a->target) : OP_DONE;
	const char *name = exit == OP_DONE && path ? a->target.path : operand;

	if (exit != OP_DONE)
		return exit;
	if (path)
		name = !strncmp(name, "runs/", 5) ? name + 5 : "";
	if (*name && !strchr(name, '/') && json_object_set_new(a->args, "new", json_string(name)) == 0)
		return OP_DONE;
	log_msg("branch: %s: is no name of a run; give NAME, or PATH/runs/NAME", *operand ? operand : "''");
	return OP_USAGE;
}

/* A path in a mount tells the store, too. */
static enum op_exit put_from(struct ask *a, const char *from)
{
	if (target_is_path(from))
		return operand_put(a, from, 0, operand_object(a, "from"));
	if (json_object_set_new(a->args, "from", json_string(from)) == 0)
		return OP_DONE;
	log_msg("branch: --from: that is no hash and no branch; expfs log shows the hashes, expfs status the branches");
	return OP_USAGE;
}

static enum op_exit make(struct ask *a, const char *operand, const char *from)
{
	enum op_exit exit = put_name(a, operand);

	if (exit == OP_DONE)
		exit = put_from(a, from);
	if (exit == OP_DONE && !a->target.store)
		exit = target_open("branch", NULL, a->store, TARGET_GONE, &a->target);
	if (exit == OP_DONE)
		exit = ask_run(a, "branch");
	return ask_print(a, exit, cmd_print_loaded);
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "branch" };
	const char *from = NULL;
	enum op_exit exit = ask_options(&a, argc, argv, "from", &from);

	if (exit != OP_DONE)
		return exit;
	if (argc == optind && !from)
		return list(&a);
	if (argc - optind == 1 && !from) {
		log_msg("branch: %s: --from is wanted, which says what it begins with; the branches that there are show without NAME: "
			"expfs branch --store STORE", argv[optind]);
		return OP_USAGE;
	}
	if (argc - optind != 1)
		return cmd_bad_operands(&cmd_branch);
	return make(&a, argv[optind], from);
}

const struct command cmd_branch = {
	.name = "branch",
	.run = run,
	.usage = "[NEW --from HASH|BRANCH[@STEP]|PATH[@N]] [--store STORE] [--json]",
	.summary = "the branches; begin one",
	.help = "Shows the branches, each with the experiment at which it is and its newest\n"
		"checkpoint.\n"
		"\n"
		"With NEW it makes the run runs/NEW and loads a state into it, as expfs load\n"
		"does: that of an experiment, of which the first characters of the hash will do,\n"
		"or that at which a branch is; with STEP that of the checkpoint of this step. Of\n"
		"a branch it is its own, deleted or not, though other runs at the same experiment\n"
		"have others. A PATH is that of a checkpoint, a run, or a view of these.\n"
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
