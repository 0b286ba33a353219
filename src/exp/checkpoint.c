/* Two passes. The first walks the names, with one reader of the database, and
 * collects candidates. The second, oldest first and without a reader, decides
 * which are complete: a directory may be so because it has the same names in it
 * as the complete one before it.
 *
 * The order of checkpoints is that of the commits that completed them: a file's
 * is the later of "its last writer closed it" and "it got a name with a role";
 * a directory's the latest of its files'. What came with an old time stands
 * before all others, in the order of those times, then of steps. */
#include "exp/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "exp/complete.h"
#include "exp/entries.h"
#include "exp/path.h"

static const char removed[] = "removed";

void checkpoint_list_free(struct checkpoint_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
	*l = (struct checkpoint_list){ 0 };
}

static int add_checkpoint(struct checkpoint_list *l, const struct entry *e)
{
	bool is_dir = S_ISDIR(e->row.mode);
	struct checkpoint *v = array_grow(l->v, l->n, sizeof(*v));
	struct checkpoint c = {
		.ino = e->row.ino,
		.is_dir = is_dir,
		.imported = e->row.flags & INODE_IMPORTED,
		.order = MAX(is_dir ? 0 : e->row.order, e->d.order),
		.mtime = e->row.mtime,
		.flags = e->row.flags,
		.dir_order = e->row.order,
		.dir_mtime = e->row.mtime,
	};

	if (!v)
		return -ENOMEM;
	l->v = v;
	c.path = strdup(e->path);
	if (!c.path)
		return -ENOMEM;
	c.has_step = step_of_name(path_last(c.path), is_dir, &c.step);
	if (!c.has_step && is_dir && role_digit_dir(path_last(c.path))) {
		errno = 0;
		c.step = strtoull(path_last(c.path), NULL, 10);
		c.has_step = errno == 0 && c.step <= INT64_MAX;
	}
	v[l->n++] = c;
	return 0;
}

/* Is it an all-digit directory with a marker in it (Orbax, torch DCP)? */
static int is_digit_checkpoint(struct db *db, const struct entry *e)
{
	static const char *const marker[] = { "_CHECKPOINT_METADATA", ".metadata" };

	if (!role_digit_dir(path_last(e->path)))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(marker); i++) {
		struct dirent_row d;
		int r = dirent_get(db, e->row.ino, marker[i], &d);

		if (r != -ENOENT)
			return r < 0 ? r : 1;
	}
	return 0;
}

static int is_checkpoint(struct expfs *ex, struct db *db, const struct entry *e)
{
	bool is_dir = S_ISDIR(e->row.mode);

	if (!is_dir && !S_ISREG(e->row.mode))
		return 0;
	if (path_role(ex, e->path, is_dir) == ROLE_WEIGHTS)
		return 1;
	return is_dir ? is_digit_checkpoint(db, e) : 0;
}

static int walk(struct expfs *ex, struct db *db, uint64_t dir, const char *path, bool nested,
		struct checkpoint_list *l)
{
	_cleanup_entries_ struct entries e;
	int r = entries_read(db, dir, path, true, &e);

	if (r < 0)
		return r == -ENAMETOOLONG ? 0 : r;
	for (size_t i = 0; i < e.n && r >= 0; i++) {
		r = is_checkpoint(ex, db, &e.v[i]);
		if (r == 1)
			r = add_checkpoint(l, &e.v[i]);
		else if (r == 0 && S_ISDIR(e.v[i].row.mode) && (nested || !path_is_run(ex, e.v[i].path)))
			r = walk(ex, db, e.v[i].row.ino, e.v[i].path, nested, l);
	}
	return MIN(r, 0);
}

static int checkpoint_compare(const void *pa, const void *pb)
{
	const struct checkpoint *a = pa, *b = pb;

	if (a->imported != b->imported)
		return a->imported ? -1 : 1;
	if (a->imported && a->mtime != b->mtime)
		return a->mtime < b->mtime ? -1 : 1;
	if (a->imported && a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return strcmp(a->path, b->path);
}

static const char *judge_file(struct expfs *ex, const struct checkpoint *c)
{
	struct inode_row row;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = inode_get(db, c->ino, &row);
	}
	return r < 0 ? removed : complete_file_fault(ex, &row, path_last(c->path));
}

static int load_members(struct expfs *ex, struct checkpoint_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct checkpoint *c = &l->v[i];
		int r;

		if (!c->is_dir)
			continue;
		c->members = calloc(1, sizeof(*c->members));
		if (!c->members)
			return -ENOMEM;
		r = members_load(ex, c->ino, c->members);
		if (r < 0 && r != -E2BIG)
			return r;
		c->order = MAX(c->order, c->members->order);
		c->imported = c->members->n > 0 && c->members->imported;
		if (c->members->n > 0)
			c->mtime = c->members->mtime;
	}
	return 0;
}

