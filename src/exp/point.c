#include "exp/point.h"

#include <string.h>

#include "exp/entries.h"
#include "exp/settle.h"
#include "exp/structure.h"
#include "meta/ledger.h"
#include "meta/metric.h"
#include "meta/tracked.h"

void point_free(struct point *p)
{
	state_free(&p->state);
}

static int find_before(struct db *db, const struct point *p, struct line_row *ret)
{
	int r = line_at(db, p->run.id, p->at, ret);

	if (r == -ENOENT)
		*ret = (struct line_row){ 0 };
	return r == -ENOENT ? 0 : r;
}

static int newest_weights(struct point *p, struct version_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(p->ex->meta);
	struct tracked_row t;
	int r = tracked_latest(db, TRACKED_RUN, p->run.id, NULL, &t);

	return r < 0 ? r : version_get(db, t.good, ret);
}

/* The model where neither a file nor a checkpoint at hand tells it. */
static int look_at_model(struct point *p)
{
	struct version_row v;
	int r;

	/* After a load it is that of the weights loaded, initialised anew. */
	p->keeps_model = (p->before.flags & LINE_WEIGHTS) && !(p->before.flags & LINE_LOADED);
	if (p->keeps_model)
		return 0;
	r = newest_weights(p, &v);
	if (r == 0)
		return structure_of_version(p->ex, &v, p->before.init_step, p->state.segments.digest[SEGMENT_MODEL]);
	p->keeps_model = p->before.flags & LINE_WEIGHTS;
	return r == -ENOENT ? 0 : r;
}

/* The step of a load counts from the next experiment on: what was loaded is itself none. */
static int compare_with_load(struct point *p)
{
	_cleanup_state_ struct state s = { 0 };
	int r = state_at(p->ex, &p->run, p->before.at, NULL, p->before.init_step, &s);

	p->as_loaded = r == 0;
	for (int i = 0; r == 0 && i < SEGMENTS; i++)
		if (strcmp(s.segments.digest[i], p->state.segments.digest[i]) != 0)
			p->as_loaded = false;
	return r;
}

int point_look(struct point *p)
{
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(p->ex->meta);

		r = find_before(db, p, &p->before);
		if (r == 0 && p->before.id)
			r = experiment_get(db, p->before.experiment, &p->before_experiment);
	}
	if (r == 0)
		r = state_at(p->ex, &p->run, p->at, p->checkpoint, p->before.init_step, &p->state);
	if (r == 0 && !p->checkpoint && (p->before.flags & LINE_LOADED))
		r = compare_with_load(p);
	if (r == 0 && p->state.weights && !p->checkpoint)
		r = look_at_model(p);
	if (r == 0 && p->keeps_model)
		memcpy(p->state.segments.digest[SEGMENT_MODEL], p->before_experiment.segments.digest[SEGMENT_MODEL],
		       SEGMENT_DIGEST + 1);
	return r;
}

int point_hash(struct db *db, struct point *p, bool insert)
{
	bool any = false;
	int r = 0;

	*p->hash = 0;
	for (int i = 0; i < SEGMENTS && r == 0; i++) {
		char *text = p->hash + i * SEGMENT_LEN;

		if (i == SEGMENT_MODEL && p->keeps_model)
			memcpy(text, p->before_experiment.hash + i * SEGMENT_LEN, SEGMENT_LEN + 1);
		else
			r = segment_text(db, (enum segment)i, p->state.segments.digest[i], insert, text);
		text[SEGMENT_LEN] = 0;
		any = any || strcmp(text, SEGMENT_ABSENT) != 0;
	}
	if (!any || p->as_loaded || !p->state.options.enable_checkpoints)
		*p->hash = 0;
	return r;
}

static int add_object(void *arg, const char *path, const struct version_row *v)
{
	return v->object ? id_list_add(arg, v->object) : 0;
}

int point_settle(struct point *p)
{
	static const enum role roles[] = { ROLE_HP, ROLE_MODEL, ROLE_DATA };
	_cleanup_(id_list_free) struct id_list l = { 0 };
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(p->ex->meta);

		r = point_hash(db, p, false);
	}
	if (r < 0 || !*p->hash || p->back || strcmp(p->hash, p->before_experiment.hash) == 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(roles) && r == 0; i++)
		r = state_files(p->ex, &p->run, roles[i], p->at, add_object, &l);
	return r < 0 ? r : settle_objects(p->ex, l.v, l.n);
}

