#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/history.h"
#include "exp/origin.h"
#include "exp/path.h"
#include "op/experiments.h"
#include "op/labels.h"
#include "op/reply.h"
#include "op/selection.h"
#include "op/unknown.h"
#include "op/versions.h"
#include "util/advice.h"
#include "util/hex.h"

struct family {
	uint64_t of;
	json_t *children;
};

static int add_child(void *arg, const struct experiment_row *row)
{
	struct family *f = arg;

	if (row->parent == f->of)
		json_array_append_new(f->children, json_string(row->hash));
	return 0;
}

static int add_children(struct expfs *ex, const struct experiment_row *row, json_t *entry)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct family f = { .of = row->id, .children = json_array() };

	json_object_set_new(entry, "children", f.children);
	return experiment_list(db, add_child, &f);
}

/* Branches that went through it, each once. */
static int add_run(void *arg, const struct line_row *line)
{
	struct id_list *l = arg;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == line->run)
			return 0;
	return id_list_add(l, line->run);
}

static int list_runs(struct expfs *ex, uint64_t experiment, struct id_list *l)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return line_list_of(db, experiment, add_run, l);
}

static int add_branches(struct expfs *ex, const struct experiment_row *row, json_t *entry)
{
	json_t *branches = json_array(), *head_of = json_array();
	_cleanup_id_list_ struct id_list l = { 0 };
	int r = list_runs(ex, row->id, &l);

	for (size_t i = 0; i < l.n && r == 0; i++) {
		struct experiment_head head;
		struct branch b = { 0 };

		r = branch_by_id(ex, NULL, l.v[i], &b);
		if (r == 0)
			r = branch_join(ex, &b);
		if (r == 0)
			json_array_append_new(branches, reply_text(b.name));
		if (r == 0)
			r = branch_head(ex, &b, &head);
		if (r == 0 && head.experiment.id == row->id)
			json_array_append_new(head_of, reply_text(b.name));
		r = r == -ENOENT ? 0 : r;
		branch_free(&b);
	}
	json_object_set_new(entry, "branches", branches);
	json_object_set_new(entry, "head_of", head_of);
	return r;
}

/* Files are placed when the reader of the database, with which they are listed, is free again. */
struct files {
	struct origin_file *v;
	size_t n;
};

static int add_file(void *arg, const struct origin_file *f)
{
	struct files *l = arg;
	struct origin_file *v = array_grow(l->v, l->n, sizeof(*v));
	char *path = strdup(f->path);

	if (v)
		l->v = v;
	if (!v || !path) {
		free(path);
		return -ENOMEM;
	}
	v[l->n] = *f;
	v[l->n++].path = path;
	return 0;
}

static int add_files_of(struct expfs *ex, const struct origin *o, enum segment which, json_t *files)
{
	json_t *list = json_array();
	struct files l = { 0 };
	int r = origin_files(ex, NULL, o, which, add_file, &l);

	for (size_t i = 0; i < l.n; i++) {
		_cleanup_free_ char *place = NULL;

		if (r == 0)
			r = origin_place(ex, &l.v[i], &place);
		if (r == 0)
			json_array_append_new(list, json_pack("{s:o, s:o}", "path", reply_path(l.v[i].path), "found",
							      reply_path(place)));
		free(l.v[i].path);
	}
	free(l.v);
	json_object_set_new(files, experiments_segment[which], list);
	return r;
}

static int add_files(struct expfs *ex, const struct experiment_row *row, json_t *entry)
{
	json_t *files = json_object();
	struct origin o;
	int r = origin_find(ex, NULL, row, &o);

	json_object_set_new(entry, "files", files);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (enum segment i = 0; i < SEGMENTS && r == 0; i++)
		r = add_files_of(ex, &o, i, files);
	return r;
}

static enum op_exit show_experiment(struct expfs *ex, const struct experiment_row *row, json_t **ret)
{
	json_t *entry = NULL;
	int r = experiments_entry(ex, NULL, row, &entry);

	if (r == 0)
		r = add_children(ex, row, entry);
	if (r == 0)
		r = add_branches(ex, row, entry);
	if (r == 0)
		r = add_files(ex, row, entry);
	if (r < 0) {
		json_decref(entry);
		return reply_error(ret, OP_FAILED, "%s: show: %s", row->hash, advice(r));
	}
	for (int i = 0; i < SEGMENTS; i++)
		if (*row->segments.digest[i])
			json_object_set_new(entry, experiments_segment[i], json_string(row->segments.digest[i]));
	*ret = json_pack("{s:o}", "experiment", entry);
	return OP_DONE;
}

