#include "exp/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/file.h"
#include "exp/judge.h"
#include "exp/kept.h"
#include "exp/path.h"
#include "exp/step.h"
#include "exp/track.h"
#include "exp/tracked_dir.h"
#include "meta/dirent.h"

#define SAME_STEP_MAX 16 /* checkpoints of one step that are looked at for one with that name */

void checkpoint_free(struct checkpoint *c)
{
	free(c->path);
	*c = (struct checkpoint){ 0 };
}

static enum tracked_scope scope_of(const struct checkpoint_set *s, size_t i)
{
	return s->scope == TRACKED_EXPERIMENT && i >= s->there ? TRACKED_REMOVED : s->scope;
}

int checkpoint_is_there(struct db *db, const struct tracked_row *t, const struct version_row *v)
{
	struct inode_row row;
	int r;

	if (t->ino == 0 || t->head != v->id || t->changed)
		return 0;
	if (t->is_dir)
		return 1;
	r = inode_get(db, t->ino, &row);
	if (r < 0)
		return r == -ESTALE ? 0 : r;
	return row.object == v->object && (row.flags & INODE_CLOSED);
}

int checkpoint_resolve(struct expfs *ex, const struct tracked_row *t, uint64_t version, struct checkpoint *ret)
{
	_cleanup_checkpoint_ struct checkpoint c = { .tracked = *t };
	int there, r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = version_get(db, version, &c.version);
		if (r == 0)
			r = tracked_path(db, t->id, &c.path);
		there = r < 0 ? r : checkpoint_is_there(db, t, &c.version);
	}
	if (there < 0)
		return there;
	c.in_history = !there || (!t->is_dir && file_is_written(ex, t->ino));
	*ret = c;
	c = (struct checkpoint){ 0 };
	return 0;
}

static bool is_after(const struct tracked_row *a, const struct tracked_row *b)
{
	if (a->rank != b->rank)
		return a->rank > b->rank;
	return a->step != b->step ? a->step > b->step : a->id > b->id;
}

static int may_look_into(const struct checkpoint_set *s, struct db *db, const struct tracked_row *t)
{
	struct inode_row dir;
	int r = t->is_dir ? tracked_dir_row(db, t, &dir) : -ESTALE;

	return r < 0 ? (r == -ESTALE ? 1 : r) : cred_permits(s->cred, &dir, R_OK | X_OK);
}

int checkpoint_is_visible(const struct checkpoint_set *s, struct db *db, const struct tracked_row *t)
{
	struct tracked_row up = *t;
	int r = s->cred ? may_look_into(s, db, &up) : 1;

	for (unsigned depth = 0; s->cred && r > 0 && up.id != s->top && up.id != TRACKED_TOP; depth++) {
		if (depth == PATH_BOUND)
			return 0;
		r = tracked_get(db, up.parent, &up);
		if (r == 0)
			r = may_look_into(s, db, &up);
	}
	return r;
}

static bool is_of_runs(const struct checkpoint_set *s, uint64_t run)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i] == run)
			return true;
	return !s->runs;
}

/* The last one of the i-th run, directory or experiment that is visible, before the given (NULL: of all); step:
 * NO_STEP for any. */
static int find_visible(const struct checkpoint_set *s, struct db *db, size_t i, int64_t step,
			const struct tracked_row *before, struct tracked_row *ret)
{
	enum tracked_scope scope = scope_of(s, i);
	struct tracked_row t;
	int r;

	for (;;) {
		r = step == NO_STEP ? tracked_latest(db, scope, s->ids[i], before, &t) :
				      tracked_latest_of_step(db, scope, s->ids[i], step, before, &t);
		if (r < 0)
			return r;
		r = is_of_runs(s, t.run) ? checkpoint_is_visible(s, db, &t) : 0;
		if (r != 0)
			break;
		before = &t;
	}
	*ret = t;
	return MIN(r, 0);
}

static int has_step_in_name(struct db *db, const struct tracked_row *t)
{
	_cleanup_free_ char *name = NULL;
	int r = tracked_name(db, t->id, &name);

	return r < 0 ? r : step_in_name(name, t->is_dir) != NO_STEP;
}

/* Of those with one step the last one that has it in its name: what tells it inside is soon written over. Where none
 * has, the last one. */
