#include "exp/best.h"

#include <string.h>

#include "exp/complete.h"
#include "exp/removed.h"
#include "exp/standings.h"
#include "meta/line.h"
#include "meta/root.h"

#define TRIES 3

void best_free(struct best *b)
{
	checkpoint_free(&b->checkpoint);
	ledger_row_free(&b->selection);
}

/* The best of a run, or of several. */
struct found {
	const struct config *by;
	bool any;
	size_t choice;
	double value;
	struct ranked ranked;
};

static int id_compare(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* Of versions that were overwritten before anybody asked it is not known. */
static int judge(struct expfs *ex, struct ranked *v)
{
	_cleanup_free_ char *name = NULL;
	struct version_row row;
	int r;

	if (v->complete != VERSION_UNJUDGED)
		return v->complete;
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = version_get(db, v->version, &row);
		if (r == 0)
			r = tracked_name(db, v->tracked, &name);
	}
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	v->complete = complete_version_fault(ex, &row, name) == NULL;
	return v->complete;
}

static int is_visible(const struct checkpoint_set *s, const struct ranked *v)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	struct tracked_row t;
	int r;

	if (!s->cred)
		return 1;
	db = meta_reader(s->ex->meta);
	r = tracked_get(db, v->tracked, &t);
	return r < 0 ? (r == -ENOENT ? 0 : r) : checkpoint_is_visible(s, db, &t);
}

/* Ids of a set, sorted. */
struct ids {
	const uint64_t *v;
	size_t n;
};

static bool is_in_set(const struct checkpoint_set *s, struct ids ids, const struct ranked *v)
{
	const uint64_t *key = s->scope == TRACKED_DIR ? &v->parent : &v->experiment;

	return s->scope == TRACKED_RUN ? !v->off : bsearch(key, ids.v, ids.n, sizeof(*ids.v), id_compare) != NULL;
}

/* The best of one run, as a step on the way to that of all. */
struct look {
	const struct checkpoint_set *set;
	struct ids ids;
	struct found *found;
};

static int find_by_choice(const struct look *l, struct ranking *ranking, size_t choice)
{
	const struct checkpoint_set *s = l->set;
	struct found *found = l->found;
	struct ranked *v;
	double value;
	int r = 0;

	for (size_t i = 0; (v = ranking_at(ranking, (int)choice, i, &value)) != NULL; i++) {
		if (!is_in_set(s, l->ids, v))
			continue;
		if (found->any && choice == found->choice &&
		    !ranking_is_better(found->by->best_is_max, v, value, &found->ranked, found->value))
			return 0;
		r = judge(s->ex, v);
		if (r > 0)
			r = is_visible(s, v);
		if (r != 0)
			break;
	}
	if (r > 0)
		*found = (struct found){ .by = found->by, .any = true, .choice = choice, .value = value, .ranked = *v };
	return MIN(r, 0);
}

/* By another configuration all are looked at again. */
static int find_in_run(void *arg, struct ranking *ranking, const struct config *by)
{
	const struct look *l = arg;
	int r = 0;

	if (by != l->found->by)
		return 0;
	for (size_t i = 0; by->best_metric[i] && r == 0 && (!l->found->any || i <= l->found->choice); i++)
		r = find_by_choice(l, ranking, i);
	return r;
}

static void drop_repeats(struct id_list *l)
{
	size_t out = 0;

	if (l->n > 0)
		qsort(l->v, l->n, sizeof(*l->v), id_compare);
	for (size_t i = 0; i < l->n; i++)
		if (out == 0 || l->v[i] != l->v[out - 1])
			l->v[out++] = l->v[i];
	l->n = out;
}

static int add_fork(void *arg, const struct fork_row *row)
{
	return id_list_add(arg, row->id);
}

