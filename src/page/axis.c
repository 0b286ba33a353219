#include "page/axis.h"

#include <math.h>

#include "util/util.h"

#define MARKS 5
#define LOG_SPREAD 1000
#define LOG_LARGEST 1e100 /* beyond, marks are not finite */
#define LARGEST 1e300 /* beyond, differences are not finite */
#define SMALLEST 1e-300

/* 1, 2 or 5 times a power of ten. */
static double round_step(double raw)
{
	double power = pow(10, floor(log10(raw))), m = raw / power;

	return power * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

static double within(double value)
{
	return MAX(MIN(value, LARGEST), -LARGEST);
}

/* Values that are as good as one get some room around. */
static void widen(double *min, double *max)
{
	double size = MAX(fabs(*min), fabs(*max)), by = size > SMALLEST ? size / 10 : 1;

	if (*max - *min > MAX(size * 1e-9, SMALLEST))
		return;
	*min -= by;
	*max += by;
}

void axis_make(double min, double max, enum axis_kind kind, struct axis *ret)
{
	struct axis a = { .log = kind == AXIS_VALUES && min > 1 / LOG_LARGEST && max < LOG_LARGEST && max / min >= LOG_SPREAD };

	min = within(min);
	max = within(max);
	if (a.log) {
		min = log10(min);
		max = log10(max);
	}
	widen(&min, &max);
	a.step = round_step((max - min) / MARKS);
	if (a.log || kind == AXIS_STEPS)
		a.step = MAX(ceil(a.step), 1);
	a.lo = floor(min / a.step) * a.step;
	a.n = (unsigned)MAX(ceil((max - a.lo) / a.step - 1e-9), 1);
	a.hi = a.lo + a.n * a.step;
	*ret = a;
}

double axis_place(const struct axis *a, double value)
{
	double at = ((a->log ? log10(value) : value) - a->lo) / (a->hi - a->lo);

	return at < 0 ? 0 : at > 1 ? 1 : at;
}

double axis_mark(const struct axis *a, unsigned i)
{
	double value = a->lo + i * a->step;

	if (fabs(value) < a->step * 1e-6)
		value = 0;
	return a->log ? pow(10, value) : value;
}
