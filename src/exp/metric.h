/* Metrics that belong to one checkpoint (spec section 6), as rows of its versions:
 *
 *   user.expfs.metric.<name>   set on the file or directory. The value is of what that holds at the time: it
 *                              counts for the version of that, under each name that it has or gets, and does
 *                              not any more for what is written there later. While a file is being written,
 *                              or a directory saved, it is of the version to come
 *   trainer_state.json         in a directory, when it is found complete: of each metric the last value up to
 *                              the checkpoint's step
 *
 * Where both have one, the first counts. Functions named tx_* are for transactions. */
#ifndef EXPFS_METRIC_H
#define EXPFS_METRIC_H

#include "exp/complete.h"
#include "exp/expfs.h"

#define METRIC_XATTR "user.expfs.metric."

/* The attribute of that name (behind METRIC_XATTR) of the inode got a value, or was removed (NULL). A value that
 * is no number is none. */
int tx_metric_set(struct db *db, const struct inode_row *row, const char *name, const char *value, size_t len);

/* What the directory holds is about to be another thing than the version of it. */
int tx_metric_end(struct db *db, uint64_t ino);

/* A version was made of what the inode holds now, or is just that. */
int tx_metric_version(struct db *db, uint64_t ino, uint64_t version);

/* What trainer_state.json of a directory checkpoint holds; without one, or with a broken one, nothing. */
struct metric_inside;
int metric_inside_load(struct expfs *ex, const struct members *m, int64_t step, struct metric_inside **ret);
int tx_metric_inside(struct db *db, const struct metric_inside *in, uint64_t version);
void metric_inside_free(struct metric_inside *in);

#endif
