#include "exp/resume.h"

#include "exp/weigh.h"
#include "format/parts.h"
#include "meta/weights.h"

#define LOOK_BACK 16

/* What a resume needs and is in it, of what cannot be read nothing. */
static int get_parts(struct expfs *ex, uint64_t version, unsigned *ret)
{
	struct holds_row h = { 0 };
	int r = -ENOENT;

	for (int i = 0; i < 2 && r == -ENOENT; i++) {
		_cleanup_(cleanup_reader) struct db *db = NULL;

		if (i > 0)
			weigh_version(ex, version, NULL, NULL); /* what cannot be read now tells nothing */
		db = meta_reader(ex->meta);
		r = holds_get(db, version, &h);
	}
	*ret = r == 0 ? h.parts : 0;
	return r == -ENOENT ? 0 : r;
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

static int take(struct expfs *ex, const struct tracked_row *t, struct checkpoint *c)
{
	struct checkpoint found = { 0 };
	int r = checkpoint_resolve(ex, t, t->good, &found);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	checkpoint_free(c);
	*c = found;
	return 0;
}

int checkpoint_to_resume(const struct checkpoint_set *s, struct checkpoint *c)
{
	struct tracked_row t = c->tracked, best = { 0 };
	uint64_t since = saved_before(s->ex, c);
	unsigned most, parts;
	int r = get_parts(s->ex, c->version.id, &most);

	for (int i = 0; i < LOOK_BACK && r == 0; i++) {
		struct tracked_row row = t;

		r = before(s, &row, &t);
		if (r < 0 || t.good < since)
			break;
		if (t.step == NO_STEP || (c->version.step != NO_STEP && t.step != c->version.step))
			continue;
		r = get_parts(s->ex, t.good, &parts);
		if (r == 0 && (parts & most) == most && parts != most) {
			most = parts;
			best = t;
		}
	}
	if (r < 0 && r != -ENOENT)
		return r;
	return best.id ? take(s->ex, &best, c) : 0;
}
