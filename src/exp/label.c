#include "exp/label.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exp/step.h"
#include "format/checkpoint_name.h"
#include "meta/tracked.h"

static int64_t label_of(const struct holds_row *h, enum label kind)
{
	return kind == LABEL_STEP ? h->step : h->epoch;
}

/* Of two versions in the kind in which they both have a label: whether it is the same. -ENOENT: there is no such kind. */
static int compare_labels(const struct holds_row *a, const struct holds_row *b, enum label *ret_kind)
{
	for (enum label kind = LABEL_STEP; kind <= LABEL_EPOCH; kind++) {
		if (label_of(a, kind) == NO_LABEL || label_of(b, kind) == NO_LABEL)
			continue;
		*ret_kind = kind;
		return label_of(a, kind) == label_of(b, kind);
	}
	return -ENOENT;
}

static const char *const kinds[] = { [LABEL_STEP] = "step", [LABEL_EPOCH] = "epoch" };

static void write_label(const struct holds_row *h, enum label kind, char ret[HOLDS_LABEL])
{
	snprintf(ret, HOLDS_LABEL, "%s %" PRId64, kinds[kind], label_of(h, kind));
}

static enum label kind_of_held(const struct holds_row *h)
{
	return strncmp(h->held, kinds[LABEL_EPOCH], strlen(kinds[LABEL_EPOCH])) == 0 ? LABEL_EPOCH : LABEL_STEP;
}

void label_text(const struct holds_row *h, char ret[HOLDS_LABEL])
{
	write_label(h, kind_of_held(h), ret);
}

/* The first with the same weights whose label is of the same kind. */
static int first_with(struct db *db, const struct holds_row *h, struct holds_row *ret)
{
	int r = -ENOENT;

	for (enum label kind = LABEL_STEP; kind <= LABEL_EPOCH && r == -ENOENT; kind++)
		if (label_of(h, kind) != NO_LABEL)
			r = holds_first_with(db, h->run, kind, h->model, ret);
	return r;
}

/* The version whose weights h has may be gone: then another one that has them, and its label as it was found to be. */
int label_find_rival(struct db *db, const struct holds_row *h, struct holds_row *ret)
{
	struct holds_row source;
	char own[HOLDS_LABEL];
	enum label kind;
	int r = first_with(db, h, ret);

	if (r < 0)
		return r;
	r = ret->other ? holds_get(db, ret->other, &source) : -ENOENT;
	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0 && !*source.held)
		*ret = source;
	if (*ret->held) {
		kind = kind_of_held(ret);
		write_label(h, kind, own);
		return label_of(h, kind) != NO_LABEL && strcmp(own, ret->held) != 0 ? 0 : -ENOENT;
	}
	return ret->version != h->version && compare_labels(h, ret, &kind) == 0 ? 0 : -ENOENT;
}

/* How much speaks against the label of one that has the weights of another. */
static int count_doubts(struct db *db, const struct holds_row *h, enum label kind)
{
	enum { LATER = 1, LATE = 2, BEFORE = 4 };
	struct holds_row x;
	int doubts = 0, r = holds_first_labelled(db, h->run, kind, label_of(h, kind), &x);

	if (r == 0 && x.version < h->version && memcmp(x.model, h->model, WEIGHTS_DIGEST) != 0)
		doubts |= BEFORE;
	if (r == 0)
		r = holds_last_labelled(db, h->run, kind, label_of(h, kind), &x);
	if (r == 0 && x.version > h->version && !*x.held && memcmp(x.model, h->model, WEIGHTS_DIGEST) != 0)
		doubts |= LATER;
	if (r == 0 || r == -ENOENT)
		r = holds_before(db, h->run, h->version, &x);
	if (r == 0 && label_of(&x, kind) > label_of(h, kind))
		doubts |= LATE;
	return r < 0 && r != -ENOENT ? r : doubts;
}

/* Is it the rival whose label is wrong? */
static int is_rival_wrong(struct db *db, const struct holds_row *h, const struct holds_row *rival, enum label kind)
{
	int own = count_doubts(db, h, kind), its = own < 0 ? own : count_doubts(db, rival, kind);

	if (its < 0)
		return its;
	return its != own ? its > own : rival->version > h->version;
}

static int compare(struct db *db, struct holds_row *h, const struct holds_row *rival)
{
	char label[HOLDS_LABEL];
	enum label kind;
	int r;

	if (*rival->held) {
		memcpy(h->held, rival->held, sizeof(h->held));
		h->other = rival->other;
		return 0;
	}
	r = compare_labels(h, rival, &kind);
	if (r != 0)
		return 0;
	r = is_rival_wrong(db, h, rival, kind);
	if (r == 1) {
		write_label(h, kind, label);
		return holds_set_other(db, rival, kind, h->version, label);
	}
	h->other = rival->version;
	write_label(rival, kind, h->held);
	return r;
}

int tx_label_put(struct db *db, struct holds_row *h, uint64_t like)
{
	struct holds_row rival;
	int r;

	h->other = 0;
	*h->held = 0;
	r = h->told ? label_find_rival(db, h, &rival) : -ENOENT;
	if (r == 0 && rival.version != like)
		r = compare(db, h, &rival);
	return r < 0 && r != -ENOENT ? r : holds_put(db, h);
}

/* Labels in names, and inside */

static int64_t name_label(const char *name, bool is_dir, enum label kind)
{
	int64_t epoch;

	if (kind == LABEL_STEP)
		return step_in_name(name, is_dir);
	return epoch_of_name(name, &epoch) ? epoch : NO_LABEL;
}

static int get_name(struct expfs *ex, const struct version_row *v, char **ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return tracked_name(db, v->tracked, ret);
}

int label_agrees_inside(struct expfs *ex, const struct version_row *a, const struct weights *x, const struct version_row *b,
			const struct weights *y)
{
	_cleanup_free_ char *a_name = NULL, *b_name = NULL;
	int r = get_name(ex, a, &a_name);

	if (r == 0)
		r = get_name(ex, b, &b_name);
	for (enum label kind = LABEL_STEP; kind <= LABEL_EPOCH && r == 0; kind++) {
		int64_t a_inner = weights_inner(x, kind), b_inner = weights_inner(y, kind);
		bool a_named = name_label(a_name, a->is_dir, kind) != NO_LABEL, b_named = name_label(b_name, b->is_dir, kind) != NO_LABEL;

		if (!(a_named || a_inner != NO_LABEL) || !(b_named || b_inner != NO_LABEL))
			continue;
		return (a_named && b_named) || a_inner == NO_LABEL || b_inner == NO_LABEL ? -ENOENT : a_inner == b_inner;
	}
	return r < 0 ? r : -ENOENT;
}
