#include "view.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "exp/branch.h"
#include "exp/cred.h"
#include "exp/path.h"

#define BUCKETS 1024
#define VIEW_TIMEOUT 0.0

enum kind {
	BRANCH,        /* branches/<name>/ */
	BRANCH_LATEST,
	BRANCH_STEPS,  /* step/ */
	BRANCH_STEP,
	BRANCH_RUN,
	DOT,           /* .expfs/ */
	DOT_LATEST,
	DOT_STEPS,
	DOT_STEP,
};

/* What a view shows; without padding, for its bytes are hashed. */
struct key {
	uint64_t kind;
	uint64_t dir; /* inode of the run, or of the directory that .expfs is in */
	uint64_t step;
};

struct view {
	struct key key;
	uint64_t id;
	uint64_t lookups;
	struct view *next;
};

struct view_table {
	pthread_mutex_t lock;
	struct view *bucket[BUCKETS];
};

int view_table_new(struct view_table **ret)
{
	struct view_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	pthread_mutex_init(&t->lock, NULL);
	*ret = t;
	return 0;
}

void view_table_free(struct view_table *t)
{
	for (size_t i = 0; i < BUCKETS; i++)
		while (t->bucket[i]) {
			struct view *v = t->bucket[i];

			t->bucket[i] = v->next;
			free(v);
		}
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static struct view **find(struct view_table *t, uint64_t id)
{
	struct view **p = &t->bucket[id % BUCKETS];

	while (*p && (*p)->id != id)
		p = &(*p)->next;
	return p;
}

static uint64_t key_id(const struct key *key, uint64_t seed)
{
	return (XXH3_64bits_withSeed(key, sizeof(*key), seed) & (VIEW_BIT - 1)) | VIEW_BIT;
}

/* The id of a key that the kernel is to be told of. */
static int view_add(struct fs *fs, const struct key *key, uint64_t *ret_id)
{
	struct view_table *t = fs->views;
	uint64_t seed = 0, id;
	struct view **p;

	scoped_lock(&t->lock);
	do { /* two keys with one id: the later one takes the next */
		id = key_id(key, seed++);
		p = find(t, id);
	} while (*p && memcmp(&(*p)->key, key, sizeof(*key)) != 0);
	if (!*p) {
		*p = calloc(1, sizeof(**p));
		if (!*p)
			return -ENOMEM;
		(*p)->key = *key;
		(*p)->id = id;
	}
	(*p)->lookups++;
	*ret_id = id;
	return 0;
}

void view_forget(struct fs *fs, uint64_t id, uint64_t n)
{
	struct view_table *t = fs->views;
	struct view **p, *v;

	scoped_lock(&t->lock);
	p = find(t, id);
	v = *p;
	if (!v)
		return;
	v->lookups -= MIN(n, v->lookups);
	if (v->lookups == 0) {
		*p = v->next;
		free(v);
	}
}

static int view_key(struct fs *fs, uint64_t id, struct key *ret)
{
	struct view *v;

	scoped_lock(&fs->views->lock);
	v = *find(fs->views, id);
	if (!v)
		return -ESTALE;
	*ret = v->key;
	return 0;
}

static bool is_link(const struct key *key)
{
	return key->kind == BRANCH_LATEST || key->kind == BRANCH_STEP || key->kind == BRANCH_RUN ||
	       key->kind == DOT_LATEST || key->kind == DOT_STEP;
}

static bool is_of_branch(const struct key *key)
{
	return key->kind <= BRANCH_RUN;
}

static int get_groups(void *req, int size, gid_t list[])
{
	return fuse_req_getgroups(req, size, list);
}

/* Whose request it is; good until it is replied to. */
static struct cred cred_of(fuse_req_t req)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);

	return (struct cred){ .uid = ctx->uid, .gid = ctx->gid, .get_groups = get_groups, .arg = req };
}

/* What the views of one branch, or of one .expfs, are made from. */
struct source {
	char *path; /* of the run, or of the directory */
	struct inode_row dir;
	struct checkpoint_list checkpoints;
};

static void cleanup_source(struct source *s)
{
	free(s->path);
	checkpoint_list_free(&s->checkpoints);
}

static int source_dir(struct fs *fs, uint64_t ino, struct source *s)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);
	int r = inode_get(db, ino, &s->dir);

	if (r == 0)
		r = path_of(db, ino, &s->path);
	return r == -ESTALE ? -ENOENT : r;
}

static int get_source(struct fs *fs, struct cred *cred, const struct key *key, bool checkpoints, struct source *ret)
{
	_cleanup_(cleanup_source) struct source s = { 0 };
	int r = source_dir(fs, key->dir, &s);

	if (r == 0 && is_of_branch(key)) {
		struct branch b;

		r = branch_by_run(fs->ex, cred, key->dir, &b);
		if (r == 0)
			branch_free(&b);
	}
	if (r == 0 && checkpoints && cred_permits(cred, &s.dir, R_OK | X_OK))
		r = checkpoint_scan(fs->ex, cred, key->dir, s.path, !is_of_branch(key), &s.checkpoints);
	if (r < 0)
		return r;
	*ret = s;
	s = (struct source){ 0 };
	return 0;
}

