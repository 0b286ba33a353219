#include "exp/verify.h"

#include <stdio.h>
#include <string.h>

#include "format/parts.h"
#include "meta/tracked.h"

#define RESUME (PART_OPTIMIZER | PART_RNG_TORCH | PART_LOADER)

struct question {
	struct expfs *ex;
	struct verify *v;
	weights_stop stop;
	void *arg;
	struct verified *ret;
	struct holds_row candidate;
	enum label kind; /* of its label */
	int64_t label;   /* NO_LABEL: it has none */
};

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

/* What waits to be read is read first: one of those may be what the candidate is held against, or be its equal. One
 * that cannot be read now does not count. */
static int get_holds(struct question *q, uint64_t version, struct holds_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	int r = weights_read_waiting(q->ex, q->stop, q->arg);

	if (r == -ECANCELED)
		return r;
	db = meta_reader(q->ex->meta);
	r = holds_get(db, version, ret);
	return r == -ENOENT ? -EAGAIN : r;
}

static int read_candidate(struct question *q)
{
	int r = get_holds(q, q->v->candidate.id, &q->candidate);

	q->kind = q->candidate.step != NO_LABEL ? LABEL_STEP : LABEL_EPOCH;
	q->label = q->kind == LABEL_STEP ? q->candidate.step : q->candidate.epoch;
	return r < 0 ? r : weights_load(q->ex, &q->v->candidate, q->stop, q->arg, &q->ret->candidate_weights);
}

/* The first version under the label of the candidate; -ENOENT: there is no other. */
static int find_labelled(struct question *q, struct version_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->ex->meta);
	struct holds_row first;
	int r = q->label == NO_LABEL ? -ENOENT : holds_first_labelled(db, q->candidate.run, q->kind, q->label, &first);

	if (r == 0 && first.version == q->v->candidate.id)
		r = -ENOENT;
	return r < 0 ? r : version_get(db, first.version, ret);
}

/* Two paths may be links to one file. */
static int is_one_file(struct question *q, const struct version_row *a, const struct version_row *b)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->ex->meta);
	struct tracked_row x, y;
	int r = a->id == b->id ? 1 : tracked_get(db, a->tracked, &x);

	if (r == 0)
		r = tracked_get(db, b->tracked, &y);
	return r != 0 ? r : x.ino && x.ino == y.ino && x.head == a->id && y.head == b->id;
}

/* 1: there is one; 0: there is none. */
static int read_reference(struct question *q)
{
	struct version_row *v = &q->v->reference;
	bool named;
	int r;

	if (q->v->file >= 0) {
		r = weights_load_outside(q->v->file, q->stop, q->arg, &q->ret->reference_weights);
		q->v->file = -1;
		return r < 0 ? r : 1;
	}
	named = v->id != 0;
	r = named ? 0 : find_labelled(q, v);
	if (r == 0)
		r = is_one_file(q, &q->v->candidate, v);
	if (r == 1) /* by the label it is none */
		r = named ? -EINVAL : -ENOENT;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	q->ret->reference = v->id;
	r = weights_load(q->ex, v, q->stop, q->arg, &q->ret->reference_weights);
	return r < 0 ? r : 1;
}

/* Other versions with the weights of the candidate. */
static int add_held(void *arg, const struct holds_row *h)
{
	struct question *q = arg;

	if (h->version == q->candidate.version || h->run != q->candidate.run)
		return 0;
	q->ret->held[q->ret->n_held++] = h->version;
	return q->ret->n_held == VERIFY_HELD_MAX;
}

static int find_held(struct question *q)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->ex->meta);

	return q->candidate.told ? MIN(holds_list_model(db, q->candidate.model, add_held, q), 0) : 0;
}

/* The negative control */