static void drop_members(struct checkpoint_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!l->v[i].members)
			continue;
		members_free(l->v[i].members);
		free(steal(&l->v[i].members));
	}
}

/* Puts the candidates in order and decides which are complete. */
static int judge(struct expfs *ex, struct checkpoint_list *l)
{
	const struct members none = { 0 }, *before = &none;
	int r = load_members(ex, l);

	if (r == 0 && l->n > 0)
		qsort(l->v, l->n, sizeof(*l->v), checkpoint_compare);
	for (size_t i = 0; i < l->n && r == 0; i++) {
		struct checkpoint *c = &l->v[i];

		c->why = c->is_dir ? complete_dir_fault(ex, c, before) : judge_file(ex, c);
		c->complete = c->why == NULL;
		c->passing = c->why == removed || (c->why && complete_may_come(c->why));
		if (!c->complete || !c->is_dir)
			continue;
		before = c->members;
		complete_remember(ex, c);
	}
	drop_members(l);
	return r;
}

int checkpoint_scan(struct expfs *ex, uint64_t dir, const char *path, bool nested, struct checkpoint_list *ret)
{
	struct checkpoint_list l = { 0 };
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = walk(ex, db, dir, path, nested, &l);
	}
	if (r == 0)
		r = judge(ex, &l);
	if (r < 0)
		checkpoint_list_free(&l);
	else
		*ret = l;
	return r;
}

int checkpoint_at(struct expfs *ex, uint64_t ino, const char *path, struct checkpoint *ret)
{
	struct checkpoint_list l = { 0 };
	size_t prefix = path_run_prefix(ex, path);
	_cleanup_free_ char *run = strndup(path, prefix);
	uint64_t run_ino;
	int r;

	if (!run)
		return -ENOMEM;
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = path_lookup(db, run, &run_ino);
	}
	if (r == 0)
		r = checkpoint_scan(ex, run_ino, run, false, &l);
	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t i = 0; i < l.n && r < 0; i++) {
		if (l.v[i].ino != ino)
			continue;
		*ret = l.v[i];
		l.v[i].path = NULL;
		r = 0;
	}
	checkpoint_list_free(&l);
	return r;
}

const struct checkpoint *checkpoint_latest(const struct checkpoint_list *l)
{
	for (size_t i = l->n; i-- > 0;)
		if (l->v[i].complete)
			return &l->v[i];
	return NULL;
}

const struct checkpoint *checkpoint_nearest(const struct checkpoint_list *l, uint64_t step)
{
	const struct checkpoint *best = NULL;
	uint64_t best_gap = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct checkpoint *c = &l->v[i];
		uint64_t gap = c->step > step ? c->step - step : step - c->step;

		if (!c->complete || !c->has_step)
			continue;
		if (!best || gap < best_gap || (gap == best_gap && c->step >= best->step)) {
			best = c;
			best_gap = gap;
		}
	}
	return best;
}

static int step_compare(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

int checkpoint_steps(const struct checkpoint_list *l, uint64_t **ret, size_t *ret_n)
{
	uint64_t *v = malloc((l->n + 1) * sizeof(*v));
	size_t n = 0, out = 0;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].complete && l->v[i].has_step)
			v[n++] = l->v[i].step;
	qsort(v, n, sizeof(*v), step_compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || v[i] != v[out - 1])
			v[out++] = v[i];
	*ret = v;
	*ret_n = out;
	return 0;
}

static bool has_role(struct expfs *ex, const struct entry *e)
{
	return S_ISREG(e->row.mode) && e->d.class && path_role(ex, e->path, false) != ROLE_NONE;
}

static int any_role(struct expfs *ex, struct db *db, uint64_t dir, const char *path)
{
	_cleanup_entries_ struct entries e;
	int r = entries_read(db, dir, path, true, &e);

	for (size_t i = 0; i < e.n && r == 0; i++)
		r = has_role(ex, &e.v[i]) ? 1 : is_checkpoint(ex, db, &e.v[i]);
	for (size_t i = 0; i < e.n && r == 0; i++)
		if (S_ISDIR(e.v[i].row.mode) && !path_is_run(ex, e.v[i].path))
			r = any_role(ex, db, e.v[i].row.ino, e.v[i].path);
	return r == -ENAMETOOLONG ? 0 : r;
}

int checkpoint_any_role(struct expfs *ex, uint64_t dir, const char *path, bool *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = any_role(ex, db, dir, path);

	if (r >= 0)
		*ret = r > 0;
	return MIN(r, 0);
}
