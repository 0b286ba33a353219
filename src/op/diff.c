#include <math.h>
#include <string.h>

#include "exp/compare.h"
#include "exp/experiment.h"
#include "exp/known.h"
#include "format/hp.h"
#include "format/hp_diff.h"
#include "format/snapshot.h"
#include "format/tensor_stats.h"
#include "op/reply.h"
#include "op/selection.h"
#include "op/versions.h"
#include "util/advice.h"

#define NAMES_MAX 1000 /* tensors, keys and ids that are named; more are counted */

/* What is compared: a version of a path. */
struct side {
	char *path;
	enum role role;
	struct version_row v;
	struct versions_selection selection; /* that named it */
};

static void cleanup_side(struct side *s)
{
	versions_selection_free(&s->selection);
	free(s->path);
}
#define _cleanup_side_ _cleanup_(cleanup_side)

/* A selection is looked for beside the other one, where a path names that. */
static enum op_exit find_side(struct expfs *ex, const json_t *args, const json_t *other, struct side *s, json_t **ret)
{
	_cleanup_free_ char *path = json_object_get(args, "selection") && !json_object_get(other, "selection") ? reply_get_path(other) : NULL;
	_cleanup_json_ json_t *beside = path ? selection_args_beside(args, path) : NULL;

	return versions_find(ex, beside ? beside : args, &s->path, &s->role, &s->v, &s->selection, ret);
}

static json_t *side_json(const struct side *s)
{
	json_t *to = json_pack("{s:o, s:I}", "path", reply_path(s->path), "version", (json_int_t)s->v.n);

	versions_selection_put(&s->selection, to);
	return to;
}

/* Checkpoints */

/* As from a to b. */
static const char *name_of(enum difference d)
{
	return d == DIFFERENCE_NONE ? "equal" : d == DIFFERENCE_MISSING ? "added" : d == DIFFERENCE_EXTRA ? "removed" : difference_name(d);
}

static int add_stats(struct expfs *ex, const struct op_caller *caller, const struct compared *t, json_t *entry)
{
	struct weights_open a, b;
	struct tensor_stats stats;
	int r = weights_open(ex, t->file_a, &a);

	if (r < 0)
		return r;
	r = weights_open(ex, t->file_b, &b);
	if (r == 0) {
		r = tensor_stats(a.fd, t->a, b.fd, t->b, op_is_unwanted, (void *)(uintptr_t)caller, &stats);
		weights_close(&b);
	}
	weights_close(&a);
	if (r < 0)
		return r;
	if (stats.elements == 0)
		return 0;
	json_object_set_new(entry, "elements", json_integer((json_int_t)stats.elements));
	json_object_set_new(entry, "changed", json_integer((json_int_t)stats.changed));
	if (!stats.numbers)
		return 0;
	json_object_set_new(entry, "max", json_real(stats.max));
	json_object_set_new(entry, "cosine", isnan(stats.cosine) ? json_null() : json_real(stats.cosine));
	return 0;
}

static json_t *shape_json(const struct tensor *t)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < t->ndim; i++)
		json_array_append_new(list, json_integer((json_int_t)t->shape[i]));
	return list;
}

static json_t *tensor_json(const struct tensor *t)
{
	return t ? json_pack("{s:s, s:o}", "type", t->dtype, "shape", shape_json(t)) : json_null();
}

static int add_tensor(struct expfs *ex, const struct op_caller *caller, const struct compared *t, json_t *list)
{
	json_t *entry = json_pack("{s:o, s:b, s:s, s:o, s:o}", "name", reply_text(t->name), "model", t->model, "difference",
				  name_of(t->difference), "a", tensor_json(t->a), "b", tensor_json(t->b));
	int r = !entry ? -ENOMEM : t->difference == DIFFERENCE_CONTENT ? add_stats(ex, caller, t, entry) : 0;

	if (r < 0) {
		json_decref(entry);
		return r;
	}
	json_array_append_new(list, entry);
	return 0;
}

