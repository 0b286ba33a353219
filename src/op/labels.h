/* What is said of the weights that checkpoints hold (exp/weights.h, exp/label.h). */
#ifndef EXPFS_OP_LABELS_H
#define EXPFS_OP_LABELS_H

#include <jansson.h>

#include "exp/branch.h"
#include "meta/tracked.h"
#include "meta/weights.h"

/* "labelled step 7, holds step 9: its weights are those of /runs/r/step_9.pt", to be freed; *ret is NULL where the label
 * is right, or not known to be wrong. cred: who asks, NULL: may know all. */
int labels_fault(struct expfs *ex, struct cred *cred, const struct holds_row *h, char **ret);

/* The same of a version, for whoever may know all: also NULL where it was not read yet. */
int labels_of_version(struct expfs *ex, uint64_t version, char **ret);

/* Calls f for the checkpoints of a branch, or of an experiment, that are there and wrongly labelled; path as of the
 * room exp. */
typedef void (*labels_fn)(void *arg, const char *path, const char *fault);
int labels_of_branch(struct expfs *ex, struct cred *cred, const struct branch *b, labels_fn f, void *arg);
int labels_of_experiment(struct expfs *ex, struct cred *cred, uint64_t experiment, labels_fn f, void *arg);

/* Is what the file or directory of a tracked path holds told to who asks? To who may read it. */
bool labels_may_know(struct db *db, struct cred *cred, const struct tracked_row *t);

/* {"read": whether its weights were read yet, and then "told": whether they could be, "parts": what a resume finds beside the
 * model, "label": what is wrong or null} of a complete version. */
int labels_summary(struct expfs *ex, struct cred *cred, uint64_t version, json_t **ret);

/* The same with "model": identity in hex or null, "epoch": or null, "why": why the model is not told, or null. */
int labels_entry(struct expfs *ex, uint64_t version, json_t **ret);

#endif
