#include "op/experiments.h"

#include <stdio.h>
#include <string.h>

#include "exp/checkpoint.h"
#include "exp/entries.h"
#include "exp/origin.h"
#include "format/hp_diff.h"
#include "op/labels.h"
#include "op/selection.h"
#include "op/reply.h"

#define DIFFERENCES_MAX 1000 /* more are not told */

const char *const experiments_segment[SEGMENTS] = { "HP", "MODEL", "DATA" };

static int get_experiment(struct expfs *ex, uint64_t id, struct experiment_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return experiment_get(db, id, ret);
}

static json_t *step_json(int64_t step)
{
	return step == NO_STEP ? json_null() : json_integer(step);
}

struct runs {
	uint64_t *id;
	size_t n;
};

static void runs_free(struct runs *r)
{
	free(r->id);
}

/* Of branches; one may be a root's and a run. */
static int find_runs(const struct experiments *e, struct runs *ret)
{
	ret->id = calloc(2 * e->n + 1, sizeof(*ret->id));
	for (size_t i = 0; ret->id && i < e->n; i++) {
		ret->id[ret->n++] = e->branches[i].id;
		if (e->branches[i].run)
			ret->id[ret->n++] = e->branches[i].run;
	}
	return ret->id ? 0 : -ENOMEM;
}

/* runs: whose checkpoints go before all others, or NULL. */
static int add_checkpoints(struct expfs *ex, struct cred *cred, const struct experiment_row *row, const struct runs *runs,
			   json_t *entry)
{
	_cleanup_checkpoint_set_ struct checkpoint_set set = { 0 };
	_cleanup_checkpoint_ struct checkpoint latest = { 0 };
	_cleanup_free_ uint64_t *steps = NULL;
	_cleanup_free_ char *place = NULL;
	json_t *list = json_array();
	size_t n = 0;
	int r = checkpoint_set_of_experiment(ex, cred, row->id, &set);

	if (r == 0 && runs)
		r = checkpoint_set_prefer(&set, runs->id, runs->n);
	if (r == 0)
		r = checkpoint_steps(&set, &steps, &n);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer((json_int_t)steps[i]));
	json_object_set_new(entry, "steps", list);
	json_object_set_new(entry, "latest", json_null());
	if (r == 0)
		r = checkpoint_latest(&set, &latest);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	place = checkpoint_place(&latest);
	if (!place)
		return -ENOMEM;
	json_object_set_new(entry, "latest", json_pack("{s:o, s:o, s:o}", "path", reply_path(place), "step",
						       step_json(latest.version.step), "time",
						       reply_time(latest.version.mtime)));
	return 0;
}

static json_t *text_or_null(const char *text)
{
	return text && *text ? reply_text(text) : json_null();
}

static int add_difference(void *arg, const char *key, const char *from, const char *to)
{
	json_t *list = arg;

	if (json_array_size(list) < DIFFERENCES_MAX)
		json_array_append_new(list, json_pack("{s:o, s:o, s:s, s:o, s:s}", "key", reply_text(key), "from",
						      text_or_null(from), "from_type", hp_type(from), "to", text_or_null(to),
						      "to_type", hp_type(to)));
	return 0;
}

static int hp_of(struct expfs *ex, struct cred *cred, const struct experiment_row *row, char **ret)
{
	struct origin o;
	int r = origin_find(ex, cred, row, &o);

	return r < 0 ? r : origin_hp(ex, cred, &o, ret);
}

/* Where a configuration is not to be had, or not by who asks, only that it changed is told. */
static void add_differences(struct expfs *ex, struct cred *cred, const struct experiment_row *parent,
			    const struct experiment_row *row, json_t *entry)
{
	_cleanup_free_ char *from = NULL, *to = NULL;
	_cleanup_json_ json_t *list = json_array();

	if (hp_of(ex, cred, parent, &from) == 0 && hp_of(ex, cred, row, &to) == 0 &&
	    hp_diff(from, to, add_difference, list) == 0 && json_array_size(list) > 0)
		json_object_set(entry, "hp", list);
}

