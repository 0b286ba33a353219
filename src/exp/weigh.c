#include "exp/weigh.h"

#include <linux/ioprio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exp/compare.h"
#include "exp/label.h"
#include "exp/step.h"
#include "format/checkpoint_name.h"
#include "meta/root.h"
#include "meta/tracked.h"
#include "util/log.h"

#define REST_NS 100000000ll /* between looks whether it is to stop */

int weigh_run_of(struct db *db, const struct version_row *v, uint64_t *ret)
{
	struct tracked_row t;
	struct fork_row fork;
	int r = tracked_get(db, v->tracked, &t);

	if (r < 0)
		return r;
	r = fork_get(db, t.run, &fork);
	*ret = r == 0 ? fork.root : t.run;
	return r == -ENOENT ? 0 : r;
}

/* The version by its path: its run, and which epoch its name tells. */
static int find_place(struct db *db, const struct version_row *v, struct holds_row *h)
{
	_cleanup_free_ char *name = NULL;
	int r = tracked_name(db, v->tracked, &name);

	if (r < 0)
		return r;
	if (!epoch_of_name(name, &h->epoch))
		h->epoch = NO_LABEL;
	return weigh_run_of(db, v, &h->run);
}

struct found {
	struct holds_row h;
	int64_t step;  /* that the file tells */
	uint64_t like; /* a version that only seems to have the same weights under another label */
	bool gone;
};

/* Versions that were found complete before steps were read from inside have none. */
static int set_step(struct db *db, struct version_row *v, int64_t step)
{
	struct tracked_row t;
	int r;

	if (v->is_dir || v->step != NO_STEP || step == NO_STEP)
		return 0;
	v->step = step;
	r = version_update(db, v);
	if (r == 0)
		r = tracked_get(db, v->tracked, &t);
	if (r < 0 || t.good != v->id)
		return r;
	t.step = step;
	return tracked_update(db, &t);
}

static int tx_found(struct db *db, void *arg)
{
	struct found *f = arg;
	struct version_row v = { .step = NO_STEP };
	int r = f->gone ? -ENOENT : version_get(db, f->h.version, &v);

	if (r == 0)
		r = set_step(db, &v, f->step);
	f->h.step = v.step;
	if (r == 0)
		r = tx_label_put(db, &f->h, f->like);
	return r < 0 && r != -ENOENT ? r : unread_delete(db, f->h.version);
}

/* The version that has the same weights under another label, as far as their identity tells. */
static int find_rival(struct expfs *ex, const struct found *f, const struct version_row *v, struct version_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct holds_row h = f->h, rival;
	int r;

	h.step = v->step != NO_STEP || v->is_dir ? v->step : f->step;
	r = label_find_rival(db, &h, &rival);
	return r < 0 ? r : version_get(db, rival.version, ret);
}

/* An identity has no names: whether it is the same tensor that has a content in both, these tell. And who counts from 0
 * in names may count from 1 inside; where one has no label in its name, what both say inside decides. */
static int is_other(struct expfs *ex, const struct version_row *v, const struct weights *w, const struct version_row *rival,
		    weights_stop stop, void *arg)
{
	_cleanup_comparison_ struct comparison c = { 0 };
	_cleanup_weights_ struct weights x = { 0 };
	int r = weights_load(ex, rival, stop, arg, &x);

	if (r == 0)
		r = compare_weights(w, &x, &c);
	if (r == 0 && !comparison_is_same_model(&c))
		return 1;
	return r < 0 ? r : label_agrees_inside(ex, v, w, rival, &x) == 1;
}

static int find_like(struct expfs *ex, struct found *f, const struct version_row *v, const struct weights *w, weights_stop stop,
		     void *arg)
{
	struct version_row rival;
	int r = f->h.told ? find_rival(ex, f, v, &rival) : -ENOENT;

	if (r == 0)
		r = is_other(ex, v, w, &rival, stop, arg);
	if (r == 1)
		f->like = rival.id;
	return r == -ECANCELED ? r : 0; /* one that cannot be read now says nothing against it */
}

/* run: others stay as they are; 0: none. */
static int read_version(struct expfs *ex, uint64_t id, uint64_t run, bool old, weights_stop stop, void *arg)
{
	_cleanup_weights_ struct weights w = { 0 };
	struct found f = { .h = { .version = id } };
	struct version_row v = { .step = NO_STEP };
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = version_get(db, id, &v);
		if (r == 0)
			r = find_place(db, &v, &f.h);
	}
	if (r == 0 && run && run != f.h.run)
		return 0;
	if (r == 0)
		r = (old ? weights_load_once : weights_load)(ex, &v, stop, arg, &w);
	if (r == 0)
		r = weights_model(&w, f.h.model);
	if (r == -ENOENT || r == -ESTALE)
		f.gone = true;
	else if (r < 0 && r != -E2BIG)
		return r;
	f.h.told = r == 1;
	f.h.parts = w.parts;
	f.step = weights_inner(&w, LABEL_STEP);
	if (f.h.epoch == NO_LABEL)
		f.h.epoch = weights_inner(&w, LABEL_EPOCH);
	r = find_like(ex, &f, &v, &w, stop, arg);
	return r < 0 ? r : expfs_write(ex, tx_found, &f);
}

/* What goes wrong is told, unless it is nothing of the version's own. */
static int read_told(struct expfs *ex, uint64_t id, uint64_t run, bool old, weights_stop stop, void *arg)
{
	int r = read_version(ex, id, run, old, stop, arg);

	if (r < 0 && r != -ECANCELED && !expfs_takes_nothing(r))
		log_msg("version %llx: its weights cannot be read: %s; it is tried again", (unsigned long long)id, strerror(-r));
	return r;
}

int weigh_version(struct expfs *ex, uint64_t version, weights_stop stop, void *arg)
{
	return read_told(ex, version, 0, false, stop, arg);
}

static int next_waiting(struct expfs *ex, uint64_t after, uint64_t *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return unread_next(db, after, ret);
}

void weigh_give_way(void)
{
	setpriority(PRIO_PROCESS, (id_t)gettid(), 10);
	syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

static void rest(int64_t ns, weights_stop stop, void *arg)
{
	int64_t until = monotonic_ns() + ns, left;

	while ((left = until - monotonic_ns()) > 0 && !(stop && stop(arg))) {
		struct timespec nap = ns_timespec(MIN(left, REST_NS));

		nanosleep(&nap, NULL);
	}
}

static int weigh(struct expfs *ex, uint64_t run, uint64_t old, weights_stop stop, void *arg)
{
	uint64_t id = 0;
	int r, first = 0;

	while (!(stop && stop(arg)) && next_waiting(ex, id, &id) == 0) {
		int64_t begin = monotonic_ns();

		r = read_told(ex, id, run, id < old, stop, arg);
		if (id < old)
			rest(monotonic_ns() - begin, stop, arg);
		if (r == -ECANCELED || expfs_takes_nothing(r))
			return r;
		first = first ? first : r;
	}
	return first;
}

int weigh_waiting(struct expfs *ex, uint64_t run, weights_stop stop, void *arg)
{
	return weigh(ex, run, 0, stop, arg);
}

int weigh_at_leisure(struct expfs *ex, uint64_t old, weights_stop stop, void *arg)
{
	return weigh(ex, 0, old, stop, arg);
}
