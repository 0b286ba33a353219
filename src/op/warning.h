/* What status warns of: {"kind", "path", "text"}, the path null where it is about
 * the store. Kinds: read-only, config, full, power-cut, damaged, kernel, collision, torn, mixed, waiting, duplicate-step, label,
 * hp-unparsable, manifest-lost, state-unknown-hash. */
#ifndef EXPFS_OP_WARNING_H
#define EXPFS_OP_WARNING_H

#include <jansson.h>

#include "exp/branch.h"
#include "exp/experiment.h"
#include "meta/ledger.h"

#define WARNINGS_MAX 1000 /* more are not told */

/* Who asks is told of what he could find by himself; NULL: of all. */

/* Of the store as a whole. */
int warn_of_store(struct expfs *ex, json_t *warnings);

/* Of the checkpoints of one branch, which were judged: those that are not whole, and
 * two names for one step. none: it has no complete one. */
int warn_of_checkpoints(struct expfs *ex, struct cred *cred, const struct branch *b, bool none, json_t *warnings);

/* Of those that hold the weights of another label (op/labels.h). */
int warn_of_labels(struct expfs *ex, struct cred *cred, const struct branch *b, json_t *warnings);

/* Of the manifests and state files of its run. */
int warn_of_manifests(struct expfs *ex, struct cred *cred, const struct branch *b, json_t *warnings);

/* Of a selection whose version is lost. */
void warn_of_lost(const struct branch *b, const struct ledger_row *selection, json_t *warnings);

/* Of a configuration that does not parse. */
void warn_of_pending(struct expfs *ex, struct cred *cred, const struct pending *p, json_t *warnings);

#endif
