#include "op/versions.h"

#include <string.h>

#include "op/reply.h"

static enum op_exit say_unknown(struct expfs *ex, const char *path, json_t **ret)
{
	_cleanup_free_ char *above = NULL, *displaced = NULL;
	enum op_exit exit;

	if (history_find_above(ex, path, &above) == 0)
		return reply_error(ret, OP_NO, "/%s: is part of the checkpoint /%s; see the history of that", path, above);
	if (history_find_displaced(ex, path, &displaced) < 0)
		return reply_error(ret, OP_NO, "/%s: has no version, and had none", path);
	exit = reply_error(ret, OP_NO, "/%s: has no version; what was there before its directory was made anew is /%s", path,
			   displaced);
	json_object_set_new(*ret, "displaced", reply_path(displaced));
	return exit;
}

enum op_exit versions_load(struct expfs *ex, const json_t *args, char **ret_path, struct history *ret_history,
			   json_t **ret)
{
	_cleanup_free_ char *path = reply_get_path(args);
	int r = path ? history_load(ex, path, ret_history) : -EINVAL;

	if (r == -EINVAL)
		return reply_error(ret, OP_USAGE, "no path is given");
	if (r == -ENOENT)
		return say_unknown(ex, path, ret);
	if (r == -ENODATA)
		return reply_error(ret, OP_NO, "/%s: has no version: checkpoint_manager: in the configuration of its run says that such "
				   "files are not recorded", path);
	if (r == -EISDIR)
		return reply_error(ret, OP_NO,
				   "/%s: is a directory that is no checkpoint, and was none; what is known of paths in it is below "
				   "/.expfs/history/%s", path, path);
	if (r < 0)
		return reply_error(ret, OP_FAILED, "/%s: versions: %s", path, strerror(-r));
	*ret_path = steal(&path);
	return OP_DONE;
}
