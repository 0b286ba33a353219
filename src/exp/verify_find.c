#include <stdlib.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/label.h"
#include "exp/verify_part.h"
#include "format/checkpoint_name.h"
#include "format/parts.h"
#include "meta/experiment.h"
#include "meta/line.h"
#include "meta/tracked.h"
#include "util/list.h"

#define RESUME (PART_OPTIMIZER | PART_RNG_TORCH | PART_LOADER)
#define LABELLED_MAX 1000 /* versions of one label that are looked at */
#define LOADS_MAX 100     /* after which nothing is on the line any more */
#define LOOKED_AT_MAX 32  /* checkpoints that are held against one, of those whose identities say the same */

/* One save */

struct members {
	struct db *db;
	uint64_t of;
};

static int is_elsewhere(void *arg, const struct member_row *m, const char *name)
{
	struct members *other = arg;
	struct member_row x;
	const char *last = path_last(name);
	int r;

	if (!role_weights_suffix(last, strlen(last)) || !member_holds_model(name))
		return 0;
	r = member_get(other->db, other->of, name, &x);
	return r == -ENOENT ? 1 : r < 0 ? r : x.object != m->object;
}

/* One that was removed and brought back is another. */
static bool is_one_place(const struct version_row *a, const struct version_row *b)
{
	return a->tracked == b->tracked ? !(a->n < b->n ? a : b)->gone : a->begin == b->begin;
}

/* The same files, in a directory that was renamed, or that only got others beside them. */
static int is_one_directory(struct db *db, const struct version_row *a, const struct version_row *b)
{
	struct members m = { db, b->id };
	int r;

	if (!is_one_place(a, b))
		return 0;
	r = member_list(db, a->id, is_elsewhere, &m);
	return r < 0 ? r : r == 0;
}

/* Two paths may be links to one file. */
static int is_one_file(struct db *db, const struct version_row *a, const struct version_row *b)
{
	struct tracked_row x, y;
	int r;

	if (a->object && a->object == b->object && a->begin && a->begin == b->begin)
		return 1;
	r = tracked_get(db, a->tracked, &x);
	if (r == 0)
		r = tracked_get(db, b->tracked, &y);
	return r < 0 ? r : x.ino && x.ino == y.ino && x.head == a->id && y.head == b->id;
}

static int is_one_save(struct db *db, const struct version_row *a, const struct version_row *b)
{
	if (a->id == b->id || a->is_dir != b->is_dir)
		return a->id == b->id;
	return a->is_dir ? is_one_directory(db, a, b) : is_one_file(db, a, b);
}

int verify_is_one_save(struct question *q, const struct version_row *a, const struct version_row *b)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->ex->meta);

	return is_one_save(db, a, b);
}

/* The first under a label */

struct labelled {
	struct question *q;
	struct db *db;
	char hash[EXPERIMENT_HASH + 1]; /* of the candidate's experiment, or "" */
	bool others; /* those of others, too, if they are equal, or the candidate is known to be wrong */
	unsigned looked_at;
	size_t n;
	struct version_row v[LOOKED_AT_MAX]; /* the first ones */
};

/* A run that was begun anew with another configuration or other data counts its steps anew. */
static bool is_of_another(struct labelled *l, const struct version_row *v)
{
	struct experiment_row e;

	if (!*l->hash || !v->experiment || experiment_get(l->db, v->experiment, &e) < 0)
		return false;
	return memcmp(e.hash, l->hash, SEGMENT_LEN) != 0 ||
	       memcmp(e.hash + 2 * SEGMENT_LEN, l->hash + 2 * SEGMENT_LEN, SEGMENT_LEN) != 0;
}

