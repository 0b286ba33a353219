/* Curves of a run: rows (step, name, value) from its files with the role SIGNALS and from what was recorded for it
 * (spec section 6).
 *
 * A file is read as it is now, also while somebody writes it. One that only grew is read on
 * from where it was read to, one that did not change is not read. Files come in the order of their times, what was
 * recorded last; of two rows with one name and step the later counts. Of a run that was removed the last versions of
 * its files are read. Functions return 0 or -errno. */
#ifndef EXPFS_SIGNAL_H
#define EXPFS_SIGNAL_H

#include "exp/expfs.h"
#include "format/metrics.h"

/* A file as it was read. */
struct signal_file;

/* restart: all rows of the file come anew. */
struct signal_sink {
	void (*restart)(void *arg);
	metrics_fn row;
	void *arg;
};

/* One of a run. */
struct signal_path {
	uint64_t tracked;
	uint64_t id; /* its inode; or the version, of a run that was removed */
	bool is_version;
	char *name; /* the last component */
};

/* One that was not read yet, of the kind that its name says. */
int signal_file_new(const struct signal_path *p, struct signal_file **ret);
void signal_file_free(struct signal_file *f);

/* Gives what is new to the sink. *ret_mtime: of the file, ns. A file that is gone has nothing. */
int signal_file_read(struct expfs *ex, struct signal_file *f, const struct signal_sink *sink, int64_t *ret_mtime);

/* Of the row that is being given: has it no step but its epoch? */
bool signal_file_counts_epochs(const struct signal_file *f);

/* The files of a run. */
struct signal_paths {
	struct signal_path *v; /* by id, each once */
	size_t n;
};
int signal_paths_add(struct signal_paths *l, const struct signal_path *p, const char *name); /* p with that name, at the end */
int signal_paths_load(struct expfs *ex, uint64_t run, struct signal_paths *ret);
void signal_paths_free(struct signal_paths *l);
#define _cleanup_signal_paths_ _cleanup_(signal_paths_free)

#endif
