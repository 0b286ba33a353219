#include "op/unknown.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "exp/branch.h"
#include "exp/entries.h"
#include "exp/history.h"
#include "exp/path.h"
#include "exp/view_path.h"
#include "meta/inode.h"
#include "op/reply.h"

/* -ENOENT: it is not there. */
static int find(struct expfs *ex, const char *path, bool *ret_is_dir)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct inode_row row;
	uint64_t ino;
	int r = path_lookup(db, path, &ino);

	if (r == 0)
		r = inode_get(db, ino, &row);
	*ret_is_dir = r == 0 && S_ISDIR(row.mode);
	return r;
}

bool unknown_is_there(struct expfs *ex, const char *path)
{
	bool is_dir;

	return find(ex, path, &is_dir) == 0;
}

static char *latest_of(const struct expfs *ex, const char *branch)
{
	_cleanup_free_ char *path = NULL;

	return asprintf(&path, "branches/%s/latest", branch) < 0 ? NULL : reply_place(ex, path);
}

static void say_branch(struct expfs *ex, const char *path, const char *rest, json_t **ret)
{
	_cleanup_free_ char *name = strndup(rest, strcspn(rest, "/")), *place = NULL, *run = NULL;
	struct branch b = { 0 };

	if (!name || branch_by_name(ex, NULL, name, &b) < 0) {
		reply_error(ret, OP_NO, "/%s: there is no such branch; expfs status shows them", path);
		return;
	}
	place = latest_of(ex, name);
	run = reply_place(ex, b.path);
	if (!place || !run)
		reply_error(ret, OP_NO, "/%s: is a view of a branch", path);
	else if (branch_is_removed(&b))
		reply_error(ret, OP_NO, "/%s: is a view of a branch whose run was removed; give a checkpoint that is found there, as %s, or "
			    "the path that it had, in %s", path, place, run);
	else
		reply_error(ret, OP_NO, "/%s: is a view of a branch; give a checkpoint that is found there, as %s, or its run, %s", path, place,
			    run);
	branch_free(&b);
}

/* DIR/.expfs/history/PATH[/N.EXT]: the versions are those of DIR/PATH. below: from history on. */
static bool say_history(struct expfs *ex, const char *path, const char *below, json_t **ret)
{
	static const char view[] = "history/";
	const char *rest = below + strlen(view), *last = path_last(path);
	size_t digits = strspn(last, "0123456789"), len = strlen(path);
	bool numbered = digits > 0 && last > rest && (!last[digits] || last[digits] == '.');
	_cleanup_free_ char *target = NULL, *place = NULL;

	if (strncmp(below, view, strlen(view)) || !*rest)
		return false;
	len -= numbered ? strlen(last) + 1 : 0;
	if (asprintf(&target, "%.*s%.*s", (int)(below - strlen(".expfs/") - path), path, (int)(path + len - rest), rest) < 0)
		target = NULL;
	place = target ? reply_place(ex, target) : NULL;
	if (!place)
		return false;
	reply_error(ret, OP_NO, "/%s: lies in the view of history; name the path whose versions these are: %s%s%.*s", path, place,
		    numbered ? "@" : "", numbered ? (int)digits : 0, last);
	return true;
}

bool unknown_is_view(struct expfs *ex, const char *path, json_t **ret)
{
	const char *below;
	enum view_path view = view_path(path, &below);

	if (view == VIEW_PATH_NONE || unknown_is_there(ex, path))
		return false;
	if (view == VIEW_PATH_BRANCHES)
		say_branch(ex, path, below, ret);
	else if (view != VIEW_PATH_BESIDE || !say_history(ex, path, below, ret))
		reply_error(ret, OP_NO, "/%s: lies among views; give what a link there leads to, as its latest, or an experiment by its hash: "
			    "expfs show HASH", path);
	return true;
}

/* Who names a branch may mean its newest checkpoint. */
static bool say_named_branch(struct expfs *ex, const char *path, json_t **ret)
{
	const char *name = path_last(path);
	_cleanup_free_ char *place = latest_of(ex, name);
	struct branch b = { 0 };

	if (!place || unknown_is_there(ex, path) || branch_by_name(ex, NULL, name, &b) < 0)
		return false;
	branch_free(&b);
	reply_error(ret, OP_NO, "/%s: is not there, and has no version; of the branch %s give a checkpoint, as %s", path, name, place);
	return true;
}

/* Who names a file of a run so may mean the view. */
static const char *hint(const char *name)
{
	return !strcmp(name, "latest") ? "; that of the checkpoints in a directory is .expfs/latest there" :
	       !strcmp(name, "best")   ? "; that of the checkpoints in a directory is .expfs/best there" :
					 "";
}

static const char *reason(struct expfs *ex, const char *path)
{
	bool is_dir;
	enum role role;

	if (find(ex, path, &is_dir) < 0)
		return "is not there, and has no version: it had none, or they were forgotten; look for another spelling";
	role = path_role(ex, path, is_dir);
	if (is_dir)
		return role == ROLE_NONE ? "is a directory that is no checkpoint; give one that is, or a file" :
					   "was not complete yet; expfs status says what it lacks";
	return role == ROLE_NONE ? "has no role, and so no versions; see roles: in config.yaml" :
				   "has no version yet: nobody has closed it who wrote it; wait for that";
}

enum op_exit unknown_say(struct expfs *ex, const char *path, bool selection, json_t **ret)
{
	_cleanup_free_ char *above = NULL, *displaced = NULL, *place = NULL;

	if (unknown_is_view(ex, path, ret))
		return OP_NO;
	if (history_find_above(ex, path, &above) == 0) {
		place = reply_place(ex, above);
		return reply_error(ret, OP_NO, "/%s: is part of the checkpoint %s; see the history of that", path, place ? place : above);
	}
	if (history_find_displaced(ex, path, &displaced) < 0) {
		if (say_named_branch(ex, path, ret))
			return OP_NO;
		return reply_error(ret, OP_NO, "/%s: %s%s%s", path, reason(ex, path),
				   selection ? "; no selection has that name" : "", hint(path_last(path)));
	}
	place = reply_place(ex, displaced);
	reply_error(ret, OP_NO, "/%s: has no version; what was there before its directory was made anew is %s", path, place ? place : displaced);
	json_object_set_new(*ret, "displaced", reply_path(displaced));
	return OP_NO;
}
