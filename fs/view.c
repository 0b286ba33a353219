#include "view.h"

#include <limits.h>
#include <string.h>
#include <xxhash.h>

#include "view_kept.h"
#include "view_kind.h"

#define BUCKETS 1024
#define VIEW_TIMEOUT 0.0

struct view {
	struct view_key key;
	uint64_t id;
	uint64_t lookups;
	struct stat seen; /* the last time */
	uint64_t text;    /* hash of a text, and since when it is that */
	struct timespec since;
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

static uint64_t key_id(const struct view_key *key, uint64_t seed)
{
	return (XXH3_64bits_withSeed(key, sizeof(*key), seed) & (VIEW_BIT - 1)) | VIEW_BIT;
}

/* The id of a key that the kernel is to be told of. */
static int view_add(struct fs *fs, const struct view_key *key, uint64_t *ret_id)
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

static int view_key(struct fs *fs, uint64_t id, struct view_key *ret)
{
	struct view *v;

	scoped_lock(&fs->views->lock);
	v = *find(fs->views, id);
	if (!v)
		return -ESTALE;
	*ret = v->key;
	return 0;
}

static const struct view_ops *ops_of(const struct view_key *key)
{
	static const struct {
		enum view_kind first;
		const struct view_ops *ops;
	} families[] = {
		{ VIEW_EXPERIMENT, view_experiment_ops },
		{ VIEW_BRANCH_HEAD, view_text_ops },
		{ VIEW_HISTORY, view_history_ops },
		{ VIEW_BRANCH, view_branch_ops },
	};
	size_t i = 0;

	while (key->kind < families[i].first)
		i++;
	return &families[i].ops[key->kind - families[i].first];
}

static int get_groups(void *req, int size, gid_t list[])
{
	return fuse_req_getgroups(req, size, list);
}

/* Good until the request is replied to. */
static struct view_req begin(fuse_req_t req)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);

	return (struct view_req){
		.fs = fs_of(req),
		.cred = { .uid = ctx->uid, .gid = ctx->gid, .get_groups = get_groups, .arg = req },
	};
}

static void end(struct view_req *q)
{
	cred_done(&q->cred);
}
#define _cleanup_view_req_ _cleanup_(end)

static int target_of(struct view_req *q, const struct view_key *key, char **ret)
{
	_cleanup_free_ char *target = NULL;
	int r = ops_of(key)->target(q, key, &target);

	if (r == 0 && strlen(target) >= PATH_MAX)
		r = -ENAMETOOLONG;
	if (r == 0)
		*ret = steal(&target);
	return r;
}

/* A text is made anew each time, but for costly ones. It counts as changed when it differs from what was seen. */
static struct timespec text_time(struct fs *fs, uint64_t id, uint64_t hash)
{
	struct timespec now = ns_timespec(now_ns());
	struct view *v;

	scoped_lock(&fs->views->lock);
	v = *find(fs->views, id);
	if (!v)
		return now;
	if (v->text != hash || v->since.tv_sec == 0)
		v->since = now;
	v->text = hash;
	return v->since;
}

static int text_of(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	const struct view_ops *ops = ops_of(key);

	return ops->costly ? view_kept_text(q, key, ops->text, ret, ret_len) : ops->text(q, key, ret, ret_len);
}

static int stat_text(struct view_req *q, uint64_t id, const struct view_key *key, struct stat *st)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = text_of(q, key, &text, &len);

	if (r < 0)
		return r;
	st->st_size = (off_t)len;
	st->st_blocks = (blkcnt_t)((len + 511) / 512);
	st->st_mode &= ~0111u;
	st->st_mtim = text_time(q->fs, id, XXH3_64bits(text, len));
	return 0;
}

