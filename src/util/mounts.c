/* 36 35 0:43 /root /point rw,noatime master:1 - fuse.expfs source rw,user_id=0
 * with what the mount lets through before the dash and the file system behind it. */
#include "util/mounts.h"

#include <stdio.h>
#include <string.h>

static bool is_read_only(const char *options)
{
	return !strncmp(options, "ro", 2) && (options[2] == ',' || options[2] == 0);
}

static void count(char *line, const char *device, struct mounts *m)
{
	char *rest = strstr(line, " - "), *of_mount = NULL, *of_system, *save = NULL;

	line[strcspn(line, "\n")] = 0;
	of_system = strrchr(line, ' ');
	if (!rest || of_system <= rest + 2)
		return;
	*rest = 0;
	for (int i = 0; i < 6; i++) {
		of_mount = strtok_r(i ? NULL : line, " ", &save);
		if (!of_mount || (i == 2 && strcmp(of_mount, device) != 0))
			return;
	}
	m->n++;
	m->writable += !is_read_only(of_mount) && !is_read_only(of_system + 1);
}

int mounts_of(const char *table, const char *device, struct mounts *ret)
{
	_cleanup_free_ char *line = NULL;
	struct mounts m = { 0 };
	size_t room = 0;
	FILE *f = fopen(table, "re");
	int r;

	if (!f)
		return -errno;
	while (getline(&line, &room, f) >= 0)
		count(line, device, &m);
	r = ferror(f) ? -EIO : 0;
	fclose(f);
	if (r == 0)
		*ret = m;
	return r;
}
