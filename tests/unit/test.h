/* What cmocka wants before its header, and a scratch directory. */
#ifndef EXPFS_TEST_H
#define EXPFS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/util.h"

/* Makes a directory below TMPDIR and gives its path as the state. */
static inline int make_scratch(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char *path;

	if (asprintf(&path, "%s/expfs-unit-XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
		return -1;
	*state = path;
	return mkdtemp(path) ? 0 : -1;
}

static inline int remove_scratch(void **state)
{
	char *command;
	int r = -1;

	if (asprintf(&command, "rm -rf '%s'", (char *)*state) >= 0) {
		r = system(command);
		free(command);
	}
	free(*state);
	return r;
}

#endif
