/* Which checkpoints a set has: those of runs, of directories, of experiments. */
#include "exp/checkpoint.h"

#include "exp/derive.h"
#include "exp/entries.h"
#include "exp/judge.h"
#include "exp/track.h"

void checkpoint_set_free(struct checkpoint_set *s)
{
	free(s->ids);
	*s = (struct checkpoint_set){ 0 };
}

static int add_id(struct checkpoint_set *s, uint64_t id)
{
	uint64_t *v = array_grow(s->ids, s->n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	s->ids = v;
	v[s->n++] = id;
	return 0;
}

/* What is gone holds none. Rows that are damaged may lead round to the first. */
static int add_dir(void *arg, const struct tracked_row *t, const char *name)
{
	struct checkpoint_set *s = arg;

	return t->id == s->top || !t->ino ? 0 : add_id(s, t->id);
}

/* The directories below those that are in the set are added, too. */
static int add_below(struct checkpoint_set *s)
{
	int r = 0;

	for (size_t i = 0; i < s->n && r == 0; i++) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);

		r = tracked_list_dirs(db, s->ids[i], add_dir, s);
	}
	return r;
}

static int find_tracked(struct expfs *ex, uint64_t ino, struct tracked_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return tracked_by_dir(db, ino, ret);
}

/* What was written until now is looked at. */
static int bring_up_to_date(struct checkpoint_set *s)
{
	int r = root_settle(s->ex);

	if (s->scope == TRACKED_DIR)
		return r < 0 ? r : judge_changed(s->ex, 0);
	for (size_t i = 0; i < s->n && r == 0; i++)
		r = judge_changed(s->ex, s->ids[i]);
	return r;
}

int checkpoint_set_of(struct expfs *ex, struct cred *cred, const uint64_t *ids, size_t n, uint64_t top,
		      struct checkpoint_set *ret)
{
	_cleanup_checkpoint_set_ struct checkpoint_set s = { .ex = ex, .cred = cred, .scope = TRACKED_RUN, .top = top };
	int r = track_moved(ex);

	for (size_t i = 0; i < n && r == 0; i++)
		r = add_id(&s, ids[i]);
	if (r == 0)
		r = bring_up_to_date(&s);
	if (r < 0)
		return r;
	*ret = s;
	s = (struct checkpoint_set){ 0 };
	return 0;
}

int checkpoint_set_below(struct expfs *ex, struct cred *cred, uint64_t ino, struct checkpoint_set *ret)
{
	_cleanup_checkpoint_set_ struct checkpoint_set s = { .ex = ex, .cred = cred, .scope = TRACKED_DIR };
	struct tracked_row t;
	int r = track_moved(ex);

	if (r == 0)
		r = find_tracked(ex, ino, &t);
	s.top = r == 0 ? t.id : 0;
	if (r == 0)
		r = add_id(&s, t.id);
	if (r == 0)
		r = add_below(&s);
	if (r == 0)
		r = bring_up_to_date(&s);
	if (r < 0 && r != -ENOENT)
		return r;
	*ret = s;
	s = (struct checkpoint_set){ 0 };
	return 0;
}

/* Hands on the experiments of the set, those first that have checkpoints that are there. */
static int give_experiments(struct checkpoint_set *s, struct db *db, struct checkpoint_set *ret)
{
	for (size_t i = 0; i < s->n; i++) {
		uint64_t id = s->ids[i];
		struct tracked_row t;
		int r = tracked_latest(db, TRACKED_EXPERIMENT, id, NULL, &t);

		if (r < 0 && r != -ENOENT)
			return r;
		if (r < 0)
			continue;
		s->ids[i] = s->ids[s->there];
		s->ids[s->there++] = id;
	}
	*ret = *s;
	*s = (struct checkpoint_set){ 0 };
	return 0;
}

int checkpoint_set_of_experiment(struct expfs *ex, struct cred *cred, uint64_t experiment, struct checkpoint_set *ret)
{
	_cleanup_checkpoint_set_ struct checkpoint_set s = { .ex = ex, .cred = cred, .scope = TRACKED_EXPERIMENT };
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = add_id(&s, experiment);

	return r < 0 ? r : give_experiments(&s, db, ret);
}

static int add_experiment(void *arg, const struct experiment_row *e)
{
	return add_id(arg, e->id);
}

int checkpoint_set_of_segment(struct expfs *ex, struct cred *cred, enum segment which, const char *text,
			      struct checkpoint_set *ret)
{
	_cleanup_checkpoint_set_ struct checkpoint_set s = { .ex = ex, .cred = cred, .scope = TRACKED_EXPERIMENT };
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = experiment_list_by_segment(db, which, text, add_experiment, &s);

	return r < 0 ? r : give_experiments(&s, db, ret);
}
