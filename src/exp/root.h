/* Experiment roots: directories with a checkpoints/ in WeightsLab's layout (spec sections 1 and 5).
 *
 * A directory checkpoints/ is known for a root's as soon as a manifest or weights lie in it where WeightsLab
 * puts them, and as long as it has that name. What it holds belongs to the branches that are derived of it
 * (exp/derive.h) and to no run; so does the state file beside it. Functions return 0 or -errno. */
#ifndef EXPFS_ROOT_H
#define EXPFS_ROOT_H

#include "exp/ancestry.h"
#include "exp/cred.h"
#include "meta/root.h"
#include "meta/tracked.h"
#include "meta/version.h"

#define ROOT_DIR "checkpoints"
#define ROOT_MANIFEST "manifest.yaml"
#define ROOT_STATE ".checkpoint_manager_state.json"

/* The hash in the name of a file of weights; whether it has one. */
bool root_hash_of_name(const char *name, char ret[EXPERIMENT_HASH + 1]);

/* Which of the directories above a file of that name in the last of them it shows to be a root's checkpoints/;
 * 0: none. */
size_t root_shown_by(const struct ancestry *a, const char *name);

/* Is the directory at path, tracked as id, a root's checkpoints/? */
bool root_is(struct expfs *ex, struct db *db, uint64_t id, const char *path);

/* For exp/track.c, in transactions. What tracked.run is to be of a file that was that of run; its version v
 * (0: none) belongs to the run now, and did not before. */
int tx_root_run(struct db *db, const struct tracked_row *dir, const char *name, uint64_t was, uint64_t *ret);
int tx_root_version(struct db *db, uint64_t run, uint64_t v);

struct root {
	uint64_t id;      /* as of meta/root.h */
	uint64_t tracked; /* the path that holds checkpoints/ */
	uint64_t ino;     /* of that */
	char *path;       /* of that */
};

struct root_list {
	struct root *v;
	size_t n;
};

/* Those that there are now, and who asks could find by himself, with want as of path_may_walk(); one. -ENOENT */
int root_list_there(struct expfs *ex, struct cred *cred, unsigned want, struct root_list *ret);
int root_get_there(struct expfs *ex, struct cred *cred, uint64_t id, struct root *ret);
void root_list_free(struct root_list *l);
void root_free(struct root *r);
#define _cleanup_root_list_ _cleanup_(root_list_free)
#define _cleanup_root_ _cleanup_(root_free)

/* Those at a directory and up to three levels below it into which he may look, by path; not in checkpoints/ or hidden directories.
 * *ret_effective: which of them, if there are any, was updated last by its manifest's own word. */
int root_list_below(struct expfs *ex, struct cred *cred, const char *dir, struct root_list *ret, size_t *ret_effective);

#endif
