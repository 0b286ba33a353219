#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"
#include "cmd/operand.h"
#include "cmd/paint.h"
#include "cmd/selection.h"
#include "cmd/shell.h"
#include "cmd/verify.h"
#include "exp/entries.h"
#include "op/reply.h"

#define EXIT_RECOVER 10

static void print_version(const char *label, const json_t *v)
{
	const json_t *step = json_object_get(v, "step"), *epoch = json_object_get(v, "epoch");
	const char *fault = cmd_string(v, "label");

	if (!json_is_object(v))
		return;
	printf("%-11s", label);
	if (json_is_string(json_object_get(v, "file"))) {
		cmd_print_text(cmd_string(v, "file"));
		putchar('\n');
		return;
	}
	cmd_print_text(cmd_string(v, "path"));
	printf("@%" JSON_INTEGER_FORMAT, cmd_number(v, "version"));
	if (*fault) {
		fputs(", ", stdout);
		cmd_print_text(fault);
	}
	if (!*fault && json_is_integer(step))
		printf(", step %" JSON_INTEGER_FORMAT, json_integer_value(step));
	if (!*fault && json_is_integer(epoch))
		printf(", epoch %" JSON_INTEGER_FORMAT, json_integer_value(epoch));
	selection_print_as(v);
	putchar('\n');
}

static void print_counts(const char *label, const json_t *counts)
{
	const char *key;
	json_t *n;
	bool any = false;

	json_object_foreach ((json_t *)(uintptr_t)counts, key, n) {
		if (json_integer_value(n) == 0)
			continue;
		if (any)
			fputs(", ", stdout);
		else
			printf("%-11s", label);
		printf("%" JSON_INTEGER_FORMAT " %s", json_integer_value(n), key);
		any = true;
	}
	if (any)
		putchar('\n');
}

static enum paint colour_of(const char *answer)
{
	return !strcmp(answer, "ACCEPT") ? PAINT_GREEN : !strcmp(answer, "HOLD") ? PAINT_YELLOW : PAINT_RED;
}

enum op_exit verify_print(const json_t *a)
{
	const json_t *j;
	size_t i;

	paint_printf(colour_of(cmd_string(a, "answer")), "%-11s", cmd_string(a, "answer"));
	cmd_print_text(cmd_string(a, "path"));
	selection_print_as(a);
	putchar('\n');
	if (*cmd_string(a, "why")) {
		printf("%-11s", "why");
		cmd_print_text(cmd_string(a, "why"));
		putchar('\n');
	}
	print_version("against", json_object_get(a, "reference"));
	print_counts("tensors", json_object_get(a, "model"));
	print_counts("beside", json_object_get(a, "beside"));
	json_array_foreach (json_object_get(a, "holds"), i, j)
		print_version(i ? "" : "holds", j);
	json_array_foreach (json_object_get(a, "part_of"), i, j)
		print_version(i ? "" : "part of", j);
	print_version(cmd_number(a, "exit") == EXIT_RECOVER ? "recover" : "rerun from", json_object_get(a, "instead"));
	if (json_is_object(json_object_get(a, "control")))
		print_version("control", json_object_get(a, "control"));
	else if (cmd_number(a, "control_differs") > 0)
		printf("%-11s%s\n", "control", "one bit changed");
	if (cmd_number(a, "control_differs") > 0) {
		printf("%-11s", "");
		cmd_print_count(cmd_number(a, "control_differs"), "tensor");
		putchar('\n');
	}
	return OP_DONE;
}

/* Where a path of the answer lies in the mount in which the first one was given; NULL: in none. */
static char *place_of(struct ask *a, const char *path)
{
	if (!a->target.point || target_set_path(&a->target, path + (*path == '/')) < 0)
		return NULL;
	return path_join(a->target.point, a->target.below);
}

/* What a path holds makes room for another one's version; of its own restore itself replaces it. */
static char *take_place(const char *from, uint64_t n, const char *to, mode_t type)
{
	_cleanup_free_ char *restore = shell_restore(from, n, to), *word = shell_word(to);
	char *command;

	if (!restore || !word || asprintf(&command, "rm %s%s && %s", S_ISDIR(type) ? "-r " : "", word, restore) < 0)
		return NULL;
	return command;
}

/* The command that brings the right state back. What the path holds by now is replaced only if that was verified. */
static void print_recovery(struct ask *a)
{
	const json_t *instead = json_object_get(a->answer, "instead");
	_cleanup_free_ char *to = place_of(a, cmd_string(a->answer, "path")), *from = place_of(a, cmd_string(instead, "path")), *command = NULL;
	uint64_t n = (uint64_t)cmd_number(instead, "version");
	bool own = to && from && !strcmp(to, from), held = json_is_true(json_object_get(a->answer, "held")), there;
	struct stat st;

	if (!to || !from)
		return;
	there = lstat(to, &st) == 0;
	if (there && !held)
		command = shell_restore(from, n, "PLACE");
	else
		command = there && !own ? take_place(from, n, to, st.st_mode) : shell_restore(from, n, own ? NULL : to);
	if (command)
		printf("%-11s%s\n", "command", command);
	if (command && there && held)
		printf("%-11swhat the path holds now stays in its history\n", "");
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = {
		.command = "verify",
		.outside = "a file outside is what a checkpoint is held against: expfs verify CHECKPOINT --against FILE",
	};
	const char *against = NULL;
	enum op_exit exit = ask_options(&a, argc, argv, "against", &against);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind != 1)
		return cmd_bad_operands(&cmd_verify);
	exit = operand_put(&a, argv[optind], OPERAND_HASH, a.args);
	if (exit == OP_DONE && against)
		exit = operand_put(&a, against, OPERAND_HASH | OPERAND_FILE, operand_object(&a, "against"));
	if (exit == OP_DONE)
		exit = ask_run(&a, "verify");
	exit = ask_print(&a, exit, verify_print);
	if (exit == OP_DONE && !a.json && cmd_number(a.answer, "exit") == EXIT_RECOVER)
		print_recovery(&a);
	return exit == OP_DONE ? (int)cmd_number(a.answer, "exit") : (int)exit;
}

const struct command cmd_verify = {
	.name = "verify",
	.run = run,
	.usage = "PATH[@N]|SELECTION [--against X] [--store STORE] [--json]",
	.summary = "check a checkpoint's label",
	.help = "Holds a checkpoint, tensor by tensor, against the first version that was\n"
		"committed under its step or epoch; or against another version, a checkpoint of\n"
		"an experiment, a selection, or a file outside of the mount. Names do not count\n"
		"for a prefix, nor does what the other has beside the model. It also tells which\n"
		"checkpoints the weights are really those of, or a part of. As a control the\n"
		"comparison is made again with other weights, and has to tell them apart.\n"
		"\n"
		"Of a SELECTION (expfs help select) it is what was frozen, under the step that it\n"
		"was selected with.\n"
		"\n"
		"  --against X    what it is held against: PATH[@N], HASH@STEP, SELECTION, a file\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Answers and exit statuses: ACCEPT 0, every tensor is the same; RECOVER 10, it\n"
		"is not, but another version is, and the command that brings it back is told;\n"
		"RECAPTURE 11, none is, and the run has not gone past that step: save again;\n"
		"RERUN 12, none is, but an earlier checkpoint has all to come there again; HOLD\n"
		"13, none of these, or something cannot be read; also of a checkpoint whose step\n"
		"was committed once: it is the record itself. 1: nothing is known of the path.\n",
};
