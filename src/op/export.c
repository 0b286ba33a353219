/* What is to be copied out of the store: the latest and the best checkpoint, files beside them by role, and what a directory holds.
 * Nothing is copied here: who asks reads the versions and files himself. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "exp/best.h"
#include "exp/branch.h"
#include "exp/entries.h"
#include "exp/keeper.h"
#include "exp/path.h"
#include "exp/resume.h"
#include "exp/root.h"
#include "exp/view_path.h"
#include "meta/content.h"
#include "op/reply.h"
#include "util/hex.h"

static json_t *digest_json(struct db *db, uint64_t object)
{
	char hex[2 * CONTENT_DIGEST + 1];
	struct content_row c;

	if (!object || content_get(db, object, &c) < 0 || c.state != CONTENT_SEALED)
		return json_null();
	hex_text(c.digest, CONTENT_DIGEST, hex);
	return json_string(hex);
}

/* name: of a file below the checkpoint, "" for itself. */
static json_t *file_json(struct db *db, const char *name, const struct member_row *m)
{
	json_t *file = json_pack("{s:I, s:I, s:i, s:I, s:o}", "size", (json_int_t)m->size, "mtime", (json_int_t)m->mtime, "mode",
				 (int)m->mode, "object", (json_int_t)m->object, "digest", digest_json(db, m->object));

	if (file && reply_put_path(file, name) < 0)
		json_decref(steal(&file));
	return file;
}

struct members {
	struct db *db;
	json_t *list;
};

static int add_member(void *arg, const struct member_row *m, const char *name)
{
	struct members *f = arg;

	return json_array_append_new(f->list, file_json(f->db, name, m)) < 0 ? -ENOMEM : 0;
}

static int checkpoint_json(struct expfs *ex, const struct checkpoint *c, json_t **ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	const struct version_row *v = &c->version;
	struct member_row own = { .object = v->object, .size = v->size, .mode = v->mode, .mtime = v->mtime };
	struct members f = { .db = db, .list = json_array() };
	int r = v->is_dir ? member_list(db, v->id, add_member, &f) : add_member(&f, &own, "");

	*ret = json_pack("{s:o, s:I, s:I, s:b, s:I, s:i, s:o}", "files", f.list, "version", (json_int_t)v->id, "n", (json_int_t)v->n,
			 "directory", v->is_dir, "mtime", (json_int_t)v->mtime, "mode", (int)v->mode, "step",
			 v->step == NO_STEP ? json_null() : json_integer(v->step));
	if (!*ret)
		return -ENOMEM;
	return r < 0 ? r : reply_put_path(*ret, c->path);
}

static int put_latest(struct expfs *ex, const struct checkpoint_set *s, json_t *to)
{
	_cleanup_checkpoint_ struct checkpoint c = { 0 };
	json_t *latest = NULL;
	int r = checkpoint_latest(s, &c);

	if (r == -ENOENT)
		return json_object_set_new(to, "latest", json_null());
	if (r == 0)
		r = checkpoint_to_resume(s, &c);
	if (r == 0)
		r = checkpoint_json(ex, &c, &latest);
	json_object_set_new(to, "latest", latest);
	return r;
}

static int put_best(struct expfs *ex, const struct checkpoint_set *s, json_t *to)
{
	_cleanup_best_ struct best b = { 0 };
	json_t *best = NULL;
	int r = checkpoint_best(s, &b);

	if (r == -ENOENT)
		return json_object_set_new(to, "best", json_null());
	if (r == 0)
		r = checkpoint_json(ex, &b.checkpoint, &best);
	json_object_set_new(to, "best", best);
	return r;
}

/* What a directory holds, one level. */

