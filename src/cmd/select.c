#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/operand.h"
#include "cmd/selection.h"
#include "cmd/verify.h"
#include "op/reply.h"
#include "util/log.h"

struct given {
	const char *name, *step, *metric, *against, *source;
	json_t *software;
};

static enum op_exit usage(const char *text, const char *what)
{
	log_msg("select: %s: %s; see: expfs help select", text, what);
	return OP_USAGE;
}

static int put_text(json_t *args, const char *key, const char *text)
{
	return text ? json_object_set_new(args, key, json_string(text)) : 0;
}

static enum op_exit put_metric(struct ask *a, const char *arg)
{
	const char *value = NULL;
	_cleanup_free_ char *name = arg ? operand_split(arg, &value) : NULL;

	if (!arg)
		return OP_DONE;
	if (!name)
		return usage(arg, "a metric is NAME=VALUE");
	return json_object_set_new(a->args, "metric", json_pack("{s:s, s:s}", "name", name, "value", value)) < 0 ? OP_FAILED : OP_DONE;
}

static enum op_exit put_software(struct ask *a, const json_t *list)
{
	json_t *software = operand_object(a, "software");
	const json_t *arg;
	size_t i;

	json_array_foreach (list, i, arg) {
		const char *version = NULL;
		_cleanup_free_ char *name = operand_split(json_string_value(arg), &version);

		if (!name)
			return usage(json_string_value(arg), "software is NAME=VERSION");
		if (json_object_get(software, name))
			return usage(json_string_value(arg), "software of that name is given twice");
		version += *version == '='; /* NAME==VERSION, as pip writes it */
		if (json_object_set_new(software, name, json_string(version)) < 0)
			return OP_FAILED;
	}
	return OP_DONE;
}

static enum op_exit put_given(struct ask *a, const struct given *g)
{
	enum op_exit exit = put_metric(a, g->metric);

	if (exit == OP_DONE)
		exit = put_software(a, g->software);
	if (exit != OP_DONE)
		return exit;
	if (g->step && operand_step(g->step) < 0)
		return usage(g->step, "a step is a number from 0");
	if (g->step && json_object_set_new(a->args, "label", json_integer(operand_step(g->step))) < 0)
		return OP_FAILED;
	if (put_text(a->args, "name", g->name) < 0)
		return usage(g->name, "a name is text in UTF-8");
	return put_text(a->args, "source", g->source) < 0 ? usage(g->source, "a source commit is text in UTF-8") : OP_DONE;
}

static enum op_exit print(const json_t *answer)
{
	const json_t *selection = json_object_get(answer, "selection");

	if (!selection)
		return verify_print(answer);
	selection_print(selection);
	selection_print_superseded(json_object_get(answer, "superseded"));
	return OP_DONE;
}

static enum op_exit ask(struct ask *a, const struct given *g, const char *thing)
{
	enum op_exit exit = operand_put(a, thing, OPERAND_HASH, a->args);

	if (exit == OP_DONE)
		exit = put_given(a, g);
	if (exit == OP_DONE && g->against)
		exit = operand_put(a, g->against, OPERAND_HASH | OPERAND_FILE, operand_object(a, "against"));
	return exit == OP_DONE ? ask_run(a, "select") : exit;
}

static int run(int argc, char **argv)
{
	_cleanup_json_ json_t *software = json_array();
	_cleanup_ask_ struct ask a = { .command = "select", .args = json_object() };
	struct given g = { .software = software };
	const struct cmd_option options[] = {
		{ "name", .value = &g.name },	      { "step", .value = &g.step },	{ "metric", .value = &g.metric },
		{ "against", .value = &g.against },   { "source", .value = &g.source }, { "software", .list = software },
		{ "store", .value = &a.store },	      { "json", .flag = &a.json },	{ NULL },
	};
	enum op_exit exit = cmd_options(argc, argv, options);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind != 1)
		return cmd_bad_operands(&cmd_select);
	exit = ask(&a, &g, argv[optind]);
	exit = ask_print(&a, exit, print);
	return exit == OP_DONE ? (int)cmd_number(a.answer, "exit") : (int)exit;
}

const struct command cmd_select = {
	.name = "select",
	.run = run,
	.usage = "PATH[@N] [--name NAME] [OPTION...] [--store STORE] [--json]",
	.summary = "freeze a checkpoint",
	.help = "Keeps what a checkpoint holds now, or its version N, whatever becomes of the\n"
		"file, until the name is selected again; and records for good what it is: path,\n"
		"step, metric, times, how it came there, SHA-256 and digests of its tensors. PATH\n"
		"may lie in a view (branches/r/latest), or be HASH@STEP.\n"
		"\n"
		"A selection is written NAME, BRANCH:NAME, or sel-NUMBER, as superseded ones.\n"
		"NAME is that of the run in which the path with it, or the working directory,\n"
		"lies; outside of runs that of the one branch that has it. show, verify, restore\n"
		"and diff take it for a path, but a file of that name with a version comes first.\n"
		"\n"
		"  --name NAME      the name (best)\n"
		"  --step N         the step that it is meant to be of (its own)\n"
		"  --metric M=V     the value for which it was chosen\n"
		"  --against X      select it only if its tensors are those of X (expfs help\n"
		"                   verify); else the answer is that of verify\n"
		"  --source COMMIT  the commit of the training's source\n"
		"  --software N=V   a program and its version, or N==V; may be given again\n"
		"  --store STORE    the store, mounted or not\n"
		"  --json           the answer as JSON\n"
		"\n"
		"Exit status 1: it is not known, or not whole, or being written; with --against\n"
		"also those of verify.\n",
};
