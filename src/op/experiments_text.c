/* The log for people: experiments as paragraphs, each line with what it tells in front of it. */
#include <stdio.h>
#include <string.h>

#include "op/experiments.h"
#include "op/reply.h"

#define LABEL "%-11s"

static const char *get(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

/* What could disturb a terminal becomes '?'. */
static void put(FILE *f, const char *text)
{
	for (; *text; text++)
		fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, f);
}

static void put_list(FILE *f, const json_t *list)
{
	const json_t *name;
	size_t i;

	json_array_foreach (list, i, name) {
		fputs(i ? ", " : "", f);
		put(f, json_string_value(name));
	}
}

static void put_pending(FILE *f, const json_t *branch)
{
	const json_t *pending = json_object_get(branch, "pending");

	if (!*get(pending, "hash"))
		return;
	fprintf(f, LABEL "%s (", "pending", get(pending, "hash"));
	put(f, get(branch, "name"));
	fputs(": ", f);
	put_list(f, json_object_get(pending, "components"));
	fputs(")\n", f);
}

static bool is_in(const json_t *list, const char *text)
{
	const json_t *other;
	size_t i;

	json_array_foreach (list, i, other)
		if (!strcmp(json_string_value(other), text))
			return true;
	return false;
}

static void put_changed(FILE *f, const json_t *entry)
{
	const json_t *hp = json_object_get(entry, "hp"), *changed = json_object_get(entry, "changed"), *j;
	const char *label = "changed";
	size_t i;

	json_array_foreach (hp, i, j) {
		const char *from = get(j, "from"), *to = get(j, "to");

		fprintf(f, LABEL, label);
		put(f, get(j, "key"));
		fputs(": ", f);
		put(f, *from ? from : "none");
		fputs(" -> ", f);
		put(f, *to ? to : "none");
		fputc('\n', f);
		label = "";
	}
	for (int s = 0; s < SEGMENTS; s++) {
		if ((s == SEGMENT_HP && hp) || !is_in(changed, experiments_segment[s]))
			continue;
		fprintf(f, LABEL "%s\n", label, experiments_segment[s]);
		label = "";
	}
}

static void put_steps(FILE *f, const json_t *entry)
{
	const json_t *steps = json_object_get(entry, "steps");
	size_t n = json_array_size(steps);
	json_int_t first = json_integer_value(json_array_get(steps, 0));
	json_int_t last = n ? json_integer_value(json_array_get(steps, n - 1)) : 0;

	if (n == 1)
		fprintf(f, LABEL "%" JSON_INTEGER_FORMAT "\n", "steps", first);
	else if (n > 1)
		fprintf(f, LABEL "%" JSON_INTEGER_FORMAT " ... %" JSON_INTEGER_FORMAT " (%zu)\n", "steps", first, last, n);
	if (!json_is_object(json_object_get(entry, "latest")))
		return;
	fprintf(f, LABEL, "latest");
	put(f, get(json_object_get(entry, "latest"), "path"));
	fputc('\n', f);
}

static void put_selections(FILE *f, const json_t *entry)
{
	const json_t *j;
	size_t i;

	json_array_foreach (json_object_get(entry, "selections"), i, j) {
		fprintf(f, LABEL, i ? "" : "selected");
		put(f, get(j, "path"));
		fprintf(f, "@%" JSON_INTEGER_FORMAT " as ", json_integer_value(json_object_get(j, "version")));
		put(f, get(j, "name"));
		fputc('\n', f);
	}
}

static void put_labels(FILE *f, const json_t *entry)
{
	const json_t *j;
	size_t i;

	json_array_foreach (json_object_get(entry, "labels"), i, j) {
		fprintf(f, LABEL, i ? "" : "label");
		put(f, get(j, "path"));
		fputs(": ", f);
		put(f, get(j, "text"));
		fputc('\n', f);
	}
}

static void put_entry(FILE *f, const json_t *entry, bool several)
{
	const json_t *head_of = json_object_get(entry, "head_of");
	char when[REPLY_TIME_TEXT];

	fprintf(f, LABEL "%s", "experiment", get(entry, "hash"));
	if (json_array_size(head_of) > 0) {
		fputs(" (HEAD of ", f);
		put_list(f, head_of);
		fputc(')', f);
	}
	fputc('\n', f);
	if (*get(entry, "parent"))
		fprintf(f, LABEL "%s\n", "parent", get(entry, "parent"));
	reply_time_text(get(entry, "time"), when);
	fprintf(f, LABEL "%s\n", "time", when);
	if (several) {
		fprintf(f, LABEL, "branches");
		put_list(f, json_object_get(entry, "branches"));
		fputc('\n', f);
	}
	put_changed(f, entry);
	put_steps(f, entry);
	put_selections(f, entry);
	put_labels(f, entry);
}

char *experiments_text(const json_t *log)
{
	const json_t *branches = json_object_get(log, "branches"), *j;
	char *text = NULL;
	size_t i, len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	json_array_foreach (branches, i, j)
		put_pending(f, j);
	json_array_foreach (json_object_get(log, "experiments"), i, j) {
		fputs(ftell(f) > 0 ? "\n" : "", f);
		put_entry(f, j, json_array_size(branches) > 1);
	}
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
