#include "exp/resume.h"

#include "exp/weigh.h"
#include "format/parts.h"
#include "meta/weights.h"

#define LOOK_BACK 16

/* 1: it has an optimizer's state; 0: it has none, or cannot be read. */
static int has_optimizer(struct expfs *ex, uint64_t version)
{
	struct holds_row h;
	int r = -ENOENT;

	for (int i = 0; i < 2 && r == -ENOENT; i++) {
		_cleanup_(cleanup_reader) struct db *db = NULL;

		if (i > 0)
			weigh_version(ex, version, NULL, NULL); /* what cannot be read now tells nothing */
		db = meta_reader(ex->meta);
		r = holds_get(db, version, &h);
	}
	return r == -ENOENT ? 0 : r < 0 ? r : (h.parts & PART_OPTIMIZER) != 0;
}

static int before(const struct checkpoint_set *s, const struct tracked_row *row, struct tracked_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);
	bool any = false;

	for (size_t i = 0; i < s->n; i++) {
		struct tracked_row t;
		int r = tracked_latest(db, s->scope, s->ids[i], row, &t);

		if (r < 0 && r != -ENOENT)
			return r;
		if (r == 0 && (!any || t.rank > ret->rank))
			*ret = t;
		any |= r == 0;
	}
	return any ? 0 : -ENOENT;
}

static uint64_t saved_before(struct expfs *ex, const struct checkpoint *c)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct version_row v;

	return version_before(db, c->tracked.id, c->version.n, &v) == 0 ? v.id : 0;
}

int checkpoint_to_resume(const struct checkpoint_set *s, struct checkpoint *c)
{
	struct tracked_row t = c->tracked, next;
	uint64_t since;
	int r = c->version.step == NO_STEP ? has_optimizer(s->ex, c->version.id) : 1;

	if (r != 0)
		return MIN(r, 0);
	since = saved_before(s->ex, c);
	for (int i = 0; i < LOOK_BACK && r == 0; i++) {
		r = before(s, &t, &next);
		if (r < 0 || next.good < since)
			return r == -ENOENT ? 0 : MIN(r, 0);
		t = next;
		r = has_optimizer(s->ex, t.good);
	}
	if (r == 1) {
		struct checkpoint found = { 0 };

		r = checkpoint_resolve(s->ex, &t, t.good, &found);
		if (r == 0) {
			checkpoint_free(c);
			*c = found;
		}
	}
	return r == -ENOENT ? 0 : MIN(r, 0);
}