static int stat_of(struct view_req *q, uint64_t id, const struct view_key *key, struct stat *ret)
{
	const struct view_ops *ops = ops_of(key);
	_cleanup_free_ char *target = NULL;
	struct stat st = { 0 };
	int r = ops->stat(q, key, &st);

	if (r == 0 && S_ISLNK(ops->type))
		r = target_of(q, key, &target);
	if (r == 0 && ops->text)
		r = stat_text(q, id, key, &st);
	if (r < 0)
		return r;
	st.st_ino = id;
	st.st_mode = ops->type | (S_ISLNK(ops->type) ? 0777 : st.st_mode & (ops->write ? 0777 : 0555));
	st.st_nlink = S_ISDIR(ops->type) ? 2 : 1;
	st.st_size = target ? (off_t)strlen(target) : st.st_size;
	st.st_blksize = 4096;
	st.st_atim = st.st_ctim = st.st_mtim;
	*ret = st;
	return 0;
}

static void set_seen(struct fs *fs, uint64_t id, const struct stat *st)
{
	struct view *v;

	scoped_lock(&fs->views->lock);
	v = *find(fs->views, id);
	if (v)
		v->seen = *st;
}

/* A file that somebody has open stays what it was when it is gone, as on a disk. */
static int get_seen(struct fs *fs, uint64_t id, struct stat *ret)
{
	struct view *v;

	scoped_lock(&fs->views->lock);
	v = *find(fs->views, id);
	if (!v || !S_ISREG(v->seen.st_mode))
		return -ENOENT;
	*ret = v->seen;
	ret->st_nlink = 0;
	return 0;
}

int view_stat(fuse_req_t req, uint64_t id, struct stat *ret)
{
	_cleanup_view_req_ struct view_req q = begin(req);
	struct view_key key;
	int r = view_key(q.fs, id, &key);

	if (r < 0)
		return r;
	r = stat_of(&q, id, &key, ret);
	if (r == 0)
		set_seen(q.fs, id, ret);
	return r == -ENOENT || r == -ESTALE ? get_seen(q.fs, id, ret) : r;
}

int view_target(fuse_req_t req, uint64_t id, char **ret)
{
	_cleanup_view_req_ struct view_req q = begin(req);
	struct view_key key;
	int r = view_key(q.fs, id, &key);

	if (r < 0)
		return r;
	return S_ISLNK(ops_of(&key)->type) ? target_of(&q, &key, ret) : -EINVAL;
}

int view_open(fuse_req_t req, uint64_t id, struct view_content *ret)
{
	_cleanup_view_req_ struct view_req q = begin(req);
	struct view_content c = { 0 };
	const struct view_ops *ops;
	struct view_key key;
	int r = view_key(q.fs, id, &key);

	if (r < 0)
		return r;
	ops = ops_of(&key);
	r = ops->text ? text_of(&q, &key, &c.text, &c.len) : ops->open ? ops->open(&q, &key, &c.obj) : -EINVAL;
	if (r == 0)
		*ret = c;
	return r;
}

static int family_lookup(struct view_req *q, enum fs_family family, const char *name, struct view_key *ret)
{
	return family == FAMILY_BRANCHES ? view_branch_by_name(q, name, ret) :
					   view_experiment_by_name(q, family, name, ret);
}

int view_takes_lines(fuse_req_t req, uint64_t id)
{
	struct view_key key;
	int r = view_key(fs_of(req), id, &key);

	return r < 0 ? r : ops_of(&key)->write ? 0 : -EROFS;
}

int view_write_line(fuse_req_t req, uint64_t id, const char *line)
{
	_cleanup_view_req_ struct view_req q = begin(req);
	struct view_key key;
	int r = view_key(q.fs, id, &key);

	return r < 0 ? r : ops_of(&key)->write(&q, &key, line);
}

/* The key of a name in a directory, itself a view or not. */
static int lookup_key(struct view_req *q, uint64_t parent, enum fs_family family, const char *name,
		      struct view_key *ret)
{
	struct view_key key;
	int r;

