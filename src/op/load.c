/* load, and branch, which loads into a new run. */
#include "exp/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exp/branch_line.h"
#include "exp/keeper.h"
#include "exp/path.h"
#include "op/load_from.h"
#include "op/reply.h"
#include "util/advice.h"
#include "util/list.h"

static int find_dir(struct expfs *ex, const char *path, uint64_t *ret_ino)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return path_lookup(db, path, ret_ino);
}

/* Of one that was removed the directory that was made anew; -EROFS: it was not. */
static int run_of_branch(struct expfs *ex, const struct branch *b, uint64_t *ret_ino)
{
	if (!branch_run(b))
		return -EOPNOTSUPP;
	*ret_ino = b->ino;
	if (branch_is_removed(b) && find_dir(ex, b->path, ret_ino) < 0)
		return -EROFS;
	return 0;
}

/* The run of a branch, or at or above a path; that one need not be a branch yet. */
static int find_run(struct expfs *ex, const char *branch, const char *path, uint64_t *ret_ino, char **ret_path)
{
	_cleanup_free_ char *run = NULL;
	struct branch b;
	int r;

	if (branch) {
		r = branch_by_name(ex, NULL, branch, &b);
		if (r < 0)
			return r;
		r = run_of_branch(ex, &b, ret_ino);
		*ret_path = r == 0 ? steal(&b.path) : NULL;
		branch_free(&b);
		return r;
	}
	run = strndup(path, path_is_run(ex, path) ? strlen(path) : path_run_prefix(ex, path));
	if (!run)
		return -ENOMEM;
	r = find_dir(ex, run, ret_ino);
	if (r == 0)
		*ret_path = steal(&run);
	return r;
}

/* Runs it with what removes contents, which a mount has. */
static enum op_exit load(struct expfs *ex, const struct load *l, struct loaded *ret_loaded, json_t **ret)
{
	_cleanup_free_ char *error = NULL;
	bool here = !ex->keeper;
	int r = here ? keeper_start(ex) : 0;

	if (r == 0)
		r = load_state(ex, l, &error, ret_loaded);
	if (here)
		keeper_stop(ex);
	if (r == 0)
		return OP_DONE;
	return reply_error(ret, r == -ENOENT ? OP_NO : OP_FAILED, "%s", error ? error : advice(r));
}

static json_t *loaded_json(const struct loaded *loaded, const char *run)
{
	_cleanup_free_ char *path = NULL;

	if (loaded->checkpoint && asprintf(&path, "%s%s%s", run, *run ? "/" : "", loaded->checkpoint) < 0)
		return NULL;
	return json_pack("{s:o, s:s, s:o, s:o, s:I}", "run", reply_path(run), "hash", loaded->hash, "checkpoint",
			 path ? reply_path(path) : json_null(), "step",
			 loaded->step < 0 ? json_null() : json_integer(loaded->step), "changed",
			 (json_int_t)loaded->changed);
}

static enum op_exit load_and_tell(struct expfs *ex, const struct load *l, const char *run, json_t **ret)
{
	struct loaded loaded = { 0 };
	enum op_exit exit = load(ex, l, &loaded, ret);

	if (exit == OP_DONE)
		*ret = loaded_json(&loaded, run);
	free(loaded.checkpoint);
	return exit;
}

enum op_exit op_load(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	const char *text = json_string_value(json_object_get(args, "hash"));
	const char *branch = json_string_value(json_object_get(args, "branch"));
	_cleanup_free_ char *path = reply_get_path(args), *run = NULL;
	struct load l = { 0 };
	int r;

	if (!text || load_parse(text, &l.name) < 0)
		return reply_error(ret, OP_USAGE, "%s: is no hash; give HASH or HASH@STEP, as expfs log shows them",
				   text ? text : "");
	r = find_run(ex, branch, path ? path : "", &l.run, &run);
	if (r == -ENOENT && branch)
		return reply_error(ret, OP_NO, "%s: there is no such branch; expfs status shows them, and this begins it: expfs "
				   "branch %s --from %s", branch, branch, text);
	if (r == -EROFS)
		return reply_error(ret, OP_FAILED, "%s: its run was removed; make it again with mkdir, or load into a new one: expfs "
				   "branch NEW --from %s", branch, text);
	if (r == -EOPNOTSUPP)
		return reply_error(ret, OP_FAILED, "%s: is a branch of an experiment root; who writes there loads into it himself, "
				   "as WeightsLab does", branch);
	if (r == -ENOENT || r == -ENOTDIR)
		return reply_error(ret, OP_NO, "/%s: there is no such path; to begin a new run: expfs branch NEW --from %s",
				   path ? path : "", text);
	if (r < 0)
		return reply_error(ret, OP_FAILED, "%s: load: %s", store_path(ex->store), advice(r));
	return load_and_tell(ex, &l, run, ret);
}

struct points {
	uint64_t *experiment;
	size_t n;
};

static void points_free(struct points *p)
{
	free(p->experiment);
}

static int add_point(void *arg, const struct line_row *row)
{
	struct points *p = arg;
	uint64_t *v = row->experiment ? array_grow(p->experiment, p->n, sizeof(*v)) : NULL;

	if (!row->experiment)
		return 0;
	if (!v)
		return -ENOMEM;
	p->experiment = v;
	v[p->n++] = row->experiment;
	return 0;
}

