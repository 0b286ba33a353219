/* What a pass did. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "op/reply.h"
#include "util/human.h"

/* Who watches for days wants to know when a line was written, and of which step. */
static void begin_line(const struct export_job *j)
{
	char text[REPLY_TIME_TEXT];

	reply_time_text(cmd_string(j->report, "time"), text);
	if (j->watch && *text)
		printf("%s ", strchr(text, ' ') + 1);
}

static void print_step(const struct export_job *j, const char *name)
{
	const char *dot = strchr(name, '.');
	_cleanup_free_ char *base = strndup(name, dot ? (size_t)(dot - name) : strlen(name));
	const json_t *step = base ? json_object_get(json_object_get(j->report, base), "step") : NULL;

	if (j->watch && j->layout == &export_layout_pair && json_is_integer(step))
		printf(" step %lld", (long long)json_integer_value(step));
}

static void print_text(const struct export_job *j)
{
	const json_t *files = json_object_get(j->report, "files"), *f;
	char text[16];
	size_t i;

	json_array_foreach (files, i, f) {
		if (j->layout != &export_layout_pair && !strcmp(cmd_string(f, "action"), "unchanged"))
			continue;
		human_bytes((double)cmd_number(f, "bytes"), text);
		begin_line(j);
		cmd_print_text(cmd_string(f, "name"));
		print_step(j, cmd_string(f, "name"));
		printf(": %s", cmd_string(f, "action"));
		printf(strcmp(cmd_string(f, "action"), "removed") ? ", %s\n" : "\n", text);
	}
	human_bytes((double)cmd_number(j->report, "written"), text);
	begin_line(j);
	printf("%s written to ", text);
	cmd_print_text(j->folder.path);
	if (json_is_integer(json_object_get(j->report, "free"))) {
		human_bytes((double)cmd_number(j->report, "free"), text);
		printf(", %s were free", text);
	}
	putchar('\n');
}

/* Who watches is told of passes that did something. */
static bool did_something(const json_t *report)
{
	static const char *const nothing[] = { "unchanged", "kept", "refused" };
	const json_t *f;
	size_t i;

	json_array_foreach (json_object_get(report, "files"), i, f) {
		bool did = true;

		for (size_t k = 0; k < ARRAY_SIZE(nothing); k++)
			did &= strcmp(cmd_string(f, "action"), nothing[k]) != 0;
		if (did)
			return true;
	}
	return false;
}

void export_print(const struct export_job *j)
{
	if (j->watch && !did_something(j->report))
		return;
	if (!j->a.json)
		print_text(j);
	else if (!j->watch)
		cmd_print_json(j->report);
	else
		cmd_print_json_as(j->report, JSON_COMPACT);
	fflush(stdout);
}
