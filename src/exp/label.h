/* Labels of checkpoints against the weights that they hold (spec section 7).
 *
 * A label is the step, else the epoch, that the name tells or the file says of itself. The weights of a label are
 * those of the first version that was committed under it. A version whose weights are not those, but were first
 * committed under another label of its run, was saved too late, or under the wrong name. */
#ifndef EXPFS_LABEL_H
#define EXPFS_LABEL_H

#include "exp/expfs.h"
#include "meta/weights.h"

/* Within a transaction: takes a version in whose weights have been read, and finds out of it, and of those that it is
 * news for, whether they hold another label's. */
int tx_label_put(struct db *db, struct holds_row *h);

/* What h says of itself in the kind of what it holds: "step 7"; h->held is not empty. */
void label_text(const struct holds_row *h, char ret[HOLDS_LABEL]);

#endif
