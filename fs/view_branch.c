/* branches/<name>/ with latest, best, step/, run and texts, and the first three of them in .expfs/. */
#include <stdio.h>
#include <string.h>

#include "exp/best.h"
#include "exp/branch.h"
#include "exp/path.h"
#include "exp/root.h"
#include "exp/tracked_dir.h"
#include "view_kind.h"

static bool is_of_branch(const struct view_key *key)
{
	return key->kind <= VIEW_BRANCH_RUN || (key->kind >= VIEW_BRANCH_HEAD && key->kind <= VIEW_BRANCH_MANIFEST);
}

/* The directory that a view is about. */
struct source {
	char *path;
	struct inode_row dir;
};

static void cleanup_source(struct source *s)
{
	free(s->path);
}
#define _cleanup_source_ _cleanup_(cleanup_source)

static int find_dir(struct view_req *q, uint64_t ino, struct source *s)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->fs->ex->meta);
	int r = inode_get(db, ino, &s->dir);

	if (r == 0)
		r = path_of(db, ino, &s->path);
	return r == -ESTALE ? -ENOENT : r;
}

/* A run that was removed, as it was. */
static int find_gone(struct view_req *q, uint64_t id, struct source *s)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->fs->ex->meta);
	struct tracked_row t;
	int r = tracked_get(db, id, &t);

	if (r == 0)
		r = tracked_dir_row(db, &t, &s->dir);
	return r == -ESTALE ? -ENOENT : r;
}

static int get_source(struct view_req *q, const struct view_key *key, struct source *s)
{
	struct branch b;
	int r = key->dir ? find_dir(q, key->dir, s) : find_gone(q, key->part, s);

	if (r < 0 || !is_of_branch(key))
		return r;
	r = branch_by_id(q->fs->ex, &q->cred, key->part, &b);
	if (r == 0)
		branch_free(&b);
	return r;
}

/* Above experiment roots the latest is that of the one that was updated last. */
static int latest_dir(struct view_req *q, uint64_t dir, uint64_t *ret)
{
	_cleanup_root_list_ struct root_list roots = { 0 };
	_cleanup_source_ struct source s = { 0 };
	size_t effective;
	int r = find_dir(q, dir, &s);

	if (r == 0)
		r = root_list_below(q->fs->ex, &q->cred, s.path, &roots, &effective);
	if (r < 0)
		return r;
	*ret = roots.n > 0 && roots.v[0].ino != dir ? roots.v[effective].ino : dir;
	return 0;
}

static int get_checkpoints(struct view_req *q, const struct view_key *key, struct checkpoint_set *ret)
{
	uint64_t dir = key->dir;
	struct branch b;
	int r = key->kind == VIEW_DOT_LATEST ? latest_dir(q, dir, &dir) : 0;

	if (r == 0 && !is_of_branch(key))
		return checkpoint_set_below(q->fs->ex, &q->cred, dir, ret);
	if (r < 0)
		return r;
	r = branch_by_id(q->fs->ex, &q->cred, key->part, &b);
	if (r < 0)
		return r;
	r = branch_checkpoints(q->fs->ex, &q->cred, &b, ret);
	branch_free(&b);
	return r;
}

int view_branch_stat(struct view_req *q, const struct view_key *key, struct stat *ret)
{
	_cleanup_source_ struct source s = { 0 };
	int r = get_source(q, key, &s);

	if (r < 0)
		return r;
	ret->st_mode = s.dir.mode & (key->dir ? 07777 : 0555); /* no more than the directory shows itself */
	ret->st_uid = s.dir.uid;
	ret->st_gid = s.dir.gid;
	ret->st_mtim = ns_timespec(s.dir.mtime);
	return 0;
}

int view_best(const struct checkpoint_set *set, struct checkpoint *ret)
{
	_cleanup_best_ struct best best = { 0 };
	int r = checkpoint_best(set, &best);

	if (r == 0) {
		*ret = best.checkpoint;
		best.checkpoint = (struct checkpoint){ 0 };
	}
	return r;
}

static int get_shown(struct view_req *q, const struct view_key *key, struct checkpoint *ret)
{
	_cleanup_checkpoint_set_ struct checkpoint_set set = { 0 };
	int r = get_checkpoints(q, key, &set);

	if (r < 0)
		return r;
	switch (key->kind) {
	case VIEW_BRANCH_LATEST:
	case VIEW_DOT_LATEST:
		return checkpoint_latest(&set, ret);
	case VIEW_BRANCH_BEST:
	case VIEW_DOT_BEST:
		return view_best(&set, ret);
	}
	return checkpoint_nearest(&set, key->n, ret);
}

