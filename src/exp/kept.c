#include "exp/kept.h"

#include <string.h>

#include "exp/file.h"
#include "exp/state.h"
#include "meta/experiment.h"
#include "meta/root.h"

#define RUNS 1024      /* of which is remembered what they record */
#define CHANGES_MAX 64 /* of a run's configuration that are looked at for one version */

struct kept {
	pthread_mutex_t lock;
	uint64_t changes; /* of configurations */
	struct {
		uint64_t run;
		bool all;
	} known[RUNS];
};

int kept_new(struct kept **ret)
{
	struct kept *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	pthread_mutex_init(&k->lock, NULL);
	*ret = k;
	return 0;
}

void kept_free(struct kept *k)
{
	pthread_mutex_destroy(&k->lock);
	free(k);
}

bool kept_is_sure(struct expfs *ex, uint64_t run)
{
	struct kept *k = ex->kept;

	scoped_lock(&k->lock);
	return k->known[run % RUNS].run == run && k->known[run % RUNS].all;
}

void kept_forget(struct expfs *ex, uint64_t run)
{
	struct kept *k = ex->kept;

	scoped_lock(&k->lock);
	k->changes++;
	if (run == 0)
		memset(k->known, 0, sizeof(k->known));
	else if (k->known[run % RUNS].run == run)
		k->known[run % RUNS].run = 0;
}

static bool is_known(struct kept *k, uint64_t run)
{
	scoped_lock(&k->lock);
	return k->known[run % RUNS].run == run;
}

static void remember(struct kept *k, uint64_t run, bool all, uint64_t changes)
{
	scoped_lock(&k->lock);
	if (k->changes != changes)
		return;
	k->known[run % RUNS].run = run;
	k->known[run % RUNS].all = all;
}

struct count {
	struct kept *kept;
	uint64_t changes;
};

/* In a transaction, so that none that changes a configuration is half done. */
static int tx_count(struct db *db, void *arg)
{
	struct count *c = arg;

	scoped_lock(&c->kept->lock);
	c->changes = c->kept->changes;
	return 0;
}

/* 1: it is a root's, where WeightsLab itself has seen to that. */
static int get_run(struct expfs *ex, uint64_t id, struct tracked_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = root_has(db, id);

	return r != 0 ? r : tracked_get(db, id, ret);
}

static bool records_all(const struct manager_options *o)
{
	return o->enable_checkpoints && o->dump_model_architecture && o->dump_model_state && o->dump_data_state &&
	       o->dump_config_state;
}

static void learn(struct expfs *ex, uint64_t id)
{
	struct count c = { .kept = ex->kept };
	struct manager_options o;
	struct tracked_row run;
	int r;

	if (is_known(ex->kept, id))
		return;
	r = expfs_write(ex, tx_count, &c);
	if (r == 0)
		r = get_run(ex, id, &run);
	if (r == 1 || (r == 0 && state_options(ex, &run, STATE_NOW, &o) >= 0))
		remember(ex->kept, id, r == 1 || records_all(&o), c.changes);
}

static bool counts(const struct manager_options *o, int role)
{
	switch (role) {
	case ROLE_HP:
		return o->enable_checkpoints && o->dump_config_state;
	case ROLE_MODEL:
		return o->enable_checkpoints && o->dump_model_architecture;
	case ROLE_DATA:
		return o->enable_checkpoints && o->dump_data_state;
	case ROLE_WEIGHTS:
		return o->enable_checkpoints && o->dump_model_state;
	case ROLE_SIGNALS:
		return o->enable_checkpoints;
	}
	return true;
}

static bool counts_at(struct expfs *ex, const struct tracked_row *run, int role, uint64_t at)
{
	struct manager_options o;
	int r = state_options(ex, run, at, &o);

	return r < 0 || counts(&o, role);
}

bool kept_checkpoint(struct expfs *ex, uint64_t id, uint64_t begin)
{
	struct tracked_row run;

	return get_run(ex, id, &run) != 0 || counts_at(ex, &run, ROLE_WEIGHTS, begin ? begin : STATE_NOW);
}

/* Numbers at which a run's configuration became another. */
struct changes {
	uint64_t at[CHANGES_MAX];
	size_t n;
};

static int add_change(void *arg, uint64_t at)
{
	struct changes *l = arg;

	if (l->n == CHANGES_MAX)
		return -E2BIG;
	l->at[l->n++] = at;
	return 0;
}

static int list_changes(struct expfs *ex, uint64_t run, const struct version_row *v, struct changes *l)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return version_list_changes(db, run, ROLE_HP, v->id, v->until ? v->until : STATE_NOW, add_change, l);
}

