/* Curves with fewer points, which look the same. */
#ifndef EXPFS_PAGE_THIN_H
#define EXPFS_PAGE_THIN_H

#include <stddef.h>

struct thin_point {
	double x, y; /* y: NaN where the curve has a gap */
};

/* Of n points, ascending in x, leaves of each of that many columns between lo and hi the lowest, the highest, and one gap
 * where there is any; the count of those left. */
size_t thin(struct thin_point *v, size_t n, double lo, double hi, unsigned columns);

#endif
