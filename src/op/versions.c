#include "op/versions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exp/experiment.h"
#include "meta/weights.h"
#include "op/reply.h"
#include "op/selection.h"
#include "op/unknown.h"
#include "util/advice.h"

enum op_exit versions_load(struct expfs *ex, const json_t *args, char **ret_path, struct history *ret_history,
			   json_t **ret)
{
	_cleanup_free_ char *path = reply_get_path(args);
	const char *point = ex->mountpoint ? ex->mountpoint : "";
	int r = path ? history_load(ex, path, ret_history) : -EINVAL;

	if (r == -EINVAL)
		return reply_error(ret, OP_USAGE, "a path is wanted; see: expfs help");
	if (r == -ENOENT)
		return unknown_say(ex, path, json_object_get(args, "selection"), ret);
	if (r == -ENODATA)
		return reply_error(ret, OP_NO, "/%s: has no version: checkpoint_manager: in the configuration of its run says that such "
				   "files are not recorded", path);
	if (r == -EISDIR)
		return reply_error(ret, OP_NO,
				   "/%s: is a directory that is no checkpoint, and was none; name a path in it, as %s/%s/NAME; those of which "
				   "something is known are below %s/.expfs/history/%s", path, point, path, point, path);
	if (r < 0)
		return reply_error(ret, OP_FAILED, "/%s: versions: %s", path, advice(r));
	*ret_path = steal(&path);
	return OP_DONE;
}

/* A path of a view history/ names a version of another one: DIR/.expfs/history/PATH/N.EXT. 1: it does. */
static int in_history(const char *path, char **ret_path, uint64_t *ret_n)
{
	static const char view[] = ".expfs/history/";
	const char *at = strncmp(path, view, strlen(view)) ? strstr(path, "/.expfs/history/") : path;
	const char *rest = at ? at + (*at == '/') + strlen(view) : "", *last = strrchr(rest, '/');
	size_t digits = last ? strspn(last + 1, "0123456789") : 0;

	if (digits == 0 || digits > 18 || (last[1 + digits] && last[1 + digits] != '.'))
		return 0;
	*ret_n = strtoull(last + 1, NULL, 10);
	return asprintf(ret_path, "%.*s%s%.*s", (int)(at - path), path, at > path ? "/" : "", (int)(last - rest), rest) < 0 ? -ENOMEM : 1;
}

/* The path and the number of what was selected. */
static enum op_exit find_selected(struct expfs *ex, const struct ledger_row *row, char **ret_path, uint64_t *ret_n, json_t **ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct version_row v;
	int r = version_get(db, row->of, &v);

	if (r == -ENOENT)
		return reply_error(ret, OP_NO, "%s: the version that was selected is gone; see: expfs show %s", row->name, row->name);
	if (r == 0)
		r = tracked_path(db, v.tracked, ret_path);
	*ret_n = v.n;
	return r < 0 ? reply_error(ret, OP_FAILED, "%s: %s", row->name, advice(r)) : OP_DONE;
}

static json_t *with_path(const json_t *args, const char *path, uint64_t n)
{
	_cleanup_json_ json_t *to = json_copy((json_t *)(uintptr_t)args);

	if (!to)
		return NULL;
	json_object_del(to, "path");
	json_object_del(to, "path_hex");
	json_object_del(to, "selection");
	json_object_del(to, "near");
	return reply_put_path(to, path) < 0 || json_object_set_new(to, "n", json_integer((json_int_t)n)) < 0 ? NULL : json_incref(to);
}

void versions_selection_free(struct versions_selection *s)
{
	json_decref(s->head);
}

int versions_selection_put(const struct versions_selection *s, json_t *to)
{
	return json_object_set_new(to, "selection", s->head ? json_incref(s->head) : json_null());
}

static enum op_exit take_selection(struct expfs *ex, const struct ledger_row *row, struct versions_selection *ret_selection, json_t **ret)
{
	int r = selection_head(ex, row, &ret_selection->head);

	ret_selection->step = selection_step(row);
	return r < 0 ? reply_error(ret, OP_FAILED, "%s: %s", row->name, advice(r)) : OP_DONE;
}

