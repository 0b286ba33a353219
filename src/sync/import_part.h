/* What the files import*.c share. */
#ifndef EXPFS_SYNC_IMPORT_PART_H
#define EXPFS_SYNC_IMPORT_PART_H

#include "sync/import.h"
#include "sync/import_name.h"
#include "util/progress.h"

/* A directory of the tree. */
struct import_dir {
	const struct tree_entry *e;
	struct import_unit *unit; /* that it is or lies in, or NULL */
};

struct import_unit {
	const struct tree_entry *dir;
	const struct import_dir *dirs; /* itself and those in it, the deeper ones first */
	size_t n_dirs;
	int64_t time; /* of its newest file; INT64_MIN: it has none */
	uint64_t step;
	bool has_step;
	bool torn;   /* a file of it is */
	size_t place; /* in which it lies */
	bool there; /* the directory is in its place, so that files go into it */
	bool done;  /* it has got its name now */
	bool lost;  /* something of it could not be read */
};

/* Puts items and directories in order, and finds which items are names of one file. -ENOMEM */
int import_order(struct import *im);

/* Counts the checkpoints of places. */
void import_count(struct import *im);

/* Where it is made or, if it is there, where that is: a path below the destination, to be freed. NULL: memory is short. */
char *import_path(const struct import_unit *unit, const char *to);

/* Makes one file or link at a path. 1: it could not be read, and was put into tree->left. */
int import_file(struct import *im, const struct import_item *item, int to, const char *path, struct progress *p);

/* Takes away what does not fit where a checkpoint directory is made. */
int import_tidy(const struct import *im, const struct import_unit *unit, int to);

/* Gives to owner, mode, times, and the user's extended attributes of from, as far as they are taken; from -1: none of these. */
int import_attributes(int from, int to, const struct stat *st);

#endif
