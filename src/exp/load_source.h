/* What is to be loaded: the files of a state, and where their contents are. For exp/load.c. */
#ifndef EXPFS_LOAD_SOURCE_H
#define EXPFS_LOAD_SOURCE_H

#include "exp/load.h"
#include "exp/put.h"
#include "meta/experiment.h"
#include "meta/tracked.h"
#include "meta/version.h"

/* A checkpoint as it was. */
struct load_checkpoint {
	struct version_row version;
	char *path;             /* below the run */
	struct put_file *files; /* by path; of a file itself */
	size_t n;
};

struct load_source {
	struct experiment_row experiment;
	uint64_t run;              /* tracked path of the run from which it comes */
	bool counts[SEGMENTS];     /* by the options of its configuration */
	bool weights;              /* no file tells the model */
	uint64_t init_step;        /* for what comes */
	struct put_file *files;    /* configuration, model, data; by path */
	size_t n;
	struct load_checkpoint *checkpoints; /* that which is loaded, then others without a step in their names; or none */
	size_t n_checkpoints;
};

int load_source_find(struct expfs *ex, const struct load *l, struct load_source *ret, char **ret_error);
void load_source_free(struct load_source *s);
#define _cleanup_load_source_ _cleanup_(load_source_free)

/* Gets the contents onto the disk, so that others may have them. */
int load_source_settle(struct expfs *ex, struct load_source *s, char **ret_error);

/* Does a file of the run at this path stay, for the state has one there or names are the identity there? */
bool load_source_leaves(const struct load_source *s, const char *path);

enum role load_source_role(size_t segment);

/* Sets *ret_error if nothing is there yet; gives r back. */
int load_fail(char **ret_error, int r, const char *fmt, ...) _printf_(3, 4);

#endif
