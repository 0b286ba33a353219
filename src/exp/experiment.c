#include "exp/experiment.h"

#include <stdio.h>
#include <string.h>

#include "exp/checkpoint.h"
#include "exp/copied.h"
#include "exp/derive.h"
#include "exp/entries.h"
#include "exp/judge.h"
#include "exp/kept.h"
#include "exp/point.h"
#include "exp/track.h"
#include "meta/root.h"
#include "meta/tracked.h"
#include "util/log.h"

#define TRIES 100 /* against somebody who changes the line meanwhile */

struct number {
	struct meta *meta;
	uint64_t n;
};

/* In a transaction, so that all that has a lower number is there. */
static int tx_number(struct db *db, void *arg)
{
	struct number *n = arg;

	n->n = meta_id(n->meta);
	return 0;
}

static int number_of_now(struct expfs *ex, uint64_t *ret)
{
	struct number n = { .meta = ex->meta };
	int r = expfs_write(ex, tx_number, &n);

	if (r == 0)
		*ret = n.n;
	return r;
}

struct drop_due {
	struct expfs *ex;
	uint64_t version;
};

static int tx_drop_due(struct db *db, void *arg)
{
	const struct drop_due *d = arg;
	int r = due_delete(db, d->version);

	return r < 0 ? r : tx_point_join(d->ex, db, d->version);
}

static int drop_due(struct expfs *ex, uint64_t version)
{
	struct drop_due d = { .ex = ex, .version = version };

	return expfs_write(ex, tx_drop_due, &d);
}

/* A version that is due, and whose it is. */
struct due {
	struct due_row row;
	struct version_row version;
	struct tracked_row tracked, run;
	bool counts;
};

/* Of several data files that were closed one after the other the last one stands for all. */
static int is_followed(struct db *db, const struct due *d)
{
	struct due_row next = d->row;
	struct version_row v;
	struct tracked_row t;
	int r = d->tracked.role == ROLE_DATA ? due_next(db, d->row.run, &next) : -ENOENT;

	if (r == 0)
		r = version_get(db, next.version, &v);
	if (r == 0)
		r = tracked_get(db, v.tracked, &t);
	return r < 0 ? (r == -ENOENT ? 0 : r) : t.role == ROLE_DATA && t.id != d->tracked.id;
}

/* d->counts: it is what makes an experiment. */
static int load_due(struct expfs *ex, struct due *d)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	_cleanup_free_ char *path = NULL, *run = NULL;
	int r;

	d->counts = false;
	d->version = (struct version_row){ 0 };
	r = version_get(db, d->row.version, &d->version);
	if (r == 0)
		r = tracked_get(db, d->version.tracked, &d->tracked);
	if (r == 0)
		r = root_has(db, d->tracked.run) == 0 ? tracked_get(db, d->tracked.run, &d->run) : -ENOENT;
	if (r == 0)
		r = tracked_path(db, d->run.id, &run);
	if (r == 0)
		r = tracked_path(db, d->tracked.id, &path);
	if (r < 0 || state_is_of_root(path + strlen(run) + (*run != 0)))
		return r == -ENOENT ? 0 : r;
	r = d->tracked.role == ROLE_WEIGHTS ? d->version.complete != 1 : ex->config->commit_immediate ? is_followed(db, d) : 1;
	d->counts = r == 0;
	return MIN(r, 0);
}

/* What is copied into a run comes in any order: where the configuration had not come yet, what is there by now counts. */
static int look_at_copy(struct point *p, const struct due *d)
{
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(p->ex->meta);

		r = copied_look(db, &d->tracked, &d->version, &p->back);
	}
	if (r <= 0 || p->back || *p->state.segments.digest[SEGMENT_HP])
		return MIN(r, 0);
	r = number_of_now(p->ex, &p->at);
	return r < 0 ? r : point_look(p);
}

static int resolve(struct expfs *ex, struct due *d)
{
	_cleanup_point_ struct point p = { .ex = ex, .run = d->run, .due = d->row.version, .at = d->row.begin };
	int r = p.at ? 0 : number_of_now(ex, &p.at);

	if (d->tracked.role == ROLE_WEIGHTS)
		p.checkpoint = &d->version;
	if (r == 0)
		r = point_look(&p);
	if (r == 0 && p.checkpoint)
		r = look_at_copy(&p, d);
	if (r == 0 && p.checkpoint && !p.state.options.dump_model_state)
		return drop_due(ex, p.due);
	if (r == 0)
		r = point_settle(&p);
	return r < 0 ? r : expfs_write(ex, tx_point_put, &p);
}

