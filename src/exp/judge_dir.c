/* Directories: their files, held against those that they had before, and the version that they become. */
#include <string.h>

#include "exp/judge_part.h"
#include "exp/kept.h"
#include "exp/names.h"
#include "exp/step.h"
#include "exp/track.h"
#include "meta/weights.h"

#define SAME_MAX 16 /* versions of a directory that it is held against */

static int64_t dir_rank(const struct members *m)
{
	struct inode_row row = { .flags = m->imported ? INODE_IMPORTED : 0, .order = m->order, .mtime = m->mtime };

	return track_rank(&row, 0);
}

static int add_member_name(void *arg, const struct member_row *row, const char *name)
{
	return names_add(arg, name);
}

/* The last complete directory of the run before rank. */
static int complete_before(struct expfs *ex, uint64_t run, int64_t rank, struct names *ret, int64_t *ret_rank)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;
	int r = tracked_latest_dir(db, run, rank, &t);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	*ret_rank = t.rank;
	return member_list(db, t.good, add_member_name, ret);
}

/* The names of the checkpoint before: one that is complete, or one that would be if it
 * were known to have all its files. */
static int names_before(struct judgement *j, int64_t rank, struct names *ret)
{
	int64_t best = INT64_MIN;
	struct tracked_row t[JUDGE_BATCH];
	int n, r = complete_before(j->ex, j->t.run, rank, ret, &best);

	if (r < 0)
		return r;
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(j->ex->meta);

		n = tracked_list_changed(db, j->t.run, 0, t, JUDGE_BATCH);
	}
	for (int i = 0; i < n && r == 0; i++) {
		_cleanup_members_ struct members m = { 0 };
		size_t at;

		if (!t[i].is_dir || t[i].id == j->t.id)
			continue;
		r = members_load(j->ex, t[i].ino, &m);
		if (r < 0 || dir_rank(&m) <= best || dir_rank(&m) >= rank || complete_files_fault(j->ex, &m, &at))
			continue;
		best = dir_rank(&m);
		names_free(ret);
		for (size_t k = 0; k < m.n && r == 0; k++)
			r = names_add(ret, m.v[k].name);
	}
	return n < 0 ? n : r;
}

/* The names of the last version. */
static int own_names(struct judgement *j, struct names *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(j->ex->meta);

	return j->t.good ? member_list(db, j->t.good, add_member_name, ret) : 0;
}

/* Holds the files of a version against those that are there. */
struct compare {
	const struct members *m;
	size_t i;
	bool same;
	bool changed; /* who may read them, or their times */
};

static int compare_member(void *arg, const struct member_row *row, const char *name)
{
	struct compare *c = arg;
	const struct inode_row *now = c->i < c->m->n ? &c->m->v[c->i].row : NULL;

	c->same = now && !strcmp(c->m->v[c->i].name, name) && now->object == row->object;
	c->changed = c->changed || (now && (row->mode != (now->mode & 07777) || row->uid != now->uid ||
					    row->gid != now->gid || row->mtime != now->mtime));
	c->i++;
	return !c->same;
}

/* Is it, file by file, one of its last versions, as after a restore? */
static int was_complete(struct judgement *j)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(j->ex->meta);
	struct version_row v = { .n = j->t.n + 1 };
	int r = 0;

	for (int i = 0; i < SAME_MAX && r == 0; i++) {
		struct compare c = { .m = &j->m, .same = true };

		r = version_before(db, j->t.id, v.n, &v);
		if (r == 0 && v.is_dir)
			r = MIN(member_list(db, v.id, compare_member, &c), 0);
		if (r == 0 && v.is_dir && v.complete == 1 && c.same && c.i == j->m.n)
			return 1;
	}
	return r == -ENOENT ? 0 : r;
}

int judge_dir_fault(struct judgement *j)
{
	_cleanup_names_ struct names own = { 0 };
	_cleanup_names_ struct names before = { 0 };
	size_t at;
	int r = members_load(j->ex, j->t.ino, &j->m);

	if (r < 0)
		return r;
	j->fault = complete_files_fault(j->ex, &j->m, &at);
	if (j->fault)
		return 0;
	r = own_names(j, &own);
	if (r == 0)
		j->fault = complete_removal_fault(&j->m, own.v, own.n);
	if (r == 0 && !j->fault)
		r = was_complete(j);
	if (r == 0 && !j->fault)
		j->fault = complete_mixed_fault(&j->m, own.v, own.n, judge_good_since(&j->t));
	if (r != 0 || j->fault)
		return MIN(r, 0);
	r = names_before(j, dir_rank(&j->m), &before);
	if (r == 0)
		j->fault = complete_dir_fault(j->ex, j->t.ino, &j->m, before.v, before.n);
	return r;
}

static int is_last_version(struct db *db, const struct tracked_row *t, const struct members *m, struct version_row *v,
			   bool *ret_changed)
{
	struct compare c = { .m = m, .same = true };
	int r = t->head ? version_get(db, t->head, v) : -ENOENT;

	if (r < 0 || !v->is_dir)
		return r == -ENOENT ? 0 : MIN(r, 0);
	r = member_list(db, v->id, compare_member, &c);
	*ret_changed = c.changed;
	return r < 0 ? r : c.same && c.i == m->n;
}

