/* A line of progress on standard error, for what takes longer than a second.
 *
 * Nothing is shown until a command asks for it with progress_enable(), and only
 * on a terminal; so an operation reports its progress wherever it runs.
 * Calling order: progress_start(), progress_add() …, progress_end(). */
#ifndef EXPFS_PROGRESS_H
#define EXPFS_PROGRESS_H

#include "util/util.h"

struct progress {
	const char *what;
	uint64_t total; /* 0: not known, the seconds are shown instead */
	uint64_t done;
	int64_t start, shown; /* ns; shown 0: not yet */
};

/* Called before the process has other threads. */
void progress_enable(void);

void progress_start(struct progress *p, const char *what, uint64_t total);
void progress_add(struct progress *p, uint64_t n);
void progress_end(struct progress *p);

#endif
