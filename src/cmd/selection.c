#include "cmd/selection.h"

#include <stdio.h>

#include "cmd/cmd.h"
#include "op/reply.h"

static void print_label(const char *label)
{
	printf("%-11s", label);
}

static void print_line(const char *label, const char *text)
{
	if (!*text)
		return;
	print_label(label);
	cmd_print_text(text);
	putchar('\n');
}

static void print_time(const char *label, const json_t *j, const char *key)
{
	char when[REPLY_TIME_TEXT];

	reply_time_text(cmd_string(j, key), when);
	print_line(label, when);
}

static void print_name(const json_t *s)
{
	cmd_print_text(cmd_string(s, "branch"));
	putchar(':');
	cmd_print_text(cmd_string(s, "name"));
}

void selection_print_as(const json_t *named)
{
	const json_t *s = json_object_get(named, "selection");

	if (!json_is_object(s))
		return;
	fputs(", selected as ", stdout);
	print_name(s);
	if (!json_is_true(json_object_get(s, "current")))
		printf(" (%s, superseded)", cmd_string(s, "selection"));
}

static void print_head(const char *label, const json_t *s)
{
	print_label(label);
	print_name(s);
	printf(" (%s%s)", cmd_string(s, "selection"), json_is_true(json_object_get(s, "current")) ? "" : ", superseded");
}

static void print_version(const json_t *s)
{
	print_label("version");
	cmd_print_text(cmd_string(s, "path"));
	printf("@%" JSON_INTEGER_FORMAT "%s\n", cmd_number(s, "version"), json_is_true(json_object_get(s, "held")) ? "" : ", which was let go");
}

static void print_metric(const json_t *s)
{
	const json_t *metric = json_object_get(s, "metric");
	char number[CMD_NUMBER];

	if (!json_is_object(metric))
		return;
	cmd_format_number(json_object_get(metric, "value"), number);
	print_label("metric");
	cmd_print_text(cmd_string(metric, "name"));
	printf(" %s\n", number);
}

static void print_software(const json_t *s)
{
	const char *name;
	json_t *version;
	bool any = false;

	json_object_foreach (json_object_get(s, "software"), name, version) {
		print_label(any ? "" : "software");
		cmd_print_text(name);
		putchar(' ');
		cmd_print_text(json_string_value(version));
		putchar('\n');
		any = true;
	}
}

static void print_decision(const char *label, const json_t *d)
{
	char when[REPLY_TIME_TEXT];

	reply_time_text(cmd_string(d, "time"), when);
	print_label(label);
	cmd_print_text(cmd_string(d, "decision"));
	fputs(" by ", stdout);
	cmd_print_text(cmd_string(d, "by"));
	printf(", %s", when);
	if (*cmd_string(d, "note")) {
		fputs(": ", stdout);
		cmd_print_text(cmd_string(d, "note"));
	}
	putchar('\n');
}

void selection_print(const json_t *s)
{
	const json_t *step = json_object_get(s, "step"), *d;
	size_t i;

	print_head("selection", s);
	putchar('\n');
	print_version(s);
	print_line("label", cmd_string(s, "label"));
	if (json_is_integer(step))
		printf("%-11s%" JSON_INTEGER_FORMAT "\n", "step", json_integer_value(step));
	print_metric(s);
	print_time("selected", s, "selected_at");
	print_time("captured", s, "captured_at");
	print_time("completed", s, "completed_at");
	print_line("capture", cmd_string(s, "capture"));
	print_line("sha256", cmd_string(s, "sha256"));
	print_line("model", cmd_string(s, "model"));
	print_line("tensors", cmd_string(s, "tensors"));
	print_line("experiment", cmd_string(s, "experiment"));
	print_line("source", cmd_string(s, "source"));
	print_software(s);
	json_array_foreach (json_object_get(s, "decisions"), i, d)
		print_decision("decision", d);
}

void selection_print_superseded(const json_t *s)
{
	char when[REPLY_TIME_TEXT];

	if (!json_is_object(s))
		return;
	reply_time_text(cmd_string(s, "selected_at"), when);
	print_label("supersedes");
	print_name(s);
	printf(" (%s)", cmd_string(s, "selection"));
	printf(", %s: ", when);
	cmd_print_text(cmd_string(s, "path"));
	printf("@%" JSON_INTEGER_FORMAT "\n", cmd_number(s, "version"));
}

enum op_exit selection_print_ledger(const json_t *answer)
{
	const json_t *other, *d;
	size_t i, k;

	selection_print(json_object_get(answer, "selection"));
	json_array_foreach (json_object_get(answer, "others"), i, other) {
		char when[REPLY_TIME_TEXT];

		reply_time_text(cmd_string(other, "selected_at"), when);
		print_head("also", other);
		printf(", %s: ", when);
		cmd_print_text(cmd_string(other, "path"));
		printf("@%" JSON_INTEGER_FORMAT "\n", cmd_number(other, "version"));
		json_array_foreach (json_object_get(other, "decisions"), k, d)
			print_decision("  decision", d);
	}
	return OP_DONE;
}

void selection_print_list(const json_t *selections)
{
	const json_t *s;
	size_t i;

	json_array_foreach (selections, i, s) {
		print_head(i ? "" : "selected", s);
		printf(", version %" JSON_INTEGER_FORMAT "\n", cmd_number(s, "version"));
	}
}
