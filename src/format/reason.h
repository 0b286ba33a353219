/* Why a text was not taken: one line, lower case, with the line of the text
 * where that is known. Kept in place, so that telling it cannot fail. */
#ifndef EXPFS_FORMAT_REASON_H
#define EXPFS_FORMAT_REASON_H

#include <stdarg.h>
#include <stdio.h>

#include "util/util.h"

struct reason {
	char text[256];
};

/* Sets it, with the line in front where line is not 0; -EINVAL. */
static inline _printf_(3, 4) int reason_set(struct reason *why, size_t line, const char *fmt, ...)
{
	int n = line ? snprintf(why->text, sizeof(why->text), "line %zu: ", line) : 0;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text + n, sizeof(why->text) - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

#endif
