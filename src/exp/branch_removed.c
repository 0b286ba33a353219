/* Branches of runs that were removed. */
#include <stdio.h>
#include <string.h>

#include "exp/branch.h"
#include "exp/branch_part.h"
#include "exp/removed.h"
#include "exp/tracked_dir.h"

int branch_removed_get(struct expfs *ex, struct cred *cred, uint64_t id, struct branch *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct branch b = { .id = id, .top = id };
	struct tracked_row t;
	int r = removed_is_run(db, id);

	if (r > 0)
		r = tracked_any_role(db, id);
	r = r > 0 ? tracked_get(db, id, &t) : r == 0 ? -ENOENT : r;
	if (r == 0)
		r = tracked_dirs_permit(db, cred, &t, TRACKED_TOP, X_OK);
	if (r > 0)
		r = tracked_path(db, id, &b.path);
	else
		return r < 0 && r != -ESTALE ? r : -ENOENT;
	b.name = r == 0 ? branch_run_name(b.path) : NULL;
	if (!b.name) {
		branch_free(&b);
		return r < 0 ? r : -ENOMEM;
	}
	*ret = b;
	return 0;
}

int branch_removed_add(struct expfs *ex, struct cred *cred, struct branch_list *l)
{
	_cleanup_id_list_ struct id_list removed = { 0 };
	int r = removed_list(ex, cred, true, &removed);

	for (size_t i = 0; i < removed.n && r == 0; i++) {
		struct branch b;

		r = branch_removed_get(ex, cred, removed.v[i], &b);
		if (r == 0 && branch_list_find(l, b.name))
			branch_free(&b);
		else if (r == 0)
			r = branch_list_add(l, &b);
		r = r == -ENOENT ? 0 : r;
	}
	return r;
}

int branch_removed_by_name(struct expfs *ex, struct cred *cred, const char *name, struct branch *ret)
{
	_cleanup_id_list_ struct id_list l = { 0 };
	_cleanup_free_ char *path = NULL;
	bool found = false;
	uint64_t id;
	int r;

	if (asprintf(&path, "runs/%s", name) < 0)
		return -ENOMEM;
	r = strcmp(name, "main") == 0 ? -ENOENT : removed_by_path(ex, path, &id);
	if (r == 0)
		r = branch_removed_get(ex, cred, id, ret);
	if (r != -ENOENT || !strchr(name, '.'))
		return r;
	r = removed_list(ex, cred, false, &l);
	for (size_t i = 0; i < l.n && r == 0 && !found; i++) {
		r = branch_removed_get(ex, cred, l.v[i], ret);
		found = r == 0 && strcmp(ret->name, name) == 0;
		if (r == 0 && !found)
			branch_free(ret);
		r = r == -ENOENT ? 0 : r;
	}
	return r < 0 ? r : found ? 0 : -ENOENT;
}
