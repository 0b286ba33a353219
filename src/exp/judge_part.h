/* For judge.c and judge_dir.c: one path that is judged. */
#ifndef EXPFS_JUDGE_PART_H
#define EXPFS_JUDGE_PART_H

#include "exp/complete.h"
#include "exp/file.h"
#include "exp/judge.h"
#include "exp/metric.h"

#define JUDGE_BATCH 64
#define JUDGE_VERSIONS_MAX 64 /* of a path that are judged in one go */

struct judgement {
	struct expfs *ex;
	struct tracked_row t; /* as it was looked at */
	char *name;
	/* Of a file: the versions that were not judged, the last one first, up to one that was found complete. */
	struct version_row v[JUDGE_VERSIONS_MAX];
	bool fresh[JUDGE_VERSIONS_MAX]; /* judged here */
	size_t n;
	bool more; /* there are more of them, perhaps, and none of these is complete */
	bool written; /* somebody is at it: it is to be judged again */
	/* Of a directory: */
	struct members m;
	const char *fault;
	bool ignored; /* its run does not record it */
	struct metric_inside *metrics;
	struct file_drop drop;
};

/* Of a directory that is there: loads its files, and sets the fault that keeps them from being complete. -ENOENT,
 * -ESTALE: it is gone. */
int judge_dir_fault(struct judgement *j);

/* The same, and notes what it is. -EAGAIN: it changed meanwhile. */
int judge_dir(struct judgement *j);

#endif
