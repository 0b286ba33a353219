#include "op/selection.h"

#include <string.h>

#include "exp/checkpoint.h"
#include "exp/history.h"
#include "exp/path.h"
#include "exp/tracked_dir.h"
#include "op/labels.h"
#include "op/reply.h"
#include "util/advice.h"

static bool is_there(struct expfs *ex, const char *path)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	uint64_t ino;

	return path_lookup(db, path, &ino) == 0;
}

/* Does the path have versions, or is it not known whether it has? */
static bool is_known(struct expfs *ex, const char *path)
{
	_cleanup_history_ struct history h = { .n = 0 };
	int r = history_load(ex, path, &h);

	return r != -ENOENT && r != -ENODATA && r != -EISDIR;
}

enum op_exit selection_say_none(struct expfs *ex, int r, const char *text, const char *near, const char *names, json_t **ret)
{
	const char *dir = near ? near : "";
	size_t run = path_is_run(ex, dir) ? strlen(dir) : path_run_prefix(ex, dir);

	if (r == -EEXIST)
		return reply_error(ret, OP_NO, "%s: several branches have a selection of that name; name one of: %s", text, names);
	if (r != -ENOENT)
		return reply_error(ret, OP_FAILED, "%s: %s", text, advice(r));
	return names ? reply_error(ret, OP_NO, "%s: no selection in /%.*s has that name; name one of: %s", text, (int)run, dir, names) :
		       reply_error(ret, OP_NO, "%s: is no selection; expfs log names them", text);
}

enum op_exit selection_named(struct expfs *ex, const json_t *args, struct ledger_row *row, bool *ret_is, json_t **ret)
{
	const char *text = json_string_value(json_object_get(args, "selection"));
	_cleanup_free_ char *path = reply_get_path(args), *near = reply_get_path(json_object_get(args, "near")), *names = NULL;
	bool known = text && path && is_known(ex, path);
	int r;

	*ret_is = false;
	if (!text || (known && is_there(ex, path)))
		return OP_DONE;
	r = selection_find(ex, text, near, row, &names);
	*ret_is = r == 0;
	if (r == 0 || (r == -ENOENT && path && (known || !names)))
		return OP_DONE;
	return selection_say_none(ex, r, text, near, names, ret);
}

json_t *selection_args_beside(const json_t *args, const char *path)
{
	_cleanup_json_ json_t *to = json_copy((json_t *)(uintptr_t)args), *near = json_object();
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *dir = strndup(path, slash ? (size_t)(slash - path) : 0);

	if (!to || !dir || reply_put_path(near, dir) < 0 || json_object_set(to, "near", near) < 0)
		return NULL;
	return json_incref(to);
}

/* A record: what is missing, or of another type than it has, is not known. */

static json_t *parse(const struct ledger_row *row)
{
	json_t *record = json_loads(row->record, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(record))
		return record;
	json_decref(record);
	return json_object();
}

static void take(json_t *to, const char *key, json_t *value, bool has_type)
{
	json_object_set_new(to, key, has_type ? json_incref(value) : json_null());
}

static void take_text(json_t *to, const json_t *record, const char *key)
{
	json_t *value = json_object_get(record, key);

	take(to, key, value, json_is_string(value));
}

static void take_metric(json_t *to, const json_t *record)
{
	json_t *m = json_object_get(record, "metric"), *value = json_object_get(m, "value");

	take(to, "metric", m, json_is_string(json_object_get(m, "name")) && (json_is_number(value) || json_is_string(value)));
}

static void take_software(json_t *to, const json_t *record)
{
	json_t *software = json_object(), *version;
	const char *name;

	json_object_foreach (json_object_get(record, "software"), name, version)
		if (json_is_string(version))
			json_object_set(software, name, version);
	json_object_set_new(to, "software", software);
}

int64_t selection_step(const struct ledger_row *row)
{
	_cleanup_json_ json_t *record = parse(row);
	const json_t *step = json_object_get(record, "step");

	return json_is_integer(step) && json_integer_value(step) >= 0 ? json_integer_value(step) : NO_STEP;
}

/* Where the version is now, or what the record says of it. */
static int put_place(struct expfs *ex, const struct ledger_row *row, const json_t *record, json_t *to)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	_cleanup_free_ char *path = NULL, *below = NULL, *found = NULL;
	json_t *n = json_object_get(record, "n");
	struct version_row v;
	int r = version_get(db, row->of, &v);

	if (r == 0)
		r = tracked_path(db, v.tracked, &path);
	if (r < 0) {
		take_text(to, record, "path");
		take(to, "version", n, json_is_integer(n));
		json_object_set_new(to, "found", json_null());
		return json_object_set_new(to, "held", json_false()) < 0 ? -ENOMEM : r == -ENOENT ? 0 : r;
	}
	below = checkpoint_history_path(path, &v);
	if (!below || asprintf(&found, ".expfs/history/%s", below) < 0)
		return -ENOMEM;
	json_object_set_new(to, "path", reply_path(path));
	json_object_set_new(to, "version", json_integer((json_int_t)v.n));
	json_object_set_new(to, "found", reply_path(found));
	return json_object_set_new(to, "held", json_true()) < 0 ? -ENOMEM : 0;
}

