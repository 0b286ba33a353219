#include <string.h>

#include "exp/path.h"
#include "op/experiments.h"
#include "op/reply.h"
#include "op/unknown.h"
#include "util/advice.h"

/* Of a list only those whose runs lie at the path or below it or, where there are none, the one
 * in whose run the path lies. */
static void choose_by_path(struct branch_list *l, const char *path)
{
	size_t n = 0, deepest = l->n;
	bool below = false;

	for (size_t i = 0; i < l->n; i++) {
		below = below || path_is_below(l->v[i].path, path);
		if (path_is_below(path, l->v[i].path) &&
		    (deepest == l->n || strlen(l->v[i].path) > strlen(l->v[deepest].path)))
			deepest = i;
	}
	for (size_t i = 0; i < l->n; i++)
		if (below ? path_is_below(l->v[i].path, path) : i == deepest)
			l->v[n++] = l->v[i];
		else
			branch_free(&l->v[i]);
	l->n = n;
}

static int is_there(struct expfs *ex, const char *path)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	uint64_t ino;

	return path_lookup(db, path, &ino);
}

static int by_name(struct expfs *ex, const char *name, struct branch_list *ret)
{
	struct branch b;
	int r = branch_by_name(ex, NULL, name, &b);

	if (r < 0)
		return r;
	ret->v = malloc(sizeof(*ret->v));
	if (!ret->v) {
		branch_free(&b);
		return -ENOMEM;
	}
	ret->v[0] = b;
	ret->n = 1;
	return 0;
}

/* The branches that are asked for; -ENOENT. */
static int choose(struct expfs *ex, const char *name, const char *path, struct branch_list *ret)
{
	int r = path ? is_there(ex, path) : 0;

	if (name)
		return by_name(ex, name, ret);
	if (r == 0)
		r = branch_list(ex, NULL, ret);
	if (r == 0 && path)
		choose_by_path(ret, path);
	return r;
}

enum op_exit op_log(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	const char *name = json_string_value(json_object_get(args, "branch"));
	_cleanup_free_ char *path = reply_get_path(args);
	struct experiments e = { .ex = ex };
	struct branch_list l = { 0 };
	int r = choose(ex, name, path, &l);

	if (r == -ENOENT && name)
		return reply_error(ret, OP_NO, "%s: there is no such branch; expfs status shows them", name);
	if (r == -ENOENT && unknown_is_view(ex, path, ret))
		return OP_NO;
	if (r == -ENOENT || r == -ENOTDIR)
		return reply_error(ret, OP_NO, "/%s: there is no such path; expfs status shows the branches and their runs", path);
	e.branches = l.v;
	e.n = l.n;
	if (r == 0)
		r = experiments_log(&e, ret);
	branch_list_free(&l);
	return r < 0 ? reply_error(ret, OP_FAILED, "%s: log: %s", store_path(ex->store), advice(r)) : OP_DONE;
}