static json_t *entry_json(struct expfs *ex, struct db *db, const struct inode_row *row, const char *path)
{
	_cleanup_free_ char *target = NULL;
	bool dir = S_ISDIR(row->mode);
	json_t *j;

	if (S_ISLNK(row->mode) && inode_target(db, row->ino, &target) < 0)
		return NULL;
	j = json_pack("{s:b, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:o}",
		      "run", dir && path_is_run(ex, path), "mode", (int)row->mode, "size", (json_int_t)row->size, "mtime",
		      (json_int_t)row->mtime, "ctime", (json_int_t)row->ctime, "ino", (json_int_t)row->ino, "nlink",
		      (json_int_t)row->nlink, "object", (json_int_t)row->object, "role", role_name(path_role(ex, path, dir)), "digest",
		      row->flags & INODE_LIVE ? json_null() : digest_json(db, row->object));
	if (j && reply_put_path(j, path) < 0)
		json_decref(steal(&j));
	if (j && target && !json_object_set_new(j, "target", json_string(target)))
		return j;
	if (j && target) { /* of bytes that are no UTF-8 */
		_cleanup_free_ char *hex = malloc(2 * strlen(target) + 1);

		if (hex)
			hex_text(target, strlen(target), hex);
		json_object_set_new(j, "target_hex", json_string(hex ? hex : ""));
	}
	return j;
}

static int find_dir(struct expfs *ex, const char *path, uint64_t *ret_ino, bool *ret_is_dir)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct inode_row row;
	int r = path_lookup(db, path, ret_ino);

	if (r == 0)
		r = inode_get(db, *ret_ino, &row);
	*ret_is_dir = r == 0 && S_ISDIR(row.mode);
	return r;
}

static int read_entry(struct expfs *ex, const struct entry *e, json_t **ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct inode_row row;
	int r = expfs_inode_get(ex, db, e->d.ino, &row);

	if (r == 0)
		*ret = entry_json(ex, db, &row, e->path);
	return r < 0 ? r : *ret ? 0 : -ENOMEM;
}

/* Of a file of weights also whether it is a complete one. */
static int add_entry(struct expfs *ex, const struct entry *e, json_t *list)
{
	struct checkpoint_state c = { .complete = false };
	json_t *j = NULL;
	int r = read_entry(ex, e, &j);

	if (r == 0 && !strcmp(json_string_value(json_object_get(j, "role")), "WEIGHTS") && S_ISREG(e->row.mode))
		json_object_set_new(j, "complete", json_boolean(checkpoint_state_of(ex, e->d.ino, &c) == 0 && c.complete));
	return r == 0 && json_array_append_new(list, j) < 0 ? -ENOMEM : r;
}

enum op_exit op_list(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	_cleanup_entries_ struct entries e = { 0 };
	_cleanup_free_ char *path = reply_get_path(args);
	json_t *list;
	bool is_dir;
	uint64_t ino;
	int r = path ? find_dir(ex, path, &ino, &is_dir) : -ENOENT;

	if (r == 0)
		r = is_dir ? entries_read(ex, ino, path, false, &e) : -ENOTDIR;
	if (r == -ENOENT || r == -ENOTDIR || r == -ESTALE)
		return reply_error(ret, OP_NO, "/%s: there is no such directory", path ? path : "");
	if (r < 0)
		return reply_error(ret, OP_FAILED, "/%s: %s", path, strerror(-r));
	list = json_array();
	for (size_t i = 0; i < e.n; i++) {
		r = add_entry(ex, &e.v[i], list);
		if (r < 0 && r != -ESTALE) { /* it was removed meanwhile */
			json_decref(list);
			return reply_error(ret, OP_FAILED, "/%s: %s", e.v[i].path, strerror(-r));
		}
	}
	*ret = json_pack("{s:o}", "entries", list);
	return OP_DONE;
}

enum op_exit op_known(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	const char *hex = json_string_value(json_object_get(args, "digest"));
	json_int_t size = json_integer_value(json_object_get(args, "size"));
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	uint8_t digest[CONTENT_DIGEST];
	uint64_t object;
	int n = size == 0;

	if (!hex || size < 0 || !hex_bytes(hex, digest, CONTENT_DIGEST))
		return reply_error(ret, OP_USAGE, "a size and a digest are wanted");
	if (n == 0)
		n = content_equal(db, (uint64_t)size, digest, 0, &object, 1);
	*ret = json_pack("{s:b}", "known", n > 0);
	return n < 0 ? OP_FAILED : OP_DONE;
}

/* A branch by its name or its run, or any directory; of one above experiment roots that of these which was updated last. */

