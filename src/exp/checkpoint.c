/* Which of the checkpoints are complete is decided late and only of those that
 * matter: for the newest one, from the newest on. Only a directory that neither
 * marker nor tracker tells of needs the one before it, and so all older ones,
 * decided first.
 *
 * The order of checkpoints is that of the commits that completed them: a file's
 * is the later of "its last writer closed it" and "it got a name with a role";
 * a directory's the latest of its files'. What came with an old time stands
 * before all others, in the order of those times, then of steps.
 *
 * What is hidden from who asks is in the list all the same: whether a checkpoint
 * is complete may depend on it, is remembered, and must not depend on who asked. */
#include "exp/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "exp/complete.h"
#include "exp/entries.h"
#include "exp/path.h"

static const char removed[] = "removed";

static void drop(struct checkpoint *c)
{
	free(c->path);
	if (c->members)
		members_free(c->members);
	free(c->members);
}

void checkpoint_list_free(struct checkpoint_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		drop(&l->v[i]);
	free(l->v);
	*l = (struct checkpoint_list){ 0 };
}

static int add_checkpoint(struct checkpoint_list *l, const struct entry *e, bool hidden)
{
	bool is_dir = S_ISDIR(e->row.mode);
	struct checkpoint *v = array_grow(l->v, l->n, sizeof(*v));
	struct checkpoint c = {
		.ino = e->row.ino,
		.is_dir = is_dir,
		.hidden = hidden,
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
static int is_digit_checkpoint(struct expfs *ex, const struct entry *e)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	static const char *const marker[] = { "_CHECKPOINT_METADATA", ".metadata" };

	if (!role_digit_dir(path_last(e->path)))
		return 0;
	db = meta_reader(ex->meta);
	for (size_t i = 0; i < ARRAY_SIZE(marker); i++) {
		struct dirent_row d;
		int r = dirent_get(db, e->row.ino, marker[i], &d);

		if (r != -ENOENT)
			return r < 0 ? r : 1;
	}
	return 0;
}

static int is_checkpoint(struct expfs *ex, const struct entry *e, size_t base)
{
	bool is_dir = S_ISDIR(e->row.mode);

	if (!is_dir && !S_ISREG(e->row.mode))
		return 0;
	if (path_role_below(ex, e->path, base, is_dir) == ROLE_WEIGHTS)
		return 1;
	return is_dir ? is_digit_checkpoint(ex, e) : 0;
}

struct walk {
	struct checkpoint_list l;
	struct cred *cred;
	bool nested;
};

/* What stands below the directory dir; base as of path_run_base(). */
static int walk(struct walk *w, uint64_t dir, const char *path, size_t base, bool hidden, unsigned depth)
{
	_cleanup_entries_ struct entries e = { 0 };
	struct expfs *ex = w->l.ex;
	int r = depth == ENTRIES_DEPTH ? 0 : entries_read(ex, dir, path, true, &e);

	if (r < 0)
		return r == -ENAMETOOLONG ? 0 : r;
	for (size_t i = 0; i < e.n && r >= 0; i++) {
		const struct entry *v = &e.v[i];
		bool is_dir = S_ISDIR(v->row.mode), is_run = is_dir && path_is_run(ex, v->path);
		bool hide = hidden || (is_dir && !cred_permits(w->cred, &v->row, R_OK | X_OK));

		r = is_run ? 0 : is_checkpoint(ex, v, base);
		if (r == 1)
			r = add_checkpoint(&w->l, v, hide);
		else if (r == 0 && is_dir && (w->nested || !is_run))
			r = walk(w, v->row.ino, v->path, is_run ? strlen(v->path) + 1 : base, hide, depth + 1);
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
		if (r < 0)
			return r;
		c->order = MAX(c->order, c->members->order);
		c->imported = c->members->n > 0 && c->members->imported;
		if (c->members->n > 0)
			c->mtime = c->members->mtime;
	}
	return 0;
}

static void set_verdict(struct checkpoint_list *l, struct checkpoint *c, const char *why)
{
	c->judged = true;
	c->why = why;
	c->complete = why == NULL;
	c->passing = why == removed || (why && complete_may_come(why));
	if (c->complete && c->is_dir)
		complete_remember(l->ex, c);
}

/* Decides by the checkpoint alone; false where the one before it has a say. */
static bool judge_alone(struct checkpoint_list *l, struct checkpoint *c)
{
	bool sure = true;
	const char *why;

	if (!c->judged) {
		why = c->is_dir ? complete_dir_fault(l->ex, c, &sure) : judge_file(l->ex, c);
		if (sure)
			set_verdict(l, c, why);
	}
	return sure;
}

static bool is_same_run(const struct checkpoint_list *l, const struct checkpoint *a, const struct checkpoint *b)
{
	size_t n = path_run_prefix(l->ex, a->path);

	return n == path_run_prefix(l->ex, b->path) && !memcmp(a->path, b->path, n);
}

/* Decides of the i-th and, only if it takes that, of all older ones of its run. */
static bool judge(struct checkpoint_list *l, size_t i)
{
	const struct members none = { 0 }, *before = &none;

	if (judge_alone(l, &l->v[i]))
		return l->v[i].complete;
	for (size_t j = 0; j <= i; j++) {
		struct checkpoint *c = &l->v[j];

		if (!is_same_run(l, c, &l->v[i]))
			continue;
		if (!judge_alone(l, c))
			set_verdict(l, c, complete_dir_fault_after(c, before));
		if (c->is_dir && complete_has_whole_files(c->why))
			before = c->members;
	}
	return l->v[i].complete;
}

void checkpoint_judge(struct checkpoint_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		judge(l, i);
}

int checkpoint_scan(struct expfs *ex, struct cred *cred, uint64_t dir, const char *path, bool nested,
		    struct checkpoint_list *ret)
{
	struct walk w = { .l.ex = ex, .cred = cred, .nested = nested };
	int r = walk(&w, dir, path, path_run_base(ex, path), false, 0);

	if (r == 0)
		r = load_members(ex, &w.l);
	if (r < 0) {
		checkpoint_list_free(&w.l);
		return r;
	}
	if (w.l.n > 0)
		qsort(w.l.v, w.l.n, sizeof(*w.l.v), checkpoint_compare);
	*ret = w.l;
	return 0;
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
		r = checkpoint_scan(ex, NULL, run_ino, run, false, &l);
	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t i = 0; i < l.n && r < 0; i++) {
		if (l.v[i].ino != ino)
			continue;
		judge(&l, i);
		*ret = l.v[i];
		ret->members = NULL;
		l.v[i].path = NULL;
		r = 0;
	}
	checkpoint_list_free(&l);
	return r;
}