/* The experiment in which a version counted. */
static int experiment_of(struct expfs *ex, const struct tracked_row *t, const struct version_row *v,
			 struct experiment_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct line_row line = { .experiment = v->experiment };
	uint64_t until;
	int r = 0;

	if (t->role == ROLE_HP || t->role == ROLE_MODEL || t->role == ROLE_DATA) {
		r = version_counts_until(db, v, &until);
		if (r == 0)
			r = line_between(db, t->run, v->id, until, &line);
	}
	if (r == 0)
		r = line.experiment ? experiment_get(db, line.experiment, ret) : -ENOENT;
	return r;
}

/* Of all versions of the path, or of one. */
static int add_selections(struct expfs *ex, const struct history *h, uint64_t n, json_t *answer)
{
	json_t *list = json_array();
	int r = 0;

	for (size_t i = 0; i < h->n && h->tracked.role == ROLE_WEIGHTS && r == 0; i++)
		r = n && n != h->v[i].row.n ? 0 : selection_list_of(ex, &h->v[i].row, list);
	json_object_set_new(answer, "selections", list);
	return r;
}

/* n: 0 is the last one. */
static const struct history_version *find_version(const struct history *h, uint64_t n)
{
	for (size_t i = h->n; i > 0; i--)
		if (!n || h->v[i - 1].row.n == n)
			return &h->v[i - 1];
	return NULL;
}

static enum op_exit show_path(struct expfs *ex, const char *path, const struct history *h, const struct history_version *v,
			      uint64_t n, json_t **ret)
{
	struct experiment_row e = { 0 };
	struct branch b = { 0 };
	char hex[2 * CONTENT_DIGEST + 1] = "";
	json_t *weights = NULL;
	int r = experiment_of(ex, &h->tracked, &v->row, &e);

	if (r == 0 || r == -ENOENT)
		r = branch_by_id(ex, NULL, h->tracked.run, &b);
	if (r < 0 && r != -ENOENT)
		return reply_error(ret, OP_FAILED, "/%s: show: %s", path, advice(r));
	if (v->has_digest)
		hex_text(v->digest, CONTENT_DIGEST, hex);
	*ret = json_pack("{s:o, s:s, s:b, s:b, s:b, s:I, s:I, s:o, s:I, s:b, s:b, s:o, s:o, s:o, s:o}", "path", reply_path(path), "role",
			 role_name((enum role)h->tracked.role), "directory", h->tracked.is_dir, "there", h->tracked.ino != 0,
			 "held", v->held, "version", (json_int_t)v->row.n, "versions", (json_int_t)h->n, "mtime",
			 reply_time(v->row.mtime), "size", (json_int_t)v->row.size, "complete", v->row.complete == 1, "last",
			 v == find_version(h, 0), "step", v->row.step == NO_STEP ? json_null() : json_integer(v->row.step), "digest",
			 *hex ? json_string(hex) : json_null(), "experiment", *e.hash ? json_string(e.hash) : json_null(),
			 "branch", b.name ? reply_text(b.name) : json_null());
	branch_free(&b);
	r = h->tracked.role == ROLE_WEIGHTS && v->row.complete == 1 ? labels_entry(ex, v->row.id, &weights) : 0;
	if (r == 0)
		r = add_selections(ex, h, n, *ret);
	if (r < 0)
		return reply_error(ret, OP_FAILED, "/%s: show: %s", path, advice(r));
	json_object_set_new(*ret, "weights", weights ? weights : json_null());
	return OP_DONE;
}

/* n: of the version, 0: what it holds; name: it might be that of a selection, too; or NULL. */
static enum op_exit find_path(struct expfs *ex, const char *path, uint64_t n, const char *name, json_t **ret)
{
	_cleanup_history_ struct history h = { .n = 0 };
	int r = history_load(ex, path, &h);
	const struct history_version *v = r == 0 ? find_version(&h, n) : NULL;

