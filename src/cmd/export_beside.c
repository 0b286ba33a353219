/* --files: what lies in the run beside its checkpoints, by role. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "exp/entries.h"
#include "op/reply.h"
#include "util/list.h"
#include "util/log.h"

static const struct {
	const char *name, *role;
} kinds[] = { { "config", "HP" }, { "metrics", "SIGNALS" }, { "model", "MODEL" }, { "data", "DATA" }, { "log", NULL } };

/* Is it in the list, of names with commas between them? */
static bool has(const char *files, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = files; *p; p += strcspn(p, ","), p += *p == ',')
		if (!strncmp(p, name, len) && (!p[len] || p[len] == ','))
			return true;
	return false;
}

bool export_files_are_known(const char *files)
{
	if (!strcmp(files, "none"))
		return true;
	for (const char *p = files; *p; p += strcspn(p, ","), p += *p == ',') {
		bool known = false;

		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
			known |= strcspn(p, ",") == strlen(kinds[i].name) && !strncmp(p, kinds[i].name, strlen(kinds[i].name));
		if (!known)
			return false;
	}
	return *files;
}

static bool is_log(const char *path)
{
	size_t len = strlen(path);

	return len > 4 && !strcmp(path + len - 4, ".log");
}

static bool is_wanted(const char *files, const json_t *entry, const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (has(files, kinds[i].name) &&
		    (kinds[i].role ? !strcmp(cmd_string(entry, "role"), kinds[i].role) : is_log(path)))
			return true;
	return false;
}

struct found {
	const char *files;
	size_t top; /* bytes of the run's path, with the slash */
	struct found_file {
		char *path; /* below the run */
		json_t *entry;
	} *v;
	size_t n;
};

/* What lies in a checkpoint belongs to it, and what lies in another run to that. */
static int find(void *arg, const json_t *entry, const char *path, bool *ret_enter)
{
	mode_t mode = (mode_t)cmd_number(entry, "mode");
	struct found *f = arg;
	struct found_file *v;

	*ret_enter = strcmp(cmd_string(entry, "role"), "WEIGHTS") != 0 && !json_is_true(json_object_get(entry, "run"));
	if (!S_ISREG(mode) || !is_wanted(f->files, entry, path))
		return 0;
	v = array_grow(f->v, f->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	f->v = v;
	v[f->n] = (struct found_file){ .path = strdup(path + f->top), .entry = json_incref((json_t *)(uintptr_t)entry) };
	return v[f->n++].path ? 0 : -ENOMEM;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct found_file *)a)->path, ((const struct found_file *)b)->path);
}

/* Does that name stand for a checkpoint here? */
static bool is_taken(const struct export *e, size_t units, const char *name)
{
	for (size_t i = 0; i < units; i++) {
		size_t len = strlen(e->units[i].name);

		if (!strncmp(name, e->units[i].name, len) && (!name[len] || name[len] == '/'))
			return true;
	}
	return false;
}

static int add_all(struct export_job *j, struct export *e, struct found *f)
{
	const char **paths = calloc(f->n + 1, sizeof(*paths));
	char **names = calloc(f->n + 1, sizeof(*names));
	size_t units = e->n;
	int r = paths && names ? 0 : -ENOMEM;

	qsort(f->v, f->n, sizeof(*f->v), by_path);
	for (size_t i = 0; i < f->n && r == 0; i++)
		paths[i] = f->v[i].path;
	if (r == 0)
		r = export_map(j, paths, f->n, names);
	for (size_t i = 0; i < f->n && r == 0; i++) {
		if (names[i] && is_taken(e, units, names[i])) {
			j->partial = true;
			if (export_tell_once(j, names[i]))
				log_msg("%s: a checkpoint has that name in the folder; it is left out", names[i]);
		} else if (names[i])
			r = export_add_entry(e, f->v[i].entry, steal(&names[i]), EXPORT_FILE);
	}
	for (size_t i = 0; i < f->n && names; i++)
		free(names[i]);
	free(names);
	free(paths);
	return r;
}

/* What was asked for and is not there. */
static void tell_none(struct export_job *j, const char *dir, const struct found *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		bool any = !has(f->files, kinds[i].name);

		for (size_t k = 0; k < f->n && !any; k++)
			any = is_wanted(kinds[i].name, f->v[k].entry, f->v[k].path);
		if (!any && export_tell_once(j, kinds[i].name))
			log_msg("/%s: has nothing for --files %s; expfs-tree(7) says which files these are", dir, kinds[i].name);
	}
}

enum op_exit export_fill_beside(struct export_job *j, struct export *e)
{
	_cleanup_free_ char *dir = reply_get_path(json_object_get(j->answer, "dir"));
	struct found f = { .files = j->files };
	enum op_exit exit;

	if (!dir)
		return OP_FAILED;
	if (json_is_true(json_object_get(j->answer, "removed")))
		return OP_DONE;
	f.top = strlen(dir) + (*dir != 0);
	exit = export_walk(j, dir, find, &f);
	if (exit == OP_DONE)
		tell_none(j, dir, &f);
	if (exit == OP_DONE && f.n > 0 && add_all(j, e, &f) < 0) {
		log_msg("export: memory is short");
		exit = OP_FAILED;
	}
	for (size_t i = 0; i < f.n; i++) {
		free(f.v[i].path);
		json_decref(f.v[i].entry);
	}
	free(f.v);
	return exit;
}
