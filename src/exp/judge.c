#include "exp/judge.h"

#include <stdio.h>
#include <string.h>

#include "exp/inside.h"
#include "exp/judge_part.h"
#include "exp/kept.h"
#include "exp/track.h"
#include "meta/dirent.h"
#include "meta/line.h"
#include "meta/version.h"

#define TRIES 8

static void cleanup_judgement(struct judgement **j)
{
	if (*j) {
		members_free(&(*j)->m);
		if ((*j)->metrics)
			metric_inside_free((*j)->metrics);
		free((*j)->name);
		free(*j);
	}
}

/* While the content of the last version is in the file that is being written, it was none: a forked child
 * closed it. */
static bool may_go_on(struct judgement *j, struct db *db, const struct version_row *v)
{
	struct inode_row row;

	return j->written && v->id == j->t.head && inode_get(db, j->t.ino, &row) == 0 && row.object == v->object;
}

/* What there was before the path was taken away does not come back; of a removed run's it is taken away for good. */
static bool is_from_before(const struct tracked_row *t, const struct version_row *v)
{
	return v->gone && (t->ino || v->n < t->n);
}

static int load_versions(struct judgement *j)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(j->ex->meta);
	uint64_t n = j->t.n + 1;
	int r = 0;

	while (r == 0 && j->n < JUDGE_VERSIONS_MAX) {
		struct version_row *v = &j->v[j->n];

		r = version_before(db, j->t.id, n, v);
		if (r < 0 || is_from_before(&j->t, v))
			break;
		n = v->n;
		if (v->complete == 0 || (v->complete != 1 && may_go_on(j, db, v)))
			continue;
		j->n++;
		if (v->complete == 1)
			break;
	}
	j->more = j->n == JUDGE_VERSIONS_MAX && j->v[j->n - 1].complete != 1;
	return r == -ENOENT ? 0 : r;
}

/* The rank is that of the file that was closed last, but among those that came with an old time. */
static uint64_t since(uint64_t version, int64_t rank)
{
	return rank > 0 ? MIN(version, (uint64_t)rank) : version;
}

uint64_t judge_good_since(const struct tracked_row *t)
{
	return t->good ? since(t->good, t->rank) : 0;
}

uint64_t judge_version_since(const struct version_row *v)
{
	return since(v->id, v->rank);
}

int tx_judge_set_good(struct db *db, struct tracked_row *t, const struct version_row *v, uint64_t was)
{
	struct line_row load;
	int r;

	t->good = v->id;
	t->step = v->step;
	t->rank = v->rank;
	if (was == v->id && (t->off == 0 || v->begin <= t->off))
		return 0;
	r = line_load_before(db, t->run, INT64_MAX, &load);
	if (r == 0 && !t->ino && v->begin <= load.at && v->until > load.at)
		return 0; /* it went after the load, which left it off or not */
	t->off = r == 0 && v->begin && v->begin <= load.at ? load.id : 0;
	return r == -ENOENT ? 0 : r;
}

/* Of the version as it is by now: its content can have been replaced by an equal one, and then perhaps not been read. */
static int note_complete(struct db *db, struct version_row *v)
{
	struct version_row now;
	int r = version_get(db, v->id, &now);

	if (r < 0 || now.object != v->object)
		return r < 0 && r != -ENOENT ? r : -EAGAIN;
	now.complete = v->complete;
	now.step = v->step;
	*v = now;
	return version_update(db, v);
}

static int tx_judge_file(struct db *db, void *arg)
{
	struct judgement *j = arg;
	struct tracked_row t;
	uint64_t was;
	bool any = false;
	int r = tracked_get(db, j->t.id, &t);

	if (r < 0 || t.changed != j->t.changed)
		return r < 0 ? r : -EAGAIN;
	was = t.good;
	t.changed = j->written || j->more ? t.changed : 0;
	t.good = j->more ? t.good : 0;
	for (size_t i = 0; i < j->n && r == 0; i++) {
		struct version_row *v = &j->v[i];

		r = j->fresh[i] ? note_complete(db, v) : 0;
		if (r == 0 && v->complete == 1 && j->fresh[i])
			r = tx_track_due(db, &t, v);
		if (r == 0 && v->complete == 1 && !any)
			r = tx_judge_set_good(db, &t, v, was);
		any = any || v->complete == 1;
	}
	return r < 0 ? r : tracked_update(db, &t);
}

/* The one that was found, or 0. */
static uint64_t last_complete(const struct judgement *j)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->v[i].complete == 1)
			return j->v[i].id;
	return 0;
}

static bool is_recorded(const struct judgement *j, const struct version_row *v)
{
	return kept_checkpoint(j->ex, j->t.run, v->begin ? v->begin : v->id);
}

