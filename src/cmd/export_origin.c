/* A folder is one run's, and has one layout: an export of another would take what is there for old, and remove it. What was exported
 * there is kept with the memory of the folder (sync/memory.c):
 *
 *   {"id": number of the branch, 0: it was a directory, "ino": of the directory, 0: it was removed, "name": the branch, or null,
 *    "path": of the run or directory, "layout": text, "files": text as of --files, or null}
 *
 * The numbers are never used again, and stay with a run that is renamed. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "op/reply.h"
#include "util/log.h"

#define NAMES_TOLD 3

static json_t *origin_of(const struct export_job *j)
{
	_cleanup_free_ char *path = reply_get_path(json_object_get(j->answer, "dir"));

	return path ? json_pack("{s:O, s:O, s:O, s:o, s:s, s:s?}", "id", json_object_get(j->answer, "id"), "ino",
				json_object_get(j->answer, "ino"), "name", json_object_get(j->answer, "branch"), "path", reply_path(path),
				"layout", j->layout->name, "files", j->files) : NULL;
}

/* A directory may have become a branch since; of one root there may be several. */
static bool is_same_run(const json_t *a, const json_t *b)
{
	json_int_t id = cmd_number(a, "id"), ino = cmd_number(a, "ino");

	if (id && cmd_number(b, "id"))
		return id == cmd_number(b, "id");
	return ino && ino == cmd_number(b, "ino");
}

const char *export_subject(const struct export_job *j)
{
	const char *path = j->a.target.path;

	if (json_is_string(json_object_get(j->answer, "branch")))
		return cmd_string(j->answer, "branch");
	return path && *path ? path : "/";
}

struct left {
	const struct folder *folder;
	char *names; /* the first of them, as text */
	size_t n;
};

static int find_left(void *arg, const char *name)
{
	struct left *l = arg;
	char *names = NULL;
	struct stat st;

	if (folder_stat(l->folder, name, &st) < 0 || S_ISDIR(st.st_mode) || l->n++ >= NAMES_TOLD)
		return 0;
	if (asprintf(&names, "%s%s%s", l->n > 1 ? l->names : "", l->n > 1 ? ", " : "", name) < 0)
		return -ENOMEM;
	free(l->names);
	l->names = names;
	return 0;
}

static const char *name_of(const json_t *origin)
{
	const char *name = json_string_value(json_object_get(origin, "name"));

	return name ? name : cmd_string(origin, "path");
}

static void say_taken(const struct export_job *j, const json_t *old, const json_t *new, const struct left *l)
{
	const char *more = l->n > NAMES_TOLD ? " and others" : "";

	if (is_same_run(old, new))
		log_msg("%s: has an export of %s in the layout %s (%s%s); give --layout %s, export to another folder, or move these away first",
			j->folder.path, name_of(old), cmd_string(old, "layout"), l->names, more, cmd_string(old, "layout"));
	else if (!strcmp(cmd_string(old, "path"), cmd_string(new, "path")))
		log_msg("%s: has an export of a former run at %s (%s%s); export to another folder, or move these away first", j->folder.path,
			cmd_string(old, "path"), l->names, more);
	else
		log_msg("%s: has an export of another run, %s (%s%s); export to another folder, or move these away first", j->folder.path,
			name_of(old), l->names, more);
}

/* Which more files there are stays as it was once said. */
static int keep_files(struct export_job *j, const json_t *old, json_t *new)
{
	const char *files = json_string_value(json_object_get(old, "files"));

	if (j->files || !files || !export_files_are_known(files))
		return 0;
	j->files_before = strdup(files);
	j->files = j->files_before;
	return j->files && json_object_set_new(new, "files", json_string(files)) == 0 ? 0 : -ENOMEM;
}

enum op_exit export_claim(struct export_job *j)
{
	const json_t *old = memory_origin(j->memory);
	_cleanup_json_ json_t *new = origin_of(j);
	bool same = old && new && is_same_run(old, new) && !strcmp(cmd_string(old, "layout"), cmd_string(new, "layout"));
	struct left left = { .folder = &j->folder };
	int r = new ? 0 : -ENOMEM;

	if (r == 0 && !same)
		r = memory_each(j->memory, find_left, &left);
	if (r == 0 && left.n > 0 && old)
		say_taken(j, old, new, &left);
	else if (r == 0 && left.n > 0)
		log_msg("%s: has an export of which a former version noted no run (%s%s); it counts as one of %s from now on", j->folder.path,
			left.names, left.n > NAMES_TOLD ? " and others" : "", name_of(new));
	free(left.names);
	if (r == 0 && left.n > 0 && old)
		return OP_FAILED;
	if (r == 0 && same)
		r = keep_files(j, old, new);
	if (r == 0)
		r = memory_set_origin(j->memory, steal(&new));
	if (r < 0)
		log_msg("export: memory is short");
	return r < 0 ? OP_FAILED : OP_DONE;
}
