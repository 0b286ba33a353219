#include "exp/step.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/role.h"
#include "meta/tracked.h"
#include "util/util.h"

/* The name that a path had before another took it (track_displace()). */
static void undo_displace(char *name)
{
	char *mark = strrchr(name, '~');

	if (mark && mark[1] && mark[1 + strspn(mark + 1, "0123456789")] == 0)
		*mark = 0;
}

int64_t step_in_name(const char *tracked, bool is_dir)
{
	char name[TRACKED_NAME];
	uint64_t step;

	snprintf(name, sizeof(name), "%s", tracked);
	undo_displace(name);
	if (is_dir && role_digit_dir(name)) {
		errno = 0;
		step = strtoull(name, NULL, 10);
		return errno == 0 && step <= INT64_MAX ? (int64_t)step : NO_STEP;
	}
	return step_of_name(name, is_dir, &step) ? (int64_t)step : NO_STEP;
}

bool step_is_in_name(const char *tracked, size_t len, bool is_dir)
{
	char name[TRACKED_NAME];

	snprintf(name, sizeof(name), "%.*s", (int)MIN(len, sizeof(name) - 1), tracked);
	return step_in_name(name, is_dir) != NO_STEP;
}