static int last_of_points(struct db *db, const struct points *p, int64_t step, uint64_t run, bool only_own,
			  struct experiment_row *ret)
{
	struct version_row v;

	for (size_t i = p->n; i > 0; i--) {
		int r = version_last_of_experiment(db, p->experiment[i - 1], step, run, only_own, &v);

		if (r != -ENOENT)
			return r < 0 ? r : experiment_get(db, p->experiment[i - 1], ret);
	}
	return -ENOENT;
}

/* Of the experiments that a branch was at the last one that has a checkpoint of that step, deleted or not, its own if there is
 * any. */
static int last_with_step(struct expfs *ex, const struct branch *b, int64_t step, struct experiment_row *ret)
{
	_cleanup_(points_free) struct points p = { 0 };
	_cleanup_(cleanup_reader) struct db *db = NULL;
	int r = branch_list_lines(ex, b, add_point, &p);

	if (r < 0)
		return r;
	db = meta_reader(ex->meta);
	r = last_of_points(db, &p, step, branch_run(b), true, ret);
	return r == -ENOENT ? last_of_points(db, &p, step, branch_run(b), false, ret) : r;
}

/* The checkpoint of a branch with that step tells the experiment: the one that is there, or else one in history. */
static int at_step(struct expfs *ex, const struct branch *b, int64_t step, struct load_name *ret)
{
	_cleanup_checkpoint_set_ struct checkpoint_set s = { 0 };
	_cleanup_checkpoint_ struct checkpoint c = { 0 };
	struct experiment_row e;
	int r = branch_settle(ex, b);

	if (r == 0)
		r = branch_checkpoints(ex, NULL, b, &s);
	if (r == 0)
		r = checkpoint_nearest(&s, (uint64_t)step, &c);
	if (r == 0 && c.version.step == step && c.version.experiment) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = experiment_get(db, c.version.experiment, &e);
	} else if (r == 0 || r == -ENOENT) {
		r = last_with_step(ex, b, step, &e);
	}
	if (r < 0)
		return r;
	memcpy(ret->hash, e.hash, sizeof(e.hash));
	ret->step = step;
	return 0;
}

/* BRANCH or BRANCH@STEP; -ENOENT: there is no such branch; -ENODATA: it is at no experiment, or has no such step. */
static int from_branch(struct expfs *ex, const char *text, struct load *ret)
{
	const char *at = strrchr(text, '@');
	bool step = at && at[1] && strlen(at) < 20 && at[1 + strspn(at + 1, "0123456789")] == 0;
	_cleanup_free_ char *name = strndup(text, step ? (size_t)(at - text) : strlen(text));
	struct experiment_head head;
	struct branch b;
	int r = name ? branch_by_name(ex, NULL, name, &b) : -ENOMEM;

	if (r < 0)
		return r;
	ret->from = branch_run(&b);
	if (step) {
		r = at_step(ex, &b, (int64_t)strtoull(at + 1, NULL, 10), &ret->name);
	} else {
		r = branch_head(ex, &b, &head);
		ret->name.step = NO_STEP;
		if (r == 0)
			memcpy(ret->name.hash, head.experiment.hash, sizeof(ret->name.hash));
	}
	branch_free(&b);
	return r == -ENOENT ? -ENODATA : r;
}

/* A whole hash is one; what is shorter may be the name of a branch. */
static enum op_exit find_from(struct expfs *ex, const char *text, struct load *ret_load, json_t **ret)
{
	int hash = load_parse(text, &ret_load->name), r;

	if (hash == 0 && strlen(ret_load->name.hash) == EXPERIMENT_HASH)
		return OP_DONE;
	r = from_branch(ex, text, ret_load);
	if (r == -ENOENT && hash == 0) {
		load_parse(text, &ret_load->name);
		return OP_DONE;
	}
	if (r == -ENOENT)
		return reply_error(ret, OP_NO, "%s: there is no such branch, and it is no hash; expfs status shows the branches, expfs log the hashes", text);
	if (r == -ENODATA)
		return load_from_say_none(ex, text, ret);
	return r < 0 ? reply_error(ret, OP_FAILED, "%s: %s", text, advice(r)) : OP_DONE;
}

enum op_exit op_branch(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	const json_t *from = json_object_get(args, "from");
	const char *name = json_string_value(from);
	struct load l = { .new = json_string_value(json_object_get(args, "new")), .uid = caller->uid, .gid = caller->gid };
	_cleanup_free_ char *run = NULL;
	enum op_exit exit;

	if (!(name || json_is_object(from)) || !l.new)
		return reply_error(ret, OP_USAGE, "branch: a name and what it begins from are wanted; see: expfs help branch");
	if (asprintf(&run, "runs/%s", l.new) < 0)
		return OP_FAILED;
	if (!*l.new || strchr(l.new, '/') || strlen(l.new) > 255 || !path_is_run(ex, run))
		return reply_error(ret, OP_USAGE, "%s: is no name of a run; give one without a slash that begins with no dot", l.new);
	exit = name ? find_from(ex, name, &l, ret) : load_from_path(ex, from, &l, ret);
	return exit == OP_DONE ? load_and_tell(ex, &l, run, ret) : exit;
}