static const struct checkpoint *shown(const struct key *key, struct source *s)
{
	if (key->kind == BRANCH_LATEST || key->kind == DOT_LATEST)
		return checkpoint_latest(&s->checkpoints);
	return checkpoint_nearest(&s->checkpoints, key->step);
}

/* Does the directory hold a checkpoints/? WeightsLab looks for these through links
 * too, and would find one root twice. 1, 0 or -errno. */
static int is_root(struct fs *fs, uint64_t dir)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);
	struct dirent_row d;
	int r = dirent_get(db, dir, "checkpoints", &d);

	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

/* A link's target, relative to where the link stands. */
static int link_target(struct fs *fs, const struct key *key, struct source *s, char **ret, int64_t *ret_mtime)
{
	bool deep = key->kind == BRANCH_STEP || key->kind == DOT_STEP;
	const struct checkpoint *c;
	const char *path = s->path;

	*ret_mtime = s->dir.mtime;
	if (key->kind == BRANCH_RUN) {
		int r = is_root(fs, key->dir);

		if (r != 0)
			return r < 0 ? r : -ENOENT;
		return asprintf(ret, *path ? "../../%s" : "../..%s", path) < 0 ? -ENOMEM : 0;
	}
	c = shown(key, s);
	if (!c)
		return -ENOENT;
	path = c->path;
	if (!is_of_branch(key) && *s->path)
		path += strlen(s->path) + 1;
	*ret_mtime = c->mtime;
	return asprintf(ret, "%s%s%s", deep ? "../" : "", is_of_branch(key) ? "../../" : "../", path) < 0 ? -ENOMEM : 0;
}

static int compute(struct fs *fs, struct cred *cred, uint64_t id, const struct key *key, struct stat *ret,
		   char **ret_target)
{
	_cleanup_(cleanup_source) struct source s = { 0 };
	_cleanup_free_ char *target = NULL;
	int64_t mtime = 0;
	int r = get_source(fs, cred, key, is_link(key) && key->kind != BRANCH_RUN, &s);

	if (r == 0 && is_link(key))
		r = link_target(fs, key, &s, &target, &mtime);
	if (r < 0)
		return r;
	if (target && strlen(target) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (!is_link(key))
		mtime = s.dir.mtime;
	*ret = (struct stat){
		.st_ino = id,
		.st_mode = is_link(key) ? S_IFLNK | 0777 : S_IFDIR | (s.dir.mode & 0555), /* no more than the directory shows itself */
		.st_nlink = is_link(key) ? 1 : 2,
		.st_uid = s.dir.uid,
		.st_gid = s.dir.gid,
		.st_size = target ? (off_t)strlen(target) : 0,
		.st_blksize = 4096,
		.st_atim = ns_timespec(mtime),
		.st_mtim = ns_timespec(mtime),
		.st_ctim = ns_timespec(mtime),
	};
	if (ret_target)
		*ret_target = steal(&target);
	return 0;
}

int view_stat(fuse_req_t req, uint64_t id, struct stat *ret)
{
	struct fs *fs = fs_of(req);
	_cleanup_(cred_done) struct cred cred = cred_of(req);
	struct key key;
	int r = view_key(fs, id, &key);

	return r < 0 ? r : compute(fs, &cred, id, &key, ret, NULL);
}

int view_target(fuse_req_t req, uint64_t id, char **ret)
{
	struct fs *fs = fs_of(req);
	_cleanup_(cred_done) struct cred cred = cred_of(req);
	struct stat st;
	struct key key;
	int r = view_key(fs, id, &key);

	if (r < 0)
		return r;
	return is_link(&key) ? compute(fs, &cred, id, &key, &st, ret) : -EINVAL;
}

/* Any integer; one that is out of range is nearest to the end of it. */
static bool parse_step(const char *name, uint64_t *ret)
{
	const char *digits = name + (*name == '-');

	if (!*digits || digits[strspn(digits, "0123456789")])
		return false;
	*ret = digits > name ? 0 : strtoull(digits, NULL, 10); /* ULLONG_MAX where it does not fit */
	return true;
}

/* The key of a name in a directory, itself a view or not. */
static int lookup_key(struct fs *fs, struct cred *cred, uint64_t parent, const char *name, struct key *ret)
{
	struct key key, k = { 0 };
	struct branch b;
	bool branch;
	int r;

	if (!view_is(parent)) {
		k.kind = DOT;
		k.dir = parent;
		if (strcmp(name, FS_DOT) != 0) {
			r = branch_by_name(fs->ex, cred, name, &b);
			if (r < 0)
				return r;
			k.kind = BRANCH;
			k.dir = b.ino;
			branch_free(&b);
		}
		*ret = k;
		return 0;
	}
	r = view_key(fs, parent, &key);
	if (r < 0)
		return r;
	k.dir = key.dir;
	branch = is_of_branch(&key);
	if (key.kind == BRANCH || key.kind == DOT) {
		if (!strcmp(name, "latest"))
			k.kind = branch ? BRANCH_LATEST : DOT_LATEST;
		else if (!strcmp(name, "step"))
			k.kind = branch ? BRANCH_STEPS : DOT_STEPS;
		else if (!strcmp(name, "run") && branch)
			k.kind = BRANCH_RUN;
		else
			return -ENOENT;
	} else {
		if (is_link(&key) || !parse_step(name, &k.step))
			return -ENOENT;
		k.kind = branch ? BRANCH_STEP : DOT_STEP;
	}
	*ret = k;
	return 0;
}

void view_lookup(fuse_req_t req, uint64_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct fuse_entry_param e = { .generation = 1, .attr_timeout = VIEW_TIMEOUT, .entry_timeout = VIEW_TIMEOUT };
	_cleanup_(cred_done) struct cred cred = cred_of(req);
	struct key key;
	int r = lookup_key(fs, &cred, parent, name, &key);

	if (r == 0)
		r = view_add(fs, &key, &e.ino);
	if (r < 0) {
		fs_reply_err(req, r);
		return;
	}
	r = compute(fs, &cred, e.ino, &key, &e.attr, NULL);
	if (r < 0)
		fs_reply_err(req, r);
	if (r < 0 || fuse_reply_entry(req, &e) < 0)
		view_forget(fs, e.ino, 1);
}

int view_is_branch(fuse_req_t req, const char *name)
{
	_cleanup_(cred_done) struct cred cred = cred_of(req);
	struct branch b;
	int r = branch_by_name(fs_of(req)->ex, &cred, name, &b);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	branch_free(&b);
	return 1;
}

void view_list_free(struct view_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
	*l = (struct view_list){ 0 };
}

static int add_entry(struct view_list *l, const char *name, enum kind kind, uint64_t dir, uint64_t step)
{
	struct key key = { .kind = kind, .dir = dir, .step = step };
	struct view_entry *v = realloc(l->v, (l->n + 1) * sizeof(*v));
	char *copy = strdup(name);

	if (v)
		l->v = v;
	if (!v || !copy) {
		free(copy);
		return -ENOMEM;
	}
	v[l->n++] = (struct view_entry){ .name = copy, .ino = key_id(&key, 0), .mode = is_link(&key) ? S_IFLNK : S_IFDIR };
	return 0;
}

static int list_branches(struct fs *fs, struct cred *cred, uint64_t ino, struct view_list *l)
{
	struct branch_list branches;
	int r = branch_list(fs->ex, cred, &branches);

	if (r < 0)
		return r;
	for (size_t i = 0; i < branches.n && r == 0; i++) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);
		struct dirent_row d;

		r = dirent_get(db, ino, branches.v[i].name, &d);
		if (r == -ENOENT)
			r = add_entry(l, branches.v[i].name, BRANCH, branches.v[i].ino, 0);
	}
	branch_list_free(&branches);
	return r;
}

