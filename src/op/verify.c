#include "op/verify.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "exp/checkpoint.h"
#include "exp/experiment.h"
#include "exp/file.h"
#include "meta/tracked.h"
#include "op/labels.h"
#include "op/reply.h"
#include "op/selection.h"
#include "util/advice.h"

#define NAMES_MAX 50 /* tensors that are named; more are counted */

static const struct {
	const char *name;
	int exit;
} verdicts[] = {
	[VERDICT_ACCEPT] = { "ACCEPT", 0 },      [VERDICT_RECOVER] = { "RECOVER", 10 }, [VERDICT_RECAPTURE] = { "RECAPTURE", 11 },
	[VERDICT_RERUN] = { "RERUN", 12 }, [VERDICT_HOLD] = { "HOLD", 13 },
};

static enum op_exit find_version(struct expfs *ex, const json_t *args, char **ret_path, struct version_row *v,
				 struct versions_selection *ret_selection, json_t **ret)
{
	enum role role;
	enum op_exit exit = versions_find(ex, args, ret_path, &role, v, ret_selection, ret);

	if (exit == OP_DONE && role != ROLE_WEIGHTS)
		return reply_error(ret, OP_NO, "/%s: is no checkpoint; expfs show tells what it is", *ret_path);
	return exit;
}

/* What the path holds, which has to be a whole checkpoint. */
static enum op_exit find_held(struct expfs *ex, const json_t *args, char **ret_path, struct version_row *v, json_t **ret)
{
	_cleanup_history_ struct history h = { .n = 0 };
	enum op_exit exit = versions_load(ex, args, ret_path, &h, ret);
	const struct history_version *last;

	if (exit != OP_DONE)
		return exit;
	last = &h.v[h.n - 1];
	if (h.tracked.role != ROLE_WEIGHTS)
		return reply_error(ret, OP_NO, "/%s: is no checkpoint; expfs show tells what it is", *ret_path);
	if (!last->held)
		return reply_error(ret, OP_NO, "/%s: is gone, or being written; what it held is in history: expfs history", *ret_path);
	*v = last->row;
	return OP_DONE;
}

enum op_exit verify_candidate(struct expfs *ex, const json_t *args, char **ret_path, struct version_row *v,
			      struct versions_selection *ret_selection, json_t **ret)
{
	_cleanup_versions_selection_ struct versions_selection none = { 0 };
	_cleanup_json_ json_t *placed = NULL;
	enum op_exit exit;

	if (json_object_get(args, "hash"))
		return find_version(ex, args, ret_path, v, ret_selection, ret);
	exit = versions_place(ex, args, &placed, ret_selection, ret);
	if (exit != OP_DONE)
		return exit;
	if (json_integer_value(json_object_get(placed, "n")) > 0)
		return find_version(ex, placed, ret_path, v, &none, ret);
	return find_held(ex, placed, ret_path, v, ret);
}

static enum op_exit open_outside(const char *path, int *ret_fd, json_t **ret)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return reply_error(ret, OP_FAILED, "%s: %s", path, advice(-errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return reply_error(ret, OP_FAILED, "%s: is no file; a directory outside of the mount cannot be verified against", path);
	}
	*ret_fd = fd;
	return OP_DONE;
}

/* A selection is looked for beside the candidate, where a path named that. */
static enum op_exit find_reference(struct expfs *ex, const char *path, const json_t *args, struct verify *v,
				   struct versions_selection *ret_selection, json_t **ret)
{
	const json_t *against = json_object_get(args, "against");
	const char *file = json_string_value(json_object_get(against, "file"));
	_cleanup_json_ json_t *beside = against && !json_object_get(args, "hash") ? selection_args_beside(against, path) : NULL;
	_cleanup_free_ char *other = NULL;

	*ret_selection = (struct versions_selection){ .step = NO_STEP };
	if (file)
		return open_outside(file, &v->file, ret);
	return against ? find_version(ex, beside ? beside : against, &other, &v->reference, ret_selection, ret) : OP_DONE;
}

static int find_version_path(struct expfs *ex, uint64_t id, struct version_row *v, struct holds_row *h, char **ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = version_get(db, id, v);

	if (r == 0)
		r = tracked_path(db, v->tracked, ret);
	if (r == 0)
		holds_get(db, id, h);
	return r;
}

/* {"path", "version", "step", "epoch", "label": what is wrong with these, or null} */
static json_t *version_json(struct expfs *ex, uint64_t id)
{
	_cleanup_free_ char *path = NULL, *fault = NULL;
	struct holds_row h = { .step = NO_LABEL, .epoch = NO_LABEL };
	struct version_row v;

	if (id == 0 || find_version_path(ex, id, &v, &h, &path) < 0 || labels_fault(ex, NULL, &h, &fault) < 0)
		return json_null();
	return json_pack("{s:o, s:I, s:o, s:o, s:o}", "path", reply_path(path), "version", (json_int_t)v.n, "step",
			 v.step == NO_STEP ? json_null() : json_integer(v.step), "epoch",
			 h.epoch == NO_LABEL ? json_null() : json_integer(h.epoch), "label", fault ? reply_text(fault) : json_null());
}

