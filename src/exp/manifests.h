/* What is wrong with what WeightsLab resumes from (spec section 5): a manifest that
 * lost experiments which an earlier version has, a state file whose experiment no
 * manifest lists.
 *
 * A manifest is compared with the last version of it that had all that the versions
 * before had. Which one that is, is remembered as long as the store is open, so that
 * each version is read once; of those from before that no more than the last thousand. */
#ifndef EXPFS_MANIFESTS_H
#define EXPFS_MANIFESTS_H

#include "exp/expfs.h"
#include "meta/tracked.h"

enum manifest_fault { MANIFEST_FINE, MANIFEST_LOST, MANIFEST_UNKNOWN_HASH };

struct manifest_finding {
	enum manifest_fault fault;
	char *text;      /* continues "PATH: "; NULL if it is fine */
	uint64_t better; /* number of the version that has what is lost */
};

/* Of a tracked path of the role MANIFEST, by what it holds; nothing is said of one that is gone, or being written. */
int manifest_find_fault(struct expfs *ex, const struct tracked_row *t, const char *name, struct manifest_finding *ret);
void manifest_finding_free(struct manifest_finding *f);

struct manifests;
int manifests_new(struct manifests **ret);
void manifests_free(struct manifests *m);

#endif
