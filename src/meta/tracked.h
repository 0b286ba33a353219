/* Rows of the tables tracked and version: the paths that have, or had, a role in
 * an experiment, and what they held each time that their last writer closed
 * them.
 *
 * Tracked paths form a tree of their own, beside the names: it still has what was
 * removed, and moves with a directory that is renamed. Its top is the row
 * TRACKED_TOP. */
#ifndef EXPFS_META_TRACKED_H
#define EXPFS_META_TRACKED_H

#include "meta/meta.h"

#define TRACKED_TOP 1
#define TRACKED_NAME 320 /* bytes of a name, with its end: one that was displaced is longer than 255 */
#define TRACKED_CHECKPOINT 4 /* the role of checkpoints */
#define NO_STEP (-1)
#define TRACKED_ASIDE 0200000 /* beside the mode of a directory that is gone: NAME~1 was given to it, as NAME was needed */

struct tracked_row {
	uint64_t id, parent;
	uint64_t ino;     /* what stands there, 0: nothing any more */
	uint64_t run;     /* the tracked path of the run that it belongs to; of a run: itself */
	int role;         /* as of format/role.h; of a directory that is no checkpoint: 0 */
	bool is_dir;
	uint64_t n;       /* of its last version */
	uint64_t head;    /* the version that it holds, or held before somebody began to write it anew; 0: none */
	uint64_t changed; /* number of the change since which nobody judged it, 0: judged */
	/* Of a checkpoint: its last complete version while the path is there, or once its run was removed; else 0. */
	uint64_t good;
	int64_t step; /* of that: of its name, or else the one that it tells itself; or NO_STEP */
	int64_t rank; /* of that: a higher one was completed later; what was imported has a negative one */
	uint32_t mode, uid, gid; /* of a directory that is gone: what it had then */
	uint64_t off;  /* number of the load that left good off the line of the branch, 0: it is on it */
};

int tracked_get(struct db *db, uint64_t id, struct tracked_row *ret);          /* -ENOENT */
int tracked_by_dir(struct db *db, uint64_t ino, struct tracked_row *ret);      /* the directory ino; -ENOENT */
int tracked_by_name(struct db *db, uint64_t parent, const char *name, struct tracked_row *ret); /* -ENOENT */
int tracked_insert(struct db *db, const struct tracked_row *row, const char *name);
int tracked_update(struct db *db, const struct tracked_row *row); /* all but id, parent */
int tracked_delete(struct db *db, uint64_t id); /* it has no versions, and nothing is below it */
int tracked_move(struct db *db, uint64_t id, uint64_t parent, const char *name);

int tracked_by_path(struct db *db, const char *path, struct tracked_row *ret); /* from the top; -ENOENT */

/* The name that it had before another needed that. */
void tracked_own_name(const struct tracked_row *t, const char *name, char ret[static TRACKED_NAME]);

/* Its name, which may be longer than one of a file; its path from the top, of names that may be gone; to be freed. */
int tracked_name(struct db *db, uint64_t id, char **ret);
int tracked_path(struct db *db, uint64_t id, char **ret);

/* Up to max that were changed and not judged, of a run (0: of all), by id above after; the count. */
int tracked_list_changed(struct db *db, uint64_t run, uint64_t after, struct tracked_row *ret, int max);

/* Complete checkpoints of a run that are on its line, or directly in a directory (a tracked path), as they are; or of an experiment, also
 * those in whose path another one stands by now: good, step and rank of a row are then of that version. Those of an
 * experiment are what is there, or (TRACKED_REMOVED) what removed runs had. They stand in the order of rank, step, id. */
enum tracked_scope { TRACKED_RUN, TRACKED_DIR, TRACKED_EXPERIMENT, TRACKED_REMOVED };

/* The last one before the given (NULL: of all); -ENOENT. */
int tracked_latest(struct db *db, enum tracked_scope scope, uint64_t of, const struct tracked_row *before,
		   struct tracked_row *ret);

/* The last directory of a run with a lower rank; -ENOENT. */
int tracked_latest_dir(struct db *db, uint64_t run, int64_t rank, struct tracked_row *ret);

/* The next step at or above, or at or below, step that there is; -ENOENT. */
int tracked_step_above(struct db *db, enum tracked_scope scope, uint64_t of, int64_t step, int64_t *ret);
int tracked_step_below(struct db *db, enum tracked_scope scope, uint64_t of, int64_t step, int64_t *ret);

/* The same as tracked_latest(), of those with this step. */
int tracked_latest_of_step(struct db *db, enum tracked_scope scope, uint64_t of, int64_t step,
			   const struct tracked_row *before, struct tracked_row *ret);

/* Calls f for the tracked paths in a directory, in order of their bytes. Ends early
 * with what it returns other than 0. */
typedef int (*tracked_fn)(void *arg, const struct tracked_row *row, const char *name);
int tracked_list(struct db *db, uint64_t parent, tracked_fn f, void *arg);

/* The same for the directories that are no checkpoints; for the checkpoints of a run that are there
 * but not known to be complete, or not as they are now. */
int tracked_list_dirs(struct db *db, uint64_t parent, tracked_fn f, void *arg);
int tracked_list_incomplete(struct db *db, uint64_t run, tracked_fn f, void *arg);

/* The same for what is there of a run with that role, which is not 0; or what is gone. */
int tracked_list_role(struct db *db, uint64_t run, int role, bool there, tracked_fn f, void *arg);

/* The same for the complete checkpoints of a run that are on its line and have a step: by step, directory, name. */
int tracked_list_steps(struct db *db, uint64_t run, tracked_fn f, void *arg);

/* Up to max checkpoints of a run that are gone and have no complete version, by id above after; the count. */
int tracked_list_lost(struct db *db, uint64_t run, uint64_t after, struct tracked_row *ret, int max);

/* 1 if the run has, or had, anything with a role. */
int tracked_any_role(struct db *db, uint64_t run);

/* The directories in a directory that never were complete are to be judged again. */
int tracked_judge_again(struct db *db, uint64_t parent, uint64_t changed);

/* Takes all checkpoints of a run off its line, by the load of that number; puts those back on it that were begun
 * with number from or later, and have no higher rank. */
int tracked_leave_line(struct db *db, uint64_t run, uint64_t load);
int tracked_keep_on_line(struct db *db, uint64_t run, uint64_t from, int64_t rank);

/* Directories whose contents are to be tracked anew; tracked paths of runs that were removed. */
int moved_put(struct db *db, uint64_t dir);
int moved_delete(struct db *db, uint64_t dir);
int moved_first(struct db *db, uint64_t *ret); /* any; -ENOENT */

#endif
