#include "cmd/import_told.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/import_runs.h"
#include "exp/entries.h"
#include "op/reply.h"
#include "util/human.h"

#define SHOWN 10

/* A source that is itself in a mount of ours has what there was before. */
static json_t *history_of(const struct import_where *w, const struct tree_entry *hp)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/.expfs/history/%s", w->source, hp->path) < 0) {
		path = NULL;
		return json_null();
	}
	return access(path, F_OK) == 0 ? reply_text(path) : json_null();
}

/* Of a plain directory the last configuration alone is there. */
static void add_newer(const struct import_where *w, const struct import_place *p, json_t *place)
{
	_cleanup_free_ char *path = p->older > 0 ? path_join(w->path, p->hp->to) : NULL;

	json_object_set_new(place, "newer", path ? json_pack("{s:o, s:I, s:o}", "path", reply_path(path), "than", (json_int_t)p->older,
							     "history", history_of(w, p->hp)) : json_null());
}

static json_t *place_json(const struct import_where *w, const struct import_place *p)
{
	json_t *steps = p->steps ? json_pack("[I, I]", (json_int_t)p->low, (json_int_t)p->high) : json_null();
	json_t *experiments = p->is_root ? json_integer((json_int_t)p->experiments) : json_null();

	json_t *place = json_pack("{s:o, s:s, s:I, s:o, s:o, s:I, s:o}", "path", reply_path(p->path), "kind", p->is_root ? "root" : "run",
			 "checkpoints", (json_int_t)p->checkpoints, "steps", steps, "experiments", experiments, "torn",
			 (json_int_t)p->torn, "first_torn", p->first_torn ? reply_text(p->first_torn) : json_null());

	add_newer(w, p, place);
	return place;
}

static json_t *places_json(const struct import_where *w, const struct import *im)
{
	json_t *list = json_array();

	for (size_t i = 0; i < im->n_places && json_array_size(list) < IMPORT_TOLD_MAX; i++)
		if (im->places[i].checkpoints || im->places[i].torn || im->places[i].is_root)
			json_array_append_new(list, place_json(w, &im->places[i]));
	return list;
}

static json_t *differing_json(const struct import *im)
{
	json_t *list = json_array();

	for (size_t i = 0; i < im->n && json_array_size(list) < IMPORT_TOLD_MAX; i++)
		if (im->v[i].state == IMPORT_DIFFERS)
			json_array_append_new(list, reply_text(im->v[i].e->to));
	return json_pack("{s:I, s:o}", "count", (json_int_t)im->n_differ, "paths", list);
}

static json_t *given_back_json(const struct import *im)
{
	json_t *list = json_array();

	for (size_t i = 0; i < im->tree->n && json_array_size(list) < IMPORT_TOLD_MAX; i++) {
		const struct tree_entry *e = &im->tree->v[i];
		const char *from = strrchr(e->path, '/'), *to = strrchr(e->to, '/');

		if (strcmp(from ? from : e->path, to ? to : e->to) != 0)
			json_array_append_new(list, json_pack("{s:o, s:o}", "from", reply_text(e->path), "to", reply_text(e->to)));
	}
	return json_pack("{s:I, s:o}", "count", (json_int_t)im->n_given_back, "names", list);
}

static json_t *left_json(const struct import *im)
{
	json_t *list = json_array();

	for (size_t i = 0; i < im->tree->n_left && i < IMPORT_TOLD_MAX; i++) {
		const struct tree_left *l = &im->tree->left[i];

		json_array_append_new(list, json_pack("{s:o, s:o, s:s}", "path", reply_text(l->path), "why",
						      reply_text(l->why), "kind", l->lost ? "failed" : "left out"));
	}
	return json_pack("{s:I, s:o}", "count", (json_int_t)im->tree->n_left, "paths", list);
}

json_t *import_told(const struct import_where *w, const struct import *im)
{
	json_t *told = json_pack("{s:o, s:o, s:o}", "source", reply_text(w->source), "dest", reply_path(w->path), "mount",
				 reply_text(w->point));
	json_t *counts = json_pack("{s:I, s:I, s:I, s:I, s:I}", "files", (json_int_t)im->n, "bytes", (json_int_t)im->bytes, "new",
				   (json_int_t)im->n_new, "new_bytes", (json_int_t)im->bytes_new, "there", (json_int_t)im->n_there);

	json_object_update(told, counts);
	json_decref(counts);
	json_object_set_new(told, "differs", differing_json(im));
	json_object_set_new(told, "foreign", im->foreign ? reply_text(im->foreign) : json_null());
	json_object_set_new(told, "places", places_json(w, im));
	json_object_set_new(told, "runs", import_runs(w, im));
	json_object_set_new(told, "given_back", given_back_json(im));
	json_object_set_new(told, "left_out", left_json(im));
	return told;
}

