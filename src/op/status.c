/* status. Nothing is kept for it: branches and checkpoints are looked at as they are, sizes are summed from the rows. */
#include <stdio.h>
#include <string.h>

#include "exp/best.h"
#include "exp/branch_line.h"
#include "exp/keeper.h"
#include "exp/path.h"
#include "exp/root.h"
#include "exp/selection.h"
#include "exp/space.h"
#include "meta/waiting.h"
#include "op/reply.h"
#include "op/status.h"
#include "op/unknown.h"
#include "op/warning.h"
#include "util/advice.h"

/* What waits. Look-ups, as for this answer, do what they ask about themselves; the rest is what has to wait. */
static int background_json(struct expfs *ex, json_t **ret)
{
	struct waiting w;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = waiting_count(db, &w);
	}
	if (r < 0)
		return r;
	*ret = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "unread", (json_int_t)w.unread, "unjudged",
			 (json_int_t)w.unjudged, "due", (json_int_t)w.due, "moved", (json_int_t)w.moved, "events", (json_int_t)w.events, "unsynced", (json_int_t)w.unsynced,
			 "removals", (json_int_t)keeper_waiting(ex), "untold", (json_int_t)atomic_load(&ex->untold));
	return *ret ? 0 : -ENOMEM;
}

static json_t *checkpoint_json(const struct checkpoint *c)
{
	_cleanup_free_ char *path = checkpoint_place(c);

	return path ? json_pack("{s:o, s:o}", "path", reply_path(path), "step",
				c->version.step == NO_STEP ? json_null() : json_integer(c->version.step)) : NULL;
}

static int latest_json(const struct checkpoint_set *s, json_t **ret)
{
	_cleanup_checkpoint_ struct checkpoint c = { 0 };
	int r = checkpoint_latest(s, &c);

	*ret = r == 0 ? checkpoint_json(&c) : json_null();
	return r == -ENOENT ? 0 : r < 0 ? r : *ret ? 0 : -ENOMEM;
}

/* What was said when it was selected: the step may be none that the checkpoint tells itself, and metrics be none of expfs. */
static int add_selection(const struct ledger_row *row, json_t *best)
{
	_cleanup_json_ json_t *record = json_loads(row->record, 0, NULL);
	json_t *step = json_object_get(record, "step"), *metric = json_object_get(record, "metric");
	char id[SELECTION_TEXT];

	selection_text(row->id, id);
	if (json_is_integer(step))
		json_object_set(best, "step", step);
	if (json_object_set_new(best, "metric", json_null()) < 0 || json_object_set_new(best, "value", json_null()) < 0 ||
	    json_object_set_new(best, "selection", json_string(id)) < 0)
		return -ENOMEM;
	if (!json_is_object(metric))
		return 0;
	json_object_set(best, "metric", json_object_get(metric, "name"));
	json_object_set(best, "value", json_object_get(metric, "value"));
	return 0;
}

static int best_json(const struct checkpoint_set *s, const struct branch *branch, json_t **ret, json_t *warnings)
{
	_cleanup_best_ struct best b = { 0 };
	int r = checkpoint_best(s, &b);

	if (r == -ENOENT && b.selection.id)
		warn_of_lost(branch, &b.selection, warnings);
	if (r < 0) {
		*ret = json_null();
		return r == -ENOENT ? 0 : r;
	}
	*ret = checkpoint_json(&b.checkpoint);
	if (!*ret)
		return -ENOMEM;
	if (b.selection.id)
		return add_selection(&b.selection, *ret);
	json_object_set_new(*ret, "metric", reply_text(b.metric));
	json_object_set_new(*ret, "value", reply_number(b.value));
	return 0;
}

static int head_json(struct expfs *ex, const struct branch *b, json_t **ret)
{
	struct experiment_head h;
	int r = branch_head(ex, b, &h);

	if (r < 0 && r != -ENOENT)
		return r;
	*ret = r == 0 ? json_string(h.experiment.hash) : json_null();
	return 0;
}

static int pending_json(struct expfs *ex, struct cred *cred, const struct branch *b, json_t **ret, json_t *warnings)
{
	static const char *const names[] = { "HP", "MODEL", "DATA" };
	_cleanup_pending_ struct pending p = { 0 };
	json_t *components;
	int r = branch_pending(ex, b, &p);

	if (r < 0)
		return r;
	components = json_array();
	for (size_t i = 0; i < SEGMENTS; i++)
		if (p.changed[i])
			json_array_append_new(components, json_string(names[i]));
	warn_of_pending(ex, cred, &p, warnings);
	*ret = json_pack("{s:o, s:o}", "components", components, "hash", *p.hash ? json_string(p.hash) : json_null());
	return 0;
}

