#include <string.h>

#include "exp/branch.h"
#include "exp/curves.h"
#include "exp/path.h"
#include "format/metrics.h"
#include "meta/metric.h"
#include "op/reply.h"
#include "op/unknown.h"
#include "util/advice.h"

static int branch_of_path(struct expfs *ex, const char *path, struct branch *ret)
{
	_cleanup_free_ char *run = strndup(path, path_is_run(ex, path) ? strlen(path) : path_run_prefix(ex, path));
	uint64_t ino;
	int r;

	if (!run)
		return -ENOMEM;
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = path_lookup(db, run, &ino);
	}
	return r < 0 ? r : branch_by_run(ex, NULL, ino, ret);
}

/* The branch that the arguments name, and the tracked path of its run. */
static enum op_exit get_branch(struct expfs *ex, const json_t *args, struct branch *ret_branch, uint64_t *ret_run, json_t **ret)
{
	const char *name = json_string_value(json_object_get(args, "branch"));
	_cleanup_free_ char *path = reply_get_path(args);
	int r;

	if (!name && !path)
		return reply_error(ret, OP_USAGE, "signal: no branch is given; see: expfs help signal");
	r = name ? branch_by_name(ex, NULL, name, ret_branch) : branch_of_path(ex, path, ret_branch);
	if (r == 0) {
		*ret_run = ret_branch->top;
		return OP_DONE;
	}
	branch_free(ret_branch);
	if (r == -ENOENT && !name && unknown_is_view(ex, path, ret))
		return OP_NO;
	if (r == -ENOENT || r == -ENOTDIR || r == -ENAMETOOLONG)
		return reply_error(ret, OP_NO, "%s%s: %s; expfs status shows the branches", name ? "" : "/", name ? name : path,
				   name ? "there is no branch of that name" : "is in no run that has a branch");
	return reply_error(ret, OP_FAILED, "%s%s: %s", name ? "" : "/", name ? name : path, advice(r));
}

struct record {
	uint64_t run;
	int64_t step;
	const json_t *values; /* as they were checked */
};

static int tx_record(struct db *db, void *arg)
{
	const struct record *k = arg;
	const json_t *value;
	size_t i;
	int r = 0;

	json_array_foreach (k->values, i, value) {
		double number = 0;

		metrics_number(json_string_value(json_object_get(value, "value")), &number);
		r = signal_put(db, k->run, json_string_value(json_object_get(value, "name")), k->step, number, now_ns());
		if (r < 0)
			break;
	}
	return r;
}

static bool are_right(const json_t *values)
{
	const json_t *value;
	double number;
	size_t i;

	json_array_foreach (values, i, value) {
		const char *name = json_string_value(json_object_get(value, "name"));
		const char *text = json_string_value(json_object_get(value, "value"));

		if (!name || !*name || strlen(name) > METRIC_NAME_MAX || strchr(name, '=') || !text ||
		    !metrics_number(text, &number))
			return false;
	}
	return json_array_size(values) > 0;
}

static enum op_exit record(struct expfs *ex, const struct branch *b, uint64_t run, const json_t *args, json_t **ret)
{
	const json_t *step = json_object_get(args, "step");
	struct record k = { .run = run, .step = json_integer_value(step), .values = json_object_get(args, "values") };
	int r;

	if (branch_is_removed(b))
		return reply_removed(ex, ret, b);
	if (!json_is_integer(step) || k.step < 0 || !are_right(k.values))
		return reply_error(ret, OP_USAGE, "signal: a step, and names with numbers, are wanted; see: expfs help signal");
	r = expfs_write(ex, tx_record, &k);
	if (r < 0)
		return reply_error(ret, OP_FAILED, "%s: signal: %s", b->name, advice(r));
	*ret = json_pack("{s:o, s:o, s:I, s:i}", "branch", reply_text(b->name), "run", reply_path(b->path), "step",
			 (json_int_t)k.step, "recorded", (int)json_array_size(k.values));
	return OP_DONE;
}