static json_t *counts_json(const size_t counts[DIFFERENCES])
{
	json_t *o = json_object();

	for (enum difference d = DIFFERENCE_NONE; d < DIFFERENCES; d++)
		json_object_set_new(o, d == DIFFERENCE_NONE ? "equal" : difference_name(d), json_integer((json_int_t)counts[d]));
	return o;
}

static json_t *names_json(const struct comparison *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n && json_array_size(list) < NAMES_MAX; i++)
		if (c->v[i].difference > DIFFERENCE_TIED)
			json_array_append_new(list, json_pack("{s:o, s:s}", "name", reply_text(c->v[i].name), "difference",
							      difference_name(c->v[i].difference)));
	return list;
}

static json_t *versions_json(struct expfs *ex, const uint64_t *ids, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, version_json(ex, ids[i]));
	return list;
}

/* Does its path hold the version that is verified? */
static bool is_held(struct expfs *ex, const struct version_row *v)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;

	return tracked_get(db, v->tracked, &t) == 0 && checkpoint_is_there(db, &t, v) == 1 && (t.is_dir || !file_is_written(ex, t.ino));
}

static json_t *reference_json(struct expfs *ex, const struct verified *v, const char *file, const struct versions_selection *s)
{
	json_t *to = file ? json_pack("{s:o}", "file", reply_text(file)) : version_json(ex, v->reference);

	if (s->head)
		versions_selection_put(s, to);
	return to;
}

static json_t *answer(struct expfs *ex, const char *path, const struct version_row *candidate, const struct verified *v,
		      json_t *reference)
{
	return json_pack("{s:o, s:I, s:b, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "path", reply_path(path),
			 "version", (json_int_t)candidate->n, "held", is_held(ex, candidate), "answer", verdicts[v->verdict].name,
			 "exit", verdicts[v->verdict].exit, "why", v->why ? reply_text(v->why) : json_null(), "reference", reference,
			 "model", counts_json(v->comparison.count), "beside", counts_json(v->comparison.other_count), "different",
			 names_json(&v->comparison), "holds", versions_json(ex, v->held, v->n_held), "part_of",
			 versions_json(ex, v->part_of, v->n_part_of), "instead",
			 v->verdict == VERDICT_RECOVER || v->verdict == VERDICT_RERUN ? version_json(ex, v->instead) : json_null(),
			 "control", version_json(ex, v->control), "control_differs", (json_int_t)v->control_differs);
}

enum op_exit verify_run(struct expfs *ex, const struct op_caller *caller, const char *path, const json_t *args, struct verify *v,
			json_t **ret)
{
	_cleanup_verified_ struct verified verified = { 0 };
	_cleanup_versions_selection_ struct versions_selection against = { 0 };
	const char *file = json_string_value(json_object_get(json_object_get(args, "against"), "file"));
	enum op_exit exit;
	int r;

	if (v->candidate.complete != 1) {
		verified.verdict = VERDICT_HOLD;
		verified.why = strdup("it is not complete; see: expfs status");
		*ret = answer(ex, path, &v->candidate, &verified, json_null());
		return *ret ? OP_DONE : OP_FAILED;
	}
	exit = find_reference(ex, path, args, v, &against, ret);
	if (exit != OP_DONE)
		return exit;
	r = verify(ex, v, op_is_unwanted, (void *)(uintptr_t)caller, &verified);
	if (r == -EINVAL)
		return reply_error(ret, OP_USAGE, "/%s: is not verified against itself, or a link to it; name a file that was made "
				   "independently", path);
	if (r < 0)
		return reply_error(ret, OP_FAILED, "/%s: verify: %s", path, r == -E2BIG ? "more tensors in it than are read" :
				   r == -EAGAIN ? "its weights cannot be read now; the store's log says why" : advice(r));
	*ret = answer(ex, path, &v->candidate, &verified, reference_json(ex, &verified, file, &against));
	return *ret ? OP_DONE : OP_FAILED;
}

enum op_exit op_verify(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	_cleanup_versions_selection_ struct versions_selection selection = { 0 };
	struct verify v = { .file = -1 };
	_cleanup_free_ char *path = NULL;
	enum op_exit exit;
	int r = experiment_settle(ex, 0);

	if (r < 0)
		return reply_error(ret, OP_FAILED, "verify: %s", advice(r));
	exit = verify_candidate(ex, args, &path, &v.candidate, &selection, ret);
	v.step = selection.step;
	if (exit == OP_DONE)
		exit = verify_run(ex, caller, path, args, &v, ret);
	return exit != OP_DONE ? exit : versions_selection_put(&selection, *ret) < 0 ? OP_FAILED : OP_DONE;
}
