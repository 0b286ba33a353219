/* The state of a run: what its configuration, model and data were when something was
 * done, as digests (spec section 5). What WeightsLab keeps below checkpoints/ under
 * hashes of its own is no part of it.
 *
 * Costs what reading the files costs that nobody asked about before: what is found out of a content is kept
 * with it. Not to be called with a lock. */
#ifndef EXPFS_STATE_H
#define EXPFS_STATE_H

#include "exp/expfs.h"
#include "format/manager_options.h"
#include "meta/experiment.h"
#include "meta/tracked.h"
#include "meta/version.h"

struct state {
	struct segments segments;
	bool weights; /* no file tells the model */
	struct manager_options options; /* of the configuration; all true where it does not speak of them */
	char *fault, *fault_path; /* why a configuration, below the run, does not parse; NULL: none */
};
void state_free(struct state *s);
#define _cleanup_state_ _cleanup_(state_free)

/* at: number of the commit up to which changes count; STATE_NOW. checkpoint: the version whose
 * weights tell the structure of the model where no file does; NULL: none do. init_step: of the branch. */
#define STATE_NOW INT64_MAX
int state_at(struct expfs *ex, const struct tracked_row *run, uint64_t at, const struct version_row *checkpoint,
	     uint64_t init_step, struct state *ret);

/* The options of its configuration at that moment alone. 1: a file did not parse, and what it said before that holds. */
int state_options(struct expfs *ex, const struct tracked_row *run, uint64_t at, struct manager_options *ret);

/* Calls f for the files of a role that were in force, with their paths below the run, in order of these. */
typedef int (*state_file_fn)(void *arg, const char *path, const struct version_row *v);
int state_files(struct expfs *ex, const struct tracked_row *run, enum role role, uint64_t at, state_file_fn f, void *arg);

/* The text of a configuration (format/hp.h) of these files, to be freed. */
struct state_file {
	char *path; /* below the run */
	struct version_row v;
};
int state_hp_text(struct expfs *ex, struct state_file *files, size_t n, char **ret);

/* Is a path below a run one of an experiment root's own layout, where names are the identity? */
bool state_is_of_root(const char *path);

#endif