static int stat_checkpoint(struct view_req *q, const struct view_key *key, struct stat *ret)
{
	_cleanup_checkpoint_ struct checkpoint c = { 0 };
	int r = view_branch_stat(q, key, ret);

	if (r == 0)
		r = get_shown(q, key, &c);
	if (r == 0)
		ret->st_mtim = ns_timespec(c.version.mtime);
	return r;
}

/* In a database that is damaged, a checkpoint of a directory may have any path. */
static bool is_in(const char *path, const char *dir)
{
	return path_is_below(path, dir) && path[strlen(dir)] == '/';
}

/* The path of the checkpoint below the directory, in its history/ if it is there. */
static char *path_below(const struct checkpoint *c, const char *dir, const char *up)
{
	const char *rel = c->path + (*dir ? strlen(dir) + 1 : 0);
	_cleanup_free_ char *history = NULL;
	char *ret;

	if (c->in_history) {
		history = checkpoint_history_path(rel, &c->version);
		return !history || asprintf(&ret, "history/%s", history) < 0 ? NULL : ret;
	}
	return asprintf(&ret, "%s%s", up, rel) < 0 ? NULL : ret;
}

/* Relative to where the link stands. */
static int checkpoint_target(struct view_req *q, const struct view_key *key, char **ret)
{
	const char *deep = key->kind == VIEW_BRANCH_STEP || key->kind == VIEW_DOT_STEP ? "../" : "";
	_cleanup_checkpoint_ struct checkpoint c = { 0 };
	_cleanup_source_ struct source s = { 0 };
	_cleanup_free_ char *place = NULL;
	int r = get_source(q, key, &s);

	if (r == 0)
		r = get_shown(q, key, &c);
	if (r == 0 && !is_of_branch(key) && *s.path && !is_in(c.path, s.path))
		r = -EUCLEAN;
	if (r < 0)
		return r;
	place = is_of_branch(key) ? checkpoint_place(&c) : path_below(&c, s.path, "../");
	if (!place || asprintf(ret, "%s%s%s", deep, is_of_branch(key) ? "../../" : "", place) < 0)
		return -ENOMEM;
	return 0;
}

/* Does the directory hold a checkpoints/? WeightsLab looks for these through links
 * too, and would find one root twice. */
static int is_root(struct view_req *q, uint64_t dir)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->fs->ex->meta);
	struct dirent_row d;
	int r = dirent_get(db, dir, "checkpoints", &d);

	return r < 0 ? (r == -ENOENT ? 0 : r) : 1;
}

static int run_target(struct view_req *q, const struct view_key *key, char **ret)
{
	_cleanup_source_ struct source s = { 0 };
	int r = get_source(q, key, &s);

	if (r == 0)
		r = key->dir ? is_root(q, key->dir) : -ENOENT;
	if (r != 0)
		return r < 0 ? r : -ENOENT;
	return asprintf(ret, *s.path ? "../../%s" : "../..%s", s.path) < 0 ? -ENOMEM : 0;
}

bool view_parse_step(const char *name, uint64_t *ret)
{
	const char *digits = name + (*name == '-');

	if (!*digits || digits[strspn(digits, "0123456789")])
		return false;
	*ret = digits > name ? 0 : strtoull(digits, NULL, 10); /* ULLONG_MAX where it does not fit */
	return true;
}

static int lookup_branch(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret)
{
	bool branch = is_of_branch(key);

	if (!branch && !strcmp(name, "history"))
		return view_history_of(q, key->dir, ret);
	*ret = (struct view_key){ .dir = key->dir, .part = key->part };
	if (!strcmp(name, "latest"))
		ret->kind = branch ? VIEW_BRANCH_LATEST : VIEW_DOT_LATEST;
	else if (!strcmp(name, "best"))
		ret->kind = branch ? VIEW_BRANCH_BEST : VIEW_DOT_BEST;
	else if (!strcmp(name, "step"))
		ret->kind = branch ? VIEW_BRANCH_STEPS : VIEW_DOT_STEPS;
	else if (!strcmp(name, "run") && branch)
		ret->kind = VIEW_BRANCH_RUN;
	else
		return view_text_of(key, name, ret);
	return 0;
}

static int lookup_step(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret)
{
	*ret = (struct view_key){ .kind = is_of_branch(key) ? VIEW_BRANCH_STEP : VIEW_DOT_STEP, .dir = key->dir,
				  .part = key->part };
	return view_parse_step(name, &ret->n) ? 0 : -ENOENT;
}

