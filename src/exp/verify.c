#include "exp/verify_part.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exp/weigh.h"
#include "util/human.h"
#include "util/io.h"

void verified_free(struct verified *v)
{
	free(v->why);
	comparison_free(&v->comparison);
	weights_free(&v->candidate_weights);
	weights_free(&v->reference_weights);
	*v = (struct verified){ 0 };
}

static int hold(struct question *q, char *why)
{
	q->ret->verdict = VERDICT_HOLD;
	q->ret->why = why;
	return why ? 0 : -ENOMEM;
}

static int read_run(struct question *q)
{
	uint64_t run;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(q->ex->meta);

		r = weigh_run_of(db, &q->v->candidate, &run);
	}
	return r < 0 ? r : weigh_waiting(q->ex, run, q->stop, q->arg);
}

static int load_holds(struct question *q, uint64_t version, struct holds_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->ex->meta);

	return holds_get(db, version, ret);
}

/* What waits to be read of its run is read first: one of those may be what the candidate is held against, or be its equal.
 * One that cannot be read now does not count. The candidate may never have waited: nobody judges what was there before
 * its path was taken away. */
static int get_holds(struct question *q, uint64_t version, struct holds_row *ret)
{
	int r = read_run(q);

	if (r == -ECANCELED)
		return r;
	r = load_holds(q, version, ret);
	if (r != -ENOENT)
		return r;
	r = weigh_version(q->ex, version, q->stop, q->arg);
	if (r == 0)
		r = load_holds(q, version, ret);
	return r < 0 && r != -ECANCELED ? -EAGAIN : r;
}

static int read_candidate(struct question *q)
{
	int r = get_holds(q, q->v->candidate.id, &q->candidate);

	if (q->v->step != NO_STEP)
		q->candidate.step = q->v->step;
	q->kind = q->candidate.step != NO_LABEL ? LABEL_STEP : LABEL_EPOCH;
	q->label = q->kind == LABEL_STEP ? q->candidate.step : q->candidate.epoch;
	return r < 0 ? r : weights_load(q->ex, &q->v->candidate, q->stop, q->arg, &q->ret->candidate_weights);
}

/* A path outside of the mount may lead to the store's own files. */
static int is_own_object(struct question *q, const struct stat *st)
{
	const struct weights *w = &q->ret->candidate_weights;
	struct stat own;

	for (size_t i = 0; i < w->n; i++) {
		struct weights_open o;
		int r;

		if (!w->v[i].ts)
			continue;
		r = weights_open(q->ex, &w->v[i], &o);
		if (r < 0)
			return r;
		r = io_stat(o.fd, &own);
		weights_close(&o);
		if (r < 0 || (own.st_dev == st->st_dev && own.st_ino == st->st_ino))
			return r < 0 ? r : 1;
	}
	return 0;
}

static int read_file(struct question *q)
{
	int r = io_stat(q->v->file, &q->file);

	if (r == 0)
		r = is_own_object(q, &q->file);
	if (r != 0)
		return r < 0 ? r : -EINVAL;
	r = weights_load_outside(q->v->file, q->stop, q->arg, &q->ret->reference_weights);
	q->v->file = -1;
	return r;
}

/* A file outside may have been written while it was read. */
static int has_changed(struct question *q)
{
	const struct weights *w = &q->ret->reference_weights;
	struct stat now;
	int r = w->n == 1 && w->v[0].fd >= 0 ? io_stat(w->v[0].fd, &now) : -ENOENT;

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return now.st_size != q->file.st_size || timespec_ns(&now.st_mtim) != timespec_ns(&q->file.st_mtim);
}

/* 1: there is one; 0: there is none. */
static int read_reference(struct question *q)
{
	struct version_row *v = &q->v->reference;
	bool named;
	int r;

	if (q->v->file >= 0) {
		r = read_file(q);
		return r < 0 ? r : 1;
	}
	named = v->id != 0;
	r = named ? verify_is_one_save(q, &q->v->candidate, v) : verify_find_labelled(q, v);
	if (r == 1)
		r = -EINVAL;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	q->ret->reference = v->id;
	r = weights_load(q->ex, v, q->stop, q->arg, &q->ret->reference_weights);
	return r < 0 ? r : 1;
}

