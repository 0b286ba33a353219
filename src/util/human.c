#include "util/human.h"

#include <inttypes.h>
#include <stdio.h>

#include "util/util.h"

void human_bytes(double bytes, char ret[static HUMAN_TEXT])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	size_t u = 0;

	for (; bytes >= 1024 && u < ARRAY_SIZE(units) - 1; u++)
		bytes /= 1024;
	snprintf(ret, HUMAN_TEXT, u == 0 ? "%.0f %s" : "%.1f %s", bytes, units[u]);
}

void human_seconds(double seconds, char ret[static HUMAN_TEXT])
{
	unsigned s = seconds < 1e6 ? (unsigned)(seconds + 0.5) : 1000000;

	if (s < 60)
		snprintf(ret, HUMAN_TEXT, "%u s", s);
	else if (s < 3600)
		snprintf(ret, HUMAN_TEXT, "%u min %02u s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(ret, HUMAN_TEXT, "%u h %02u min", s / 3600, s / 60 % 60);
	else
		snprintf(ret, HUMAN_TEXT, "%u d %02u h", s / 86400, s / 3600 % 24);
}

const char *human_count(uint64_t n, const char *noun, char ret[static HUMAN_COUNT])
{
	snprintf(ret, HUMAN_COUNT, "%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
	return ret;
}
