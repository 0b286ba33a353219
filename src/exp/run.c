#include "exp/run.h"

#include <fnmatch.h>
#include <string.h>

bool run_is(const struct config *c, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (*path == 0)
		return true;
	if (*(slash ? slash + 1 : path) == '.')
		return false;
	for (char **p = c->runs; *p; p++)
		if (fnmatch(*p + (**p == '/'), path, FNM_PATHNAME | FNM_PERIOD) == 0)
			return true;
	return false;
}

size_t run_prefix(const struct config *c, const char *path)
{
	_cleanup_free_ char *dir = strdup(path);
	char *slash;

	if (!dir)
		return 0;
	while ((slash = strrchr(dir, '/')) != NULL) {
		*slash = 0;
		if (run_is(c, dir))
			return (size_t)(slash - dir);
	}
	return 0;
}

/* What lies in a directory checkpoints/ belongs to the experiment root that
 * holds it, and roles are told relative to that. */
static const char *below_root(const char *rel)
{
	const char *from = rel;
	const char *p;

	while ((p = strstr(from, "checkpoints/")) != NULL) {
		if (p == rel || p[-1] == '/')
			return p;
		from = p + 1;
	}
	return rel;
}

enum role run_role_below(const struct config *c, const char *path, size_t base, bool is_dir)
{
	return role_of(c->rules, below_root(path + base), is_dir);
}

enum role run_role(const struct config *c, const char *path, bool is_dir)
{
	size_t n = run_prefix(c, path);

	return run_role_below(c, path, n + (n > 0), is_dir);
}