static int list_steps(const struct key *key, struct source *s, struct view_list *l)
{
	_cleanup_free_ uint64_t *steps = NULL;
	size_t n = 0;
	int r = checkpoint_steps(&s->checkpoints, &steps, &n);

	for (size_t i = 0; i < n && r == 0; i++) {
		char name[24];

		snprintf(name, sizeof(name), "%llu", (unsigned long long)steps[i]);
		r = add_entry(l, name, is_of_branch(key) ? BRANCH_STEP : DOT_STEP, key->dir, steps[i]);
	}
	return r;
}

static int list_view(struct fs *fs, struct cred *cred, const struct key *key, struct view_list *l)
{
	_cleanup_(cleanup_source) struct source s = { 0 };
	bool branch = is_of_branch(key);
	int r = get_source(fs, cred, key, true, &s);

	if (r < 0)
		return r;
	if (key->kind == BRANCH_STEPS || key->kind == DOT_STEPS)
		return list_steps(key, &s, l);
	if (checkpoint_latest(&s.checkpoints))
		r = add_entry(l, "latest", branch ? BRANCH_LATEST : DOT_LATEST, key->dir, 0);
	if (r == 0)
		r = add_entry(l, "step", branch ? BRANCH_STEPS : DOT_STEPS, key->dir, 0);
	if (r < 0 || !branch)
		return r;
	r = is_root(fs, key->dir);
	return r == 0 ? add_entry(l, "run", BRANCH_RUN, key->dir, 0) : MIN(r, 0);
}

int view_list(fuse_req_t req, uint64_t ino, struct view_list *ret)
{
	struct fs *fs = fs_of(req);
	_cleanup_(cred_done) struct cred cred = cred_of(req);
	struct view_list l = { 0 };
	struct key key;
	int r;

	if (view_is(ino)) {
		r = view_key(fs, ino, &key);
		if (r == 0)
			r = list_view(fs, &cred, &key, &l);
	} else {
		r = list_branches(fs, &cred, ino, &l);
	}
	if (r < 0)
		view_list_free(&l);
	else
		*ret = l;
	return r;
}
