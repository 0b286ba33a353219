/* Is a descriptor a terminal that can do more than print lines? */
#ifndef EXPFS_UTIL_TERMINAL_H
#define EXPFS_UTIL_TERMINAL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline bool terminal_is_able(int fd)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0 && isatty(fd);
}

#endif
