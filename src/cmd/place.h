/* Where a path lies: its absolute form and the mount that it is in.
 *
 * Nothing is asked of the file system there but by place_is_dead(), so that a
 * mount whose daemon is dead or hangs is found as any other. */
#ifndef EXPFS_CMD_PLACE_H
#define EXPFS_CMD_PLACE_H

#include "util/mounts.h"

#define PLACE_TYPE "fuse.expfs"

struct place {
	int fd;     /* O_PATH; keeps the mount busy until place_let_go() */
	char *path; /* absolute, without links */
	/* Of the mount, from /proc/self/mountinfo: */
	char device[MOUNTS_DEVICE]; /* number of its file system */
	char *point;  /* where it is mounted */
	char *root;   /* what of its file system is mounted there, "/" but for bind mounts */
	char *type;   /* as PLACE_TYPE */
	char *source; /* of an expfs mount: its store */
	char *options;
};

/* -errno as from open(). */
int place_open(const char *path, struct place **ret);
void place_free(struct place *p);
void place_let_go(struct place *p);

/* Is it the top of an expfs mount? Is it in one? */
bool place_is_mount(const struct place *p);
bool place_is_inside(const struct place *p);

/* Has the daemon of the mount ended without unmounting it? Waits for one that
 * hangs. */
bool place_is_dead(const struct place *p);

/* Where it lies in the expfs mount, with a slash in front; to be freed. */
char *place_path_inside(const struct place *p);

/* Calls f for each expfs mount here; they have no fd and no path. Ends early with what f returns other than 0. */
typedef int (*place_fn)(void *arg, const struct place *p);
int place_each(place_fn f, void *arg);

/* Is a store with this absolute path mounted anywhere here? */
bool place_has_mount_of(const char *store);

static inline void cleanup_place(struct place **p)
{
	if (*p)
		place_free(*p);
}
#define _cleanup_place_ _cleanup_(cleanup_place)

#endif
