/* Files of the store as they stand at their paths now. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "exp/entries.h"
#include "op/reply.h"
#include "sync/portable.h"
#include "util/log.h"

#define DEPTH_MAX 64

/* What tells that a file is the same: a change of its content or its times shows in one of these. */
static char *stamp_of(const json_t *entry)
{
	char *stamp;

	return asprintf(&stamp, "%lld.%lld.%lld", (long long)cmd_number(entry, "ino"), (long long)cmd_number(entry, "ctime"),
			(long long)cmd_number(entry, "mtime")) < 0 ? NULL : stamp;
}

int export_add_entry(struct export *e, const json_t *entry, char *name, enum export_kind kind)
{
	struct supply_ref from = { .path = reply_get_path(entry), .name = strdup("") };

	return export_file_add(export_unit(e, name, kind), "", from, entry, stamp_of(entry));
}

static int report_mapped(struct export_job *j, const char *path, const char *as)
{
	_cleanup_json_ json_t *name = reply_text(path);
	json_t *mapped = json_object_get(j->report, "mapped");

	if (!name || json_array_append_new(mapped, json_pack("{s:O, s:s?}", "name", name, "as", as)) < 0)
		return -ENOMEM;
	j->partial |= !as;
	if (!export_tell_once(j, json_string_value(name)))
		return 0;
	if (as)
		log_msg("%s: sync folders refuse such a name; it is %s there", json_string_value(name), as);
	else
		log_msg("%s: there is no name for it that sync folders take; it is left out", json_string_value(name));
	return 0;
}

int export_map(struct export_job *j, const char *const *paths, size_t n, char **ret)
{
	int r = portable_map_paths(paths, n, ret);

	for (size_t i = 0; i < n && r == 0; i++)
		if (!ret[i] || strcmp(ret[i], paths[i]) != 0)
			r = report_mapped(j, paths[i], ret[i]);
	return r;
}

struct walk {
	struct export_job *j;
	export_entry_fn fn;
	void *arg;
};

static enum op_exit walk_dir(const struct walk *w, const char *dir, unsigned depth);

static enum op_exit walk_entry(const struct walk *w, const json_t *entry, unsigned depth)
{
	_cleanup_free_ char *path = reply_get_path(entry);
	bool enter = true;
	int r = path ? w->fn(w->arg, entry, path, &enter) : -ENOMEM;

	if (r < 0) {
		log_msg("/%s: %s", path ? path : "", strerror(-r));
		return OP_FAILED;
	}
	return S_ISDIR((mode_t)cmd_number(entry, "mode")) && enter ? walk_dir(w, path, depth + 1) : OP_DONE;
}

/* A directory that went meanwhile has nothing in it, but the first is asked for. */
static enum op_exit walk_dir(const struct walk *w, const char *dir, unsigned depth)
{
	_cleanup_json_ json_t *args = json_object(), *answer = NULL;
	enum op_exit exit = reply_put_path(args, dir) < 0 ? OP_FAILED : OP_DONE;
	const json_t *entry;
	size_t i;

	if (depth > DEPTH_MAX) {
		w->j->partial = true;
		if (export_tell_once(w->j, dir))
			log_msg("/%s: lies in more than %d directories; it is left out", dir, DEPTH_MAX);
		return OP_DONE;
	}
	if (exit == OP_DONE)
		exit = export_ask(w->j, "list", args, &answer);
	json_array_foreach (json_object_get(answer, "entries"), i, entry)
		if (exit == OP_DONE)
			exit = walk_entry(w, entry, depth);
	return exit == OP_NO && depth > 0 ? OP_DONE : exit;
}

enum op_exit export_walk(struct export_job *j, const char *dir, export_entry_fn fn, void *arg)
{
	return walk_dir(&(struct walk){ .j = j, .fn = fn, .arg = arg }, dir, 0);
}
