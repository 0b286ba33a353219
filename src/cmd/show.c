#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"
#include "cmd/operand.h"
#include "cmd/selection.h"
#include "op/experiments.h"
#include "op/reply.h"
#include "util/human.h"
#include "util/log.h"

#define PREFIX_MIN 4 /* characters of a hash */

static void print_line(const char *label, const char *text)
{
	printf("%-11s", label);
	cmd_print_text(*text ? text : "-");
	putchar('\n');
}

static void print_files(const json_t *e)
{
	for (int s = 0; s < SEGMENTS; s++) {
		const json_t *files = json_object_get(json_object_get(e, "files"), experiments_segment[s]), *f;
		size_t i;

		json_array_foreach (files, i, f)
			print_line(i ? "" : experiments_segment[s], cmd_string(f, "found"));
	}
}

/* The paragraph of the log, and what only this tells. */
static enum op_exit print_experiment(json_t *e)
{
	_cleanup_json_ json_t *log = json_pack("{s:[O], s:[b]}", "experiments", e, "branches", 0);
	_cleanup_free_ char *text = log ? experiments_text(log) : NULL;
	const json_t *child;
	size_t i;

	if (!text)
		return OP_FAILED;
	fputs(text, stdout);
	json_array_foreach (json_object_get(e, "branches"), i, child)
		print_line(i ? "" : "branches", json_string_value(child));
	json_array_foreach (json_object_get(e, "children"), i, child)
		print_line(i ? "" : "children", json_string_value(child));
	print_files(e);
	return OP_DONE;
}

/* What is in a checkpoint, and whose weights. */
static void print_weights(const json_t *w)
{
	const char *model = json_string_value(json_object_get(w, "model")), *label = json_string_value(json_object_get(w, "label"));
	const json_t *part;
	size_t i;

	if (!json_is_object(w))
		return;
	if (!json_is_true(json_object_get(w, "read"))) {
		print_line("weights", "not read yet");
		return;
	}
	print_line("weights", model ? model : cmd_string(w, "why"));
	json_array_foreach (json_object_get(w, "parts"), i, part)
		print_line(i ? "" : "with", json_string_value(part));
	if (label)
		print_line("label", label);
}

static enum op_exit print_path(const json_t *p)
{
	const json_t *step = json_object_get(p, "step");
	char when[REPLY_TIME_TEXT], size[HUMAN_TEXT], text[64];

	print_line("path", cmd_string(p, "path"));
	print_line("role", cmd_string(p, "role"));
	print_line("branch", cmd_string(p, "branch"));
	print_line("experiment", cmd_string(p, "experiment"));
	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT "%s", cmd_number(p, "version"),
		 cmd_number(p, "versions"), json_is_true(json_object_get(p, "held"))  ? ", which the path holds" :
					    !json_is_true(json_object_get(p, "last")) ? "" :
					    json_is_true(json_object_get(p, "there")) ? ", the last one whole" :
											", the path is gone");
	print_line("version", text);
	if (json_is_integer(step)) {
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(step));
		print_line("step", text);
	}
	print_line("complete", json_is_true(json_object_get(p, "complete")) ? "yes" : "no");
	reply_time_text(cmd_string(p, "mtime"), when);
	print_line("time", when);
	human_bytes((double)cmd_number(p, "size"), size);
	print_line("size", size);
	print_line("digest", cmd_string(p, "digest"));
	print_weights(json_object_get(p, "weights"));
	selection_print_list(json_object_get(p, "selections"));
	return OP_DONE;
}

static enum op_exit print(const json_t *answer)
{
	json_t *experiment = json_object_get(answer, "experiment");

	if (json_object_get(answer, "selection"))
		return selection_print_ledger(answer);
	return json_is_object(experiment) ? print_experiment(experiment) : print_path(answer);
}

static enum op_exit open_thing(struct ask *a, const char *thing)
{
	bool hash = strlen(thing) >= PREFIX_MIN && !thing[strspn(thing, "0123456789abcdef")];
	enum op_exit exit;

	if (!hash)
		return operand_put(a, thing, OPERAND_HASH, a->args);
	exit = ask_path(a, NULL, TARGET_GONE);
	if (exit == OP_DONE)
		operand_put_selection(a, thing, a->args);
	if (exit == OP_DONE && json_object_set_new(a->args, "hash", json_string(thing)) < 0)
		return OP_FAILED;
	return exit;
}

/* Fewer characters than are taken for the hash of an experiment. */
static bool is_short_hash(const char *thing)
{
	size_t n = strspn(thing, "0123456789abcdef");

	return n > 0 && n < PREFIX_MIN && (!thing[n] || thing[n] == '@');
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "show" };
	enum op_exit exit = ask_options(&a, argc, argv, NULL, NULL);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind != 1)
		return cmd_bad_operands(&cmd_show);
	exit = open_thing(&a, argv[optind]);
	if (exit == OP_DONE)
		exit = ask_run(&a, "show");
	if (exit == OP_NO && is_short_hash(argv[optind])) {
		log_msg("%s: nothing here has that name; of a hash give at least %d characters", argv[optind], PREFIX_MIN);
		return OP_NO;
	}
	return ask_print(&a, exit, print);
}

const struct command cmd_show = {
	.name = "show",
	.run = run,
	.usage = "HASH[@STEP]|PATH[@N]|SELECTION [--store STORE] [--json]",
	.summary = "everything about one thing",
	.help = "Shows all that is known of one thing: of an experiment its branches, parent and\n"
		"children, what changed, its checkpoints and where its files are found; of a file\n"
		"with a role, or a checkpoint directory, its role, branch, experiment, step,\n"
		"digest, whether it is complete, how many versions there are, and which are\n"
		"selected; of a selection its record, what was decided, and the others of its\n"
		"name, which were superseded or supersede it.\n"
		"\n"
		"HASH is the hash of an experiment, or at least four characters that it begins\n"
		"with: 0 to 9 and a to f; HASH@STEP is the first checkpoint of it with that step\n"
		"that is not known to hold the weights of another. A file of such a name is given\n"
		"as ./NAME. Of a path it is the last version or, with @N, that one; one that\n"
		"itself ends in @ and digits is written with one more @: model@2@.\n"
		"SELECTION: see expfs help select; a file of such a name comes before it.\n"
		"\n"
		"PATH lies in a mount. Otherwise it counts from the top of the store that\n"
		"--store or the environment variable EXPFS_STORE names.\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Exit status 1: nothing is known of it, or several hashes begin so.\n",
};