static int add_parent(struct expfs *ex, struct cred *cred, const struct experiment_row *row, json_t *entry)
{
	json_t *changed = json_array();
	struct experiment_row parent;
	int r = row->parent ? get_experiment(ex, row->parent, &parent) : -ENOENT;

	json_object_set_new(entry, "changed", changed);
	json_object_set_new(entry, "parent", r == 0 ? json_string(parent.hash) : json_null());
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (int i = 0; i < SEGMENTS; i++)
		if (strncmp(row->hash + i * SEGMENT_LEN, parent.hash + i * SEGMENT_LEN, SEGMENT_LEN) != 0)
			json_array_append_new(changed, json_string(experiments_segment[i]));
	if (strncmp(row->hash, parent.hash, SEGMENT_LEN) != 0)
		add_differences(ex, cred, &parent, row, entry);
	return 0;
}

static void add_label(void *arg, const char *path, const char *fault)
{
	json_array_append_new(arg, json_pack("{s:o, s:o}", "path", reply_path(path), "text", reply_text(fault)));
}

static int add_labels(struct expfs *ex, struct cred *cred, const struct experiment_row *row, json_t *entry)
{
	json_t *list = json_array();

	json_object_set_new(entry, "labels", list);
	return labels_of_experiment(ex, cred, row->id, add_label, list);
}

static int add_selections(struct expfs *ex, struct cred *cred, const struct experiment_row *row, json_t *entry)
{
	json_t *list = json_array();

	json_object_set_new(entry, "selections", list);
	return selection_list_experiment(ex, cred, row->id, list);
}

static int make_entry(struct expfs *ex, struct cred *cred, const struct experiment_row *row, const struct runs *runs, json_t **ret)
{
	_cleanup_json_ json_t *entry = json_pack("{s:s, s:o}", "hash", row->hash, "time", reply_time(row->time));
	int r = entry ? add_parent(ex, cred, row, entry) : -EUCLEAN; /* a damaged one may be no text */

	if (r == 0)
		r = add_checkpoints(ex, cred, row, runs, entry);
	if (r == 0)
		r = add_labels(ex, cred, row, entry);
	if (r == 0)
		r = add_selections(ex, cred, row, entry);
	if (r == 0)
		*ret = steal(&entry);
	return r;
}

int experiments_entry(struct expfs *ex, struct cred *cred, const struct experiment_row *row, json_t **ret)
{
	return make_entry(ex, cred, row, NULL, ret);
}

/* A branch came to an experiment. */
struct mention {
	uint64_t at, experiment;
	const struct branch *branch;
};

struct mentions {
	struct mention *v;
	size_t n;
	const struct branch *branch;
};

static void mentions_free(struct mentions *m)
{
	free(m->v);
}

