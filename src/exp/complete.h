/* Completeness of checkpoints (spec section 6): is a file, or a directory of
 * files, one that a training can be resumed from?
 *
 * Answers are given as the fault that keeps it from being complete: a static
 * text that continues "NAME: ", or NULL where there is none. */
#ifndef EXPFS_COMPLETE_H
#define EXPFS_COMPLETE_H

#include "exp/checkpoint.h"

struct member { /* a file of a directory checkpoint */
	char *name; /* below the directory */
	struct inode_row row;
};

struct members {
	struct member *v; /* by name */
	size_t n;
	uint64_t order; /* of the latest */
	bool imported;  /* all of them */
	int64_t mtime;  /* the latest, ns */
	bool nested;    /* there are subdirectories */
	bool too_many;  /* not all of them are here */
};

/* All files below a directory, or those that are looked at. */
int members_load(struct expfs *ex, uint64_t dir, struct members *m);
void members_free(struct members *m);

const char *complete_file_fault(struct expfs *ex, const struct inode_row *row, const char *name);

/* *ret_sure is false where it depends on the checkpoint before it that has whole files, whose
 * files (none, if there is none) complete_dir_fault_after() then wants.
 * A directory found complete is given to complete_remember(). */
const char *complete_dir_fault(struct expfs *ex, const struct checkpoint *c, bool *ret_sure);
const char *complete_dir_fault_after(const struct checkpoint *c, const struct members *before);
void complete_remember(struct expfs *ex, struct checkpoint *c);

/* Is the fault one of a save that is under way? Is there none with the files that
 * are there? */
bool complete_may_come(const char *fault);
bool complete_has_whole_files(const char *fault);

/* The fault of a judged checkpoint in more words: which file, and what its format
 * says. */
void complete_explain(struct expfs *ex, const struct checkpoint *c, char *ret, size_t size);

#endif