static int add_branch(struct expfs *ex, struct cred *cred, const struct branch *b, json_t *branches, json_t *warnings)
{
	_cleanup_checkpoint_set_ struct checkpoint_set s = { 0 };
	_cleanup_json_ json_t *latest = NULL, *best = NULL, *head = NULL, *pending = NULL;
	int r = branch_checkpoints(ex, cred, b, &s);

	if (r == 0)
		r = latest_json(&s, &latest);
	if (r == 0)
		r = best_json(&s, b, &best, warnings);
	if (r == 0)
		r = head_json(ex, b, &head);
	if (r == 0)
		r = pending_json(ex, cred, b, &pending, warnings);
	if (r < 0)
		return r;
	json_array_append_new(branches, json_pack("{s:o, s:o, s:O, s:O, s:O, s:O}", "name", reply_text(b->name), "run",
						  reply_run(b), "head", head, "pending", pending, "latest", latest,
						  "best", best));
	if (branch_is_removed(b))
		return 0;
	r = warn_of_checkpoints(ex, cred, b, json_is_null(latest), warnings);
	if (r == 0)
		r = warn_of_labels(ex, cred, b, warnings);
	return r < 0 ? r : warn_of_manifests(ex, cred, b, warnings);
}

/* The branches whose run lies below a path, or the path below it. */
static int add_branches(struct expfs *ex, struct cred *cred, const char *path, json_t *branches, json_t *warnings)
{
	struct branch_list l;
	int r = branch_list_open(ex, cred, &l);

	if (r < 0)
		return r;
	for (size_t i = 0; i < l.n && r == 0; i++)
		if (path_is_below(l.v[i].path, path) || path_is_below(path, l.v[i].path))
			r = add_branch(ex, cred, &l.v[i], branches, warnings);
	branch_list_free(&l);
	return r;
}

/* Which experiment roots there are at or below a path. */
static int add_roots(struct expfs *ex, struct cred *cred, const char *path, json_t *answer)
{
	_cleanup_root_list_ struct root_list l = { 0 };
	size_t effective = 0;
	json_t *roots;
	int r = root_list_below(ex, cred, path, &l, &effective);

	if (r < 0)
		return r;
	roots = json_array();
	for (size_t i = 0; i < l.n; i++)
		json_array_append_new(roots, reply_path(l.v[i].path));
	json_object_set_new(answer, "given_root", reply_path(path));
	json_object_set_new(answer, "effective_root", reply_path(l.n > 0 ? l.v[effective].path : path));
	json_object_set_new(answer, "roots", roots);
	json_object_set_new(answer, "multi_root", json_boolean(l.n > 1));
	return 0;
}

int status_json(struct expfs *ex, struct cred *cred, const char *path, json_t **ret)
{
	_cleanup_json_ json_t *branches = json_array(), *warnings = json_array(), *roots = json_object(),
		     *background = NULL;
	bool read_only = expfs_is_read_only(ex);
	struct space_of_store s = { 0 };
	int r;

	keeper_settle(ex);
	r = warn_of_store(ex, warnings);
	if (r == 0)
		r = add_branches(ex, cred, path, branches, warnings);
	if (r == 0)
		r = add_roots(ex, cred, path, roots);
	if (r == 0)
		r = space_of_store(ex, &s);
	if (r == 0)
		r = background_json(ex, &background);
	if (r < 0)
		return r;
	*ret = json_pack("{s:o, s:o, s:b, s:O, s:O, s:{s:I, s:I, s:I}, s:{s:I, s:I, s:I}, s:O}", "store",
			 reply_text(store_path(ex->store)), "mount",
			 ex->mountpoint ? reply_text(ex->mountpoint) : json_null(), "read_only", read_only, "branches",
			 branches, "warnings", warnings, "space", "raw", (json_int_t)s.raw, "unique", (json_int_t)s.unique,
			 "stored", (json_int_t)s.stored, "counts", "inodes", (json_int_t)s.inodes, "files",
			 (json_int_t)s.files, "objects", (json_int_t)s.objects, "background", background);
	if (*ret && read_only && ex->read_only_reason)
		json_object_set_new(*ret, "read_only_reason", reply_text(ex->read_only_reason));
	json_object_update(*ret, roots);
	return *ret ? 0 : -ENOMEM;
}

/* The view of a branch stands for that, as where one is named. */
static char *run_of_view(struct expfs *ex, const char *path)
{
	static const char views[] = "branches/";
	const char *rest = path + strlen(views);
	_cleanup_free_ char *name = strncmp(path, views, strlen(views)) ? NULL : strndup(rest, strcspn(rest, "/"));
	struct branch b;
	char *run;

	if (!name || unknown_is_there(ex, path) || branch_by_name(ex, NULL, name, &b) < 0)
		return NULL;
	run = strdup(b.path);
	branch_free(&b);
	return run;
}

enum op_exit op_status(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	_cleanup_free_ char *path = reply_get_path(args), *run = path ? run_of_view(ex, path) : NULL;
	int r;

	if (path && !run && unknown_is_view(ex, path, ret))
		return OP_NO;
	r = status_json(ex, NULL, run ? run : path ? path : "", ret);
	return r < 0 ? reply_error(ret, OP_FAILED, "%s: status: %s", store_path(ex->store), advice(r)) : OP_DONE;
}
