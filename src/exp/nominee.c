#include "exp/nominee.h"

#include "exp/judge.h"
#include "exp/path.h"
#include "exp/removed.h"
#include "util/list.h"

/* 1: the path lies below the directory of the set, in one that may be gone. */
static int is_below(const struct checkpoint_set *s, struct db *db, const struct tracked_row *t)
{
	struct tracked_row up = *t;
	int r = 0;

	for (unsigned depth = 0; depth < PATH_BOUND && up.id != TRACKED_TOP && r == 0; depth++) {
		if (up.parent == s->top)
			return 1;
		r = tracked_get(db, up.parent, &up);
	}
	return r;
}

/* Of a removed run it counts where experiments have none that are there (exp/checkpoint.h). */
static int is_of_experiments(const struct checkpoint_set *s, struct db *db, const struct tracked_row *t,
			     const struct version_row *v)
{
	int removed = removed_is_run(db, t->run);

	for (size_t i = removed > 0 ? s->there : 0; i < s->n && removed >= 0; i++)
		if (s->ids[i] == v->experiment)
			return 1;
	return MIN(removed, 0);
}

static int is_in_set(const struct checkpoint_set *s, struct db *db, const struct tracked_row *t, const struct version_row *v)
{
	switch (s->scope) {
	case TRACKED_DIR:
		return is_below(s, db, t);
	case TRACKED_EXPERIMENT:
	case TRACKED_REMOVED:
		return is_of_experiments(s, db, t, v);
	case TRACKED_RUN:
		break;
	}
	return 1; /* it was asked for by the branch */
}

/* 1: the version is one of the set, *ret its path. */
static int find_version(const struct checkpoint_set *s, struct db *db, uint64_t version, struct tracked_row *ret)
{
	struct version_row v;
	int r = version_get(db, version, &v);

	if (r == 0)
		r = tracked_get(db, v.tracked, ret);
	if (r == 0)
		r = is_in_set(s, db, ret, &v);
	return r == 1 ? checkpoint_is_visible(s, db, ret) : r;
}

/* The last one of what a branch is, and of the given. */
static int keep_last(struct db *db, uint64_t run, struct ledger_row *last)
{
	struct ledger_row row;
	int r = ledger_run(db, run, &run);

	if (r == 0)
		r = ledger_current(db, run, NOMINEE, &row);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (row.id > last->id) {
		struct ledger_row before = *last;

		*last = row;
		row = before;
	}
	ledger_row_free(&row);
	return 0;
}

static int of_branch(const struct checkpoint_set *s, struct ledger_row *ret_selection, struct tracked_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);
	int r = 0;

	for (size_t i = 0; i < s->n && r == 0; i++)
		r = keep_last(db, s->ids[i], ret_selection);
	return r < 0 || !ret_selection->id ? r : find_version(s, db, ret_selection->of, ret);
}

static int add_selection(void *arg, const struct ledger_row *row)
{
	return id_list_add(arg, row->id);
}

static int try(const struct checkpoint_set *s, struct db *db, uint64_t id, struct ledger_row *ret_selection,
	       struct tracked_row *ret)
{
	_cleanup_ledger_row_ struct ledger_row row = { 0 };
	int r = ledger_get(db, id, &row);

	if (r == 0)
		r = find_version(s, db, row.of, ret);
	if (r == 1) {
		*ret_selection = row;
		row = (struct ledger_row){ 0 };
	}
	return r == -ENOENT ? 0 : r;
}

static int of_any_branch(const struct checkpoint_set *s, struct ledger_row *ret_selection, struct tracked_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);
	_cleanup_id_list_ struct id_list l = { 0 };
	int r = s->n > 0 ? ledger_list_named(db, NOMINEE, add_selection, &l) : 0;

	for (size_t i = l.n; i > 0 && r == 0; i--)
		r = try(s, db, l.v[i - 1], ret_selection, ret);
	return r;
}

/* What the path holds by now may not be judged yet, if it came to another run. */
static int bring_up_to_date(struct expfs *ex, struct tracked_row *t)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	int r = t->changed ? judge_changed(ex, t->run) : 1;

	if (r != 0)
		return MIN(r, 0);
	db = meta_reader(ex->meta);
	return tracked_get(db, t->id, t);
}

int nominee_of(const struct checkpoint_set *s, struct ledger_row *ret_selection, struct checkpoint *ret)
{
	_cleanup_ledger_row_ struct ledger_row selection = { 0 };
	struct tracked_row t;
	int r = s->scope == TRACKED_RUN ? of_branch(s, &selection, &t) : of_any_branch(s, &selection, &t);

	if (r == 1)
		r = bring_up_to_date(s->ex, &t);
	else if (r == 0)
		return 0;
	if (r == 0)
		r = checkpoint_resolve(s->ex, &t, selection.of, ret);
	if (r == 0 || r == -ENOENT) {
		*ret_selection = selection;
		selection = (struct ledger_row){ 0 };
	}
	return r == 0 ? 1 : r;
}
