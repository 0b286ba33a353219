#include "op/stats.h"

#include <string.h>

#include "exp/branch.h"
#include "exp/keeper.h"
#include "exp/space.h"
#include "meta/tracked.h"
#include "op/reply.h"

static json_t *space_json(const struct space *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "files", (json_int_t)s->files, "contents", (json_int_t)s->contents, "raw",
			 (json_int_t)s->raw, "unique", (json_int_t)s->unique, "stored", (json_int_t)s->stored);
}

/* One part a directory: the first is what is in none of a branch, or the branch's that is the top. *ret_part is that of each
 * branch. */
static struct space_root *make_roots(const struct branch_list *l, size_t *ret_n, size_t *ret_part)
{
	struct space_root *v = calloc(l->n + 1, sizeof(*v));
	size_t n = 1, k;

	if (!v)
		return NULL;
	v[0] = (struct space_root){ META_ROOT, TRACKED_TOP, 0 };
	for (size_t i = 0; i < l->n; i++) {
		const struct branch *b = &l->v[i];

		k = b->ino == META_ROOT ? 0 : n;
		for (size_t j = 1; j < n && k == n; j++)
			k = v[j].tracked == b->top ? j : n;
		if (k == n)
			v[n++] = (struct space_root){ b->ino, b->top, k };
		ret_part[i] = k;
	}
	*ret_n = n;
	return v;
}

static json_t *branches_json(const struct branch_list *l, const size_t *part, const struct space *spaces, bool *ret_top)
{
	json_t *list = json_array();

	for (size_t i = 0; i < l->n; i++) {
		_cleanup_json_ json_t *space = space_json(&spaces[part[i]]);
		json_t *j = json_pack("{s:o, s:o}", "name", reply_text(l->v[i].name), "run", reply_run(&l->v[i]));

		json_object_update(j, space);
		json_array_append_new(list, j);
		*ret_top |= part[i] == 0;
	}
	return list;
}

static int add_branches(struct expfs *ex, struct cred *cred, const struct branch_list *l, json_t *stats)
{
	_cleanup_free_ size_t *part = calloc(l->n + 1, sizeof(*part));
	struct space_question q = { .ex = ex, .cred = cred };
	_cleanup_free_ struct space_root *roots = part ? make_roots(l, &q.n_roots, part) : NULL;
	_cleanup_free_ struct space *spaces = roots ? calloc(q.n_roots, sizeof(*spaces)) : NULL;
	bool top = false;
	int r;

	if (!spaces)
		return -ENOMEM;
	q.roots = roots;
	q.parts = spaces;
	q.n_parts = q.n_roots;
	r = space_of_parts(&q);
	if (r < 0)
		return r;
	json_object_set_new(stats, "branches", branches_json(l, part, spaces, &top));
	json_object_set_new(stats, "rest", space_json(&(struct space){ 0 }));
	if (!top)
		json_object_set_new(stats, "rest", space_json(&spaces[0]));
	return 0;
}

static int store_json(struct expfs *ex, json_t **ret)
{
	struct space_of_store s = { 0 };
	struct statvfs v;
	int r = space_of_store(ex, &s);

	if (r == 0)
		r = expfs_statvfs(ex, &v);
	if (r < 0)
		return r;
	*ret = json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "time", reply_time(now_ns()), "raw", (json_int_t)s.raw, "unique",
			 (json_int_t)s.unique, "stored", (json_int_t)s.stored, "files", (json_int_t)s.files, "contents",
			 (json_int_t)s.objects, "disk_size", (json_int_t)(v.f_blocks * v.f_frsize), "disk_free",
			 (json_int_t)(v.f_bavail * v.f_frsize));
	return *ret ? 0 : -ENOMEM;
}

int stats_json(struct expfs *ex, struct cred *cred, json_t **ret)
{
	_cleanup_json_ json_t *stats = NULL;
	struct branch_list l;
	int r;

	keeper_settle(ex);
	r = store_json(ex, &stats);
	if (r == 0)
		r = branch_list_open(ex, cred, &l);
	if (r < 0)
		return r;
	r = add_branches(ex, cred, &l, stats);
	branch_list_free(&l);
	if (r == 0)
		*ret = steal(&stats);
	return r;
}
