#include "op/load_from.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exp/branch_line.h"
#include "exp/path.h"
#include "exp/view_path.h"
#include "op/reply.h"
#include "op/versions.h"
#include "util/advice.h"

#define STEPS_TOLD 20

static int take_head(struct expfs *ex, const struct branch *b, struct load *ret)
{
	struct experiment_head head;
	int r = branch_settle(ex, b);

	if (r == 0)
		r = branch_head(ex, b, &head);
	if (r < 0)
		return r == -ENOENT ? -ENODATA : r;
	memcpy(ret->name.hash, head.experiment.hash, sizeof(ret->name.hash));
	ret->name.step = NO_STEP;
	ret->from = branch_run(b);
	return 0;
}

/* -ENOENT: the path is no directory of a branch. */
static int find_branch(struct expfs *ex, const char *path, struct branch *ret)
{
	const char *name;
	uint64_t ino;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = path_lookup(db, path, &ino);
	}
	if (r == 0)
		return branch_by_run(ex, NULL, ino, ret);
	if (view_path(path, &name) != VIEW_PATH_BRANCHES || strchr(name, '/'))
		return -ENOENT;
	return branch_by_name(ex, NULL, name, ret);
}

static enum op_exit take_version(struct expfs *ex, const json_t *args, struct load *ret_load, json_t **ret)
{
	_cleanup_versions_selection_ struct versions_selection none = { 0 };
	_cleanup_free_ char *path = NULL;
	struct experiment_row e;
	struct tracked_row t;
	struct version_row v;
	enum role role;
	enum op_exit exit = versions_find(ex, args, &path, &role, &v, &none, ret);
	int r = -ENODATA;

	if (exit != OP_DONE)
		return exit;
	if (role == ROLE_WEIGHTS && v.step != NO_STEP && v.experiment) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = experiment_get(db, v.experiment, &e);
		if (r == 0)
			r = tracked_get(db, v.tracked, &t);
	}
	if (r == -ENODATA)
		return reply_error(ret, OP_NO, "/%s: is no checkpoint with a step and an experiment; give one that is, or a hash: expfs log",
				   path);
	if (r < 0)
		return reply_error(ret, OP_FAILED, "/%s: branch: %s", path, advice(r));
	memcpy(ret_load->name.hash, e.hash, sizeof(e.hash));
	ret_load->name.step = v.step;
	ret_load->from = t.run;
	return OP_DONE;
}

enum op_exit load_from_path(struct expfs *ex, const json_t *args, struct load *ret_load, json_t **ret)
{
	_cleanup_free_ char *path = reply_get_path(args);
	const char *below;
	struct branch b = { 0 };
	int r;

	if (!path)
		return reply_error(ret, OP_USAGE, "branch: --from wants a hash, a branch or a path; see: expfs help branch");
	if (view_path(path, &below) == VIEW_PATH_EXPERIMENTS && load_parse(below, &ret_load->name) == 0)
		return OP_DONE;
	r = find_branch(ex, path, &b);
	if (r == 0)
		r = take_head(ex, &b, ret_load);
	branch_free(&b);
	if (r == -ENODATA)
		return reply_error(ret, OP_NO, "/%s: the branch is at no experiment yet; see: expfs log", path);
	if (r == -ENOENT || r == -ENOTDIR)
		return take_version(ex, args, ret_load, ret);
	return r < 0 ? reply_error(ret, OP_FAILED, "/%s: branch: %s", path, advice(r)) : OP_DONE;
}

static int tell_steps(struct expfs *ex, const struct branch *b, char **ret)
{
	_cleanup_checkpoint_set_ struct checkpoint_set set = { 0 };
	_cleanup_free_ uint64_t *steps = NULL;
	char *text = NULL;
	size_t n = 0, len;
	FILE *f;
	int r = branch_checkpoints(ex, NULL, b, &set);

	if (r == 0)
		r = checkpoint_steps(&set, &steps, &n);
	f = r == 0 ? open_memstream(&text, &len) : NULL;
	if (!f)
		return r < 0 ? r : -ENOMEM;
	for (size_t i = 0; i < n && i < STEPS_TOLD; i++)
		fprintf(f, " %" PRIu64, steps[i]);
	fprintf(f, n > STEPS_TOLD ? " ..." : "");
	if (fclose(f) != 0) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	return 0;
}

enum op_exit load_from_say_none(struct expfs *ex, const char *text, json_t **ret)
{
	const char *at = strrchr(text, '@');
	_cleanup_free_ char *name = strndup(text, at ? (size_t)(at - text) : 0), *steps = NULL;
	struct branch b = { 0 };
	int r = at && name ? branch_by_name(ex, NULL, name, &b) : -ENOENT;

	if (r == 0)
		r = tell_steps(ex, &b, &steps);
	branch_free(&b);
	if (r == 0 && *steps)
		return reply_error(ret, OP_NO, "%s: the branch has no checkpoint of step %s; it has%s", text, at + 1, steps);
	return reply_error(ret, OP_NO, at ? "%s: the branch has no checkpoint with a step; see: expfs log" :
					    "%s: the branch is at no experiment yet; see: expfs log", text);
}