/* It stays due where the line changes without end. */
static int try_resolve(struct expfs *ex, struct due *d)
{
	int r = -EAGAIN;

	for (int i = 0; i < TRIES && r == -EAGAIN; i++)
		r = resolve(ex, d);
	return r == -EAGAIN ? 0 : r;
}

/* What cannot be resolved, as its content cannot be read, is told, and is without an experiment. */
static int give_up(struct expfs *ex, const struct due *d, int why)
{
	if (atomic_fetch_add(&ex->experiment_faults, 1) == 0)
		log_msg("%s: the experiment of a checkpoint cannot be found out: %s", store_path(ex->store), strerror(-why));
	return drop_due(ex, d->row.version);
}

/* It ended, and its run does not record such. */
static bool is_unrecorded(struct expfs *ex, const struct due *d)
{
	return d->version.until && !kept_when_ended(ex, &d->tracked, &d->version);
}

static int settle_one(struct expfs *ex, struct due *d)
{
	int r = load_due(ex, d);

	if (r == 0 && is_unrecorded(ex, d))
		r = kept_drop(ex, &d->tracked, &d->version);
	else if (r == 0 && d->counts)
		r = try_resolve(ex, d);
	else if (r == 0)
		return drop_due(ex, d->row.version);
	return r == 0 || r == -ENOMEM || expfs_takes_nothing(r) || atomic_load(&ex->read_only) ? r : give_up(ex, d, r);
}

/* The lock is free between two, for those who ask about another branch. */
static int settle_next(struct expfs *ex, uint64_t branch, struct due *d)
{
	int r;

	scoped_lock(&ex->settle_lock);
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = due_next(db, branch, &d->row);
	}
	return r < 0 ? r : settle_one(ex, d);
}

static int settle(struct expfs *ex, uint64_t branch, bool (*stop)(void *arg), void *arg)
{
	struct due d = { 0 };
	int r = 0;

	while (r == 0 && !(stop && stop(arg)))
		r = settle_next(ex, branch, &d);
	return r == -ENOENT || expfs_takes_nothing(r) ? 0 : r;
}

int experiment_settle_known(struct expfs *ex, uint64_t branch)
{
	int r = judge_changed(ex, branch);

	return r < 0 ? r : settle(ex, branch, NULL, NULL);
}

int experiment_settle_until(struct expfs *ex, uint64_t branch, bool (*stop)(void *arg), void *arg)
{
	int r = track_moved(ex);

	if (r == 0)
		r = root_settle(ex);
	if (r == 0)
		r = judge_changed(ex, branch);
	return r < 0 ? r : settle(ex, branch, stop, arg);
}

int experiment_settle(struct expfs *ex, uint64_t branch)
{
	return experiment_settle_until(ex, branch, NULL, NULL);
}

int experiment_head(struct expfs *ex, uint64_t branch, struct experiment_head *ret)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	int r = experiment_settle(ex, branch);

	if (r < 0)
		return r;
	db = meta_reader(ex->meta);
	r = line_last(db, branch, &ret->line);
	return r < 0 ? r : experiment_get(db, ret->line.experiment, &ret->experiment);
}

void pending_free(struct pending *p)
{
	free(p->fault);
	free(p->fault_path);
	*p = (struct pending){ 0 };
}

/* Looks at a branch as it was after the commit of number at. *ret_changed: it is not at its head. */
static int look_at_branch(struct expfs *ex, uint64_t branch, uint64_t at, struct point *p, bool *ret_changed)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	int r;

	*p = (struct point){ .ex = ex, .at = at };
	{
		_cleanup_(cleanup_reader) struct db *reader = meta_reader(ex->meta);

		r = tracked_get(reader, branch, &p->run);
	}
	if (r == 0 && !p->run.ino) /* it was removed: nothing is to come */
		return 0;
	if (r == 0)
		r = point_look(p);
	if (r < 0)
		return r;
	db = meta_reader(ex->meta);
	r = point_hash(db, p, false);
	*ret_changed = *p->hash && strcmp(p->hash, p->before_experiment.hash) != 0;
	return r;
}

static int take_fault(const struct point *p, struct pending *ret)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	_cleanup_free_ char *run = NULL;
	int r;

	if (!p->state.fault)
		return 0;
	db = meta_reader(p->ex->meta);
	r = tracked_path(db, p->run.id, &run);
	if (r < 0)
		return r;
	ret->fault = strdup(p->state.fault);
	ret->fault_path = path_join(run, p->state.fault_path);
	return ret->fault && ret->fault_path ? 0 : -ENOMEM;
}

static bool is_of_root(struct expfs *ex, uint64_t branch)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return root_has(db, branch) == 1;
}

