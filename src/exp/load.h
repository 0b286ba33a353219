/* Loading a state: the configuration, model and data files of an experiment and one of its checkpoints come back into a
 * run, whose branch goes on from there (spec section 5).
 *
 * Names, contents, the branch's new point and what is on its line are one transaction: after a death there is the old
 * state or the new one. Who has a file of the old state open keeps that one. What was there is in history. */
#ifndef EXPFS_LOAD_H
#define EXPFS_LOAD_H

#include "exp/cred.h"
#include "exp/expfs.h"
#include "meta/experiment.h"

/* HASH or HASH@STEP: the first characters of a hash, as many as tell it from others. */
struct load_name {
	char hash[EXPERIMENT_HASH + 1];
	int64_t step; /* NO_STEP: the latest */
};
int load_parse(const char *text, struct load_name *ret); /* -EINVAL */

struct load {
	struct load_name name;
	struct cred *cred; /* who asks; NULL: the owner of the store */
	uint64_t run;      /* inode of the run into which it is loaded, or 0: */
	const char *new;   /* name of one to be made in runs/, */
	uint32_t uid, gid; /* that is his */
	uint64_t from;     /* tracked path of the run whose own checkpoints, deleted ones too, go before all others, or 0 */
};

struct loaded {
	char hash[EXPERIMENT_HASH + 1];
	char *checkpoint; /* path below the run, to be freed; NULL: the experiment has none */
	int64_t step;     /* of that, or NO_STEP */
	size_t changed;   /* files that came, and names that went */
};

/* -ENOENT: no such experiment, or step; -EINVAL: several experiments begin so; -EEXIST: the new run is there;
 * -EBUSY: somebody writes a file that would be replaced; -EACCES, -EPERM; -ENODATA: versions of it were forgotten;
 * -EOPNOTSUPP: it is known by its name only;
 * -ENOTTY: that is no run. *ret_error, if set, to be freed: thing: reason; what to do.
 * Not to be called with a lock or a reader of the database. */
int load_state(struct expfs *ex, const struct load *l, char **ret_error, struct loaded *ret);

#endif
