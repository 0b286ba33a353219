/* What of a file can be copied out of the store whatever becomes of it meanwhile: its complete versions. */
#include <string.h>

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