/* roots: whose the rows are, if they are of several, by their places. */
static json_t *curves_json(const struct curves *c, const struct curve_roots *roots)
{
	json_t *curves = json_array(), *points = NULL, *point;

	for (size_t i = 0; i < c->n; i++) {
		if (i == 0 || c->v[i].name != c->v[i - 1].name) {
			points = json_array();
			json_array_append_new(curves, json_pack("{s:o, s:o}", "name", reply_text(c->v[i].name), "points", points));
		}
		point = json_pack("[I, o]", (json_int_t)c->v[i].step, reply_number(c->v[i].value));
		if (roots)
			json_array_append_new(point, json_integer((json_int_t)c->v[i].root));
		json_array_append_new(points, point);
	}
	return curves;
}

static enum op_exit show(struct expfs *ex, const struct branch *b, uint64_t run, const char *name, json_t **ret)
{
	_cleanup_curves_ struct curves c = { 0 };
	int r = curves_load(ex, run, name, &c);

	if (r == -E2BIG)
		return reply_error(ret, OP_FAILED, "%s: signal: there are more than %u values%s", b->name, CURVES_ROWS_MAX,
				   name ? "; read them in the run's own files" : "; give the name of one curve");
	if (r < 0)
		return reply_error(ret, OP_FAILED, "%s: signal: %s", b->name, advice(r));
	if (name && c.n == 0)
		return reply_error(ret, OP_NO, "%s: has no curve %s; expfs signal %s shows those that it has", b->name, name, b->name);
	*ret = json_pack("{s:o, s:o, s:o}", "branch", reply_text(b->name), "run", reply_run(b), "curves", curves_json(&c, NULL));
	return OP_DONE;
}

static enum op_exit fail_below(const char *path, const char *name, int r, json_t **ret)
{
	if (r == -E2BIG)
		return reply_error(ret, OP_FAILED, "/%s: signal: there are more than %u values%s", path, CURVES_ROWS_MAX,
				   name ? "; ask for one run after the other" : "; give the name of one curve");
	return reply_error(ret, OP_FAILED, "/%s: signal: %s", path, advice(r));
}

static enum op_exit show_all(struct expfs *ex, const char *path, const struct curve_roots *roots, const char *name,
			     json_t **ret)
{
	_cleanup_curves_ struct curves c = { 0 };
	json_t *list;
	int r = curves_load_all(ex, roots, name, &c);

	if (r < 0)
		return fail_below(path, name, r, ret);
	if (name && c.n == 0)
		return reply_error(ret, OP_NO, "/%s: no run or experiment root there has a curve %s; expfs signal without a name shows"
				   " those that there are", path, name);
	list = json_array();
	for (size_t i = 0; i < roots->n; i++)
		json_array_append_new(list, reply_path(roots->v[i].path));
	*ret = json_pack("{s:o, s:o, s:o}", "directory", reply_path(path), "roots", list, "curves", curves_json(&c, roots));
	return OP_DONE;
}

/* Of a directory with several runs and roots, or one below it, all are shown. 1: it is none. */
static int show_below(struct expfs *ex, const json_t *args, json_t **ret, enum op_exit *ret_exit)
{
	_cleanup_curve_roots_ struct curve_roots roots = { 0 };
	_cleanup_free_ char *path = reply_get_path(args);
	int r = path ? curve_roots_below(ex, NULL, path, &roots) : 0;

	if (r < 0) {
		*ret_exit = fail_below(path, NULL, r, ret);
		return 0;
	}
	if (roots.n == 0 || (roots.n == 1 && roots.v[0].run && !strcmp(roots.v[0].path, path)))
		return 1;
	*ret_exit = show_all(ex, path, &roots, json_string_value(json_object_get(args, "name")), ret);
	return 0;
}

enum op_exit op_signal(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	struct branch b = { .name = NULL };
	uint64_t run = 0;
	bool records = json_object_get(args, "values");
	enum op_exit exit;

	if (!records && !json_object_get(args, "branch") && show_below(ex, args, ret, &exit) == 0)
		return exit;
	exit = get_branch(ex, args, &b, &run, ret);
	if (exit != OP_DONE)
		return exit;
	if (records)
		exit = record(ex, &b, run, args, ret);
	else
		exit = show(ex, &b, run, json_string_value(json_object_get(args, "name")), ret);
	branch_free(&b);
	return exit;
}