bool point_same_segment(const char *a, const char *b, enum segment i)
{
	return !memcmp(a + i * SEGMENT_LEN, b + i * SEGMENT_LEN, SEGMENT_LEN);
}

/* 1: the branch is at the experiment already, or was a moment ago: a run that saves two kinds of weights does not
 * go from one to the other and back; one that began earlier may complete later. */
static int is_on_line(struct db *db, const struct point *p, const struct experiment_row *e)
{
	const char *before = p->before_experiment.hash;
	struct line_row after;
	int r;

	if (p->before.id && p->before.experiment == e->id)
		return 1;
	r = line_after(db, p->run.id, p->at, &after);
	if (r == 0 && after.experiment == e->id && !(after.flags & LINE_LOADED))
		return 1;
	if (r < 0 && r != -ENOENT)
		return r;
	if (!p->checkpoint || !p->state.weights || !p->before.id || !point_same_segment(before, e->hash, SEGMENT_HP) ||
	    !point_same_segment(before, e->hash, SEGMENT_DATA))
		return 0;
	return line_has(db, p->run.id, e->id, p->at);
}

static int insert_experiment(struct db *db, const struct point *p, struct experiment_row *e)
{
	*e = (struct experiment_row){
		.id = meta_id(p->ex->meta),
		.segments = p->state.segments,
		.parent = p->before.experiment,
		.time = now_ns(),
	};
	memcpy(e->hash, p->hash, sizeof(e->hash));
	return experiment_insert(db, e);
}

static int insert_line(struct db *db, const struct point *p, const struct experiment_row *e)
{
	struct line_row l = {
		.id = meta_id(p->ex->meta),
		.run = p->run.id,
		.experiment = e->id,
		.version = p->checkpoint ? p->checkpoint->id : 0,
		.init_step = p->before.init_step,
		.at = p->at,
		.flags = p->state.weights ? LINE_WEIGHTS : 0,
	};

	return line_insert(db, &l);
}

static int put_on_line(struct db *db, struct point *p, struct experiment_row *e)
{
	int r = experiment_by_hash(db, p->hash, e);

	if (r == 0)
		r = is_on_line(db, p, e);
	else if (r == -ENOENT)
		r = insert_experiment(db, p, e);
	return r != 0 ? MIN(r, 0) : insert_line(db, p, e);
}

int tx_point_join(struct expfs *ex, struct db *db, uint64_t id)
{
	struct version_row v, last;
	struct tracked_row t;
	int r = version_get(db, id, &v);

	if (r == 0)
		r = version_before(db, v.tracked, v.n, &last);
	if (r == 0)
		r = tracked_get(db, v.tracked, &t);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (t.head != id || last.until != id || last.gone || last.experiment != v.experiment)
		return 0;
	r = line_has_version(db, id);
	if (r == 0)
		r = ledger_needs(db, id, NULL);
	if (r != 0)
		return MIN(r, 0);
	r = version_same_content(db, id, last.id);
	if (r <= 0)
		return r;
	v.id = t.head = last.id;
	v.n = t.n = last.n;
	t.good = t.good == id ? last.id : t.good;
	t.changed = t.changed ? meta_id(ex->meta) : 0; /* who judges it now has looked at the one that goes */
	r = member_move(db, id, last.id);
	if (r == 0)
		r = metric_copy(db, id, last.id);
	if (r == 0)
		r = version_delete(db, id);
	if (r == 0)
		r = version_update(db, &v);
	if (r == 0)
		r = tracked_update(db, &t);
	return r < 0 ? r : tx_point_join(ex, db, last.id); /* that one was found out about while this one was the head */
}

int tx_point_put(struct db *db, void *arg)
{
	struct point *p = arg;
	struct experiment_row e = { 0 };
	struct line_row before;
	struct due_row due;
	int r = p->due ? due_get(db, p->due, &due) : 0;

	if (r == -ENOENT) /* the version is gone */
		return 0;
	if (r == 0)
		r = find_before(db, p, &before);
	if (r == 0 && before.id != p->before.id)
		r = -EAGAIN;
	if (r == 0 && p->due)
		r = due_delete(db, p->due);
	if (r == 0 && !p->back)
		r = point_hash(db, p, true);
	if (r == 0 && p->back)
		e.id = p->back;
	else if (r == 0 && *p->hash)
		r = put_on_line(db, p, &e);
	if (r < 0 || !p->checkpoint)
		return r;
	r = e.id ? version_set_experiment(db, p->checkpoint->id, e.id) : 0;
	return r < 0 ? r : tx_point_join(p->ex, db, p->checkpoint->id);
}