static bool is_of_checkpoint(const struct view_key *key)
{
	return key->kind == VIEW_BRANCH_LATEST || key->kind == VIEW_DOT_LATEST || key->kind == VIEW_BRANCH_BEST ||
	       key->kind == VIEW_DOT_BEST;
}

static int list_branch(struct view_req *q, const struct view_key *key, struct view_list *l)
{
	static const char *const names[] = { "latest", "best", "step", "run", "HEAD", "pending", "log", "manifest.yaml",
					     "lineage.json", "report.html", "stats.json", "metrics", "status.json", "history" };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && r == 0; i++) {
		struct stat st = { 0 };
		struct view_key k;

		r = lookup_branch(q, key, names[i], &k);
		if (r == 0 && is_of_checkpoint(&k))
			r = stat_checkpoint(q, &k, &st);
		if (r == 0 && k.kind == VIEW_BRANCH_RUN)
			r = key->dir ? is_root(q, key->dir) : -ENOENT;
		if (r == 0)
			r = view_list_add(l, names[i], &k);
		r = r == -ENOENT || r == 1 ? 0 : r;
	}
	return r;
}

int view_list_steps(struct view_req *q, const struct view_key *key, const struct checkpoint_set *set,
		    view_lookup_fn lookup, struct view_list *l)
{
	_cleanup_free_ uint64_t *steps = NULL;
	size_t n = 0;
	int r = checkpoint_steps(set, &steps, &n);

	for (size_t i = 0; i < n && r == 0; i++) {
		struct view_key k;
		char name[24];

		snprintf(name, sizeof(name), "%llu", (unsigned long long)steps[i]);
		r = lookup(q, key, name, &k);
		if (r == 0)
			r = view_list_add(l, name, &k);
	}
	return r;
}

static int list_steps(struct view_req *q, const struct view_key *key, struct view_list *l)
{
	_cleanup_checkpoint_set_ struct checkpoint_set set = { 0 };
	int r = get_checkpoints(q, key, &set);

	return r < 0 ? r : view_list_steps(q, key, &set, lookup_step, l);
}

const struct view_ops view_branch_ops[] = {
	[VIEW_BRANCH] = { S_IFDIR, .stat = view_branch_stat, .lookup = lookup_branch, .list = list_branch },
	[VIEW_BRANCH_LATEST] = { S_IFLNK, .stat = stat_checkpoint, .target = checkpoint_target },
	[VIEW_BRANCH_BEST] = { S_IFLNK, .stat = stat_checkpoint, .target = checkpoint_target },
	[VIEW_BRANCH_STEPS] = { S_IFDIR, .stat = view_branch_stat, .lookup = lookup_step, .list = list_steps },
	[VIEW_BRANCH_STEP] = { S_IFLNK, .stat = stat_checkpoint, .target = checkpoint_target },
	[VIEW_BRANCH_RUN] = { S_IFLNK, .stat = view_branch_stat, .target = run_target },
	[VIEW_DOT] = { S_IFDIR, .stat = view_branch_stat, .lookup = lookup_branch, .list = list_branch },
	[VIEW_DOT_LATEST] = { S_IFLNK, .stat = stat_checkpoint, .target = checkpoint_target },
	[VIEW_DOT_BEST] = { S_IFLNK, .stat = stat_checkpoint, .target = checkpoint_target },
	[VIEW_DOT_STEPS] = { S_IFDIR, .stat = view_branch_stat, .lookup = lookup_step, .list = list_steps },
	[VIEW_DOT_STEP] = { S_IFLNK, .stat = stat_checkpoint, .target = checkpoint_target },
};

int view_branch_by_name(struct view_req *q, const char *name, struct view_key *ret)
{
	struct branch b;
	int r = branch_by_name(q->fs->ex, &q->cred, name, &b);

	if (r < 0)
		return r;
	*ret = (struct view_key){ .kind = VIEW_BRANCH, .dir = b.ino, .part = b.id };
	branch_free(&b);
	return 0;
}

int view_branch_list(struct view_req *q, struct view_list *l)
{
	struct branch_list branches;
	int r = branch_list(q->fs->ex, &q->cred, &branches);

	if (r < 0)
		return r;
	for (size_t i = 0; i < branches.n && r == 0; i++) {
		struct view_key key = { .kind = VIEW_BRANCH, .dir = branches.v[i].ino, .part = branches.v[i].id };

		r = view_list_add(l, branches.v[i].name, &key);
	}
	branch_list_free(&branches);
	return r;
}
