#include "util/edit_distance.h"

#include <string.h>

#include "util/util.h"

size_t edit_distance(const char *a, const char *b)
{
	size_t row[EDIT_DISTANCE_NAME_MAX + 1], n = strlen(b);

	if (n > EDIT_DISTANCE_NAME_MAX || strlen(a) > EDIT_DISTANCE_NAME_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t change = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = MIN(change, MIN(row[j], row[j - 1]) + 1);
		}
	}
	return row[n];
}

void nearest_try(struct nearest *n, const char *name)
{
	size_t d = edit_distance(n->word, name);

	if (d > 2 || d >= strlen(n->word) || (n->name && d >= n->distance))
		return;
	n->name = name;
	n->distance = d;
}
