/* Where an experiment comes from: a run that went through it, and the files that made its
 * state. Told to whom could find them by himself.
 *
 * cred: who asks (exp/cred.h). A run is there for him if he can walk to it and look into it, a file if that holds
 * of all directories down to it. Functions return 0 or -errno; none is to be called with a lock. */
#ifndef EXPFS_ORIGIN_H
#define EXPFS_ORIGIN_H

#include "exp/cred.h"
#include "exp/expfs.h"
#include "meta/experiment.h"
#include "meta/tracked.h"
#include "meta/version.h"

struct origin {
	struct experiment_row experiment;
	struct tracked_row run;
	struct inode_row dir; /* mode, owner and time of the run's, or what it had when it was removed */
	uint64_t at;          /* number of the commit up to which changes count */
};

/* The first run that went through it; -ENOENT: none for him. */
int origin_find(struct expfs *ex, struct cred *cred, const struct experiment_row *e, struct origin *ret);

/* A file. */
struct origin_file {
	struct tracked_row tracked;
	struct version_row version; /* mode: no more than the path shows now */
	char *path;       /* from the top of the mount */
	const char *name; /* in it: the part that is below the run; of what lies in a directory checkpoints/ the last
			   * one, for that is no name of a view */
};

/* Calls f, with a reader of the database in hand, for the files that made a segment; ends early with what it
 * returns other than 0. */
typedef int (*origin_fn)(void *arg, const struct origin_file *file);
int origin_files(struct expfs *ex, struct cred *cred, const struct origin *o, enum segment which, origin_fn f,
		 void *arg);

/* The same for the one of a tracked path, by index; -ENOENT: it is none of them. */
int origin_file_below(struct expfs *ex, struct cred *cred, const struct origin *o, enum segment which,
		      uint64_t tracked, struct origin_file *ret);
void origin_file_free(struct origin_file *f);

/* Where the content of a version is found, from the top of the mount: at its path as long as that holds it, else
 * in history; to be freed. */
int origin_place(struct expfs *ex, const struct origin_file *f, char **ret);

/* The configuration, as of hp_whole(), to be freed. -EACCES: he may not read it. */
int origin_hp(struct expfs *ex, struct cred *cred, const struct origin *o, char **ret);

#endif