static int add_mention(void *arg, const struct line_row *line)
{
	struct mentions *m = arg;
	struct mention *v = array_grow(m->v, m->n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	m->v = v;
	v[m->n++] = (struct mention){ .at = line->at, .experiment = line->experiment, .branch = m->branch };
	return 0;
}

static int newest_first(const void *pa, const void *pb)
{
	const struct mention *a = pa, *b = pb;

	return a->at > b->at ? -1 : a->at < b->at;
}

static int list_line(struct expfs *ex, const struct branch *b, struct mentions *m)
{
	m->branch = b;
	return branch_list_lines(ex, b, add_mention, m);
}

static json_t *components_json(const struct pending *p)
{
	json_t *list = json_array();

	for (int i = 0; i < SEGMENTS; i++)
		if (p->changed[i])
			json_array_append_new(list, json_string(experiments_segment[i]));
	return list;
}

static int add_branch(const struct experiments *e, const struct branch *b, json_t *branches)
{
	struct experiment_head head = { 0 };
	_cleanup_pending_ struct pending p = { 0 };
	int r = branch_head(e->ex, b, &head);

	if (r == 0 || r == -ENOENT)
		r = branch_pending(e->ex, b, &p);
	if (r < 0)
		return r;
	json_array_append_new(branches, json_pack("{s:o, s:o, s:o, s:{s:o, s:o}}", "name", reply_text(b->name), "run",
						  reply_run(b), "head", text_or_null(head.experiment.hash), "pending",
						  "components", components_json(&p), "hash", text_or_null(p.hash)));
	return 0;
}

static void add_name(json_t *entry, const char *key, const char *name)
{
	json_t *list = json_object_get(entry, key), *text = reply_text(name);
	size_t i;
	const json_t *other;

	json_array_foreach (list, i, other)
		if (json_equal(other, text)) {
			json_decref(text);
			return;
		}
	json_array_append_new(list, text);
}

/* What the n mentions, the newest first, make; known: entries by hash. */
static int add_experiments(const struct experiments *e, const struct mentions *m, json_t *known, json_t *list)
{
	_cleanup_(runs_free) struct runs runs = { 0 };
	int r = find_runs(e, &runs);

	if (r < 0)
		return r;
	for (size_t i = 0; i < m->n; i++) {
		struct experiment_row row;
		json_t *entry;

		r = get_experiment(e->ex, m->v[i].experiment, &row);
		if (r == -ENOENT)
			continue; /* of damaged rows */
		if (r < 0)
			return r;
		entry = json_object_get(known, row.hash);
		if (!entry) {
			r = make_entry(e->ex, e->cred, &row, &runs, &entry);
			if (r < 0)
				return r;
			json_object_set_new(entry, "branches", json_array());
			json_object_set_new(entry, "head_of", json_array());
			json_object_set(known, row.hash, entry);
			json_array_append_new(list, entry);
		}
		add_name(entry, "branches", m->v[i].branch->name);
	}
	return 0;
}

static void mark_heads(json_t *known, const json_t *branches)
{
	const json_t *b;
	size_t i;

	json_array_foreach (branches, i, b) {
		const char *head = json_string_value(json_object_get(b, "head"));
		json_t *entry = head ? json_object_get(known, head) : NULL;

		if (entry)
			json_array_append(json_object_get(entry, "head_of"), json_object_get(b, "name"));
	}
}

int experiments_log(const struct experiments *e, json_t **ret)
{
	_cleanup_json_ json_t *branches = json_array(), *known = json_object(), *list = json_array();
	_cleanup_(mentions_free) struct mentions m = { 0 };
	int r = 0;

	for (size_t i = 0; i < e->n && r == 0; i++) {
		r = branch_settle(e->ex, &e->branches[i]);
		if (r == 0)
			r = add_branch(e, &e->branches[i], branches);
		if (r == 0)
			r = list_line(e->ex, &e->branches[i], &m);
	}
	if (r == 0 && m.n > 0)
		qsort(m.v, m.n, sizeof(*m.v), newest_first);
	if (r == 0)
		r = add_experiments(e, &m, known, list);
	if (r < 0)
		return r;
	mark_heads(known, branches);
	*ret = json_pack("{s:O, s:O}", "branches", branches, "experiments", list);
	return *ret ? 0 : -ENOMEM;
}

int experiments_lineage(const struct experiments *e, json_t **ret)
{
	static const char *const keys[] = { "hash", "parent", "time", "branches", "steps" };
	_cleanup_json_ json_t *log = NULL, *list = json_array();
	json_t *entry;
	size_t i;
	int r = experiments_log(e, &log);

	if (r < 0)
		return r;
	json_array_foreach (json_object_get(log, "experiments"), i, entry) {
		json_t *out = json_object();

		for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
			json_object_set(out, keys[k], json_object_get(entry, keys[k]));
		json_array_append_new(list, out);
	}
	*ret = json_pack("{s:O}", "experiments", list);
	return *ret ? 0 : -ENOMEM;
}

int experiments_pending_text(struct expfs *ex, const struct branch *b, char **ret)
{
	_cleanup_pending_ struct pending p = { 0 };
	char *text = NULL;
	int r = branch_pending(ex, b, &p);

	if (r < 0)
		return r;
	if (!*p.hash)
		text = strdup("");
	else if (asprintf(&text, "%s%s%s%s\n", p.changed[SEGMENT_HP] ? "HP\n" : "", p.changed[SEGMENT_MODEL] ? "MODEL\n" : "",
			  p.changed[SEGMENT_DATA] ? "DATA\n" : "", p.hash) < 0)
		text = NULL;
	*ret = text;
	return text ? 0 : -ENOMEM;
}
