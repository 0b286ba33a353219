/* What a table of mounts (/proc/PID/mountinfo) says of one file system. */
#ifndef EXPFS_MOUNTS_H
#define EXPFS_MOUNTS_H

#include "util/util.h"

#define MOUNTS_DEVICE 32

struct mounts {
	unsigned n;
	unsigned writable; /* of these */
};

/* device: its number as in the table, "major:minor". */
int mounts_of(const char *table, const char *device, struct mounts *ret);

#endif
