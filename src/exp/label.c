#include "exp/label.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

void label_text(const struct holds_row *h, char ret[HOLDS_LABEL])
{
	write_label(h, strncmp(h->held, kinds[LABEL_EPOCH], strlen(kinds[LABEL_EPOCH])) == 0 ? LABEL_EPOCH : LABEL_STEP, ret);
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

/* 1 if weights were committed under its label before, and others. */
static int is_taken(struct db *db, const struct holds_row *h, enum label kind)
{
	struct holds_row first;
	int r = holds_first_labelled(db, h->run, kind, label_of(h, kind), &first);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return first.version < h->version && memcmp(first.model, h->model, WEIGHTS_DIGEST) != 0;
}

/* h against the version whose weights it has. */
static int compare(struct db *db, struct holds_row *h, const struct holds_row *holder)
{
	char label[HOLDS_LABEL];
	enum label kind;
	int r = compare_labels(h, holder, &kind);

	if (r != 0)
		return 0;
	r = is_taken(db, h, kind);
	if (r == 0 && (r = is_taken(db, holder, kind)) == 1) { /* it is that one which is wrong, as is known now */
		write_label(h, kind, label);
		return holds_set_other(db, holder, kind, h->version, label);
	}
	h->other = holder->version;
	write_label(holder, kind, h->held);
	return MIN(r, 0);
}

int tx_label_put(struct db *db, struct holds_row *h)
{
	struct holds_row holder;
	int r;

	h->other = 0;
	*h->held = 0;
	r = h->told ? first_with(db, h, &holder) : -ENOENT;
	if (r == 0 && holder.other)
		r = holds_get(db, holder.other, &holder);
	if (r == 0 && holder.version != h->version)
		r = compare(db, h, &holder);
	return r < 0 && r != -ENOENT ? r : holds_put(db, h);
}
