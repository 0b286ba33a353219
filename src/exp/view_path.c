#include "exp/view_path.h"

#include <string.h>

#include "util/util.h"

static const char *below(const char *path, const char *name)
{
	size_t n = strlen(name);

	return strncmp(path, name, n) != 0 || (path[n] && path[n] != '/') ? NULL : path + n + (path[n] == '/');
}

enum view_path view_path(const char *path, const char **ret_below)
{
	static const char *const tops[] = {
		[VIEW_PATH_BRANCHES] = "branches", [VIEW_PATH_EXPERIMENTS] = "experiments", [VIEW_PATH_MODELS] = "models",
		[VIEW_PATH_HP] = "HP", [VIEW_PATH_DATA] = "data",
	};

	for (unsigned i = VIEW_PATH_BRANCHES; i < ARRAY_SIZE(tops); i++)
		if ((*ret_below = below(path, tops[i])) && (*ret_below)[-1] == '/')
			return i;
	for (const char *p = path; *p; p += strcspn(p, "/"), p += *p == '/')
		if ((*ret_below = below(p, ".expfs")))
			return VIEW_PATH_BESIDE;
	*ret_below = "";
	return VIEW_PATH_NONE;
}
