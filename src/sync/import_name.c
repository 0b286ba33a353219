#include "sync/import_name.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

/* FNV-1a, of names too long to stand in another whole. */
static uint32_t hash_of(const char *name)
{
	uint32_t h = 0x811c9dc5u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x01000193u;
	return h;
}

void import_part_name(const char *name, char ret[static IMPORT_PART])
{
	snprintf(ret, IMPORT_PART, ".%.200s.import-%08x.part", name, hash_of(name));
}

bool import_is_part(const char *name)
{
	size_t n = strlen(name), m = strlen(".import-12345678.part");
	const char *end = name + n - MIN(n, m);

	if (*name != '.' || n <= m || strncmp(end, ".import-", strlen(".import-")) != 0)
		return false;
	return !strcmp(end + strlen(".import-12345678"), ".part");
}
