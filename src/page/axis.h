/* An axis of a chart: round numbers from end to end, at equal distances. */
#ifndef EXPFS_PAGE_AXIS_H
#define EXPFS_PAGE_AXIS_H

#include <stdbool.h>

struct axis {
	double lo, hi, step; /* of log: powers of ten */
	unsigned n;          /* steps from end to end, at least 1 */
	bool log;
};

/* For finite values from min to max: of metrics, logarithmic if these are positive and spread over three powers of ten; or of
 * steps, which are whole. */
enum axis_kind { AXIS_VALUES, AXIS_STEPS };
void axis_make(double min, double max, enum axis_kind kind, struct axis *ret);

/* Where a value is between the ends: 0 to 1; the value of the i-th mark, 0 to n. */
double axis_place(const struct axis *a, double value);
double axis_mark(const struct axis *a, unsigned i);

#endif
