#include "util/progress.h"

#include <stdio.h>

#define QUIET_NS 1000000000ll
#define STEP_NS 200000000ll

/* As with the log, where this is shown is a matter of the process. */
static bool enabled;

void progress_enable(void)
{
	enabled = isatty(STDERR_FILENO);
}

void progress_start(struct progress *p, const char *what, uint64_t total)
{
	*p = (struct progress){ .what = what, .total = total, .start = monotonic_ns() };
}

void progress_add(struct progress *p, uint64_t n)
{
	int64_t now;

	p->done += n;
	if (!enabled)
		return;
	now = monotonic_ns();
	if (now - p->start < QUIET_NS || now - p->shown < STEP_NS)
		return;
	p->shown = now;
	if (p->total > 0)
		fprintf(stderr, "\r%s: %3u %%\033[K", p->what,
			(unsigned)(100.0 * (double)MIN(p->done, p->total) / (double)p->total));
	else
		fprintf(stderr, "\r%s: %lld s\033[K", p->what, (long long)((now - p->start) / 1000000000));
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
}