int experiment_pending(struct expfs *ex, uint64_t branch, struct pending *ret)
{
	_cleanup_pending_ struct pending out = { 0 };
	_cleanup_point_ struct point p = { 0 };
	bool changed = false;
	int r = experiment_settle(ex, branch);

	if (r == 0 && is_of_root(ex, branch))
		return root_pending(ex, branch, ret);
	if (r == 0)
		r = look_at_branch(ex, branch, STATE_NOW, &p, &changed);
	if (r == 0)
		r = take_fault(&p, &out);
	if (r < 0)
		return r;
	for (int i = 0; changed && i < SEGMENTS; i++)
		out.changed[i] = !point_same_segment(p.hash, p.before.id ? p.before_experiment.hash : NO_EXPERIMENT, (enum segment)i);
	if (changed)
		memcpy(out.hash, p.hash, sizeof(out.hash));
	*ret = out;
	out = (struct pending){ 0 };
	return 0;
}

static int try_commit(struct expfs *ex, uint64_t branch, char ret_hash[EXPERIMENT_HASH + 1])
{
	_cleanup_point_ struct point p = { 0 };
	bool changed = false;
	uint64_t at;
	int r = number_of_now(ex, &at);

	if (r == 0)
		r = look_at_branch(ex, branch, at, &p, &changed);
	if (r < 0)
		return r;
	if (!changed && !p.before.id)
		return -ENOENT;
	memcpy(ret_hash, changed ? p.hash : p.before_experiment.hash, sizeof(p.hash));
	if (!changed)
		return 1;
	r = point_settle(&p);
	if (r == 0)
		r = expfs_write(ex, tx_point_put, &p);
	memcpy(ret_hash, p.hash, sizeof(p.hash));
	return r;
}

int experiment_commit(struct expfs *ex, uint64_t branch, char ret_hash[EXPERIMENT_HASH + 1])
{
	int r = is_of_root(ex, branch) ? -ENOENT : -EAGAIN;

	for (int i = 0; i < TRIES && r == -EAGAIN; i++) {
		r = experiment_settle(ex, branch);
		if (r == 0)
			r = try_commit(ex, branch, ret_hash);
	}
	return r;
}

int experiment_find(struct expfs *ex, const char *hash, struct experiment_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	int r = experiment_settle(ex, 0);

	if (r < 0)
		return r;
	if (!*hash || strspn(hash, "0123456789abcdef") != strlen(hash))
		return -ENOENT;
	db = meta_reader(ex->meta);
	return experiment_by_prefix(db, hash, ret);
}

struct files {
	const char *run; /* its path */
	experiment_file_fn f;
	void *arg;
};

static int on_file(void *arg, const char *path, const struct version_row *v)
{
	struct files *f = arg;
	_cleanup_free_ char *whole = path_join(f->run, path);

	return whole ? f->f(f->arg, whole, v) : -ENOMEM;
}

int experiment_files(struct expfs *ex, uint64_t experiment, enum role role, experiment_file_fn f, void *arg)
{
	struct files files = { .f = f, .arg = arg };
	_cleanup_free_ char *path = NULL;
	struct tracked_row run;
	struct line_row line;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = line_of_experiment(db, experiment, &line);
		if (r == 0)
			r = tracked_get(db, line.run, &run);
		if (r == 0)
			r = tracked_path(db, line.run, &path);
	}
	files.run = path;
	return r < 0 ? r : state_files(ex, &run, role, line.at, on_file, &files);
}

static int find_of_version(struct db *db, const struct tracked_row *t, const struct version_row *v,
			   struct experiment_row *ret)
{
	struct line_row line;
	int r;

	if (t->role == ROLE_WEIGHTS)
		return v->experiment ? experiment_get(db, v->experiment, ret) : -ENOENT;
	if ((t->role != ROLE_HP && t->role != ROLE_MODEL && t->role != ROLE_DATA) || root_has(db, t->run) != 0)
		return -ENOENT;
	r = line_between(db, t->run, v->id, v->until, &line);
	return r < 0 ? r : experiment_get(db, line.experiment, ret);
}

int experiment_of_inode(struct expfs *ex, uint64_t ino, char ret_hash[EXPERIMENT_HASH + 1])
{
	struct experiment_row e;
	struct tracked_row t;
	struct version_row v;
	int r = checkpoint_tracked(ex, ino, &t);

	if (r == 0)
		r = experiment_settle(ex, t.run);
	if (r < 0)
		return r;
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = tracked_get(db, t.id, &t);
		if (r == 0)
			r = t.head ? version_get(db, t.head, &v) : -ENOENT;
		if (r == 0)
			r = find_of_version(db, &t, &v, &e);
	}
	if (r == 0 && !kept_version(ex, &t, &v))
		r = -ENOENT;
	if (r == 0)
		memcpy(ret_hash, e.hash, sizeof(e.hash));
	return r;
}