	if (v)
		return show_path(ex, path, &h, v, n, ret);
	if (r == 0)
		return reply_error(ret, OP_NO, "/%s: has no version %" PRIu64 "; see: expfs history", path, n);
	if (r == -EISDIR)
		return reply_error(ret, OP_NO, "/%s: is a directory that is no checkpoint; see: expfs log, expfs status", path);
	if (r == -ENODATA)
		return reply_error(ret, OP_NO, "/%s: nothing is known of it: checkpoint_manager: in the configuration of its run says that "
				   "such files are not recorded", path);
	if (r == -ENOENT)
		return unknown_say(ex, path, name, ret);
	return reply_error(ret, OP_FAILED, "/%s: show: %s", path, advice(r));
}

static enum op_exit show_selection(struct expfs *ex, const struct ledger_row *row, json_t **ret)
{
	json_t *selection, *others;
	int r = selection_ledger(ex, row, &selection, &others);

	if (r < 0) {
		json_decref(selection);
		json_decref(others);
		return reply_error(ret, OP_FAILED, "%s: show: %s", row->name, advice(r));
	}
	*ret = json_pack("{s:o, s:o}", "selection", selection, "others", others);
	return *ret ? OP_DONE : OP_FAILED;
}

/* The begin of a hash may be the name of a selection, too. */
static enum op_exit show_hash(struct expfs *ex, const char *hash, const json_t *args, json_t **ret)
{
	_cleanup_ledger_row_ struct ledger_row selection = { 0 };
	_cleanup_free_ char *names = NULL, *near = reply_get_path(json_object_get(args, "near"));
	struct experiment_row row;
	int r = experiment_find(ex, hash, &row);

	if (r == 0)
		return show_experiment(ex, &row, ret);
	if (r == -ENOENT) {
		r = selection_find(ex, hash, near, &selection, &names);
		if (r == 0)
			return show_selection(ex, &selection, ret);
		if (names)
			return selection_say_none(ex, r, hash, near, names, ret);
	}
	if (r == -EEXIST)
		return reply_error(ret, OP_NO, "%s: the hashes of several experiments begin so; give more of it", hash);
	if (r == -ENOENT)
		return reply_error(ret, OP_NO, "%s: no experiment's hash begins so, and no selection has that name; a file of that name is ./%s", hash, hash);
	return reply_error(ret, OP_FAILED, "%s: show: %s", hash, advice(r));
}

static uint64_t number_of(const json_t *args)
{
	return (uint64_t)json_integer_value(json_object_get(args, "n"));
}

/* Of a path, or of one in a view history/, which names a version of it. */
static enum op_exit show_named(struct expfs *ex, const json_t *args, json_t **ret)
{
	_cleanup_json_ json_t *placed = NULL;
	_cleanup_free_ char *path = NULL;
	_cleanup_versions_selection_ struct versions_selection selection = { 0 };
	enum op_exit exit = versions_place(ex, args, &placed, &selection, ret);

	if (exit != OP_DONE)
		return exit;
	path = reply_get_path(placed);
	return path ? find_path(ex, path, number_of(placed), json_string_value(json_object_get(args, "selection")), ret) : OP_FAILED;
}

static enum op_exit show_step(struct expfs *ex, const json_t *args, json_t **ret)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_versions_selection_ struct versions_selection selection = { 0 };
	struct version_row v;
	enum role role;
	enum op_exit exit = versions_find(ex, args, &path, &role, &v, &selection, ret);

	return exit != OP_DONE ? exit : find_path(ex, path, v.n, NULL, ret);
}

enum op_exit op_show(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	const char *hash = json_string_value(json_object_get(args, "hash"));
	_cleanup_ledger_row_ struct ledger_row row = { 0 };
	_cleanup_free_ char *path = reply_get_path(args);
	bool selected = false;
	enum op_exit exit;
	int r = experiment_settle(ex, 0);

	if (r < 0)
		return reply_error(ret, OP_FAILED, "show: %s", advice(r));
	if (hash)
		return json_object_get(args, "step") ? show_step(ex, args, ret) : show_hash(ex, hash, args, ret);
	exit = selection_named(ex, args, &row, &selected, ret);
	if (exit == OP_DONE && selected)
		return show_selection(ex, &row, ret);
	if (exit == OP_DONE && !path)
		return reply_error(ret, OP_USAGE, "show: no hash, path or selection is given; see: expfs help show");
	return exit != OP_DONE ? exit : show_named(ex, args, ret);
}
