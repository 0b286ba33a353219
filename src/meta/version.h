/* Rows of the tables version and member. A version holds its object: that one is
 * not removed as long as the row is there. */
#ifndef EXPFS_META_VERSION_H
#define EXPFS_META_VERSION_H

#include "meta/inode.h"
#include "meta/meta.h"

#define VERSION_UNJUDGED (-1)

struct version_row {
	uint64_t id;      /* number of the commit that made it */
	uint64_t tracked;
	uint64_t n;       /* of its path, from 1 */
	bool is_dir;
	uint64_t object;  /* 0: empty, or a directory */
	uint64_t size;
	uint32_t mode, uid, gid;
	int64_t mtime;    /* ns */
	uint64_t until;   /* number of the commit after which its path held something else, 0: it is there */
	bool gone;        /* that took the path away */
	int complete;     /* 1, 0, VERSION_UNJUDGED */
	int64_t step, rank; /* as of struct tracked_row */
	uint64_t begin;      /* number of the change that began it: its first byte came after */
	uint64_t experiment; /* that it belongs to, 0: none, or not known yet */
};

int version_insert(struct db *db, const struct version_row *row);
int version_get(struct db *db, uint64_t id, struct version_row *ret); /* -ENOENT */
int version_update(struct db *db, const struct version_row *row);     /* all but id, tracked, n, is_dir, experiment */
int version_set_experiment(struct db *db, uint64_t id, uint64_t experiment);
int version_delete(struct db *db, uint64_t id);                       /* and its members */

int version_by_n(struct db *db, uint64_t tracked, uint64_t n, struct version_row *ret); /* -ENOENT */

/* The one before n of the path; -ENOENT. */
int version_before(struct db *db, uint64_t tracked, uint64_t n, struct version_row *ret);

/* Any that holds the object, itself or in a member; -ENOENT. */
int version_of_object(struct db *db, uint64_t object, uint64_t *ret);

/* One that held the same object before: the last one of another path or, if there is none, of its own. -ENOENT. */
int version_before_with(struct db *db, const struct version_row *v, struct version_row *ret);

/* The last version of the same path before it that belongs to an experiment and holds an object, itself or in a file of the
 * directory; look: so many versions are looked at. -ENOENT. */
int version_back(struct db *db, const struct version_row *v, uint64_t object, unsigned look, struct version_row *ret);

/* Versions that hold the object hold another from now on. */
int version_replace_object(struct db *db, uint64_t object, uint64_t by);

/* The versions of a path, which keep their numbers, are another's, which had none. */
int version_move(struct db *db, uint64_t tracked, uint64_t to);

/* Calls f for the versions that counted for paths of a run with that role after the commit of number at: that each held,
 * or held last where it was being written; parent and name (of len bytes) are those of the tracked path. */
typedef int (*version_named_fn)(void *arg, const struct version_row *row, uint64_t parent, const char *name, size_t len);
int version_list_in_force(struct db *db, uint64_t run, int role, uint64_t at, version_named_fn f, void *arg);

/* Calls f for the numbers between two (without these) from which on paths of a run with that role held something else,
 * ascending. */
typedef int (*version_change_fn)(void *arg, uint64_t at);
int version_list_changes(struct db *db, uint64_t run, int role, uint64_t from, uint64_t to, version_change_fn f, void *arg);

/* The one that counted for a path after that commit; -ENOENT. */
int version_in_force(struct db *db, uint64_t tracked, uint64_t at, struct version_row *ret);

/* The number of the commit after which it did not count any more; 0: it does. */
int version_counts_until(struct db *db, const struct version_row *v, uint64_t *ret);

/* The complete checkpoint of an experiment, and of a step unless that is NO_STEP, that has the highest rank of those of the run;
 * if there are none, of all others: a copy, and what was loaded, has there the rank of what it is of, and comes after that. One
 * that was deleted only where no other is left. only_own: of those of the run alone. -ENOENT. */
int version_last_of_experiment(struct db *db, uint64_t experiment, int64_t step, uint64_t run, bool only_own,
			       struct version_row *ret);

/* Calls f for all of that step which were not deleted, in the same order. */
int version_list_of_step(struct db *db, uint64_t experiment, int64_t step, uint64_t run, bool only_own, version_named_fn f,
			 void *arg);

/* Calls f for the steps of the complete checkpoints of an experiment, deleted ones too, ascending. */
typedef int (*step_fn)(void *arg, int64_t step);
int version_list_steps(struct db *db, uint64_t experiment, step_fn f, void *arg);

/* 1 if they hold the same, with the same names. */
int version_same_content(struct db *db, uint64_t a, uint64_t b);

/* Calls f for the versions of a path, oldest first. */
typedef int (*version_fn)(void *arg, const struct version_row *row);
int version_list(struct db *db, uint64_t tracked, version_fn f, void *arg);

/* The files of a directory: name is their path below it. */
struct member_row {
	uint64_t object;
	uint64_t size;
	uint32_t mode, uid, gid;
	int64_t mtime;
};
struct member_row member_of(const struct inode_row *row); /* as the file is now */
int member_insert(struct db *db, uint64_t version, const struct member_row *row, const char *name);
int member_update(struct db *db, uint64_t version, const struct member_row *row, const char *name); /* all but object, size */
/* Takes from the modes of a file, or of those in a directory whether they have its group or another, what is not in these. */
int member_close(struct db *db, uint64_t version, const char *name, uint32_t mode);
int member_close_below(struct db *db, uint64_t version, const char *dir, uint32_t gid, uint32_t same, uint32_t other);
int member_move(struct db *db, uint64_t version, uint64_t to); /* in place of those that to had */
int member_get(struct db *db, uint64_t version, const char *name, struct member_row *ret); /* -ENOENT */

/* By their place in the order of names, from 0: the one at it (its name to be freed); the place
 * that a name has, or would have. */
int member_at(struct db *db, uint64_t version, uint64_t place, struct member_row *ret, char **ret_name); /* -ENOENT */
int member_place(struct db *db, uint64_t version, const char *name, uint64_t *ret);

/* In order of the names' bytes. */
typedef int (*member_fn)(void *arg, const struct member_row *row, const char *name);
int member_list(struct db *db, uint64_t version, member_fn f, void *arg);

/* The largest one, its name to be freed; -ENOENT. */
int member_largest(struct db *db, uint64_t version, struct member_row *ret, char **ret_name);

#endif
