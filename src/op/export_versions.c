/* What of a file can be copied out of the store whatever becomes of it meanwhile: its complete versions. */
#include <string.h>

#include "exp/branch.h"
#include "meta/experiment.h"
#include "op/reply.h"
#include "op/versions.h"
#include "util/hex.h"

static json_t *version_json(const struct history_version *v)
{
	char hex[2 * CONTENT_DIGEST + 1] = "";

	if (v->has_digest)
		hex_text(v->digest, CONTENT_DIGEST, hex);
	return json_pack("{s:I, s:I, s:I, s:I, s:i, s:o}", "n", (json_int_t)v->row.n, "object", (json_int_t)v->row.object, "size",
			 (json_int_t)v->row.size, "mtime", (json_int_t)v->row.mtime, "mode", (int)v->row.mode, "digest",
			 *hex ? json_string(hex) : json_null());
}

enum op_exit op_versions(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	_cleanup_history_ struct history h = { .n = 0 };
	_cleanup_free_ char *path = NULL;
	_cleanup_json_ json_t *list = json_array();
	enum op_exit exit = versions_load(ex, args, &path, &h, ret);

	if (exit != OP_DONE)
		return exit;
	for (size_t i = h.n; i > 0; i--)
		if (h.v[i - 1].row.complete == 1 && !h.v[i - 1].row.is_dir)
			json_array_append_new(list, version_json(&h.v[i - 1]));
	*ret = json_pack("{s:O}", "versions", list);
	return *ret && reply_put_path(*ret, path) == 0 ? OP_DONE : OP_FAILED;
}

static int find_nearest(struct expfs *ex, const char *name, uint64_t step, struct checkpoint *ret)
{
	_cleanup_checkpoint_set_ struct checkpoint_set s = { 0 };
	struct branch b = { 0 };
	int r = branch_by_name(ex, NULL, name, &b);

	if (r == 0)
		r = branch_checkpoints(ex, NULL, &b, &s);
	if (r == 0)
		r = checkpoint_nearest(&s, step, ret);
	branch_free(&b);
	return r;
}

enum op_exit op_nearest(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	const char *name = json_string_value(json_object_get(args, "branch"));
	json_int_t step = json_integer_value(json_object_get(args, "step"));
	_cleanup_checkpoint_ struct checkpoint c = { 0 };
	_cleanup_(cleanup_reader) struct db *db = NULL;
	struct experiment_row e = { 0 };
	int r = name ? find_nearest(ex, name, (uint64_t)step, &c) : -ENOENT;

	if (r == -ENOENT)
		return reply_error(ret, OP_NO, "%s: there is no such branch, or none of its checkpoints has a step", name ? name : "");
	if (r == 0 && c.version.experiment) {
		db = meta_reader(ex->meta);
		r = experiment_get(db, c.version.experiment, &e);
	}
	if (r < 0 && r != -ENOENT)
		return reply_error(ret, OP_FAILED, "%s: %s", name, strerror(-r));
	*ret = json_pack("{s:I, s:b, s:I, s:s}", "version", (json_int_t)c.version.n, "directory", c.version.is_dir, "step",
			 (json_int_t)c.version.step, "experiment", e.hash);
	return *ret && reply_put_path(*ret, c.path) == 0 ? OP_DONE : OP_FAILED;
}
