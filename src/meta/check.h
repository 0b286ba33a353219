/* Is the database sound? For fsck.
 *
 * check_structure() first: where it finds anything, neither the answers of the
 * others nor a repair are to be trusted. */
#ifndef EXPFS_META_CHECK_H
#define EXPFS_META_CHECK_H

#include "meta/meta.h"

/* SQLite's own check; f is told each thing wrong, at most 100. */
int check_structure(struct db *db, void (*f)(void *arg, const char *text), void *arg);

struct check_fault {
	bool content_lost; /* a file's bytes are gone, nothing is to be repaired */
	const char *text;  /* what is wrong, with the numbers that tell it from others */
	uint64_t ino;      /* whom it is about, or 0 */
	const char *name;  /* an entry of that directory, or NULL */
};

/* Faults between the rows that no constraint rules out. */
typedef void (*check_fn)(void *arg, const struct check_fault *fault);
int check_rows(struct db *db, check_fn f, void *arg);

/* A meta_fn: repairs where there is one answer only. Entries that lead nowhere go; what
 * has no name gets one in /lost+found, contents too; a directory keeps one of its
 * names; counts and sizes are taken from what they count. No content is given up. */
struct check_contents {
	bool (*is_there)(void *arg, uint64_t object); /* has it a file? */
	void *arg;
};
int check_repair(struct db *db, void *check_contents);

/* Calls f for each name of each file that has this content; before: the object that
 * it had until its last save, if that is still there, else 0. */
int check_holders(struct db *db, uint64_t object,
		  void (*f)(void *arg, uint64_t parent, const char *name, uint64_t before), void *arg);

/* Calls f for each version that holds it, itself or as its file member (else NULL). */
struct version_row;
int check_versions(struct db *db, uint64_t object,
		   void (*f)(void *arg, const struct version_row *v, const char *member), void *arg);

/* 1 if a row of whatever kind names the object, 0 if none does. */
int check_is_named(struct db *db, uint64_t object);

#endif
