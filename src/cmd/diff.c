#include <stdio.h>
#include <string.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"
#include "cmd/operand.h"
#include "cmd/selection.h"

static const char *or_none(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "none";
}

static void print_tensor(const json_t *t)
{
	const json_t *max = json_object_get(t, "max"), *cosine = json_object_get(t, "cosine");

	printf("%-10s", cmd_string(t, "difference"));
	cmd_print_text(cmd_string(t, "name"));
	if (json_is_integer(json_object_get(t, "changed")))
		printf("  %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " elements", cmd_number(t, "changed"), cmd_number(t, "elements"));
	if (json_is_real(max))
		printf(", by at most %.6g", json_real_value(max));
	if (json_is_real(cosine))
		printf(", cosine %.9g", json_real_value(cosine));
	if (!strcmp(cmd_string(t, "difference"), "type"))
		printf("  %s -> %s", cmd_string(json_object_get(t, "a"), "type"), cmd_string(json_object_get(t, "b"), "type"));
	putchar('\n');
}

static void print_key(const json_t *k)
{
	cmd_print_text(cmd_string(k, "key"));
	fputs(": ", stdout);
	cmd_print_text(or_none(k, "a"));
	printf(" (%s) -> ", cmd_string(k, "a_type"));
	cmd_print_text(or_none(k, "b"));
	printf(" (%s)\n", cmd_string(k, "b_type"));
}

static void print_ids(const json_t *ids)
{
	static const char *const kinds[][2] = { { "added", "n_added" }, { "removed", "n_removed" }, { "changed", "n_changed" } };
	const json_t *id;
	size_t i;

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		if (cmd_number(ids, kinds[k][1]) == 0)
			continue;
		printf("%-10s%" JSON_INTEGER_FORMAT ":", kinds[k][0], cmd_number(ids, kinds[k][1]));
		json_array_foreach (json_object_get(ids, kinds[k][0]), i, id) {
			putchar(' ');
			cmd_print_text(json_string_value(id));
		}
		putchar('\n');
	}
}

/* Which version a selection stands for. */
static void print_selected(const char *label, const json_t *side)
{
	if (!json_is_object(json_object_get(side, "selection")))
		return;
	printf("%-10s", label);
	cmd_print_text(cmd_string(side, "path"));
	printf("@%" JSON_INTEGER_FORMAT, cmd_number(side, "version"));
	selection_print_as(side);
	putchar('\n');
}

static enum op_exit print(const json_t *a)
{
	const json_t *j;
	const char *key;
	json_t *n;
	size_t i;
	bool any = false;

	print_selected("a", json_object_get(a, "a"));
	print_selected("b", json_object_get(a, "b"));
	json_array_foreach (json_object_get(a, "tensors"), i, j)
		print_tensor(j);
	json_object_foreach (json_object_get(a, "counts"), key, n) {
		if (json_integer_value(n) == 0)
			continue;
		printf("%s%" JSON_INTEGER_FORMAT " %s", any ? ", " : "tensors   ", json_integer_value(n), key);
		any = true;
	}
	if (any)
		putchar('\n');
	json_array_foreach (json_object_get(a, "keys"), i, j)
		print_key(j);
	print_ids(json_object_get(a, "ids"));
	return OP_DONE;
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = {
		.command = "diff",
		.outside = "diff compares what a store has; whether a checkpoint is the same as a file outside tells: "
			   "expfs verify CHECKPOINT --against FILE",
	};
	enum op_exit exit = ask_options(&a, argc, argv, NULL, NULL);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind != 2)
		return cmd_bad_operands(&cmd_diff);
	exit = operand_put(&a, argv[optind], OPERAND_HASH, operand_object(&a, "a"));
	if (exit == OP_DONE)
		exit = operand_put(&a, argv[optind + 1], OPERAND_HASH, operand_object(&a, "b"));
	if (exit == OP_DONE)
		exit = ask_run(&a, "diff");
	return ask_print(&a, exit, print);
}

const struct command cmd_diff = {
	.name = "diff",
	.run = run,
	.usage = "A[@N] B[@N] [--store STORE] [--json]",
	.summary = "how two versions differ",
	.help = "Of two checkpoints: which tensors differ, in how many elements, by how much at\n"
		"most, and the cosine of the two; names do not count for a prefix. Of two\n"
		"configurations: keys, with both values and their types. Of two data snapshots\n"
		"in WeightsLab's form: the samples that came, went, or were discarded or not.\n"
		"\n"
		"A and B are paths, with @N that version of them, else the last one; HASH@STEP, a\n"
		"checkpoint of an experiment; or selections (expfs help select).\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Exit status 1: nothing is known of a path, or it cannot be read.\n",
};