static enum op_exit diff_weights(struct expfs *ex, const struct op_caller *caller, const struct side *a, const struct side *b,
				 json_t *answer, json_t **ret)
{
	_cleanup_weights_ struct weights x = { 0 };
	_cleanup_weights_ struct weights y = { 0 };
	_cleanup_comparison_ struct comparison c = { 0 };
	_cleanup_free_ char *why = NULL;
	json_t *list = json_array(), *counts = json_object();
	void *arg = (void *)(uintptr_t)caller;
	int r = weights_load(ex, &a->v, op_is_unwanted, arg, &x);

	json_object_set_new(answer, "tensors", list);
	json_object_set_new(answer, "counts", counts);
	if (r == 0)
		r = weights_load(ex, &b->v, op_is_unwanted, arg, &y);
	if (r == 0)
		r = weights_fault(&x, &why);
	if (r == 0 && why)
		return reply_error(ret, OP_NO, "/%s: cannot be compared: %s; see: expfs show", a->path, why);
	if (r == 0)
		r = weights_fault(&y, &why);
	if (r == 0 && why)
		return reply_error(ret, OP_NO, "/%s: cannot be compared: %s; see: expfs show", b->path, why);
	if (r == 0)
		r = compare_weights(&x, &y, &c);
	for (size_t i = 0; r == 0 && i < c.n && json_array_size(list) < NAMES_MAX; i++)
		if (c.v[i].difference != DIFFERENCE_NONE)
			r = add_tensor(ex, caller, &c.v[i], list);
	for (enum difference d = DIFFERENCE_NONE; d < DIFFERENCES; d++)
		json_object_set_new(counts, name_of(d), json_integer((json_int_t)(c.count[d] + c.other_count[d])));
	if (r < 0)
		return reply_error(ret, OP_FAILED, "/%s: diff: %s", a->path, r == -E2BIG ? "more tensors in it than are read" : advice(r));
	return OP_DONE;
}

/* Configurations */

static int parse_hp(struct expfs *ex, const struct side *s, char **ret, char **ret_error)
{
	static const char *const ignore_nothing[] = { NULL };
	_cleanup_free_ char *bytes = NULL;
	int r = known_read(ex, &s->v, HP_SIZE_MAX, &bytes);

	return r < 0 ? r : hp_parse(bytes, s->v.size, s->path, ignore_nothing, ret, ret_error);
}

static int add_key(void *arg, const char *key, const char *from, const char *to)
{
	json_t *list = arg;

	if (json_array_size(list) == NAMES_MAX)
		return 0;
	json_array_append_new(list, json_pack("{s:o, s:o, s:s, s:o, s:s}", "key", reply_text(key), "a", from ? reply_text(from) : json_null(),
					      "a_type", hp_type(from), "b", to ? reply_text(to) : json_null(), "b_type", hp_type(to)));
	return 0;
}

static enum op_exit diff_hp(struct expfs *ex, const struct side *a, const struct side *b, json_t *answer, json_t **ret)
{
	_cleanup_free_ char *x = NULL, *y = NULL, *error = NULL;
	const struct side *at = a;
	json_t *keys = json_array();
	int r = parse_hp(ex, a, &x, &error);

	json_object_set_new(answer, "keys", keys);
	if (r == 0) {
		at = b;
		r = parse_hp(ex, b, &y, &error);
	}
	if (r == -EINVAL)
		return reply_error(ret, OP_NO, "/%s: does not parse: %s", at->path, error ? error : "");
	if (r == 0)
		r = hp_diff(x, y, add_key, keys);
	return r < 0 ? reply_error(ret, OP_FAILED, "/%s: diff: %s", at->path, advice(r)) : OP_DONE;
}

/* Data snapshots */

static int parse_data(struct expfs *ex, const struct side *s, struct snapshot *ret, struct reason *why)
{
	_cleanup_free_ char *bytes = NULL;
	int r = known_read(ex, &s->v, SNAPSHOT_SIZE_MAX, &bytes);

	return r < 0 ? r : snapshot_parse(bytes, s->v.size, ret, why);
}

/* A sample of the text of a snapshot: "ID:d0:t" up to '|'. */
struct sample {
	const char *p;
	size_t id, len;
};

static struct sample next_sample(const char **p)
{
	struct sample s = { .p = *p, .len = strcspn(*p, "|") };

	for (size_t i = 0; i + 1 < s.len; i++)
		if (s.p[i] == ':' && s.p[i + 1] == 'd')
			s.id = i;
	*p += s.len + (s.p[s.len] == '|');
	return s;
}

