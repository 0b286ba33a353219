/* The weights of checkpoints, read in the background and kept with the content, so that
 * each content is read once. Nothing of a file is run, and no operation on a file waits for it. */
#ifndef EXPFS_WEIGHTS_H
#define EXPFS_WEIGHTS_H

#include "exp/expfs.h"
#include "format/identity.h"
#include "meta/version.h"
#include "meta/weights.h"

typedef bool (*weights_stop)(void *arg); /* NULL: never */

/* A file of tensors: digests of all of them, or why it cannot be read. */
struct weights_file {
	char *name;         /* below the checkpoint; NULL of one that is a file */
	bool of_model;      /* as its name says */
	struct tensors *ts; /* NULL: it cannot be read */
	struct weights_row row;
	int fd; /* of a file outside of the store, or -1 */
};

/* Those of a version that can hold weights, or what a training needs to go on. */
struct weights {
	struct weights_file *v;
	size_t n;
	unsigned parts; /* enum part, of all its files */
	uint64_t metadata; /* the object of .metadata (format/distcp.h), or 0 */
};

/* Reads what was not read yet. 0; -ECANCELED as stop says; -E2BIG: it has more files, tensors or names than are read
 * (format/tensors.h); other errors. */
int weights_load(struct expfs *ex, const struct version_row *v, weights_stop stop, void *arg, struct weights *ret);

/* For one that nobody will want again soon: what the kernel has cached of files that nobody has open goes. */
int weights_load_once(struct expfs *ex, const struct version_row *v, weights_stop stop, void *arg, struct weights *ret);
void weights_free(struct weights *w);

/* The same of a regular file outside of the store, whose descriptor it takes over. */
int weights_load_outside(int fd, weights_stop stop, void *arg, struct weights *ret);
#define _cleanup_weights_ _cleanup_(weights_free)

/* One of its files, open for reading; until weights_close(). */
struct weights_open {
	struct object *object;
	int fd;
};
int weights_open(struct expfs *ex, const struct weights_file *f, struct weights_open *ret);
void weights_close(struct weights_open *o);

/* The identity of its model; 1, or 0: it is not told. -ENOMEM. */
int weights_model(const struct weights *w, uint8_t ret[WEIGHTS_DIGEST]);

/* Why the model is not told, "NAME: reason", to be freed; NULL where it is. */
int weights_fault(const struct weights *w, char **ret);

/* The step (of a single file) or epoch that it says it is of, inside; NO_LABEL. */
int64_t weights_inner(const struct weights *w, enum label kind);

#endif