	if (!view_is(parent) && strcmp(name, FS_DOT) != 0)
		return family_lookup(q, family, name, ret);
	if (!view_is(parent)) {
		*ret = (struct view_key){ .kind = VIEW_DOT, .dir = parent };
		return 0;
	}
	r = view_key(q->fs, parent, &key);
	if (r < 0)
		return r;
	return S_ISDIR(ops_of(&key)->type) ? ops_of(&key)->lookup(q, &key, name, ret) : -ENOTDIR;
}

int view_lookup(fuse_req_t req, uint64_t parent, enum fs_family family, const char *name)
{
	_cleanup_view_req_ struct view_req q = begin(req);
	struct fuse_entry_param e = { .generation = 1, .attr_timeout = VIEW_TIMEOUT, .entry_timeout = VIEW_TIMEOUT };
	struct view_key key;
	int r = lookup_key(&q, parent, family, name, &key);

	if (r == 0)
		r = view_add(q.fs, &key, &e.ino);
	if (r < 0)
		return r;
	r = stat_of(&q, e.ino, &key, &e.attr);
	if (r == 0)
		set_seen(q.fs, e.ino, &e.attr);
	if (r < 0 || fuse_reply_entry(req, &e) < 0)
		view_forget(q.fs, e.ino, 1);
	return r;
}

bool view_may_exist(enum fs_family family, const char *name)
{
	return family == FAMILY_BRANCHES || (family != FAMILY_NONE && view_experiment_is_name(family, name));
}

int view_exists(fuse_req_t req, enum fs_family family, const char *name)
{
	_cleanup_view_req_ struct view_req q = begin(req);
	struct view_key key;
	int r = family_lookup(&q, family, name, &key);

	return r < 0 ? (r == -ENOENT ? 0 : r) : 1;
}

void view_list_free(struct view_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
	*l = (struct view_list){ 0 };
}

int view_list_add(struct view_list *l, const char *name, const struct view_key *key)
{
	struct view_entry *v = l->n & (l->n - 1) ? l->v : realloc(l->v, (l->n ? l->n * 2 : 1) * sizeof(*v));
	char *copy = strdup(name);

	if (v)
		l->v = v;
	if (!v || !copy) {
		free(copy);
		return -ENOMEM;
	}
	v[l->n++] = (struct view_entry){ .name = copy, .ino = key_id(key, 0), .mode = ops_of(key)->type };
	return 0;
}

/* Takes out what real entries of the directory stand in front of. */
static int drop_hidden(struct fs *fs, uint64_t ino, struct view_list *l)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);
	size_t n = 0;
	int r = -ENOENT;

	for (size_t i = 0; i < l->n; i++) {
		struct dirent_row d;

		if (r == -ENOENT || r == 0)
			r = dirent_get(db, ino, l->v[i].name, &d);
		if (r == -ENOENT)
			l->v[n++] = l->v[i];
		else
			free(l->v[i].name);
	}
	l->n = n;
	return r == -ENOENT ? 0 : r;
}

static int family_list(struct view_req *q, uint64_t ino, enum fs_family family, struct view_list *l)
{
	int r = family == FAMILY_BRANCHES ? view_branch_list(q, l) : view_experiment_list(q, family, l);

	return r < 0 ? r : drop_hidden(q->fs, ino, l);
}

int view_list(fuse_req_t req, uint64_t ino, enum fs_family family, struct view_list *ret)
{
	_cleanup_view_req_ struct view_req q = begin(req);
	struct view_list l = { 0 };
	struct view_key key;
	int r;

	if (view_is(ino)) {
		r = view_key(q.fs, ino, &key);
		if (r == 0)
			r = S_ISDIR(ops_of(&key)->type) ? ops_of(&key)->list(&q, &key, &l) : -ENOTDIR;
	} else {
		r = family_list(&q, ino, family, &l);
	}
	if (r < 0)
		view_list_free(&l);
	else
		*ret = l;
	return r;
}