/* After a load a run goes on from an earlier step: what it had saved of later ones is on a line that it left. */
static int was_left(struct labelled *l, const struct version_row *v)
{
	const struct version_row *candidate = &l->q->v->candidate;
	struct line_row load = { .at = candidate->begin };
	struct tracked_row t;
	int r;

	for (int i = 0; i < LOADS_MAX; i++) {
		r = line_load_before(l->db, l->q->candidate.run, load.at, &load);
		if (r < 0 || load.at <= v->begin)
			return r == -ENOENT ? 0 : MIN(r, 0);
		if (v->step != NO_STEP) {
			if (v->step > (int64_t)load.init_step)
				return 1;
			continue;
		}
		r = tracked_get(l->db, v->tracked, &t);
		return r < 0 ? r : t.good != v->id || t.off;
	}
	return 1;
}

static int add_labelled(void *arg, const struct holds_row *h)
{
	struct labelled *l = arg;
	const struct holds_row *candidate = &l->q->candidate;
	struct version_row v;
	int r;

	if (l->n == LOOKED_AT_MAX || ++l->looked_at > LABELLED_MAX)
		return 1;
	if (*h->held)
		return 0;
	r = version_get(l->db, h->version, &v);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (is_of_another(l, &v) &&
	    !(l->others && (*candidate->held || memcmp(h->model, candidate->model, WEIGHTS_DIGEST) == 0)))
		return 0;
	r = was_left(l, &v);
	if (r == 0)
		l->v[l->n++] = v;
	return MIN(r, 0);
}

/* Copies with old times come in any order. */
static int by_age(const void *pa, const void *pb)
{
	const struct version_row *a = pa, *b = pb;

	if (a->rank < 0 && b->rank < 0 && a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int list_labelled(struct question *q, enum label kind, int64_t label, struct labelled *l)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->ex->meta);
	struct experiment_row e;
	int r;

	l->q = q;
	l->db = db;
	if (q->v->candidate.experiment && experiment_get(db, q->v->candidate.experiment, &e) == 0)
		memcpy(l->hash, e.hash, sizeof(l->hash));
	r = holds_list_labelled(db, q->candidate.run, kind, label, add_labelled, l);
	if (l->n > 0 && l->v[0].rank < 0)
		qsort(l->v, l->n, sizeof(*l->v), by_age);
	return MIN(r, 0);
}

/* Not where one counts from 0 in names, the other from 1 inside. */
static int means_another(struct question *q, const struct version_row *v)
{
	_cleanup_weights_ struct weights w = { 0 };
	int r;

	if (q->v->step != NO_STEP) /* the label is that of a selection */
		return 0;
	r = weights_load(q->ex, v, q->stop, q->arg, &w);

	if (r == 0)
		r = label_agrees_inside(q->ex, &q->v->candidate, &q->ret->candidate_weights, v, &w);
	return r == -ECANCELED ? r : r == 0;
}

static int find_labelled(struct question *q, enum label kind, bool others, struct version_row *ret)
{
	_cleanup_free_ struct labelled *l = calloc(1, sizeof(*l));
	int64_t label = kind == LABEL_STEP ? q->candidate.step : q->candidate.epoch;
	int r = -ENOMEM;

	if (label == NO_LABEL || !l)
		return l ? -ENOENT : r;
	l->others = others;
	r = list_labelled(q, kind, label, l);
	for (size_t i = 0; r == 0 && i < l->n; i++) {
		*ret = l->v[i];
		r = verify_is_one_save(q, &q->v->candidate, ret);
		q->is_first |= r == 1;
		if (r != 0)
			return r < 0 ? r : -ENOENT;
		r = means_another(q, ret);
		if (r <= 0)
			return r;
		r = 0;
	}
	return r < 0 ? r : -ENOENT;
}

int verify_find_labelled(struct question *q, struct version_row *ret)
{
	int r = -ENOENT;

	for (int others = 0; others <= 1; others++)
		for (enum label kind = LABEL_STEP; kind <= LABEL_EPOCH && r == -ENOENT; kind++)
			r = find_labelled(q, kind, others, ret);
	return r;
}

/* Equal ones */

struct versions {
	uint64_t v[LOOKED_AT_MAX];
	size_t n;
	uint64_t run; /* 0: any */
	uint64_t but;
};

static int add_version(void *arg, const struct holds_row *h)
{
	struct versions *l = arg;

	if (h->version != l->but && (!l->run || h->run == l->run))
		l->v[l->n++] = h->version;
	return l->n == LOOKED_AT_MAX;
}

