#include <stdio.h>
#include <string.h>

#include "exp/checkpoint.h"
#include "op/reply.h"
#include "op/versions.h"
#include "util/hex.h"

static json_t *digest_json(const struct history_version *v)
{
	char hex[2 * CONTENT_DIGEST + 1];

	if (!v->has_digest)
		return json_null();
	hex_text(v->digest, CONTENT_DIGEST, hex);
	return json_string(hex);
}

static json_t *version_json(const char *path, const struct history_version *v)
{
	_cleanup_free_ char *below = checkpoint_history_path(path, &v->row), *found = NULL;

	if (!below || asprintf(&found, ".expfs/history/%s", below) < 0)
		return NULL;
	return json_pack("{s:I, s:o, s:I, s:i, s:I, s:I, s:b, s:b, s:o, s:b, s:o, s:o}", "n", (json_int_t)v->row.n,
			 "mtime", reply_time(v->row.mtime), "size", (json_int_t)v->row.size, "mode", (int)v->row.mode, "uid",
			 (json_int_t)v->row.uid, "gid", (json_int_t)v->row.gid, "directory", v->row.is_dir, "complete",
			 v->row.complete == 1, "step", v->row.step == NO_STEP ? json_null() : json_integer(v->row.step),
			 "held", v->held, "digest", digest_json(v), "found", reply_path(found));
}

enum op_exit op_history(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	_cleanup_history_ struct history h = { .n = 0 };
	_cleanup_json_ json_t *placed = NULL;
	_cleanup_free_ char *path = NULL;
	_cleanup_versions_selection_ struct versions_selection s = { 0 };
	json_t *versions;
	enum op_exit exit = versions_place(ex, args, &placed, &s, ret);

	if (exit == OP_DONE)
		exit = versions_load(ex, placed, &path, &h, ret);
	if (exit != OP_DONE)
		return exit;
	versions = json_array();
	for (size_t i = 0; i < h.n; i++)
		json_array_append_new(versions, version_json(path, &h.v[i]));
	*ret = json_pack("{s:o, s:s, s:b, s:o}", "path", reply_path(path), "role", role_name((enum role)h.tracked.role),
			 "there", h.tracked.ino != 0, "versions", versions);
	if (json_object_get(placed, "n") && (versions_selection_put(&s, placed) < 0 || json_object_set(*ret, "named", placed) < 0))
		return OP_FAILED;
	return OP_DONE;
}