static int compare_ids(const struct sample *a, const struct sample *b)
{
	int r = memcmp(a->p, b->p, MIN(a->id, b->id));

	return r != 0 ? r : (a->id > b->id) - (a->id < b->id);
}

static void add_id(json_t *list, const struct sample *s, uint64_t *count)
{
	_cleanup_free_ char *id = strndup(s->p, s->id);

	(*count)++;
	if (id && json_array_size(list) < NAMES_MAX)
		json_array_append_new(list, reply_text(id));
}

static void diff_samples(const char *a, const char *b, json_t *answer)
{
	json_t *added = json_array(), *removed = json_array(), *changed = json_array();
	uint64_t n[3] = { 0 };

	while (*a || *b) {
		const char *p = a, *q = b;
		struct sample x = { 0 }, y = { 0 };
		int order;

		if (*a)
			x = next_sample(&p);
		if (*b)
			y = next_sample(&q);
		order = !*a ? 1 : !*b ? -1 : compare_ids(&x, &y);
		if (order < 0)
			add_id(removed, &x, &n[1]);
		else if (order > 0)
			add_id(added, &y, &n[0]);
		else if (x.len != y.len || memcmp(x.p, y.p, x.len) != 0)
			add_id(changed, &x, &n[2]);
		a = order <= 0 ? p : a;
		b = order >= 0 ? q : b;
	}
	json_object_set_new(answer, "ids", json_pack("{s:o, s:o, s:o, s:I, s:I, s:I}", "added", added, "removed", removed, "changed",
						     changed, "n_added", (json_int_t)n[0], "n_removed", (json_int_t)n[1], "n_changed",
						     (json_int_t)n[2]));
}

static enum op_exit diff_data(struct expfs *ex, const struct side *a, const struct side *b, json_t *answer, json_t **ret)
{
	_cleanup_(snapshot_clear) struct snapshot x = { 0 };
	_cleanup_(snapshot_clear) struct snapshot y = { 0 };
	const struct side *at = a;
	struct reason why;
	int r = parse_data(ex, a, &x, &why);

	if (r == 0) {
		at = b;
		r = parse_data(ex, b, &y, &why);
	}
	if (r == -EINVAL || (r == 0 && (!x.text || !y.text)))
		return reply_error(ret, OP_NO, "/%s: is no data snapshot whose samples can be read here", !r && !x.text ? a->path : at->path);
	if (r < 0)
		return reply_error(ret, OP_FAILED, "/%s: diff: %s", at->path, advice(r));
	diff_samples(x.text, y.text, answer);
	return OP_DONE;
}

static enum op_exit diff(struct expfs *ex, const struct op_caller *caller, const struct side *a, const struct side *b,
			 json_t *answer, json_t **ret)
{
	if (a->role != b->role)
		return reply_error(ret, OP_USAGE, "/%s is %s, /%s is %s; things of one role can be compared", a->path, role_name(a->role),
				   b->path, role_name(b->role));
	switch (a->role) {
	case ROLE_WEIGHTS:
		return diff_weights(ex, caller, a, b, answer, ret);
	case ROLE_HP:
		return diff_hp(ex, a, b, answer, ret);
	case ROLE_DATA:
		return diff_data(ex, a, b, answer, ret);
	default:
		return reply_error(ret, OP_USAGE, "/%s: is %s; checkpoints, configurations and data snapshots can be compared", a->path,
				   role_name(a->role));
	}
}

enum op_exit op_diff(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	_cleanup_side_ struct side a = { 0 };
	_cleanup_side_ struct side b = { 0 };
	const json_t *of_a = json_object_get(args, "a"), *of_b = json_object_get(args, "b");
	json_t *answer;
	int r = experiment_settle(ex, 0);
	enum op_exit exit = r < 0 ? reply_error(ret, OP_FAILED, "diff: %s", advice(r)) :
				    find_side(ex, of_a, of_b, &a, ret);

	if (exit == OP_DONE)
		exit = find_side(ex, of_b, of_a, &b, ret);
	if (exit != OP_DONE)
		return exit;
	answer = json_pack("{s:o, s:o, s:s}", "a", side_json(&a), "b", side_json(&b), "role", role_name(a.role));
	exit = answer ? diff(ex, caller, &a, &b, answer, ret) : OP_FAILED;
	if (exit == OP_DONE)
		*ret = answer;
	else
		json_decref(answer);
	return exit;
}
