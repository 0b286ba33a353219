/* Names in order. */
#ifndef EXPFS_NAMES_H
#define EXPFS_NAMES_H

#include "util/util.h"

struct names {
	char **v;
	size_t n;
};

int names_add(struct names *l, const char *name); /* a copy */
void names_free(struct names *l);
#define _cleanup_names_ _cleanup_(names_free)

#endif
