/* Bringing a directory from outside into a mount, as a program that writes there (spec section 10).
 *
 * What is told of experiments follows from the order in which files come, so they come as they once happened:
 * configurations, models and data; then all that is no checkpoint; checkpoints by their times, then their steps; manifests;
 * state files. Each keeps its times, by which the store knows that it is older than what is written there. No half file or
 * checkpoint is ever seen: a file, or the directory that is a checkpoint, is made beside its place as
 * .NAME.import-XXXXXXXX.part, which has no role, and renamed. So an import that was interrupted goes on when it is done
 * again: what is there and equal stays.
 *
 * In the order of calls: import_plan(), import_look(), import_bring(), import_free(). */
#ifndef EXPFS_SYNC_IMPORT_H
#define EXPFS_SYNC_IMPORT_H

#include "exp/config.h"
#include "sync/tree.h"

enum import_turn { IMPORT_FIRST, IMPORT_REST, IMPORT_CHECKPOINTS, IMPORT_MANIFESTS, IMPORT_STATES };

enum import_state {
	IMPORT_NEW,
	IMPORT_THERE,   /* equal */
	IMPORT_DIFFERS, /* something else is in its place */
	IMPORT_LOST,    /* could not be read; it is in tree->left */
};

struct import_unit; /* a directory that is a checkpoint */
struct import_dir;

/* A file or a symbolic link. */
struct import_item {
	const struct tree_entry *e;
	struct import_unit *unit; /* in which it lies, or NULL */
	const struct import_item *first; /* the other name of the same file that comes first; itself, if it has none */
	enum import_turn turn;
	enum import_state state;
	size_t place;       /* in which it lies */
	bool is_checkpoint; /* by itself */
	bool is_hp;         /* a configuration that counts for all of the place */
	bool has_step;
	uint64_t step;
};

/* A run, or an experiment root. */
struct import_place {
	char *path; /* in the mount */
	bool is_root;
	size_t checkpoints, steps; /* that are whole; steps: of how many of these the name tells one */
	size_t torn;               /* called as a checkpoint is, and not whole */
	const char *first_torn;    /* path below the top */
	const struct tree_entry *hp; /* the configuration that was changed last, or NULL */
	size_t older;              /* checkpoints from before that */
	uint64_t low, high;        /* of these */
	uint64_t hp_version;       /* the lowest of lightning_logs/version_<n>/ */
	size_t experiments;        /* of a root: as its manifest lists them */
};

struct import {
	struct tree *tree;
	const struct config *config;
	char *dest; /* path in the mount that the top becomes, "": the top of the mount */
	bool holds_runs; /* each directory in dest is a run */
	struct import_item *v; /* in the order in which they come */
	size_t n;
	struct import_unit *units;
	struct import_dir *dirs;
	size_t n_units, n_dirs;
	struct import_place *places;
	size_t n_places;
	char *foreign;              /* a name at dest that the tree does not have, or NULL */
	char *view;                 /* the first path where a directory is to be and a view is, or NULL */
	char *in_way;               /* the first path where a directory is to be and something else is, or NULL */
	const char *at;             /* the path, of a file or directory, that could not be written, or NULL */
	size_t n_new, n_there, n_differ, n_given_back; /* files: n_new, those that come */
	uint64_t bytes, bytes_new;  /* of files, each once; bytes_new: what they take on a disk */
};

/* Reads the tree at dir. -errno as from tree_read(); -EINVAL: dir is itself the checkpoints/ of a root. config outlives it. */
int import_plan(const char *dir, const struct config *config, const char *dest, struct import **ret);

/* Compares it with what is there: to is the directory that the top becomes, -1 if there is none yet. */
int import_look(struct import *im, int to);

/* Brings what is new into the directory to; it is on the disk then. -errno: im->at could not be written there. What cannot be
 * read is put into tree->left. To be called where nothing differs or is in the way. */
int import_bring(struct import *im, int to);

void import_free(struct import *im);

static inline void import_freep(struct import **im)
{
	if (*im)
		import_free(*im);
}
#define _cleanup_import_ _cleanup_(import_freep)

#endif
