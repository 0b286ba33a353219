/* A mount: the FUSE session of one open store. */
#ifndef EXPFS_SESSION_H
#define EXPFS_SESSION_H

#include "exp/expfs.h"

struct session_options {
	const char *mountpoint; /* absolute */
	const char *options;    /* as after mount -o, or NULL: those of fusermount3, allow_other, ro … */
	/* Called once, when the kernel has answered and the mount is usable. */
	void (*ready)(void *arg);
	void *ready_arg;
};

/* Checks the options. -EINVAL with *ret_bad, to be freed, being the first that
 * is not known. */
int session_check_options(const char *options, char **ret_bad);

/* Mounts and serves until the mount is unmounted or SIGTERM or SIGINT comes, or the
 * SIGHUP of its terminal; any other SIGHUP has config.yaml read again (signals.h). 0 when it ended in good order. -errno, with a message logged, where it
 * could not mount. Called before the process has other threads: it starts the
 * keeper and the control socket itself. */
int session_run(struct expfs *ex, const struct session_options *o);

#endif
