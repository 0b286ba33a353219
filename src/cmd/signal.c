#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"
#include "cmd/place.h"
#include "format/metrics.h"
#include "op/reply.h"
#include "util/log.h"

/* Unlike where a branch alone can be meant, a name without a slash that is there in a mount is a path. */
static enum op_exit open_target(struct ask *a, const char *arg)
{
	_cleanup_place_ struct place *p = NULL;
	_cleanup_free_ char *path = NULL;

	if (strchr(arg, '/') || place_open(arg, &p) < 0 || !place_is_inside(p))
		return ask_branch(a, arg);
	return asprintf(&path, "./%s", arg) < 0 ? OP_FAILED : ask_branch(a, path);
}

static enum op_exit add_step(const char *text, json_t *args)
{
	size_t n = strspn(text, "0123456789");

	errno = 0;
	if (n > 0 && !text[n] && strtoull(text, NULL, 10) <= INT64_MAX && errno == 0)
		return json_object_set_new(args, "step", json_integer(strtoll(text, NULL, 10))) == 0 ? OP_DONE : OP_FAILED;
	log_msg("signal: --step: %s: a whole number is wanted, 0 or more", text);
	return OP_USAGE;
}

static enum op_exit add_value(const char *arg, json_t *values)
{
	const char *equals = strchr(arg, '=');
	size_t n = equals ? (size_t)(equals - arg) : 0;
	_cleanup_json_ json_t *name = n > 0 && n <= METRICS_NAME_MAX ? json_stringn(arg, n) : NULL;
	double number;

	if (name && metrics_number(equals + 1, &number))
		return json_array_append_new(values, json_pack("{s:O, s:s}", "name", name, "value", equals + 1)) == 0 ? OP_DONE :
															 OP_FAILED;
	log_msg("signal: %s: NAME=VALUE is wanted, a name of up to %u bytes and a number, inf or nan", arg, METRICS_NAME_MAX);
	return OP_USAGE;
}

static enum op_exit add_values(int n, char **v, json_t *args)
{
	json_t *values = json_array();
	enum op_exit exit = json_object_set_new(args, "values", values) == 0 ? OP_DONE : OP_FAILED;

	for (int i = 0; i < n && exit == OP_DONE; i++)
		exit = add_value(v[i], values);
	return exit;
}

static enum op_exit add_name(const char *name, json_t *args)
{
	if (strchr(name, '=')) {
		log_msg("signal: %s: a value is recorded for a step; give --step N", name);
		return OP_USAGE;
	}
	if (json_object_set_new(args, "name", json_string(name)) == 0)
		return OP_DONE;
	log_msg("signal: %s: is no UTF-8; a metric has a name in it", name);
	return OP_USAGE;
}

static enum op_exit print_recorded(const json_t *answer)
{
	cmd_print_text(cmd_string(answer, "branch"));
	printf(": ");
	cmd_print_count(cmd_number(answer, "recorded"), "value");
	printf(" recorded for step %" JSON_INTEGER_FORMAT "\n", cmd_number(answer, "step"));
	return OP_DONE;
}

static const char *root_of(const json_t *roots, const json_t *point)
{
	return json_string_value(json_array_get(roots, (size_t)json_integer_value(json_array_get(point, 2))));
}

static void print_name_and_root(const char *name, const char *root)
{
	cmd_print_text(name);
	printf("%*s", MAX(18 - (int)strlen(name), 2), "");
	cmd_print_text(root);
}

static enum op_exit print_curves(const json_t *answer)
{
	const json_t *curve, *point;
	size_t i, j;

	const json_t *roots = json_object_get(answer, "roots");

	if (roots)
		printf("%12s  %-16s  %-16s  %s\n", "step", "value", "name", "root");
	else
		printf("%12s  %-16s  %s\n", "step", "value", "name");
	json_array_foreach (json_object_get(answer, "curves"), i, curve)
		json_array_foreach (json_object_get(curve, "points"), j, point) {
			char value[CMD_NUMBER];

			cmd_format_number(json_array_get(point, 1), value);
			printf("%12" JSON_INTEGER_FORMAT "  %-16s  ", json_integer_value(json_array_get(point, 0)), value);
			if (roots)
				print_name_and_root(cmd_string(curve, "name"), root_of(roots, point));
			else
				cmd_print_text(cmd_string(curve, "name"));
			putchar('\n');
		}
	return OP_DONE;
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "signal" };
	const char *step = NULL;
	enum op_exit exit = ask_options(&a, argc, argv, "step", &step);
	int n = argc - optind;

	if (exit != OP_DONE)
		return exit;
	if (n < 1 || (step ? n < 2 : n > 2 && !strchr(argv[optind + 1], '=')))
		return cmd_bad_operands(&cmd_signal);
	if (step)
		exit = add_step(step, a.args);
	if (exit == OP_DONE && step)
		exit = add_values(n - 1, argv + optind + 1, a.args);
	else if (exit == OP_DONE && n > 1)
		exit = add_name(argv[optind + 1], a.args);
	if (exit == OP_DONE)
		exit = open_target(&a, argv[optind]);
	if (exit == OP_DONE)
		exit = ask_run(&a, "signal");
	return ask_print(&a, exit, step ? print_recorded : print_curves);
}

const struct command cmd_signal = {
	.name = "signal",
	.run = run,
	.usage = "BRANCH|PATH [NAME | --step N NAME=VALUE...] [--store DIR] [--json]",
	.summary = "show or record metrics",
	.help = "Shows the curves of a branch, or the one of that NAME: what the metrics.jsonl,\n"
		"metrics.csv and trainer_state.json of its run say, and what was recorded; of\n"
		"several values for one step the last. Of a directory that holds several runs or\n"
		"experiment roots it shows the curves of all, each row once for each of these:\n"
		"a file belongs to the deepest of them above it.\n"
		"\n"
		"With --step records values for that step, in place of all others. They are\n"
		"numbers, inf or nan. The best checkpoint of a branch, where none is selected, is\n"
		"the one with the best value of a metric; which, says best.metric in the store's\n"
		"config.yaml. A value speaks for the first checkpoint at or after its step.\n"
		"\n"
		"A PATH, which has a slash in it or is there, lies in a mount: the branch of its\n"
		"run is meant, or all below it. Otherwise the store is that of --store or of the\n"
		"environment variable EXPFS_STORE, or that of the mount in which the working\n"
		"directory lies.\n"
		"\n"
		"  --step N       the step at which the values were measured\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON; of several runs and roots, roots[] names\n"
		"                 them, and the third number of a point is the place there\n"
		"\n"
		"Exit status 1: there is no such branch, or curve.\n",
};