static int list_model(struct question *q, const uint8_t model[WEIGHTS_DIGEST], struct versions *l)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->ex->meta);

	return MIN(holds_list_model(db, model, add_version, l), 0);
}

static int get_version(struct question *q, uint64_t id, struct version_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->ex->meta);

	return version_get(db, id, ret);
}

/* Identities have no names: these are held against each other, too. all: what is beside the model counts. */
static int is_equal(struct question *q, uint64_t id, const struct weights *to, bool all)
{
	_cleanup_comparison_ struct comparison c = { 0 };
	_cleanup_weights_ struct weights w = { 0 };
	struct version_row v;
	int r = get_version(q, id, &v);

	if (r == 0)
		r = weights_load(q->ex, &v, q->stop, q->arg, &w);
	if (r == 0)
		r = compare_weights(&w, to, &c);
	if (r < 0)
		return r == -ECANCELED || r == -ENOMEM ? r : 0; /* what cannot be read is none */
	if (!all)
		return comparison_is_same_model(&c);
	return comparison_is_same(&c) ? comparison_proves(q->ex, &c, q->stop, q->arg) : 0;
}

int verify_find_held(struct question *q)
{
	struct versions l = { .run = q->candidate.run, .but = q->candidate.version };
	int r = q->candidate.told ? list_model(q, q->candidate.model, &l) : 0;

	for (size_t i = 0; i < l.n && q->ret->n_held < VERIFY_HELD_MAX && r >= 0; i++) {
		r = is_equal(q, l.v[i], &q->ret->candidate_weights, false);
		if (r == 1)
			q->ret->held[q->ret->n_held++] = l.v[i];
	}
	return MIN(r, 0);
}

/* One of its run before others. */
int verify_find_equal(struct question *q, uint64_t *ret)
{
	uint8_t model[WEIGHTS_DIGEST];
	int r = q->ret->reference_weights.n > 0 ? weights_model(&q->ret->reference_weights, model) : 0;
	const uint64_t runs[] = { q->candidate.run, 0 };

	if (r != 1)
		return r < 0 ? r : -ENOENT;
	for (size_t k = 0; k < ARRAY_SIZE(runs); k++) {
		struct versions l = { .run = runs[k], .but = q->candidate.version };

		r = list_model(q, model, &l);
		for (size_t i = 0; i < l.n && r == 0; i++) {
			*ret = l.v[i];
			r = is_equal(q, l.v[i], &q->ret->reference_weights, true);
		}
		if (r != 0)
			return MIN(r, 0);
	}
	return -ENOENT;
}

/* Where the run is */

/* The candidate itself may hold the weights of a later label. */
static bool holds_later(const struct question *q)
{
	const char *number = strchr(q->candidate.held, ' ');
	bool is_epoch = strncmp(q->candidate.held, "epoch", 5) == 0;
	int64_t own = is_epoch ? q->candidate.epoch : q->candidate.step;

	return number && own != NO_LABEL && strtoll(number, NULL, 10) > own;
}

int verify_is_past(struct question *q)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	struct line_row load = { .at = 0 };
	int64_t last;
	int r;

	if (q->label == NO_LABEL)
		return -ENOENT;
	if (holds_later(q))
		return 1;
	db = meta_reader(q->ex->meta);
	r = line_load_before(db, q->candidate.run, INT64_MAX, &load);
	if (r == 0 || r == -ENOENT)
		r = holds_last_label(db, q->candidate.run, load.at, q->kind, &last);
	return r < 0 ? r : last > q->label;
}

int verify_find_rerun(struct question *q, uint64_t *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->ex->meta);
	struct holds_row h;
	int r = q->v->candidate.experiment && q->label != NO_LABEL ?
			holds_to_resume(db, q->candidate.run, q->v->candidate.experiment, q->kind, q->label, RESUME, &h) : -ENOENT;

	*ret = r == 0 ? h.version : 0;
	return r;
}
