/* A directory of runs that becomes one run, as it does below runs/: what was several branches is one then, and the configurations
 * count for none of the checkpoints. */
#include "cmd/import_runs.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/shell.h"
#include "exp/entries.h"
#include "op/reply.h"

static bool has_hp(const struct import *im, const struct tree_entry *dir)
{
	for (size_t i = dir->first; i < dir->first + dir->n; i++) {
		const struct tree_entry *e = &im->tree->v[i];

		if (S_ISREG(e->st.st_mode) && role_of(im->config->rules, path_last(e->to), false) == ROLE_HP)
			return true;
	}
	return false;
}

/* Marks each directory at the top in which checkpoints lie that count for all of what is imported. */
static void mark(const struct import *im, bool *marked)
{
	const struct tree_entry *v = im->tree->v;

	for (size_t i = 0; i < im->n; i++) {
		size_t dir = im->v[i].e->dir;

		if ((!im->v[i].is_checkpoint && !im->v[i].unit) || im->places[im->v[i].place].is_root)
			continue;
		while (v[dir].dir != 0)
			dir = v[dir].dir;
		marked[dir] = dir != 0;
	}
}

json_t *import_runs(const struct import_where *w, const struct import *im)
{
	_cleanup_free_ bool *marked = calloc(im->tree->n, sizeof(*marked));
	_cleanup_free_ char *source = shell_word(w->source), *runs = path_join(w->point, "runs"), *dest = runs ? shell_word(runs) : NULL;
	_cleanup_free_ char *command = NULL;
	json_t *names = json_array();

	if (marked && !im->holds_runs && !has_hp(im, im->tree->v) && !strcmp(w->path, w->below))
		mark(im, marked);
	for (size_t i = 1; marked && i < im->tree->n; i++)
		if (marked[i] && has_hp(im, &im->tree->v[i]))
			json_array_append_new(names, reply_text(im->tree->v[i].to));
	if (json_array_size(names) < 2)
		json_array_clear(names);
	if (source && dest && asprintf(&command, "expfs import %s %s", source, dest) < 0)
		command = NULL;
	return json_pack("{s:I, s:o, s:s?}", "count", (json_int_t)json_array_size(names), "names", names, "command", command);
}

void import_runs_print(const json_t *runs)
{
	const json_t *names = json_object_get(runs, "names"), *name;
	size_t i, n = json_array_size(names);

	if (n == 0)
		return;
	printf("runs      %zu directories in it look like runs (", n);
	json_array_foreach (names, i, name) {
		if (i == IMPORT_RUNS_SHOWN)
			break;
		printf("%s", i ? ", " : "");
		cmd_print_text(json_string_value(name));
	}
	printf("%s); for a branch of each: ", n > IMPORT_RUNS_SHOWN ? ", …" : "");
	cmd_print_text(*cmd_string(runs, "command") ? cmd_string(runs, "command") : "expfs import DIR MNT/runs");
	putchar('\n');
}