/* A tensor of the model with a content, the first one. */
static struct weights_file *find_tensor(struct weights *w, size_t *ret)
{
	for (size_t i = 0; i < w->n; i++) {
		struct weights_file *f = &w->v[i];

		for (*ret = 0; f->ts && f->of_model && *ret < f->ts->n; (*ret)++)
			if (f->ts->v[*ret].model && identity_is_told(f->row.digests[*ret]) && tensor_content_size(&f->ts->v[*ret]) > 0)
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

/* The comparison is made with what is not the reference, and must tell it. */
static int make_control(struct question *q)
{
	struct weights *reference = &q->ret->reference_weights;
	_cleanup_comparison_ struct comparison c = { 0 };
	_cleanup_weights_ struct weights other = { 0 };
	uint8_t model[WEIGHTS_DIGEST];
	struct version_row v;
	int r = weights_model(reference, model);

	if (r >= 0)
		r = r == 1 ? find_control(q, model, &v) : -ENOENT;
	if (r < 0 && r != -ENOENT)
		return r;
	q->ret->control = r == 0 ? v.id : 0;
	if (r == 0) {
		r = weights_load(q->ex, &v, q->stop, q->arg, &other);
	} else if (q->ret->reference) { /* loaded again, to be changed */
		r = weights_load(q->ex, &q->v->reference, q->stop, q->arg, &other);
		r = r < 0 ? r : change_a_bit(q, &other);
	} else {
		r = weights_load(q->ex, &q->v->candidate, q->stop, q->arg, &other);
		r = r < 0 ? r : change_a_bit(q, &other);
	}
	if (r == 0)
		r = compare_weights(&other, reference, &c);
	if (r == 0)
		q->ret->control_differs = comparison_count_different(c.count);
	return r == -ENOENT ? 0 : r;
}

/* Where the candidate is not it */

static int first_version(void *arg, const struct holds_row *h)
{
	*(uint64_t *)arg = h->version;
	return 1;
}

/* A version in the store that holds the reference: itself, or one with the weights of a file outside. */
static int find_recovery(struct question *q)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	uint8_t model[WEIGHTS_DIGEST];
	int r;

	q->ret->instead = q->ret->reference;
	if (q->ret->reference)
		return 0;
	r = q->ret->reference_weights.n > 0 ? weights_model(&q->ret->reference_weights, model) : 0;
	if (r != 1)
		return r;
	db = meta_reader(q->ex->meta);
	return MIN(holds_list_model(db, model, first_version, &q->ret->instead), 0);
}

static int find_rerun(struct question *q, struct db *db)
{
	struct holds_row h;
	int r = q->v->candidate.experiment ?
			holds_to_resume(db, q->candidate.run, q->v->candidate.experiment, q->kind, q->label, RESUME, &h) : -ENOENT;

	q->ret->instead = r == 0 ? h.version : 0;
	return r == -ENOENT ? 0 : r;
}

static int find_way_on(struct question *q)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	int64_t last;
	int r = find_recovery(q);

	if (r < 0 || q->ret->instead) {
		q->ret->verdict = VERDICT_RECOVER;
		return r;
	}
	db = meta_reader(q->ex->meta);
	r = q->label == NO_LABEL ? -ENOENT : holds_last_label(db, q->candidate.run, q->kind, &last);
	if (r == 0 && last <= q->label) {
		q->ret->verdict = VERDICT_RECAPTURE;
		return 0;
	}
	if (r == 0)
		r = find_rerun(q, db);
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
	char *why;

	return hold(q, asprintf(&why, "%zu tensors cannot be told: the others are the same", n) < 0 ? NULL : why);
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

/* What the label was given to first is gone: that the candidate is something else is known all the same. */
static int decide_without(struct question *q)
{
	if (*q->candidate.held)
		return find_way_on(q);
	return hold(q, strdup("nothing else was committed under its label to hold it against; give --against"));
}

static int ask(struct question *q)
{
	bool held;
	int there, r = read_candidate(q);

	if (r == 0)
		r = find_held(q);
	if (r == 0)
		r = hold_unreadable(q, &q->ret->candidate_weights, "checkpoint", &held);
	if (r < 0 || held)
		return r;
	there = read_reference(q);
	return there < 0 ? there : there ? decide(q) : decide_without(q);
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