enum op_exit versions_place(struct expfs *ex, const json_t *args, json_t **ret_args, struct versions_selection *ret_selection,
			    json_t **ret)
{
	_cleanup_free_ char *given = reply_get_path(args), *path = NULL;
	_cleanup_ledger_row_ struct ledger_row row = { 0 };
	bool placed;
	uint64_t n = 0;
	enum op_exit exit = selection_named(ex, args, &row, &placed, ret);

	*ret_selection = (struct versions_selection){ .step = NO_STEP };
	if (exit == OP_DONE && placed)
		exit = take_selection(ex, &row, ret_selection, ret);
	if (exit == OP_DONE && placed)
		exit = find_selected(ex, &row, &path, &n, ret);
	else if (exit == OP_DONE && given)
		placed = in_history(given, &path, &n) == 1;
	if (exit == OP_DONE)
		*ret_args = placed ? with_path(args, path, n) : json_copy((json_t *)(uintptr_t)args);
	return exit != OP_DONE ? exit : *ret_args ? OP_DONE : OP_FAILED;
}

static enum op_exit find_step(struct expfs *ex, const char *hash, int64_t step, struct version_row *v, json_t **ret)
{
	struct experiment_row row;
	uint64_t id;
	int r = experiment_find(ex, hash, &row);

	if (r == 0) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = holds_first_of_step(db, row.id, step, &id);
		if (r == 0)
			r = version_get(db, id, v);
	}
	if (r == -ENOENT || r == -EEXIST)
		return reply_error(ret, OP_NO, "%s@%" PRId64 ": %s", hash, step, r == -EEXIST ?
				   "the hashes of several experiments begin so; give more of it" : "there is no such experiment, or no such step of it whose weights are its own; see: expfs log");
	return r < 0 ? reply_error(ret, OP_FAILED, "%s: %s", hash, advice(r)) : OP_DONE;
}

/* The path of a checkpoint of an experiment. */
static enum op_exit find_path(struct expfs *ex, const struct version_row *v, char **ret_path, enum role *ret_role, json_t **ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;
	int r = tracked_get(db, v->tracked, &t);

	if (r == 0)
		r = tracked_path(db, t.id, ret_path);
	*ret_role = (enum role)t.role;
	return r < 0 ? reply_error(ret, OP_FAILED, "versions: %s", advice(r)) : OP_DONE;
}

static enum op_exit find_number(struct expfs *ex, const json_t *args, char **ret_path, enum role *ret_role,
				struct version_row *ret, json_t **ret_answer)
{
	uint64_t n = (uint64_t)json_integer_value(json_object_get(args, "n"));
	_cleanup_history_ struct history h = { .n = 0 };
	enum op_exit exit = versions_load(ex, args, ret_path, &h, ret_answer);
	bool complete;

	if (exit != OP_DONE)
		return exit;
	*ret_role = (enum role)h.tracked.role;
	complete = *ret_role == ROLE_WEIGHTS;
	for (size_t i = h.n; i > 0; i--) {
		*ret = h.v[i - 1].row;
		if ((!n || ret->n == n) && (!complete || ret->complete == 1))
			return OP_DONE;
	}
	if (n)
		return reply_error(ret_answer, OP_NO, "/%s: has no %sversion %" PRIu64 "; see: expfs history", *ret_path,
				   complete ? "complete " : "", n);
	return reply_error(ret_answer, OP_NO, "/%s: is not complete; expfs status says why", *ret_path);
}

enum op_exit versions_find(struct expfs *ex, const json_t *args, char **ret_path, enum role *ret_role, struct version_row *ret,
			   struct versions_selection *ret_selection, json_t **ret_answer)
{
	const char *hash = json_string_value(json_object_get(args, "hash"));
	_cleanup_json_ json_t *placed = NULL;
	enum op_exit exit;

	*ret_selection = (struct versions_selection){ .step = NO_STEP };
	if (!hash) {
		exit = versions_place(ex, args, &placed, ret_selection, ret_answer);
		return exit != OP_DONE ? exit : find_number(ex, placed, ret_path, ret_role, ret, ret_answer);
	}
	exit = find_step(ex, hash, json_integer_value(json_object_get(args, "step")), ret, ret_answer);
	return exit != OP_DONE ? exit : find_path(ex, ret, ret_path, ret_role, ret_answer);
}
