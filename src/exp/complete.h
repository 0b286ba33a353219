/* Completeness of checkpoints (spec section 6): is a file, or a directory of
 * files, one that a training can be resumed from?
 *
 * Answers are given as the fault that keeps it from being complete: a static
 * text that continues "NAME: ", or NULL where there is none. */
#ifndef EXPFS_COMPLETE_H
#define EXPFS_COMPLETE_H

#include "exp/expfs.h"
#include "meta/version.h"

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
	int64_t names_changed; /* when a name in it came or went the last time, ns */
	bool too_many;  /* not all of them are here */
	uint64_t before; /* set before they are loaded: only those made and begun before that number; 0: all */
};

/* All files below a directory, or those that are looked at. */
int members_load(struct expfs *ex, uint64_t dir, struct members *m);
void members_free(struct members *m);
#define _cleanup_members_ _cleanup_(members_free)

/* When the first of the files was begun that were begun after since or, where none was, the last one. */
uint64_t members_begin(const struct members *m, uint64_t since);

/* Of a file as it is; of a version of one. name as for format_whole(). */
const char *complete_file_fault(struct expfs *ex, const struct inode_row *row, const char *name);
const char *complete_version_fault(struct expfs *ex, const struct version_row *v, const char *name);

/* Did it lose some of the files that it had before, a moment ago? A tree is removed file by
 * file, and what is left of it meanwhile is no state that anybody saved. */
const char *complete_removal_fault(const struct members *m, char *const *before, size_t n);

/* Of the files of a directory; *ret_at is the one that it is about, or m->n. */
const char *complete_files_fault(struct expfs *ex, const struct members *m, size_t *ret_at);

/* Was a part of the weights written anew since the number of its last complete version, in which they have the names
 * before? They are of two saves, whatever marker is there from the first one; but a marker that was written since
 * says that it is as it should be. */
const char *complete_mixed_fault(const struct members *m, char *const *before, size_t n, uint64_t since);
bool complete_is_mixed(const char *fault);

/* Of a directory whose files have none. before: the names of the checkpoint before
 * it of its run that has whole files, or none. */
const char *complete_dir_fault(struct expfs *ex, uint64_t dir, const struct members *m, char *const *before, size_t n);

/* Is the fault one of a save that is under way? Is there none with the files that
 * are there? */
bool complete_may_come(const char *fault);

/* The fault in more words: what the format says of the content. */
const char *complete_explain(struct expfs *ex, uint64_t object, const char *name, const char *fault);

#endif
