#include "util/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>

#include "util/human.h"
#include "util/terminal.h"

#define QUIET_NS 1000000000ll
#define STEP_NS 200000000ll
#define NEW_RATE 0.1 /* share that the time since the last look has in the rate */
#define BAR 20
#define COLUMNS 80
#define COLUMNS_MAX 256

/* As with the log, where this is shown is a matter of the process. */
static bool enabled;
static struct progress *current; /* the innermost of those that began since it is shown, or NULL */

void progress_enable(void)
{
	enabled = terminal_is_able(STDERR_FILENO);
}

void progress_start(struct progress *p, const char *what, uint64_t total)
{
	*p = (struct progress){ .what = what, .total = total, .start = monotonic_ns() };
	if (!enabled)
		return;
	p->outer = current;
	current = p;
}

static void measure(struct progress *p, int64_t now)
{
	double seconds = (double)(now - (p->shown ? p->shown : p->start)) / 1e9;
	double rate = (double)(p->done - p->counted) / seconds;

	p->rate = p->shown ? p->rate + NEW_RATE * (rate - p->rate) : rate;
	p->counted = p->done;
}

static int format_bar(const struct progress *p, char *ret, size_t size)
{
	double share = (double)MIN(p->done, p->total) / (double)p->total;
	int full = (int)(share * BAR);
	char done[HUMAN_TEXT], total[HUMAN_TEXT];

	human_bytes((double)p->done, done);
	human_bytes((double)p->total, total);
	return snprintf(ret, size, "%s: [%.*s%.*s] %d %%, %s of %s", p->what, full, "####################", BAR - full,
			"--------------------", (int)(100 * share), done, total);
}

static void format(const struct progress *p, int64_t now, char *ret, size_t size)
{
	char done[HUMAN_TEXT], rate[HUMAN_TEXT], time[HUMAN_TEXT];
	int n;

	human_bytes((double)p->done, done);
	human_bytes(p->rate, rate);
	human_seconds((double)(now - p->start) / 1e9, time);
	if (p->total > 0)
		n = format_bar(p, ret, size);
	else if (p->done > 0)
		n = snprintf(ret, size, "%s: %s", p->what, done);
	else
		n = snprintf(ret, size, "%s: %s", p->what, time);
	if (p->done == 0 || n < 0 || (size_t)n >= size)
		return;
	human_seconds(p->total > p->done && p->rate > 0 ? (double)(p->total - p->done) / p->rate : 0, time);
	snprintf(ret + n, size - (size_t)n, p->total > 0 ? ", %s/s, %s left" : ", %s/s", rate, time);
}

/* In one row of the terminal, for what is in two cannot be written over. */
static void show(const struct progress *p, int64_t now)
{
	struct winsize w = { 0 };
	char text[COLUMNS_MAX];
	size_t columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : COLUMNS;

	format(p, now, text, MIN(columns, sizeof(text)));
	fprintf(stderr, "\r%s\033[K", text);
	fflush(stderr);
}

void progress_add(struct progress *p, uint64_t bytes)
{
	int64_t now;

	p->done += bytes;
	if (!enabled || (current && p != current))
		return;
	now = monotonic_ns();
	if (now - p->start < QUIET_NS || now - p->shown < STEP_NS)
		return;
	measure(p, now);
	p->shown = now;
	show(p, now);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	if (enabled)
		current = p->outer;
}
