/* What is known of a version of a checkpoint, for the record of its selection (spec section 7): found out from what the
 * database has and from the bytes, which are read without a lock. */
#ifndef EXPFS_EVIDENCE_H
#define EXPFS_EVIDENCE_H

#include "exp/weights.h"
#include "meta/tracked.h"
#include "util/list.h"

#define SHA256_TEXT 65
#define XXH3_TEXT (2 * WEIGHTS_DIGEST + 1)

struct evidence {
	const char *capture;   /* "in place", "renamed", "linked", "copied"; NULL: not known */
	bool shared;           /* its content was that of an earlier version */
	int64_t captured_at;   /* ns: when its content was begun; 0: not known */
	int64_t completed_at;  /* ns: when the last of it was written, as its times say; 0: they cannot be */
	char sha256[SHA256_TEXT];  /* of the file; of a directory: of the lines that sha256sum would print of its files */
	char model[XXH3_TEXT];     /* identity of the model's tensors; "": not told */
	char tensors[SHA256_TEXT]; /* of all tensors: of lines DIGEST TYPE SHAPE FILE NAME, sorted; "": not told */
	struct id_list objects;    /* all that it consists of */
};

/* The version is complete. -ECANCELED: as stop says; -EOPNOTSUPP: some of it is changed in place, and may be changed again;
 * -ESTALE: it is gone meanwhile; -E2BIG and others as of weights_load(). */
int evidence_find(struct expfs *ex, const struct version_row *v, weights_stop stop, void *arg, struct evidence *ret);
void evidence_free(struct evidence *e);
#define _cleanup_evidence_ _cleanup_(evidence_free)

#endif