static int find_of_step(const struct checkpoint_set *s, struct db *db, size_t i, int64_t step, struct tracked_row *ret,
			bool *ret_named)
{
	struct tracked_row t, before;
	int r = find_visible(s, db, i, step, NULL, &t);

	if (r < 0)
		return r;
	*ret = t;
	for (int n = 0; n < SAME_STEP_MAX; n++) {
		r = has_step_in_name(db, &t);
		*ret_named = r > 0;
		if (r > 0)
			*ret = t;
		if (r != 0)
			return MIN(r, 0);
		before = t;
		r = find_visible(s, db, i, step, &before, &t);
		if (r < 0)
			return r == -ENOENT ? 0 : r;
	}
	return 0;
}

static int find_latest(const struct checkpoint_set *s, int64_t step, struct tracked_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);
	bool any = false, ret_named = false;

	for (size_t i = 0; i < s->n; i++) {
		struct tracked_row t;
		bool named = false;
		int r = step == NO_STEP ? find_visible(s, db, i, step, NULL, &t) :
					  find_of_step(s, db, i, step, &t, &named);

		if (r < 0 && r != -ENOENT)
			return r;
		if (r == 0 && (!any || (named == ret_named ? is_after(&t, ret) : named))) {
			*ret = t;
			ret_named = named;
		}
		any = any || r == 0;
	}
	return any ? 0 : -ENOENT;
}

int checkpoint_set_prefer(struct checkpoint_set *s, const uint64_t *runs, size_t n)
{
	struct checkpoint_set of_all = *s;
	struct tracked_row t;
	int r;

	s->runs = runs;
	s->n_runs = n;
	r = find_latest(s, NO_STEP, &t);
	if (r == -ENOENT && s->there > 0) {
		s->there = 0;
		r = find_latest(s, NO_STEP, &t);
	}
	if (r == -ENOENT)
		*s = of_all;
	return r == -ENOENT ? 0 : r;
}

int checkpoint_latest(const struct checkpoint_set *s, struct checkpoint *ret)
{
	struct tracked_row t;
	int r = find_latest(s, NO_STEP, &t);

	return r < 0 ? r : checkpoint_resolve(s->ex, &t, t.good, ret);
}

/* The next step in one direction, or -ENOENT. */
static int next_step(const struct checkpoint_set *s, bool up, int64_t from, int64_t *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);
	bool any = false;

	for (size_t i = 0; i < s->n; i++) {
		int64_t n;
		int r = up ? tracked_step_above(db, scope_of(s, i), s->ids[i], from, &n) :
			     tracked_step_below(db, scope_of(s, i), s->ids[i], from, &n);

		if (r < 0 && r != -ENOENT)
			return r;
		if (r == 0 && (!any || (up ? n < *ret : n > *ret)))
			*ret = n;
		any = any || r == 0;
	}
	return any ? 0 : -ENOENT;
}

/* The nearest in one direction of which one is visible. */
static int nearest_on_side(const struct checkpoint_set *s, bool up, int64_t step, struct tracked_row *ret)
{
	int r;

	for (;;) {
		int64_t n = 0;

		r = next_step(s, up, step, &n);
		if (r == 0)
			r = find_latest(s, n, ret);
		else
			return r;
		if (r != -ENOENT || (up && n == INT64_MAX))
			return r;
		step = up ? n + 1 : n - 1;
	}
}

int checkpoint_nearest(const struct checkpoint_set *s, uint64_t step, struct checkpoint *ret)
{
	int64_t wanted = (int64_t)MIN(step, (uint64_t)INT64_MAX);
	struct tracked_row above, below;
	int up = nearest_on_side(s, true, wanted, &above);
	int down = nearest_on_side(s, false, wanted, &below);

	if ((up < 0 && up != -ENOENT) || (down < 0 && (down != -ENOENT || up < 0)))
		return up < 0 && up != -ENOENT ? up : down;
	if (up < 0 || (down == 0 && wanted - below.step < above.step - wanted))
		return checkpoint_resolve(s->ex, &below, below.good, ret);
	return checkpoint_resolve(s->ex, &above, above.good, ret);
}

static int step_compare(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* Those of the i-th run, directory or experiment, of which one is visible, are added. */
static int add_steps(const struct checkpoint_set *s, size_t i, uint64_t **v, size_t *n)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);
	int64_t step = 0;
	int r;

	while ((r = tracked_step_above(db, scope_of(s, i), s->ids[i], step, &step)) == 0) {
		struct tracked_row t;
		uint64_t *more;

		r = s->cred || s->runs ? find_visible(s, db, i, step, NULL, &t) : 0;
		if (r < 0 && r != -ENOENT)
			return r;
		more = r == 0 ? array_grow(*v, *n, sizeof(*more)) : NULL;
		if (r == 0 && !more)
			return -ENOMEM;
		if (more) {
			*v = more;
			more[(*n)++] = (uint64_t)step;
		}
		if (step++ == INT64_MAX)
			return 0;
	}
	return r == -ENOENT ? 0 : r;
}

