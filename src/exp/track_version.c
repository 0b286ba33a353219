/* The versions of one tracked path: what it holds becomes one, ends, or was none. */
#include <string.h>

#include "exp/kept.h"
#include "exp/metric.h"
#include "exp/step.h"
#include "exp/track_path.h"
#include "meta/content.h"
#include "meta/metric.h"
#include "meta/root.h"
#include "meta/weights.h"
#include "util/list.h"

#define IMPORTED_BELOW (1ll << 62)

void track_no_good(struct tracked_row *t)
{
	t->good = 0;
	t->step = NO_STEP;
	t->rank = 0;
}

/* The state in which a run is after an edit is the one of the edit itself. */
int tx_track_due(struct db *db, const struct tracked_row *t, const struct version_row *v)
{
	const struct due_row d = { .version = v->id, .run = t->run,
				   .begin = t->role == ROLE_WEIGHTS ? v->begin : v->id };
	int r = due_put(db, &d);

	return r < 0 || t->role != ROLE_WEIGHTS || v->complete != 1 ? r : unread_put(db, v->id);
}

/* May it have been one that its run does not record? */
static bool is_doubtful(struct expfs *ex, const struct tracked_row *t, const struct version_row *v)
{
	return t->role != ROLE_MANIFEST && v->complete != 1 && !kept_is_sure(ex, t->run);
}

/* The version that the path holds ends, and what cannot be kept goes. */
static int end_version(struct expfs *ex, struct db *db, struct tracked_row *t, uint64_t until, bool gone,
		       struct file_drop *drop)
{
	struct content_row content = { .state = CONTENT_SEALED };
	struct version_row v;
	int r = t->head ? version_get(db, t->head, &v) : -ENOENT;

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	t->head = 0;
	r = v.object ? content_get(db, v.object, &content) : 0;
	if (r < 0)
		return r;
	v.until = until;
	v.gone = gone;
	if (content.state == CONTENT_SEALED) {
		r = version_update(db, &v);
		if (r == 0 && !drop->keeps && is_doubtful(ex, t, &v))
			r = tx_track_due(db, t, &v);
		return r;
	}
	t->n--;
	if (t->good == v.id)
		track_no_good(t);
	r = version_delete(db, v.id);
	return r < 0 ? r : file_drop_object(db, content.id, drop);
}

int tx_track_end_version(struct expfs *ex, struct db *db, struct tracked_row *t, struct file_drop *drop)
{
	return end_version(ex, db, t, meta_id(ex->meta), false, drop);
}

/* What is taken away while it is written over has ended by that. */
static int end_written(struct db *db, const struct tracked_row *t, uint64_t until)
{
	struct version_row v;
	int r = version_before(db, t->id, INT64_MAX, &v);

	if (r < 0 || v.gone)
		return r == -ENOENT ? 0 : r;
	v.until = until;
	v.gone = true;
	return version_update(db, &v);
}

int track_end_path(struct expfs *ex, struct db *db, struct tracked_row *t, struct file_drop *drop)
{
	uint64_t now = meta_id(ex->meta);
	int r = t->head ? end_version(ex, db, t, now, true, drop) : end_written(db, t, now);

	if (t->role == ROLE_HP)
		kept_forget(ex, t->run);
	t->ino = t->is_dir ? t->ino : 0;
	t->changed = 0;
	track_no_good(t);
	return r < 0 ? r : tracked_update(db, t);
}

int64_t track_rank(const struct inode_row *row, uint64_t name_order)
{
	if (!(row->flags & INODE_IMPORTED))
		return (int64_t)MAX(row->order, name_order);
	return MAX(MIN(row->mtime, IMPORTED_BELOW / 2), -IMPORTED_BELOW / 2) - IMPORTED_BELOW;
}

int tx_track_saves_again(struct db *db, const struct tracked_row *t, const struct version_row *v, uint64_t begin)
{
	int r;

	if (t->role != ROLE_WEIGHTS || v->complete == 0 || v->begin == begin)
		return 0;
	r = root_has(db, t->run);
	return r < 0 ? r : r == 0;
}

int tx_track_end_by(struct db *db, struct version_row last, uint64_t next)
{
	int r;

	last.until = next;
	r = version_update(db, &last);
	return r < 0 ? r : metric_copy(db, last.id, next);
}

/* Is it to be found out now to which experiment it belongs? Of a checkpoint that is for who finds it complete, but
 * for one that is known to be. */
static bool is_due(struct expfs *ex, const struct tracked_row *t, const struct version_row *v)
{
	switch (t->role) {
	case ROLE_WEIGHTS:
		return v->complete == 1;
	case ROLE_HP:
	case ROLE_MODEL:
	case ROLE_DATA:
		return ex->config->commit_immediate;
	}
	return false;
}