static int is_current(struct expfs *ex, const struct ledger_row *row, bool *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	_cleanup_ledger_row_ struct ledger_row last = { 0 };
	int r = ledger_current(db, row->run, row->name, &last);

	*ret = r == 0 && last.id == row->id;
	return r == -ENOENT ? 0 : r;
}

static int put_head(struct expfs *ex, const struct ledger_row *row, json_t *to)
{
	_cleanup_free_ char *branch = NULL;
	char id[SELECTION_TEXT];
	bool current;
	int r = is_current(ex, row, &current);

	if (r == 0)
		r = selection_branch(ex, row->run, &branch);
	if (r < 0)
		return r;
	selection_text(row->id, id);
	json_object_set_new(to, "selection", json_string(id));
	json_object_set_new(to, "name", reply_text(row->name));
	json_object_set_new(to, "branch", reply_text(branch));
	return json_object_set_new(to, "current", json_boolean(current)) < 0 ? -ENOMEM : 0;
}

int selection_head(struct expfs *ex, const struct ledger_row *row, json_t **ret)
{
	*ret = json_object();
	return put_head(ex, row, *ret);
}

static int put_label(struct expfs *ex, const struct ledger_row *row, json_t *to)
{
	_cleanup_free_ char *fault = NULL;
	int r = labels_of_version(ex, row->of, &fault);

	return r < 0 ? r : json_object_set_new(to, "label", fault ? reply_text(fault) : json_null());
}

int selection_json(struct expfs *ex, const struct ledger_row *row, json_t **ret)
{
	static const char *const texts[] = { "captured_at", "completed_at", "capture", "sha256", "model", "tensors", "experiment",
					     "source" };
	_cleanup_json_ json_t *record = parse(row), *to = json_object();
	json_t *step = json_object_get(record, "step");
	int r = put_head(ex, row, to);

	if (r == 0)
		r = put_place(ex, row, record, to);
	if (r == 0)
		r = put_label(ex, row, to);
	if (r < 0)
		return r;
	take(to, "step", step, json_is_integer(step));
	take_metric(to, record);
	json_object_set_new(to, "selected_at", reply_time(row->time));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		take_text(to, record, texts[i]);
	take_software(to, record);
	*ret = json_incref(to);
	return 0;
}

static json_t *decision_json(const struct ledger_row *row)
{
	_cleanup_json_ json_t *record = parse(row);
	json_t *to = json_object();

	take_text(to, record, "decision");
	take_text(to, record, "by");
	take_text(to, record, "note");
	json_object_set_new(to, "time", reply_time(row->time));
	return to;
}

/* All rows of one name, of which each has the reader given back before it is looked at. */
static int list_name(struct expfs *ex, const struct ledger_row *row, struct ledger_rows *l)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return ledger_list_name(db, row->run, row->name, ledger_rows_add, l);
}

static int with_decisions(struct expfs *ex, const struct ledger_rows *l, const struct ledger_row *row, json_t **ret)
{
	json_t *decisions;
	int r = selection_json(ex, row, ret);

	if (r < 0)
		return r;
	decisions = json_array();
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].kind == LEDGER_DECISION && l->v[i].of == row->id)
			json_array_append_new(decisions, decision_json(&l->v[i]));
	return json_object_set_new(*ret, "decisions", decisions) < 0 ? -ENOMEM : 0;
}

int selection_ledger(struct expfs *ex, const struct ledger_row *row, json_t **ret, json_t **ret_others)
{
	_cleanup_ledger_rows_ struct ledger_rows l = { 0 };
	int r = list_name(ex, row, &l);

	*ret = NULL;
	*ret_others = json_array();
	if (r == 0)
		r = with_decisions(ex, &l, row, ret);
	for (size_t i = 0; i < l.n && r == 0; i++) {
		json_t *other = NULL;

		if (l.v[i].kind != LEDGER_SELECTION || l.v[i].id == row->id)
			continue;
		r = with_decisions(ex, &l, &l.v[i], &other);
		json_array_append_new(*ret_others, other);
	}
	return r;
}

