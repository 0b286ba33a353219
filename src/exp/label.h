/* Labels of checkpoints against the weights that they hold (spec section 7).
 *
 * A label is the step, else the epoch, that the name tells or the file says of itself. Of two versions of a run that hold
 * the same weights under two labels one was saved too late, or under the wrong name: the one under whose label other
 * weights were committed before; else the one that came when the run was at a later label already; else the one under
 * whose label other weights were committed later; else the later one. */
#ifndef EXPFS_LABEL_H
#define EXPFS_LABEL_H

#include "exp/expfs.h"
#include "exp/weights.h"

/* The version that holds the weights of h, which is not put in yet, under another label. -ENOENT. */
int label_find_rival(struct db *db, const struct holds_row *h, struct holds_row *ret);

/* Within a transaction: takes a version in whose weights have been read, and finds out whether its label or that of its
 * rival is wrong; not if that is the version like, which only seems to hold the same. */
int tx_label_put(struct db *db, struct holds_row *h, uint64_t like);

/* Do two versions say inside that they are of the same step or epoch? 1, 0; -ENOENT: one does not say, or both have it in
 * their names, which decide then. */
int label_agrees_inside(struct expfs *ex, const struct version_row *a, const struct weights *x, const struct version_row *b,
			const struct weights *y);

/* What h says of itself in the kind of what it holds: "step 7"; h->held is not empty. */
void label_text(const struct holds_row *h, char ret[HOLDS_LABEL]);

#endif