static int judge_file(struct judgement *j)
{
	const char *fault;
	int r;

	j->written = j->t.ino && file_is_written(j->ex, j->t.ino);
	r = load_versions(j);
	for (size_t i = 0; i < j->n && r == 0; i++) {
		j->fresh[i] = j->v[i].complete == VERSION_UNJUDGED;
		fault = j->fresh[i] ? complete_version_fault(j->ex, &j->v[i], j->name) : NULL;
		if (fault && complete_may_come(fault))
			return 0;
		if (j->fresh[i])
			j->v[i].complete = fault == NULL && is_recorded(j, &j->v[i]);
		if (j->v[i].complete != 1)
			continue;
		j->more = false;
		if (j->fresh[i] && j->v[i].step == NO_STEP)
			j->v[i].step = inside_step(j->ex, j->v[i].object);
	}
	if (r == 0 && j->written && !j->more && j->t.good == last_complete(j))
		return 0; /* nothing new to note */
	if (r == 0)
		r = expfs_write(j->ex, tx_judge_file, j);
	return r == 0 && j->more ? -EAGAIN : r;
}

static int load(struct expfs *ex, const struct tracked_row *t, struct judgement **ret)
{
	_cleanup_(cleanup_judgement) struct judgement *j = calloc(1, sizeof(*j));
	_cleanup_(cleanup_reader) struct db *db = NULL;
	int r;

	if (!j)
		return -ENOMEM;
	j->ex = ex;
	db = meta_reader(ex->meta);
	r = tracked_get(db, t->id, &j->t);
	if (r == 0)
		r = tracked_name(db, t->id, &j->name);
	if (r < 0)
		return r;
	*ret = steal(&j);
	return 0;
}

static int judge_path_before(struct expfs *ex, const struct tracked_row *t, uint64_t before)
{
	for (int i = 0; i < TRIES; i++) {
		_cleanup_(cleanup_judgement) struct judgement *j = NULL;
		int r = load(ex, t, &j);

		if (r < 0 || j->t.changed == 0)
			return r == -ENOENT ? 0 : r;
		j->m.before = before;
		r = j->t.is_dir && j->t.ino ? judge_dir(j) : judge_file(j);
		if (r != -EAGAIN)
			return r;
	}
	return 0; /* changes without end: what was known holds */
}

int judge_path(struct expfs *ex, const struct tracked_row *t)
{
	return judge_path_before(ex, t, 0);
}

int judge_dir_before(struct expfs *ex, const struct tracked_row *t, uint64_t before)
{
	return judge_path_before(ex, t, before);
}

int judge_changed(struct expfs *ex, uint64_t run)
{
	struct tracked_row t[JUDGE_BATCH];
	uint64_t after = 0;
	int n, r = 0;

	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

			n = tracked_list_changed(db, run, after, t, JUDGE_BATCH);
		}
		for (int i = 0; i < n && r == 0; i++) {
			after = t[i].id;
			r = judge_path(ex, &t[i]);
		}
	} while (n == JUDGE_BATCH && r == 0);
	return n < 0 ? n : expfs_takes_nothing(r) ? 0 : r;
}

static int explain(struct expfs *ex, uint64_t object, const char *dir, const char *name, const char *fault, char **ret)
{
	return asprintf(ret, "%s%s%s", dir ? dir : "", dir ? ": " : "", complete_explain(ex, object, name, fault)) < 0 ?
		       -ENOMEM : 0;
}

static int explain_dir(struct judgement *j, char **ret)
{
	size_t at;
	int r = judge_dir_fault(j);

	if (r < 0 || !j->fault)
		return r;
	complete_files_fault(j->ex, &j->m, &at);
	if (at < j->m.n)
		return explain(j->ex, j->m.v[at].row.object, j->m.v[at].name, j->m.v[at].name, j->fault, ret);
	return explain(j->ex, 0, NULL, j->name, j->fault, ret);
}

static int explain_file(struct judgement *j, char **ret)
{
	struct inode_row row;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(j->ex->meta);

		r = inode_get(db, j->t.ino, &row);
	}
	if (r < 0)
		return r;
	j->fault = complete_file_fault(j->ex, &row, j->name);
	return j->fault ? explain(j->ex, row.object, NULL, j->name, j->fault, ret) : 0;
}

int judge_explain(struct expfs *ex, const struct tracked_row *t, char **ret, enum judge_kind *ret_kind)
{
	_cleanup_(cleanup_judgement) struct judgement *j = NULL;
	int r = load(ex, t, &j);

	*ret = NULL;
	if (r == 0)
		r = j->t.is_dir ? explain_dir(j, ret) : explain_file(j, ret);
	*ret_kind = r < 0 || !j->fault ? JUDGE_TORN : complete_may_come(j->fault) ? JUDGE_PASSING :
		    complete_is_mixed(j->fault) ? JUDGE_MIXED : JUDGE_TORN;
	return r == -ENOENT || r == -ESTALE ? 0 : r;
}
