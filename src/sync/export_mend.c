/* After a kill: did what was to take a directory's place come there? */
#include <string.h>

#include "sync/export_part.h"

struct placed {
	struct export *e;
	const char *dir;
	size_t found; /* files of the last export */
};

static bool is_newest(struct export *e, const char *name, const struct stat *st)
{
	uint8_t digest[DIGEST_SIZE];
	struct memory_file f;

	if (memory_newest(e->memory, name, &f) == 0 || f.size != (uint64_t)st->st_size)
		return false;
	if (f.ino == st->st_ino && f.mtime == timespec_ns(&st->st_mtim))
		return true;
	return S_ISREG(st->st_mode) && folder_digest(e->folder, name, f.size, digest) == 0 && !memcmp(digest, f.digest, DIGEST_SIZE);
}

/* What others put into it came along. */
static int look_at(void *arg, const char *name, const struct stat *st)
{
	struct placed *p = arg;

	if (S_ISDIR(st->st_mode) || !memory_has(p->e->memory, name))
		return 0;
	p->found++;
	return !is_newest(p->e, name, st);
}

/* A file that both have is there in the new one; of those that only one has it is not known in which. */
static int is_missing(void *arg, const char *name)
{
	const struct placed *p = arg;
	size_t len = strlen(p->dir);
	struct memory_file f;
	struct stat st;

	return !strncmp(name, p->dir, len) && name[len] == '/' && memory_newest(p->e->memory, name, &f) > 1 &&
	       folder_stat(p->e->folder, name, &st) < 0;
}

static bool is_placed(void *arg, const char *name, const struct stat *st)
{
	struct placed p = { .e = arg, .dir = name };

	if (!S_ISDIR(st->st_mode))
		return is_newest(p.e, name, st);
	return folder_each(p.e->folder, name, look_at, &p) == 0 && p.found > 0 && memory_each(p.e->memory, is_missing, &p) == 0;
}

int export_mend(struct export *e)
{
	return folder_mend(e->folder, is_placed, e);
}