/* The first ones of a list of count; print_one prints each without the end of the line. */
static void print_list(const char *heading, const json_t *list, json_int_t count, void (*print_one)(const json_t *v))
{
	const json_t *v;
	size_t i;

	json_array_foreach (list, i, v) {
		if (i == SHOWN)
			break;
		printf("%-10s", heading ? heading : cmd_string(v, "kind"));
		print_one(v);
		putchar('\n');
	}
	if (count > (json_int_t)i)
		printf("%-10sand %" JSON_INTEGER_FORMAT " more; see them with --json\n", "", count - (json_int_t)i);
}

static void print_place(const json_t *p)
{
	const json_t *steps = json_object_get(p, "steps"), *experiments = json_object_get(p, "experiments");

	cmd_print_text(cmd_string(p, "path"));
	printf(": ");
	if (json_is_integer(experiments)) {
		cmd_print_count(json_integer_value(experiments), "experiment");
		printf(", ");
	}
	cmd_print_count(cmd_number(p, "checkpoints"), "checkpoint");
	if (json_is_array(steps))
		printf(", steps %" JSON_INTEGER_FORMAT " ... %" JSON_INTEGER_FORMAT, json_integer_value(json_array_get(steps, 0)),
		       json_integer_value(json_array_get(steps, 1)));
	if (cmd_number(p, "torn") == 0)
		return;
	printf("; %" JSON_INTEGER_FORMAT " more not whole: ", cmd_number(p, "torn"));
	cmd_print_text(cmd_string(p, "first_torn"));
	if (cmd_number(p, "torn") > 1)
		printf(" ...");
}

static void print_newer(const json_t *places)
{
	const json_t *place;
	size_t i;

	json_array_foreach (places, i, place) {
		const json_t *newer = json_object_get(place, "newer"), *history = json_object_get(newer, "history");

		if (!json_is_object(newer) || i >= SHOWN)
			continue;
		printf("newer     ");
		cmd_print_text(cmd_string(newer, "path"));
		printf(": configuration newer than %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
		       " checkpoints: it may not be what these were trained with, though they count for it",
		       cmd_number(newer, "than"), cmd_number(place, "checkpoints"));
		if (json_is_string(history)) {
			printf("; what it was before: ");
			cmd_print_text(json_string_value(history));
		}
		putchar('\n');
	}
}

static void print_name(const json_t *v)
{
	cmd_print_text(cmd_string(v, "from"));
	printf(" is again ");
	cmd_print_text(cmd_string(v, "to"));
}

static void print_left(const json_t *v)
{
	cmd_print_text(cmd_string(v, "path"));
	printf(": ");
	cmd_print_text(cmd_string(v, "why"));
}

static void print_text(const json_t *v)
{
	cmd_print_text(json_string_value(v));
}

static void print_counted(const char *heading, const json_t *o, const char *key, void (*print_one)(const json_t *v))
{
	print_list(heading, json_object_get(o, key), cmd_number(o, "count"), print_one);
}

static void print_branches(const json_t *told)
{
	const json_t *list = json_object_get(told, "branches"), *space = json_object_get(told, "space"), *v;
	char raw[HUMAN_TEXT], stored[HUMAN_TEXT];
	size_t i;

	json_array_foreach (list, i, v) {
		if (i == SHOWN)
			break;
		printf("%s", i ? ", " : "branches  ");
		cmd_print_text(json_string_value(v));
	}
	if (json_array_size(list) > SHOWN)
		printf(" and %zu more", json_array_size(list) - SHOWN);
	printf(json_array_size(list) ? ": " : "branches  none");
	if (json_array_size(list))
		cmd_print_count(cmd_number(told, "experiments"), "experiment");
	putchar('\n');
	human_bytes((double)cmd_number(space, "raw"), raw);
	human_bytes((double)cmd_number(space, "stored"), stored);
	printf("space     %s more, in %s of the store\n", raw, stored);
}

void import_print(const json_t *told, bool done)
{
	json_int_t new = cmd_number(told, "new"), there = cmd_number(told, "there");
	const json_t *places = json_object_get(told, "places");
	char bytes[HUMAN_TEXT];

	human_bytes((double)cmd_number(told, "new_bytes"), bytes);
	cmd_print_text(cmd_string(told, "dest"));
	printf(": ");
	cmd_print_count(new, "file");
	printf(", %s, %s from ", bytes, done ? "brought" : "to be brought");
	cmd_print_text(cmd_string(told, "source"));
	if (there > 0)
		printf("; %" JSON_INTEGER_FORMAT " %s there already", there, there == 1 ? "is" : "are");
	putchar('\n');
	print_list(NULL, places, (json_int_t)json_array_size(places), print_place);
	print_newer(places);
	import_runs_print(json_object_get(told, "runs"));
	print_counted("name", json_object_get(told, "given_back"), "names", print_name);
	print_counted(NULL, json_object_get(told, "left_out"), "paths", print_left);
	print_counted("differs", json_object_get(told, "differs"), "paths", print_text);
	if (done)
		print_branches(told);
}