/* Did the role count at any moment at which the path held it? */
static bool counted(struct expfs *ex, const struct tracked_row *run, int role, const struct version_row *v)
{
	struct changes l = { .n = 0 };
	bool found = counts_at(ex, run, role, v->id) || list_changes(ex, run->id, v, &l) < 0;

	for (size_t i = l.n; i > 0 && !found; i--)
		found = counts_at(ex, run, role, l.at[i - 1]);
	return found;
}

bool kept_when_ended(struct expfs *ex, const struct tracked_row *t, const struct version_row *v)
{
	struct tracked_row run;

	if (v->is_dir || v->complete == 1)
		return true;
	learn(ex, t->run);
	switch (t->role) {
	case ROLE_WEIGHTS:
		return kept_checkpoint(ex, t->run, v->begin ? v->begin : v->id);
	case ROLE_HP:
	case ROLE_MODEL:
	case ROLE_DATA:
	case ROLE_SIGNALS:
		if (v->until == 0 && kept_is_sure(ex, t->run))
			return true;
		return get_run(ex, t->run, &run) != 0 || counted(ex, &run, t->role, v);
	}
	return true;
}

bool kept_version(struct expfs *ex, const struct tracked_row *t, const struct version_row *v)
{
	return v->until != 0 || kept_when_ended(ex, t, v);
}

struct drop {
	struct version_row v;
	struct file_drop drop;
};

/* The last version of a path is the one before, which has a place in history itself. */
static int hand_on_gone(struct db *db, const struct version_row *v)
{
	struct version_row before;
	int r = v->gone ? version_before(db, v->tracked, v->n, &before) : -ENOENT;

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	before.gone = true;
	return version_update(db, &before);
}

/* The next version stands in its place. */
static int replace(struct db *db, const struct version_row *v)
{
	struct due_row due = { .version = v->id, .begin = v->until };
	struct version_row next;
	struct tracked_row t;
	int r = version_get(db, v->until, &next);

	if (r == 0)
		r = tracked_get(db, v->tracked, &t);
	if (r < 0 || next.tracked != v->tracked || !next.object)
		return r == -ENOENT ? 0 : r;
	t.head = t.head == next.id ? v->id : t.head;
	t.n = t.n == next.n ? v->n : t.n;
	r = version_delete(db, next.id);
	next.id = v->id;
	next.n = v->n;
	if (r == 0)
		r = version_update(db, &next);
	if (r == 0)
		r = tracked_update(db, &t);
	due.run = t.run;
	return r < 0 || next.until == 0 ? r : due_put(db, &due);
}

static int tx_drop(struct db *db, void *arg)
{
	struct drop *d = arg;
	struct tracked_row t;
	struct version_row v;
	int r = version_get(db, d->v.id, &v);

	d->drop.n = 0;
	if (r == 0)
		r = due_delete(db, v.id);
	if (r == 0)
		r = tracked_get(db, v.tracked, &t);
	if (r < 0 || v.until == 0 || v.until != d->v.until || v.object != d->v.object)
		return r == -ENOENT ? 0 : r;
	if (t.role == ROLE_HP)
		r = replace(db, &v);
	else
		r = hand_on_gone(db, &v);
	if (r == 0 && t.role != ROLE_HP)
		r = version_delete(db, v.id);
	return r < 0 || v.object == 0 ? r : file_drop_object(db, v.object, &d->drop);
}

/* Are the options the same at two numbers, and told by all files? */
static bool tells_the_same(struct expfs *ex, uint64_t id, uint64_t a, uint64_t b)
{
	struct manager_options before, after;
	struct tracked_row run;

	return get_run(ex, id, &run) == 0 && state_options(ex, &run, a, &before) == 0 &&
	       state_options(ex, &run, b, &after) == 0 && !memcmp(&before, &after, sizeof(before));
}

static int tx_leave(struct db *db, void *arg)
{
	return due_delete(db, *(uint64_t *)arg);
}

int kept_drop(struct expfs *ex, const struct tracked_row *t, const struct version_row *v)
{
	struct drop d = { .v = *v };
	uint64_t id = v->id;
	int r;

	if (t->role == ROLE_HP && (v->gone || !tells_the_same(ex, t->run, v->id, v->until)))
		return expfs_write(ex, tx_leave, &id);
	r = expfs_write_freeing(ex, tx_drop, &d);
	if (r == 0)
		file_drop_finish(ex, &d.drop);
	return r;
}