const struct checkpoint *checkpoint_latest(struct checkpoint_list *l)
{
	for (size_t i = l->n; i-- > 0;)
		if (!l->v[i].hidden && judge(l, i))
			return &l->v[i];
	return NULL;
}

static uint64_t step_gap(const struct checkpoint *c, uint64_t step)
{
	return c->step > step ? c->step - step : step - c->step;
}

/* The nearest one that is, or may be, complete. */
static size_t nearest_candidate(const struct checkpoint_list *l, uint64_t step)
{
	size_t best = l->n;

	for (size_t i = 0; i < l->n; i++) {
		const struct checkpoint *c = &l->v[i];
		uint64_t gap = step_gap(c, step), best_gap = best < l->n ? step_gap(&l->v[best], step) : 0;

		if (c->hidden || !c->has_step || (c->judged && !c->complete))
			continue;
		if (best == l->n || gap < best_gap || (gap == best_gap && c->step >= l->v[best].step))
			best = i;
	}
	return best;
}

const struct checkpoint *checkpoint_nearest(struct checkpoint_list *l, uint64_t step)
{
	size_t i;

	do {
		i = nearest_candidate(l, step);
		if (i == l->n)
			return NULL;
	} while (!judge(l, i));
	return &l->v[i];
}

static int step_compare(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

int checkpoint_steps(struct checkpoint_list *l, uint64_t **ret, size_t *ret_n)
{
	uint64_t *v = malloc((l->n + 1) * sizeof(*v));
	size_t n = 0, out = 0;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++)
		if (!l->v[i].hidden && l->v[i].has_step && judge(l, i))
			v[n++] = l->v[i].step;
	qsort(v, n, sizeof(*v), step_compare);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || v[i] != v[out - 1])
			v[out++] = v[i];
	*ret = v;
	*ret_n = out;
	return 0;
}

/* Looks for a name with a role, and notes the subdirectories. */
struct search {
	struct expfs *ex;
	size_t base;
	struct entries dirs;
};

static int search_one(void *arg, const struct dirent_row *d, const char *name, const struct inode_row *row)
{
	struct search *s = arg;
	_cleanup_free_ char *path = NULL;

	if (S_ISDIR(row->mode))
		return entries_add(&s->dirs, d, name, row);
	if (!S_ISREG(row->mode))
		return 0;
	path = path_join(s->dirs.dir, name);
	if (!path)
		return -ENOMEM;
	return path_role_below(s->ex, path, s->base, false) != ROLE_NONE;
}

static int read_search(struct search *s, uint64_t dir)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);

	return dirent_list_below(db, dir, true, search_one, s);
}

static int any_role(struct expfs *ex, uint64_t dir, const char *path, size_t base, unsigned depth)
{
	struct search s = { .ex = ex, .base = base, .dirs.dir = path };
	int r = depth == ENTRIES_DEPTH ? 0 : read_search(&s, dir);

	for (size_t i = 0; i < s.dirs.n && r == 0; i++) {
		const struct entry *v = &s.dirs.v[i];

		if (path_is_run(ex, v->path))
			continue;
		r = is_checkpoint(ex, v, base);
		if (r == 0)
			r = any_role(ex, v->row.ino, v->path, base, depth + 1);
	}
	entries_free(&s.dirs);
	return r == -ENAMETOOLONG ? 0 : r;
}

int checkpoint_any_role(struct expfs *ex, uint64_t dir, const char *path, bool *ret)
{
	int r = any_role(ex, dir, path, path_run_base(ex, path), 0);

	if (r >= 0)
		*ret = r > 0;
	return MIN(r, 0);
}
