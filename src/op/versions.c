#include "op/versions.h"

#include <inttypes.h>
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

enum op_exit versions_find(struct expfs *ex, const json_t *args, char **ret_path, enum role *ret_role,
			   struct version_row *ret, json_t **ret_answer)
{
	uint64_t n = (uint64_t)json_integer_value(json_object_get(args, "n"));
	_cleanup_history_ struct history h = { .n = 0 };
	enum op_exit exit = versions_load(ex, args, ret_path, &h, ret_answer);
	bool complete;

	if (exit != OP_DONE)
		return exit;
	*ret_role = (enum role)h.tracked.role;
	complete = *ret_role == ROLE_WEIGHTS;
	for (size_t i = h.n; i > 0; i--) {
		*ret = h.v[i - 1].row;
		if ((!n || ret->n == n) && (!complete || ret->complete == 1))
			return OP_DONE;
	}
	if (n)
		return reply_error(ret_answer, OP_NO, "/%s: has no %sversion %" PRIu64 "; see: expfs history", *ret_path,
				   complete ? "complete " : "", n);
	return reply_error(ret_answer, OP_NO, "/%s: is not complete", *ret_path);
}