/* The negative control */

/* A tensor of the model with a content, the first one. */
static struct weights_file *find_tensor(struct weights *w, size_t *ret)
{
	for (size_t i = 0; i < w->n; i++) {
		struct weights_file *f = &w->v[i];

		for (*ret = 0; f->ts && f->of_model && *ret < f->ts->n; (*ret)++)
			if (tensor_is_weight(&f->ts->v[*ret]) && identity_is_told(f->row.digests[*ret]) && tensor_content_size(&f->ts->v[*ret]) > 0)
				return f;
	}
	return NULL;
}

/* The weights with one bit changed. */
static int change_a_bit(struct question *q, struct weights *w)
{
	struct weights_open o;
	size_t k;
	struct weights_file *f = find_tensor(w, &k);
	int r = f ? weights_open(q->ex, f, &o) : -ENOENT;

	if (r < 0)
		return r;
	r = tensor_digest_changed(o.fd, &f->ts->v[k], q->stop, q->arg, f->row.digests[k]);
	weights_close(&o);
	return r;
}

static int find_control(struct question *q, const uint8_t model[WEIGHTS_DIGEST], struct version_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->ex->meta);
	struct holds_row to = { .run = q->candidate.run, .version = q->candidate.version }, other;
	int r;

	memcpy(to.model, model, WEIGHTS_DIGEST);
	r = holds_nearest_other(db, &to, &other);
	return r < 0 ? r : version_get(db, other.version, ret);
}

/* The state with one bit changed: it is loaded again for that. */
static int load_changed(struct question *q, struct weights *ret)
{
	const struct version_row *v = q->ret->reference ? &q->v->reference : &q->v->candidate;
	int r = weights_load(q->ex, v, q->stop, q->arg, ret);

	return r < 0 ? r : change_a_bit(q, ret);
}

/* Another version of the run, or that; -ENOENT: there is nothing to change. */
static int load_control(struct question *q, struct weights *ret)
{
	uint8_t model[WEIGHTS_DIGEST];
	struct version_row v;
	int r = weights_model(&q->ret->reference_weights, model);

	if (r >= 0)
		r = r == 1 ? find_control(q, model, &v) : -ENOENT;
	if (r == 0)
		r = weights_load(q->ex, &v, q->stop, q->arg, ret);
	if (r == -ECANCELED || r == -ENOMEM)
		return r;
	q->ret->control = r == 0 ? v.id : 0;
	return r == 0 ? 0 : load_changed(q, ret);
}

/* The comparison is made with what is not the reference, and must tell it. */
static int make_control(struct question *q)
{
	_cleanup_comparison_ struct comparison c = { 0 };
	_cleanup_weights_ struct weights other = { 0 };
	int r = load_control(q, &other);

	if (r == 0)
		r = compare_weights(&other, &q->ret->reference_weights, &c);
	if (r == 0)
		q->ret->control_differs = comparison_count_different(c.count);
	return r == -ENOENT ? 0 : r;
}

/* Where the candidate is not it */

/* A version in the store that holds the reference: itself, or the equal of a file outside. */
static int find_recovery(struct question *q)
{
	int r;

	q->ret->instead = q->ret->reference;
	if (q->ret->reference)
		return 0;
	r = verify_find_equal(q, &q->ret->instead);
	if (r < 0)
		q->ret->instead = 0;
	return r == -ENOENT ? 0 : r;
}

