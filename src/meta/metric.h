/* Rows of the tables metric and signal: what is known of how good a checkpoint is.
 *
 * A metric is of a version, or of what an inode holds now: then each version that is made of
 * that gets it, too. A signal is of a run and a step. Names are of 1 to METRIC_NAME_MAX bytes;
 * values may be infinite, or NaN. */
#ifndef EXPFS_META_METRIC_H
#define EXPFS_META_METRIC_H

#include "meta/meta.h"

#define METRIC_NAME_MAX 255
#define METRIC_SET (-1) /* in place of the step at which it was measured: a user set it */
#define METRIC_CHOICES 8

/* of: id of a version or an inode, which come from one sequence. */
int metric_put(struct db *db, uint64_t of, const char *name, int64_t step, double value);
int metric_delete(struct db *db, uint64_t of, const char *name);
int metric_clear(struct db *db, uint64_t of);
int metric_copy(struct db *db, uint64_t from, uint64_t to);

/* A version of a checkpoint of a run, with one of its metrics or none. */
struct metric_version {
	uint64_t tracked, parent; /* its path, and the directory of that */
	const char *name; /* of the path, of name_len bytes */
	size_t name_len;
	bool is_dir;
	uint64_t id, begin;
	bool good;     /* it is the last complete one of its path */
	int64_t step, rank;
	uint64_t experiment;      /* that it belongs to, or 0 */
	bool off;      /* its path is off the line of its branch */
	bool there;    /* its path is, and has a version that is complete */
	bool gone;     /* then its path went away: what is before does not count any more; not of a removed run's last */
	bool head;     /* its path holds it, or held it before somebody began to write it anew */
	int complete;  /* as of struct version_row */
	int choice;    /* which of the names, -1: none */
	int64_t at;    /* step at which the value was measured, or METRIC_SET */
	double value;
};

/* Calls f for each, the versions of a path one after the other, the oldest first; a version with
 * several metrics comes several times. names: up to METRIC_CHOICES. */
typedef int (*metric_version_fn)(void *arg, const struct metric_version *v);
int metric_list_versions(struct db *db, uint64_t run, char *const *names, size_t n, metric_version_fn f, void *arg);

/* A later value for the same step takes the place of an earlier one. time: ns since 1970. */
int signal_put(struct db *db, uint64_t run, const char *name, int64_t step, double value, int64_t time);
int signal_forget(struct db *db, uint64_t run);

/* By name and step; of one name, or (NULL) of all. */
typedef int (*signal_fn)(void *arg, int64_t step, const char *name, double value);
int signal_list(struct db *db, uint64_t run, const char *name, signal_fn f, void *arg);

#endif
