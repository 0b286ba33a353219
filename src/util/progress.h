/* A line of progress on standard error, for what takes longer than a second.
 *
 * Nothing is shown until a command asks for it with progress_enable(), and only
 * on a terminal; so an operation reports its progress wherever it runs.
 * Calling order: progress_start(), progress_add() …, progress_end(). Where one runs within another, the inner is shown;
 * all are one thread's, then. */
#ifndef EXPFS_PROGRESS_H
#define EXPFS_PROGRESS_H

#include "util/util.h"

struct progress {
	const char *what;
	uint64_t total; /* bytes, 0: not known */
	uint64_t done;
	int64_t start, shown; /* ns; shown 0: not yet */
	double rate; /* bytes a second when it was shown, the last seconds counting most */
	uint64_t counted; /* bytes in that */
	struct progress *outer; /* in which it runs, or NULL */
};

/* Called before the process has other threads. */
void progress_enable(void);

/* Of nothing but time where no bytes are ever added. what stays the caller's. */
void progress_start(struct progress *p, const char *what, uint64_t total);
void progress_add(struct progress *p, uint64_t bytes);
void progress_end(struct progress *p);

#endif