static int put_members(struct db *db, const struct members *all, uint64_t version,
		       int (*put)(struct db *db, uint64_t version, const struct member_row *row, const char *name))
{
	int r = 0;

	for (size_t i = 0; i < all->n && r == 0; i++) {
		struct member_row m = member_of(&all->v[i].row);

		r = put(db, version, &m, all->v[i].name);
	}
	return r;
}

/* What only lost files since the version before belongs to the experiment of that. */
static int find_experiment(struct db *db, const struct tracked_row *t, const struct version_row *v,
			   const struct version_row *last)
{
	int r;

	if (!last->id || v->begin > judge_version_since(last))
		return tx_track_due(db, t, v);
	r = last->experiment ? version_set_experiment(db, v->id, last->experiment) : 0;
	return r < 0 ? r : unread_put(db, v->id);
}

/* last: the version before; id 0: none. */
static int insert_version(struct judgement *j, struct db *db, struct tracked_row *t, const struct inode_row *dir,
			  const struct version_row *last)
{
	struct version_row v = {
		.id = meta_id(j->ex->meta),
		.tracked = t->id,
		.n = ++t->n,
		.is_dir = true,
		.mode = dir->mode & 07777,
		.uid = dir->uid,
		.gid = dir->gid,
		.mtime = dir->mtime,
		.complete = 1,
		.step = step_in_name(j->name, true),
		.rank = dir_rank(&j->m),
		.begin = members_begin(&j->m, MAX(dir->ino, judge_version_since(last))),
	};
	int r = version_insert(db, &v);

	if (r == 0)
		r = put_members(db, &j->m, v.id, member_insert);
	if (r == 0)
		r = find_experiment(db, t, &v, last);
	if (r == 0)
		r = tx_metric_inside(db, j->metrics, v.id);
	t->head = v.id;
	return r < 0 ? r : tx_judge_set_good(db, t, &v, t->good);
}

/* The same files, which were begun anew: perhaps of another experiment. */
static int save_again(struct judgement *j, struct db *db, struct tracked_row *t, const struct inode_row *dir,
		      const struct version_row *last)
{
	int r = insert_version(j, db, t, dir, last);

	if (r == 0)
		r = tx_track_end_by(db, *last, t->head);
	return r < 0 ? r : tx_metric_version(db, t->ino, t->head);
}

static int take_complete(struct judgement *j, struct db *db, struct tracked_row *t)
{
	uint64_t begin;
	struct version_row v, last = { 0 };
	struct inode_row dir;
	bool changed = false;
	int r = inode_get(db, t->ino, &dir);
	int same = r < 0 ? r : is_last_version(db, t, &j->m, &v, &changed);

	if (same < 0)
		return same;
	if (same == 0) {
		r = version_before(db, t->id, t->n + 1, &last);
		if (r == 0 || r == -ENOENT)
			r = tx_track_end_version(j->ex, db, t, &j->drop);
		if (r == 0)
			r = insert_version(j, db, t, &dir, &last);
		return r < 0 ? r : tx_metric_version(db, t->ino, t->head);
	}
	begin = members_begin(&j->m, judge_version_since(&v));
	r = begin > judge_version_since(&v) ? tx_track_saves_again(db, t, &v, begin) : 0;
	if (r != 0)
		return r < 0 ? r : save_again(j, db, t, &dir, &v);
	v.mode = dir.mode & 07777;
	v.uid = dir.uid;
	v.gid = dir.gid;
	v.rank = dir_rank(&j->m);
	r = version_update(db, &v);
	if (r == 0)
		r = tx_metric_version(db, t->ino, v.id);
	if (r == 0)
		r = tx_judge_set_good(db, t, &v, t->good);
	return r < 0 || !changed ? r : put_members(db, &j->m, v.id, member_update);
}

static int tx_judge_dir(struct db *db, void *arg)
{
	struct judgement *j = arg;
	struct tracked_row t;
	int r = tracked_get(db, j->t.id, &t);

	j->drop.n = 0;
	if (r < 0 || t.changed != j->t.changed)
		return r < 0 ? r : -EAGAIN;
	t.changed = j->m.before ? t.changed : 0;
	r = j->fault || j->ignored ? tx_track_end_version(j->ex, db, &t, &j->drop) : take_complete(j, db, &t);
	return r < 0 ? r : tracked_update(db, &t);
}

/* By what was in force when the first of its files that are new was begun. */
static int find_ignored(struct judgement *j)
{
	struct version_row last = { 0 };
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(j->ex->meta);

		r = version_before(db, j->t.id, j->t.n + 1, &last);
	}
	j->ignored = (r == 0 || r == -ENOENT) &&
		     !kept_checkpoint(j->ex, j->t.run, members_begin(&j->m, MAX(j->t.ino, judge_version_since(&last))));
	return r == -ENOENT ? 0 : r;
}

int judge_dir(struct judgement *j)
{
	int r = j->t.ino ? judge_dir_fault(j) : -ENOENT;

	if (r == -ENOENT || r == -ESTALE)
		return 0; /* gone meanwhile */
	if (r < 0 || (j->fault && (j->m.before || complete_may_come(j->fault))))
		return r;
	r = j->fault ? 0 : find_ignored(j);
	if (r == 0 && !j->fault && !j->ignored)
		r = metric_inside_load(j->ex, &j->m, step_in_name(j->name, true), &j->metrics);
	if (r == 0)
		r = expfs_write(j->ex, tx_judge_dir, j);
	if (r == 0)
		file_drop_finish(j->ex, &j->drop);
	return r;
}
