#include "cmd/outside.h"

#include <dirent.h>
#include <string.h>

#include "store/store.h"
#include "util/log.h"

/* The store that the directory is, or in which it lies, to be freed; NULL: none. */
static char *find_store(const char *path)
{
	_cleanup_free_ char *dir = strdup(path);
	char *slash;

	while (dir && (slash = strrchr(dir, '/')) != NULL) { /* a pipe has none */
		if (store_is(dir))
			return steal(&dir);
		*slash = 0;
	}
	return NULL;
}

struct mount_of {
	const char *store;
	char *point;
};

static int take_point(void *arg, const struct place *p)
{
	struct mount_of *of = arg;

	if (strcmp(p->source, of->store) != 0)
		return 0;
	of->point = strdup(p->point);
	return 1;
}

static void say_store(const char *store, const char *place, const char *path, bool by_store)
{
	struct mount_of of = { .store = store };
	_cleanup_free_ char *point = place_each(take_point, &of) == 1 ? of.point : NULL;
	const char *is = !strcmp(store, place) ? "is a store, no mount of it" : "lies in a store, no mount of it";

	if (point && by_store)
		log_msg("%s: %s; give a path in its mount, %s, or: --store %s", path, is, point, store);
	else if (point)
		log_msg("%s: %s; give a path in its mount, %s", path, is, point);
	else if (by_store)
		log_msg("%s: %s; mount it: expfs mount %s MNT, or give it so: --store %s", path, is, store, store);
	else
		log_msg("%s: %s; mount it: expfs mount %s MNT", path, is, store);
}

static bool is_empty(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	bool empty = d;

	while (empty && (e = readdir(d)) != NULL)
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return empty;
}

bool outside_say(const struct place *p, const char *path, bool by_store)
{
	_cleanup_free_ char *store = find_store(p->path);

	if (store)
		say_store(store, p->path, path, by_store);
	else if (!is_empty(p->path))
		return false;
	else
		log_msg("%s: nothing is mounted on %s; mount the store: expfs mount STORE %s%s", path, p->path, p->path,
			by_store ? ", or name it by --store" : "");
	return true;
}
