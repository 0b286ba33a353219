/* Which view a path of a store, without a slash before it, lies in by its name; whether something else stands there is not asked. */
#ifndef EXPFS_EXP_VIEW_PATH_H
#define EXPFS_EXP_VIEW_PATH_H

enum view_path {
	VIEW_PATH_NONE,
	VIEW_PATH_BRANCHES, /* at the top */
	VIEW_PATH_EXPERIMENTS,
	VIEW_PATH_MODELS,
	VIEW_PATH_HP,
	VIEW_PATH_DATA,
	VIEW_PATH_BESIDE, /* .expfs/ of a directory */
};

/* *ret_below: what follows the name of the view, "" where that is the last. */
enum view_path view_path(const char *path, const char **ret_below);

#endif
