#include <string.h>

#include "exp/branch.h"
#include "exp/experiment.h"
#include "exp/path.h"
#include "op/reply.h"
#include "op/unknown.h"
#include "util/advice.h"

/* The branch of the deepest run at or above a path. */
static int find_by_path(struct expfs *ex, const char *path, struct branch *ret)
{
	size_t n = path_is_run(ex, path) ? strlen(path) : path_run_prefix(ex, path);
	_cleanup_free_ char *run = strndup(path, n);
	uint64_t ino;
	int r = run ? 0 : -ENOMEM;

	if (r == 0) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = path_lookup(db, run, &ino);
	}
	return r < 0 ? r : branch_by_run(ex, NULL, ino, ret);
}

static int find(struct expfs *ex, const char *name, const char *path, struct branch *ret)
{
	return name ? branch_by_name(ex, NULL, name, ret) : find_by_path(ex, path ? path : "", ret);
}

static enum op_exit commit(struct expfs *ex, const struct branch *b, json_t **ret)
{
	char hash[EXPERIMENT_HASH + 1];
	int r;

	if (branch_is_removed(b))
		return reply_removed(ex, ret, b);
	if (!branch_run(b))
		return reply_error(ret, OP_NO, "%s: is a branch of an experiment root; who writes there makes its experiments, as "
				   "WeightsLab does", b->name);
	r = experiment_commit(ex, branch_run(b), hash);
	if (r == -ENOENT)
		return reply_error(ret, OP_NO, "%s: has no configuration, model or data file that makes an experiment, or its "
				   "configuration turns checkpoints off; write one of them, or see enable_checkpoints there", b->name);
	if (r < 0)
		return reply_error(ret, OP_FAILED, "%s: commit: %s", b->name, advice(r));
	*ret = json_pack("{s:o, s:s, s:b}", "branch", reply_text(b->name), "hash", hash, "committed", r == 0);
	return OP_DONE;
}

enum op_exit op_commit(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	const char *name = json_string_value(json_object_get(args, "branch"));
	_cleanup_free_ char *path = reply_get_path(args);
	struct branch b = { 0 };
	int r = find(ex, name, path, &b);
	enum op_exit exit;

	if (r == -ENOENT && name)
		return reply_error(ret, OP_NO, "%s: there is no such branch; expfs status shows them", name);
	if (r == -ENOENT && path && unknown_is_view(ex, path, ret))
		return OP_NO;
	if (r == -ENOENT || r == -ENOTDIR)
		return reply_error(ret, OP_NO, "/%s: is in no branch: its run holds no file with a role; write a configuration or a checkpoint there", path ? path : "");
	if (r < 0)
		return reply_error(ret, OP_FAILED, "%s: commit: %s", name ? name : store_path(ex->store), advice(r));
	exit = commit(ex, &b, ret);
	branch_free(&b);
	return exit;
}