int track_content(struct expfs *ex, struct db *db, struct tracked_row *t, const char *name,
			 const struct inode_row *row, uint64_t name_order, struct file_drop *drop)
{
	uint64_t now = meta_id(ex->meta);
	struct version_row v = { 0 }, last;
	int r = t->head ? version_get(db, t->head, &v) : 0;
	bool same = t->head && v.object == row->object && v.size == row->size, new;
	int64_t step = t->role == ROLE_WEIGHTS ? step_in_name(name, false) : NO_STEP;
	int again = 0;

	if (r == 0 && !same)
		r = end_version(ex, db, t, now, false, drop);
	if (r < 0 || !(row->flags & INODE_CLOSED))
		return r;
	if (same)
		again = tx_track_saves_again(db, t, &v, row->begin);
	if (again < 0)
		return again;
	last = v;
	new = !same || again;
	if (new)
		v = (struct version_row){ .id = now, .tracked = t->id, .n = ++t->n, .object = row->object,
					  .size = row->size, .complete = again ? last.complete : VERSION_UNJUDGED,
					  .step = again ? last.step : NO_STEP };
	else if (v.begin != row->begin && v.complete == 0) /* which the run may record now */
		v.complete = VERSION_UNJUDGED;
	v.begin = row->begin;
	v.mode = row->mode & 07777;
	v.uid = row->uid;
	v.gid = row->gid;
	v.mtime = row->mtime;
	v.rank = track_rank(row, name_order);
	if (t->role != ROLE_WEIGHTS || step != NO_STEP)
		v.step = step; /* else it is what judging it finds inside */
	t->head = v.id;
	if (t->role == ROLE_WEIGHTS)
		t->changed = now;
	r = new ? version_insert(db, &v) : version_update(db, &v);
	if (r == 0 && again)
		r = tx_track_end_by(db, last, v.id);
	if (r == 0 && new && t->role == ROLE_WEIGHTS)
		r = tx_metric_version(db, row->ino, v.id);
	return r < 0 || !new || !is_due(ex, t, &v) ? r : tx_track_due(db, t, &v);
}

int track_unmake_version(struct expfs *ex, struct db *db, struct tracked_row *t)
{
	struct version_row v;
	int r = version_get(db, t->head, &v);

	if (r == 0 && t->good == v.id)
		track_no_good(t);
	if (r == 0)
		r = version_delete(db, v.id);
	if (r == 0)
		r = version_before(db, t->id, v.n, &v);
	if (r < 0 && r != -ENOENT)
		return r;
	if (t->role == ROLE_HP)
		kept_forget(ex, t->run);
	t->n--;
	t->head = r == 0 && !v.gone ? v.id : 0;
	if (t->head) {
		v.until = 0;
		r = version_update(db, &v);
	}
	if (t->role == ROLE_WEIGHTS)
		t->changed = meta_id(ex->meta);
	return r < 0 && r != -ENOENT ? r : tracked_update(db, t);
}

int tx_track_forgotten(struct expfs *ex, struct db *db, struct tracked_row *t)
{
	struct version_row v;
	int r = t->good ? version_get(db, t->good, &v) : 0;

	if (r != -ENOENT)
		return r;
	track_no_good(t);
	t->changed = meta_id(ex->meta);
	return tracked_update(db, t);
}

static int add_object(void *arg, const struct member_row *m, const char *name)
{
	return id_list_add(arg, m->object);
}

/* With the version of a directory goes what only that had of its files; the bytes go with the garbage of the mount. */
static int delete_lost(struct db *db, uint64_t id, uint64_t lost)
{
	_cleanup_id_list_ struct id_list l = { 0 };
	int r = member_list(db, id, add_object, &l);

	if (r == 0)
		r = version_delete(db, id);
	for (size_t i = 0; i < l.n && r == 0; i++) {
		if (!l.v[i] || l.v[i] == lost)
			continue;
		r = content_refs(db, l.v[i]);
		r = r == 0 ? content_delete(db, l.v[i]) : MIN(r, 0);
	}
	return r;
}

/* What the path held before is what it held then, too: it gets that back. */
static int lose_version(struct expfs *ex, struct db *db, const struct version_row *v)
{
	struct version_row before;
	struct tracked_row t;
	int r = tracked_get(db, v->tracked, &t), had = version_before(db, v->tracked, v->n, &before);
	bool again = had == 0 && !before.gone, counts;

	if (r < 0 || (had < 0 && had != -ENOENT))
		return MIN(r, had);
	if (again) {
		before.until = v->until;
		before.gone = v->gone;
		r = version_update(db, &before);
	}
	counts = t.role == ROLE_WEIGHTS && (t.ino || t.good);
	if (t.good == v->id)
		track_no_good(&t);
	if (t.head == v->id)
		t.head = again ? before.id : 0;
	t.changed = counts ? meta_id(ex->meta) : 0;
	return r < 0 ? r : tracked_update(db, &t);
}

static int track_lost(struct expfs *ex, struct db *db, uint64_t object)
{
	struct version_row v;
	uint64_t id;
	int r;

	while ((r = version_of_object(db, object, &id)) == 0) {
		r = version_get(db, id, &v);
		if (r == 0)
			r = lose_version(ex, db, &v);
		if (r == 0 || r == -ENOENT)
			r = delete_lost(db, id, object);
		if (r < 0)
			return r;
	}
	return r == -ENOENT ? 0 : r;
}

int tx_track_lost(struct expfs *ex, struct db *db, uint64_t object)
{
	return track_forgive(ex, track_lost(ex, db, object));
}