/* In a directory of an experiment root lie checkpoints of all its branches. */
static int list_runs_of_dirs(const struct checkpoint_set *s, struct db *db, struct id_list *ret)
{
	struct tracked_row t;
	size_t n;
	int r = 0;

	for (size_t i = 0; i < s->n && r == 0; i++) {
		r = tracked_get(db, s->ids[i], &t);
		r = r == 0 ? id_list_add(ret, t.run) : r == -ENOENT ? 0 : r;
	}
	drop_repeats(ret);
	n = ret->n;
	for (size_t i = 0; i < n && r == 0; i++)
		r = fork_list(db, ret->v[i], add_fork, ret);
	return r;
}

/* The runs of what the set is of, each once. */
static int list_runs(const struct checkpoint_set *s, struct id_list *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);
	int r = 0;

	if (s->scope == TRACKED_DIR)
		return list_runs_of_dirs(s, db, ret);
	for (size_t i = 0; i < s->n && r == 0; i++)
		r = s->scope == TRACKED_EXPERIMENT ? line_list_runs(db, s->ids[i], id_list_add, ret) :
						     id_list_add(ret, s->ids[i]);
	drop_repeats(ret);
	return r;
}

static int is_removed(const struct checkpoint_set *s, uint64_t run)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);

	return removed_is_run(db, run);
}

/* Which experiments of the set count in a run (exp/checkpoint.h). */
static int look_into_one(const struct checkpoint_set *s, uint64_t *ids, uint64_t run, struct found *found)
{
	int removed = s->scope == TRACKED_EXPERIMENT ? is_removed(s, run) : 0;
	struct ids all = { ids, s->n }, there = { ids, s->there }, gone = { ids + s->there, s->n - s->there };
	struct look l = { s, s->scope != TRACKED_EXPERIMENT ? all : removed > 0 ? gone : there, found };

	return removed < 0 ? removed : standings_look(s->ex, run, find_in_run, &l);
}

static int resolve(const struct checkpoint_set *s, const struct found *found, struct best *ret)
{
	struct tracked_row t;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);

		r = tracked_get(db, found->ranked.tracked, &t);
	}
	if (r == 0)
		r = checkpoint_resolve(s->ex, &t, found->ranked.version, &ret->checkpoint);
	if (r < 0)
		return r;
	ret->metric = found->by->best_metric[found->choice];
	ret->value = found->value;
	return 0;
}

static int find_by_metric(const struct checkpoint_set *s, struct best *ret)
{
	_cleanup_(id_list_free) struct id_list runs = { 0 };
	_cleanup_free_ uint64_t *ids = malloc((s->n + 1) * sizeof(*ids));
	struct found found;
	int r = ids ? list_runs(s, &runs) : -ENOMEM;

	if (r < 0)
		return r;
	if (s->n > 0) {
		memcpy(ids, s->ids, s->n * sizeof(*ids));
		qsort(ids, s->there, sizeof(*ids), id_compare);
		qsort(ids + s->there, s->n - s->there, sizeof(*ids), id_compare);
	}
	do {
		found = (struct found){ .by = s->ex->config };
		for (size_t i = 0; i < runs.n && r == 0; i++)
			r = look_into_one(s, ids, runs.v[i], &found);
	} while (r == 0 && found.by != s->ex->config);
	if (r < 0)
		return r;
	return found.any ? resolve(s, &found, ret) : -ENOENT;
}

/* A version may be forgotten between finding and resolving it: then another is the best. */
int checkpoint_best(const struct checkpoint_set *s, struct best *ret)
{
	int r = -ENOENT;

	*ret = (struct best){ 0 };
	for (int i = 0; i < TRIES && r == -ENOENT; i++) {
		uint64_t count = meta_checkpoints(s->ex->meta);

		ledger_row_free(&ret->selection);
		r = nominee_of(s, &ret->selection, &ret->checkpoint);
		if (r == 0)
			r = find_by_metric(s, ret);
		if (r == -ENOENT && count == meta_checkpoints(s->ex->meta))
			break;
	}
	return MIN(r, 0);
}
