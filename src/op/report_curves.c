/* Curves of a report. Those of one branch are in memory at a time, and what is kept of them is what can be drawn. */
#include "op/report.h"

#include <math.h>
#include <string.h>

#include "exp/config.h"
#include "exp/curves.h"
#include "meta/metric.h"
#include "op/labels.h"
#include "op/reply.h"
#include "page/page.h"
#include "page/thin.h"

#define NAMES 24 /* beside those of metrics that tell the best checkpoint */

struct collect {
	struct expfs *ex;
	struct cred *cred;
	json_t *branches, *more_names;
	json_t *by_name; /* name: its series; in the order in which they came */
	size_t more_branches;
};

static bool tells_best(const struct expfs *ex, const char *name)
{
	for (char **p = ex->config->best_metric; *p; p++)
		if (!strcmp(*p, name))
			return true;
	return false;
}

static bool may_read(struct collect *k, const struct signal_path *p)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	struct tracked_row t;

	if (!k->cred)
		return true;
	db = meta_reader(k->ex->meta);
	return tracked_get(db, p->tracked, &t) == 0 && labels_may_know(db, k->cred, &t);
}

/* Those of the run that he may read. */
static int load_paths(struct collect *k, uint64_t run, struct signal_paths *ret)
{
	_cleanup_signal_paths_ struct signal_paths all = { 0 };
	int r = signal_paths_load(k->ex, run, &all);

	for (size_t i = 0; i < all.n && r == 0; i++)
		if (may_read(k, &all.v[i]))
			r = signal_paths_add(ret, &all.v[i], all.v[i].name);
	return r;
}

/* Of rows of one curve; NULL: memory is short. */
static json_t *points_json(const struct curves_row *v, size_t n)
{
	_cleanup_free_ struct thin_point *points = calloc(n, sizeof(*points));
	json_t *list = json_array();

	if (!points)
		return list;
	for (size_t i = 0; i < n; i++)
		points[i] = (struct thin_point){ (double)v[i].step, isfinite(v[i].value) ? v[i].value : NAN };
	n = thin(points, n, points[0].x, points[n - 1].x, PAGE_COLUMNS);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("[I, o]", (json_int_t)points[i].x, reply_number(points[i].y)));
	return list;
}

static void add_curve(struct collect *k, size_t branch, const struct curves_row *v, size_t n)
{
	_cleanup_json_ json_t *name = reply_text(v->name);
	const char *key = json_string_value(name);
	json_t *series = key ? json_object_get(k->by_name, key) : NULL;

	if (!key)
		return;
	if (!series && json_object_size(k->by_name) >= NAMES && !tells_best(k->ex, v->name)) {
		json_object_set_new(k->more_names, key, json_true());
		return;
	}
	if (!series)
		json_object_set_new(k->by_name, key, series = json_array());
	json_array_append_new(series, json_pack("{s:I, s:o}", "branch", (json_int_t)branch, "points", points_json(v, n)));
}

static void add_curves(struct collect *k, const struct branch *b, const struct curves *c)
{
	size_t branch = json_array_size(k->branches), end;

	if (c->n == 0)
		return;
	json_array_append_new(k->branches, reply_text(b->name));
	for (size_t begin = 0; begin < c->n; begin = end) {
		for (end = begin + 1; end < c->n && c->v[end].name == c->v[begin].name;)
			end++;
		add_curve(k, branch, c->v + begin, end - begin);
	}
}

static int add_branch(struct collect *k, const struct branch *b)
{
	struct curve_root root = { .run = b->top };
	_cleanup_curves_ struct curves c = { 0 };
	int r = load_paths(k, b->top, &root.files);
	bool full = json_array_size(k->branches) == PAGE_STYLES;

	if (r == 0 && full)
		k->more_branches += root.files.n > 0;
	else if (r == 0)
		r = curves_load_all(k->ex, &(struct curve_roots){ &root, 1 }, NULL, &c);
	signal_paths_free(&root.files);
	if (r == -E2BIG) {
		k->more_branches++;
		return 0;
	}
	if (r == 0)
		add_curves(k, b, &c);
	return r;
}

/* Branches of one root have the same curves. */
static bool is_again(const struct report_branches *b, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (b->v[j]->top == b->v[i]->top)
			return true;
	return false;
}

static void put_list(struct collect *k, bool best, json_t *list)
{
	const char *name;
	json_t *series;

	json_object_foreach (k->by_name, name, series)
		if (tells_best(k->ex, name) == best)
			json_array_append_new(list, json_pack("{s:s, s:O}", "name", name, "series", series));
}

int report_curves(struct expfs *ex, struct cred *cred, const struct report_branches *b, json_t **ret)
{
	_cleanup_json_ json_t *branches = json_array(), *more_names = json_object(), *by_name = json_object(), *list = json_array();
	struct collect k = { ex, cred, branches, more_names, by_name, 0 };
	int r = branches && more_names && by_name && list ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->n && r == 0; i++)
		if (!is_again(b, i))
			r = add_branch(&k, b->v[i]);
	if (r < 0)
		return r;
	put_list(&k, true, list);
	put_list(&k, false, list);
	*ret = json_pack("{s:O, s:I, s:I, s:O}", "branches", branches, "more_branches", (json_int_t)k.more_branches, "more_names",
			 (json_int_t)json_object_size(more_names), "list", list);
	return *ret ? 0 : -ENOMEM;
}