int selection_superseded(struct expfs *ex, const struct ledger_row *row, json_t **ret)
{
	_cleanup_ledger_rows_ struct ledger_rows l = { 0 };
	const struct ledger_row *before = NULL;
	int r = list_name(ex, row, &l);

	for (size_t i = 0; i < l.n; i++)
		if (l.v[i].kind == LEDGER_SELECTION && l.v[i].id < row->id && (!before || l.v[i].id > before->id))
			before = &l.v[i];
	if (r == 0 && before)
		return selection_json(ex, before, ret);
	*ret = r == 0 ? json_null() : NULL;
	return r;
}

static int list_version(struct expfs *ex, const struct version_row *v, struct ledger_rows *l)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return ledger_list_version(db, v->id, ledger_rows_add, l);
}

int selection_list_of(struct expfs *ex, const struct version_row *v, json_t *list)
{
	_cleanup_ledger_rows_ struct ledger_rows l = { 0 };
	int r = list_version(ex, v, &l);

	for (size_t i = 0; i < l.n && r == 0; i++) {
		json_t *entry = json_object();

		r = put_head(ex, &l.v[i], entry);
		json_object_set_new(entry, "version", json_integer((json_int_t)v->n));
		json_array_append_new(list, entry);
	}
	return r;
}

static int list_experiment(struct expfs *ex, uint64_t experiment, struct ledger_rows *l)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return ledger_list_experiment(db, experiment, ledger_rows_add, l);
}

/* 1: he could find it; 0: he could not, or it is gone. */
static int find_visible(struct expfs *ex, struct cred *cred, uint64_t version, char **ret_path, struct version_row *v)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;
	int r = version_get(db, version, v);

	if (r == 0)
		r = tracked_get(db, v->tracked, &t);
	if (r == 0)
		r = tracked_dirs_permit(db, cred, &t, TRACKED_TOP, R_OK | X_OK);
	if (r <= 0)
		return r == -ENOENT || r == -ESTALE ? 0 : r;
	r = tracked_path(db, t.id, ret_path);
	return r < 0 ? r : 1;
}

int selection_list_experiment(struct expfs *ex, struct cred *cred, uint64_t experiment, json_t *list)
{
	_cleanup_ledger_rows_ struct ledger_rows l = { 0 };
	int r = list_experiment(ex, experiment, &l);

	for (size_t i = 0; i < l.n && r >= 0; i++) {
		_cleanup_json_ json_t *entry = json_object();
		_cleanup_free_ char *path = NULL;
		struct version_row v;

		r = find_visible(ex, cred, l.v[i].of, &path, &v);
		if (r != 1)
			continue;
		r = put_head(ex, &l.v[i], entry);
		json_object_set_new(entry, "path", reply_path(path));
		json_object_set_new(entry, "version", json_integer((json_int_t)v.n));
		json_array_append(list, entry);
	}
	return MIN(r, 0);
}

static int add_current(void *arg, const struct ledger_row *row)
{
	struct ledger_rows *l = arg;

	return l->n == SELECTIONS_MAX ? 1 : ledger_rows_add(l, row);
}

static int list_all(struct expfs *ex, struct ledger_rows *l)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return MIN(ledger_list_current(db, 0, add_current, l), 0);
}

static bool may_read(struct expfs *ex, struct cred *cred, const struct version_row *v)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;

	return tracked_get(db, v->tracked, &t) == 0 && labels_may_know(db, cred, &t);
}

/* Of one whose version is lost only who may know all is told. */
static int add_visible(struct expfs *ex, struct cred *cred, const struct ledger_row *row, json_t *list)
{
	_cleanup_ledger_rows_ struct ledger_rows of_name = { 0 };
	_cleanup_free_ char *path = NULL;
	struct version_row v;
	json_t *entry = NULL;
	int r = find_visible(ex, cred, row->of, &path, &v);

	if (r < 0 || (r == 0 && cred))
		return r;
	r = list_name(ex, row, &of_name);
	if (r == 0)
		r = with_decisions(ex, &of_name, row, &entry);
	if (r == 0 && cred && !may_read(ex, cred, &v))
		json_object_set_new(entry, "label", json_null());
	if (entry)
		json_array_append_new(list, entry);
	return r;
}

int selection_list_all(struct expfs *ex, struct cred *cred, json_t *list)
{
	_cleanup_ledger_rows_ struct ledger_rows l = { 0 };
	int r = list_all(ex, &l);

	for (size_t i = 0; i < l.n && r == 0; i++)
		r = add_visible(ex, cred, &l.v[i], list);
	return r;
}

const char *selection_put_fault(int r)
{
	return r == -EROFS  ? "the store is read-only, and takes no record; see: expfs status" :
	       r == -ENOSPC ? "the store's disk is full; free some space on it" :
			      advice(r);
}