int checkpoint_steps(const struct checkpoint_set *s, uint64_t **ret, size_t *ret_n)
{
	_cleanup_free_ uint64_t *v = NULL;
	size_t n = 0, out = 0;
	int r = 0;

	for (size_t i = 0; i < s->n && r == 0; i++)
		r = add_steps(s, i, &v, &n);
	if (r < 0)
		return r;
	if (n > 0)
		qsort(v, n, sizeof(*v), step_compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || v[i] != v[out - 1])
			v[out++] = v[i];
	*ret = steal(&v);
	*ret_n = out;
	return 0;
}

static int find_by_inode(struct db *db, uint64_t ino, struct tracked_row *ret)
{
	_cleanup_free_ char *name = NULL;
	struct tracked_row up;
	struct dirent_row d;
	int r = tracked_by_dir(db, ino, ret);

	if (r != -ENOENT)
		return r;
	r = dirent_of(db, ino, &d, &name);
	if (r == 0)
		r = tracked_by_dir(db, d.parent, &up);
	if (r == 0)
		r = tracked_by_name(db, up.id, name, ret);
	return r == 0 && ret->ino != ino ? -ENOENT : r; /* of one that has no role any more */
}

int checkpoint_tracked(struct expfs *ex, uint64_t ino, struct tracked_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	int r = track_moved(ex);

	if (r < 0)
		return r;
	db = meta_reader(ex->meta);
	return find_by_inode(db, ino, ret);
}

static int look_at(struct expfs *ex, uint64_t ino, struct tracked_row *t, struct version_row *v, char **name)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = find_by_inode(db, ino, t);

	if (r == 0 && t->role != ROLE_WEIGHTS)
		r = -ENOENT;
	if (r == 0)
		r = tracked_name(db, t->id, name);
	if (r < 0)
		return r;
	r = t->good ? version_get(db, t->good, v) : -ENOENT;
	return r == 0 ? checkpoint_is_there(db, t, v) : r == -ENOENT ? 0 : r;
}

/* Brings the rows of its run in line with what is there. */
static int judge_around(struct expfs *ex, uint64_t ino)
{
	struct tracked_row t;
	int r = checkpoint_tracked(ex, ino, &t);

	return r < 0 ? r : judge_changed(ex, t.run);
}

static int get_head(struct expfs *ex, uint64_t ino, struct tracked_row *t, struct version_row *v)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = find_by_inode(db, ino, t);

	if (r == 0)
		r = t->head ? version_get(db, t->head, v) : -ENOENT;
	return r < 0 ? r : checkpoint_is_there(db, t, v);
}

int checkpoint_version_of(struct expfs *ex, uint64_t ino, uint64_t *ret_n)
{
	struct tracked_row t;
	struct version_row v;
	int r = judge_around(ex, ino);

	if (r == 0)
		r = get_head(ex, ino, &t, &v);
	if (r < 0)
		return r;
	if (r == 0 || (!t.is_dir && file_is_written(ex, ino)) || !kept_version(ex, &t, &v))
		return -ENOENT;
	*ret_n = v.n;
	return 0;
}

int checkpoint_state_of(struct expfs *ex, uint64_t ino, struct checkpoint_state *ret)
{
	_cleanup_free_ char *name = NULL;
	struct tracked_row t;
	struct version_row v = { .step = NO_STEP };
	int there, r = judge_around(ex, ino);

	if (r < 0)
		return r;
	there = look_at(ex, ino, &t, &v, &name);
	if (there < 0)
		return there;
	ret->complete = there && (t.is_dir || !file_is_written(ex, ino));
	ret->step = there ? v.step : step_in_name(name, t.is_dir);
	return 0;
}

char *checkpoint_history_path(const char *path, const struct version_row *v)
{
	const char *name = path_last(path), *dot = strrchr(name, '.');
	char *ret;

	if (v->is_dir || !dot || dot == name)
		dot = "";
	return asprintf(&ret, "%s/%llu%s", path, (unsigned long long)v->n, dot) < 0 ? NULL : ret;
}

char *checkpoint_place(const struct checkpoint *c)
{
	_cleanup_free_ char *path = NULL;
	char *ret;

	if (!c->in_history)
		return strdup(c->path);
	path = checkpoint_history_path(c->path, &c->version);
	return !path || asprintf(&ret, ".expfs/history/%s", path) < 0 ? NULL : ret;
}