static int find_effective(struct expfs *ex, const char *path, uint64_t *ino)
{
	_cleanup_root_list_ struct root_list roots = { 0 };
	size_t effective = 0;
	int r = root_list_below(ex, NULL, path, &roots, &effective);

	if (r == 0 && roots.n > 0 && roots.v[0].ino != *ino)
		*ino = roots.v[effective].ino;
	return r;
}

static int put_place(const struct branch *b, const char *path, uint64_t ino, json_t *to)
{
	_cleanup_json_ json_t *run = json_object();
	uint64_t id = !b ? 0 : branch_run(b) ? branch_run(b) : b->id;

	json_object_set_new(to, "branch", b ? reply_text(b->name) : json_null());
	json_object_set_new(to, "id", json_integer((json_int_t)id)); /* which stays that when it is called otherwise */
	json_object_set_new(to, "ino", json_integer((json_int_t)ino));
	json_object_set_new(to, "removed", json_boolean(b && branch_is_removed(b)));
	if (!run || reply_put_path(run, b ? b->path : path) < 0)
		return -ENOMEM;
	return json_object_set(to, "dir", run);
}

static int find_set(struct expfs *ex, const char *name, const char *path, struct checkpoint_set *ret, json_t *to)
{
	struct branch b;
	bool is_dir = true;
	uint64_t ino = 0, asked;
	int r = name ? 0 : find_dir(ex, path, &ino, &is_dir);

	if (r < 0 || !is_dir)
		return r < 0 ? r : -ENOTDIR;
	r = name ? branch_by_name(ex, NULL, name, &b) : branch_by_run(ex, NULL, ino, &b);
	if (r == 0) {
		r = branch_checkpoints(ex, NULL, &b, ret);
		if (r == 0)
			r = put_place(&b, NULL, b.ino, to);
		branch_free(&b);
		return r;
	}
	if (r != -ENOENT || name)
		return r;
	asked = ino;
	r = find_effective(ex, path, &ino);
	if (r == 0)
		r = checkpoint_set_below(ex, NULL, ino, ret);
	return r < 0 ? r : put_place(NULL, path, asked, to);
}

/* Is it no directory but a view? *ret_name: of the branch that it is, else NULL. */
static bool view_of(const char *path, const char **ret_name)
{
	const char *below;
	enum view_path view = view_path(path, &below);

	*ret_name = view == VIEW_PATH_BRANCHES && *below && !strchr(below, '/') ? below : NULL;
	return view != VIEW_PATH_NONE;
}

enum op_exit op_export(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	const char *name = json_string_value(json_object_get(args, "branch"));
	_cleanup_checkpoint_set_ struct checkpoint_set s = { 0 };
	_cleanup_free_ char *path = reply_get_path(args);
	_cleanup_json_ json_t *answer = json_object();
	int r;

	keeper_settle(ex);
	r = answer ? find_set(ex, name, path ? path : "", &s, answer) : -ENOMEM;
	if (r == -ENOENT && !name && view_of(path ? path : "", &name))
		r = name ? find_set(ex, name, NULL, &s, answer) : -EPERM;
	if (r == -EPERM)
		return reply_error(ret, OP_NO, "/%s: lies in a view; name a run, a directory with checkpoints, or a branch; expfs status shows "
				   "them", path);
	if (r == -ENOENT && name)
		return reply_error(ret, OP_NO, "%s: there is no such branch; expfs status shows them", name);
	if (r == -ENOENT || r == -ENOTDIR)
		return reply_error(ret, OP_NO, "/%s: %s", path ? path : "", r == -ENOENT ? "there is no such directory" :
				   "is no directory; name its run, or the branch");
	if (r == 0)
		r = put_latest(ex, &s, answer);
	if (r == 0)
		r = put_best(ex, &s, answer);
	if (r < 0)
		return reply_error(ret, OP_FAILED, "%s: export: %s", store_path(ex->store), strerror(-r));
	*ret = steal(&answer);
	json_object_set_new(*ret, "mount", ex->mountpoint ? reply_text(ex->mountpoint) : json_null());
	return OP_DONE;
}
