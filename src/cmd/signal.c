#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "cmd/place.h"
#include "cmd/target.h"
#include "format/metrics.h"
#include "op/reply.h"
#include "util/log.h"

struct options {
	const char *store, *step;
	bool json;
};

static enum op_exit read_options(int argc, char **argv, struct options *ret)
{
	static const struct option options[] = {
		{ "store", required_argument, NULL, 's' }, { "step", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' }, { 0 }
	};
	int c;

	*ret = (struct options){ 0 };
	while ((c = getopt_long(argc, argv, ":", options, NULL)) >= 0) {
		if (c == 's')
			ret->store = optarg;
		else if (c == 'n')
			ret->step = optarg;
		else if (c == 'j')
			ret->json = true;
		else
			return (enum op_exit)cmd_bad_option(argc, argv, c);
	}
	return OP_DONE;
}

/* What has a slash, or is there in a mount, is a path; else it is the name of a branch. */
static bool is_path(const char *arg)
{
	_cleanup_place_ struct place *p = NULL;

	return strchr(arg, '/') || (place_open(arg, &p) == 0 && place_is_inside(p));
}

static enum op_exit open_target(const char *arg, const char *store, json_t *args, struct target *t)
{
	bool path = is_path(arg);
	enum op_exit exit = target_open("signal", path ? arg : NULL, store, path ? TARGET_GONE : TARGET_THERE, t);

	if (exit != OP_DONE)
		return exit;
	if (path)
		return reply_put_path(args, t->path) < 0 ? OP_FAILED : OP_DONE;
	if (json_object_set_new(args, "branch", json_string(arg)) == 0)
		return OP_DONE;
	log_msg("%s: is no UTF-8; give the path of its run", arg);
	return OP_USAGE;
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
	log_msg("signal: %s: is no UTF-8", name);
	return OP_USAGE;
}

static void print_recorded(const json_t *answer)
{
	json_int_t n = cmd_number(answer, "recorded");

	cmd_print_text(cmd_string(answer, "branch"));
	printf(": %" JSON_INTEGER_FORMAT " value%s recorded for step %" JSON_INTEGER_FORMAT "\n", n, n == 1 ? "" : "s",
	       cmd_number(answer, "step"));
}

static void print_curves(const json_t *answer)
{
	const json_t *curve, *point;
	size_t i, j;

	printf("%12s  %-16s  %s\n", "step", "value", "name");
	json_array_foreach (json_object_get(answer, "curves"), i, curve)
		json_array_foreach (json_object_get(curve, "points"), j, point) {
			char value[CMD_NUMBER];

			cmd_format_number(json_array_get(point, 1), value);
			printf("%12" JSON_INTEGER_FORMAT "  %-16s  ", json_integer_value(json_array_get(point, 0)), value);
			cmd_print_text(cmd_string(curve, "name"));
			putchar('\n');
		}
}

static int run(int argc, char **argv)
{
	_cleanup_json_ json_t *args = json_object(), *answer = NULL;
	_cleanup_target_ struct target t = { 0 };
	struct options o;
	enum op_exit exit = read_options(argc, argv, &o);
	int n = argc - optind;

	if (exit != OP_DONE)
		return exit;
	if (n < 1 || (o.step ? n < 2 : n > 2 && !strchr(argv[optind + 1], '=')))
		return cmd_bad_operands(&cmd_signal);
	if (o.step)
		exit = add_step(o.step, args);
	if (exit == OP_DONE && o.step)
		exit = add_values(n - 1, argv + optind + 1, args);
	else if (exit == OP_DONE && n > 1)
		exit = add_name(argv[optind + 1], args);
	if (exit == OP_DONE)
		exit = open_target(argv[optind], o.store, args, &t);
	if (exit == OP_DONE)
		exit = client_run(t.store, "signal", args, &answer);
	if (exit == OP_NO)
		cmd_say_no(answer);
	if (exit != OP_DONE)
		return exit;
	if (o.json)
		cmd_print_json(answer);
	else if (o.step)
		print_recorded(answer);
	else
		print_curves(answer);
	return exit;
}

const struct command cmd_signal = {
	.name = "signal",
	.run = run,
	.usage = "BRANCH|PATH [NAME | --step N NAME=VALUE...] [--store DIR] [--json]",
	.summary = "show the metrics of a branch, or record some",
	.help = "Shows the curves of a branch, or the one of that NAME: what the metrics.jsonl,\n"
		"metrics.csv and trainer_state.json of its run say, and what was recorded; of\n"
		"several values for one step the last.\n"
		"\n"
		"With --step records values for that step, in place of all others. They are\n"
		"numbers, inf or nan. The best checkpoint of a branch is the one with the best\n"
		"value of a metric; which, says best.metric in the store's config.yaml. A value\n"
		"speaks for the first checkpoint at or after its step.\n"
		"\n"
		"A PATH, which has a slash in it or is there, lies in a mount: the branch of its\n"
		"run is meant. Otherwise the store is that of --store or of the environment\n"
		"variable EXPFS_STORE, or that of the mount in which the working directory lies.\n"
		"\n"
		"  --step N       the step at which the values were measured\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Exit status 1: there is no such branch, or curve.\n",
};