static int find_way_on(struct question *q)
{
	int r = find_recovery(q);

	if (r < 0 || q->ret->instead) {
		q->ret->verdict = VERDICT_RECOVER;
		return r;
	}
	r = verify_is_past(q);
	if (r == 0) {
		q->ret->verdict = VERDICT_RECAPTURE;
		return 0;
	}
	if (r == 1)
		r = verify_find_rerun(q, &q->ret->instead);
	if (r < 0 && r != -ENOENT)
		return r;
	q->ret->verdict = VERDICT_RERUN;
	return q->ret->instead ? 0 : hold(q, strdup("nothing in the store holds that state, and no earlier checkpoint of the experiment has "
						    "optimizer, random numbers and data position to come there again"));
}

static int hold_unreadable(struct question *q, const struct weights *w, const char *which, bool *ret_held)
{
	_cleanup_free_ char *fault = NULL;
	char *why = NULL;
	int r = weights_fault(w, &fault);

	*ret_held = r == 0 && fault;
	if (!*ret_held)
		return r;
	return hold(q, asprintf(&why, "the %s cannot be read: %s", which, fault) < 0 ? NULL : why);
}

static int hold_open(struct question *q, size_t n)
{
	char count[HUMAN_COUNT], *why;

	return hold(q, asprintf(&why, "%s cannot be told: the others are the same", human_count(n, "tensor", count)) < 0 ? NULL : why);
}

static int decide(struct question *q)
{
	const struct comparison *c = &q->ret->comparison;
	bool held;
	int r = hold_unreadable(q, &q->ret->reference_weights, "reference", &held);

	if (r < 0 || held)
		return r;
	r = compare_weights(&q->ret->candidate_weights, &q->ret->reference_weights, &q->ret->comparison);
	if (r == 0)
		r = make_control(q);
	if (r < 0)
		return r;
	if (q->ret->control_differs == 0)
		return hold(q, strdup("the negative control does not fail: the comparison cannot tell these weights from others"));
	if (comparison_count_open(c) > 0)
		return hold_open(q, comparison_count_open(c));
	r = comparison_is_same(c) ? comparison_proves(q->ex, c, q->stop, q->arg) : 0;
	if (r != 0) {
		q->ret->verdict = VERDICT_ACCEPT;
		return MIN(r, 0);
	}
	return find_way_on(q);
}

static char *why_alone(const struct question *q)
{
	const char *kind = q->kind == LABEL_STEP ? "step" : "epoch";
	char *why;
	int n;

	if (q->label == NO_LABEL)
		return strdup("no step or epoch is in its name, or in it, to hold it against; give --against");
	n = q->is_first ? asprintf(&why, "it is itself the record of %s %" PRId64 ", as the first that was committed under it; to hold it "
				   "against another, give --against", kind, q->label) :
			  asprintf(&why, "no other was committed under %s %" PRId64 " that it can be held against; give --against", kind, q->label);
	return n < 0 ? NULL : why;
}

/* What the label was given to first is gone: that the candidate is something else is known all the same. */
static int decide_without(struct question *q)
{
	if (*q->candidate.held)
		return find_way_on(q);
	return hold(q, why_alone(q));
}

static int ask(struct question *q)
{
	bool held;
	int there, changed, r = read_candidate(q);

	if (r == 0)
		r = verify_find_held(q);
	if (r == 0)
		r = verify_find_whole(q);
	if (r == 0)
		r = hold_unreadable(q, &q->ret->candidate_weights, "checkpoint", &held);
	if (r < 0 || held)
		return r;
	there = read_reference(q);
	if (there <= 0)
		return there < 0 ? there : decide_without(q);
	r = decide(q);
	changed = r < 0 ? r : has_changed(q);
	if (changed == 1) {
		free(q->ret->why);
		return hold(q, strdup("the file that it was held against was written meanwhile"));
	}
	return changed;
}

int verify(struct expfs *ex, struct verify *v, weights_stop stop, void *arg, struct verified *ret)
{
	struct question q = { .ex = ex, .v = v, .stop = stop, .arg = arg, .ret = ret };
	int r;

	*ret = (struct verified){ 0 };
	r = ask(&q);
	if (v->file >= 0)
		close(v->file);
	if (r < 0)
		verified_free(ret);
	return r;
}
