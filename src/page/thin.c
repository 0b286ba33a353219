#include "page/thin.h"

#include <math.h>

#include "util/util.h"

static unsigned column_of(double x, double lo, double hi, unsigned columns)
{
	double at = hi > lo ? (x - lo) / (hi - lo) * columns : 0;

	return at < 0 ? 0 : at >= columns ? columns - 1 : (unsigned)at;
}

/* What is left of one column, in the order in which it came; v may begin at to. */
static size_t take_column(const struct thin_point *v, size_t n, struct thin_point *to)
{
	size_t low = n, high = n, gap = n, out = 0;
	struct thin_point kept[3];

	for (size_t i = 0; i < n; i++) {
		if (isnan(v[i].y)) {
			gap = i;
			continue;
		}
		if (low == n || v[i].y < v[low].y)
			low = i;
		if (high == n || v[i].y > v[high].y)
			high = i;
	}
	for (size_t i = 0; i < n; i++)
		if (i == low || i == high || i == gap)
			kept[out++] = v[i];
	for (size_t i = 0; i < out; i++)
		to[i] = kept[i];
	return out;
}

size_t thin(struct thin_point *v, size_t n, double lo, double hi, unsigned columns)
{
	size_t out = 0, end;

	for (size_t begin = 0; begin < n; begin = end) {
		unsigned column = column_of(v[begin].x, lo, hi, columns);

		for (end = begin + 1; end < n && column_of(v[end].x, lo, hi, columns) == column;)
			end++;
		out += take_column(v + begin, end - begin, v + out);
	}
	return out;
}
