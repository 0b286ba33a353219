/* .expfs/history/: the versions of every path with a role, as files named by their
 * numbers below a directory named by the path, whether that is there any more or not; of
 * a directory checkpoint, as directories with its files. */
#include <stdio.h>
#include <string.h>

#include "exp/checkpoint.h"
#include "exp/closed.h"
#include "exp/experiment.h"
#include "exp/file.h"
#include "exp/history.h"
#include "exp/kept.h"
#include "exp/track.h"
#include "exp/tracked_dir.h"
#include "meta/dirent.h"
#include "view_kind.h"

static struct db *reader(struct view_req *q)
{
	return meta_reader(q->fs->ex->meta);
}

/* A directory as it is seen itself or, when it is gone, was seen then; a file's versions as what it is in. */
static int stat_path(struct view_req *q, const struct view_key *key, struct stat *ret)
{
	_cleanup_(cleanup_reader) struct db *db = reader(q);
	struct tracked_row t;
	struct inode_row dir;
	int r = tracked_get(db, key->n, &t);

	if (r == 0 && !t.is_dir)
		r = tracked_get(db, t.parent, &t);
	if (r == 0)
		r = tracked_dir_row(db, &t, &dir);
	if (r < 0)
		return r == -ESTALE ? -ENOENT : r;
	ret->st_mode = dir.mode;
	ret->st_uid = dir.uid;
	ret->st_gid = dir.gid;
	ret->st_mtim = ns_timespec(dir.mtime);
	return 0;
}

/* The name of a version: its number, and the extension of the path's name. */
static char *version_name(const char *path_name, const struct version_row *v)
{
	_cleanup_free_ char *path = checkpoint_history_path(path_name, v);

	return path ? strdup(strrchr(path, '/') + 1) : NULL;
}

static struct view_key version_key(const struct view_key *key, const struct version_row *v)
{
	return (struct view_key){ .kind = v->is_dir ? VIEW_VERSION_DIR : VIEW_VERSION, .dir = key->dir, .n = v->id };
}

static int lookup_version(struct db *db, const struct view_key *key, const char *name, struct view_key *ret)
{
	_cleanup_free_ char *path_name = NULL, *real = NULL;
	struct version_row v;
	int r;

	if (*name < '1' || *name > '9')
		return -ENOENT;
	r = version_by_n(db, key->n, strtoull(name, NULL, 10), &v);
	if (r == 0)
		r = tracked_name(db, key->n, &path_name);
	if (r < 0)
		return r;
	real = version_name(path_name, &v);
	if (!real)
		return -ENOMEM;
	*ret = version_key(key, &v);
	return strcmp(real, name) == 0 ? 0 : -ENOENT;
}

static int get_path(struct view_req *q, uint64_t id, struct tracked_row *ret, struct version_row *ret_head)
{
	_cleanup_(cleanup_reader) struct db *db = reader(q);
	int r = tracked_get(db, id, ret);

	ret_head->id = 0;
	if (r == 0 && ret->head)
		version_get(db, ret->head, ret_head);
	return r;
}

/* What changed below renamed directories, or in a checkpoint, is found out before it is shown, and what is not to be
 * kept of other files. */
static int settle(struct view_req *q, const struct view_key *key)
{
	struct version_row head;
	struct tracked_row t;
	int r = track_moved(q->fs->ex);

	if (r == 0)
		r = get_path(q, key->n, &t, &head);
	if (r < 0 || t.role == ROLE_NONE || (t.role != ROLE_WEIGHTS && kept_is_sure(q->fs->ex, t.run)))
		return r;
	return experiment_settle(q->fs->ex, t.run);
}

/* The version that the path holds, if its run does not record it; 0: there is none such. */
static uint64_t hidden_version(struct view_req *q, const struct view_key *key)
{
	struct version_row head;
	struct tracked_row t;

	return get_path(q, key->n, &t, &head) == 0 && head.id && !kept_version(q->fs->ex, &t, &head) ? head.id : 0;
}

static bool is_held(struct view_req *q, const struct view_key *key, const struct view_key *version)
{
	struct version_row head;
	struct tracked_row t;

	return version->kind == VIEW_VERSION && get_path(q, key->n, &t, &head) == 0 && head.id == version->n;
}

static int find_path(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret)
{
	_cleanup_(cleanup_reader) struct db *db = reader(q);
	struct tracked_row t;
	int r = lookup_version(db, key, name, ret);

	if (r != -ENOENT)
		return r;
	r = tracked_by_name(db, key->n, name, &t);
	if (r == 0)
		*ret = (struct view_key){ .kind = VIEW_HISTORY, .dir = key->dir, .n = t.id };
	return r;
}

static int lookup_path(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret)
{
	int r = settle(q, key);

	if (r == 0)
		r = find_path(q, key, name, ret);
	return r == 0 && is_held(q, key, ret) && hidden_version(q, key) == ret->n ? -ENOENT : r;
}

struct listing {
	struct view_list *list;
	const struct view_key *key;
	const char *name; /* of the path */
	uint64_t hidden;
	/* Of the files of a version: */
	const char *prefix, *last;
	uint64_t place;
	char *dir; /* the last subdirectory that was listed */
};

static int add_version(void *arg, const struct version_row *v)
{
	struct listing *l = arg;
	_cleanup_free_ char *name = version_name(l->name, v);
	struct view_key k = version_key(l->key, v);

	if (v->id == l->hidden)
		return 0;
	return name ? view_list_add(l->list, name, &k) : -ENOMEM;
}

static int add_path(void *arg, const struct tracked_row *t, const char *name)
{
	struct listing *l = arg;
	struct view_key k = { .kind = VIEW_HISTORY, .dir = l->key->dir, .n = t->id };

	return t->n == 0 && !t->is_dir ? 0 : view_list_add(l->list, name, &k);
}

static int list_versions(struct view_req *q, const struct view_key *key, uint64_t hidden, struct view_list *list)
{
	_cleanup_(cleanup_reader) struct db *db = reader(q);
	_cleanup_free_ char *name = NULL;
	struct listing l = { .list = list, .key = key, .hidden = hidden };
	int r = tracked_name(db, key->n, &name);

	l.name = name;
	if (r == 0)
		r = version_list(db, key->n, add_version, &l);
	return r < 0 ? r : tracked_list(db, key->n, add_path, &l);
}

static int list_path(struct view_req *q, const struct view_key *key, struct view_list *list)
{
	int r = settle(q, key);

	return r < 0 ? r : list_versions(q, key, hidden_version(q, key), list);
}

static void set_stat(struct stat *st, uint64_t size, uint32_t mode, uint32_t uid, uint32_t gid, int64_t mtime)
{
	st->st_mode = mode;
	st->st_uid = uid;
	st->st_gid = gid;
	st->st_size = (off_t)size;
	st->st_blocks = (blkcnt_t)((size + 511) / 512);
	st->st_mtim = ns_timespec(mtime);
}

static int get_version(struct view_req *q, const struct view_key *key, struct version_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = reader(q);
	int r = version_get(db, key->n, ret);

	return r < 0 ? r : closed_version(db, ret);
}

static int stat_version(struct view_req *q, const struct view_key *key, struct stat *ret)
{
	struct version_row v;
	int r = get_version(q, key, &v);

	if (r < 0)
		return r;
	history_stat_live(q->fs->ex, &v);
	set_stat(ret, v.size, v.mode, v.uid, v.gid, v.mtime);
	return 0;
}

static int open_object(struct view_req *q, uint64_t object, struct object **ret)
{
	*ret = NULL;
	return object ? object_get(q->fs->ex->store, object, ret) : 0;
}

static int open_version(struct view_req *q, const struct view_key *key, struct object **ret)
{
	struct version_row v;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = reader(q);

		r = version_get(db, key->n, &v);
	}
	return r < 0 ? r : open_object(q, v.object, ret);
}

/* A directory in a version is told by the place of its first file, from 1, and the
 * length of its path with a slash at the end. */
#define PART(place, len) (((uint64_t)(len) << 32) | ((place) + 1))
#define PART_PLACE(part) (((part) & UINT32_MAX) - 1)
#define PART_LENGTH(part) ((size_t)((part) >> 32))

/* The path of a directory in a version, with a slash at its end; to be freed. */
static int prefix_of(struct db *db, const struct view_key *key, char **ret)
{
	struct member_row m;
	int r;

	if (key->part == 0) {
		*ret = strdup("");
		return *ret ? 0 : -ENOMEM;
	}
	r = member_at(db, key->n, PART_PLACE(key->part), &m, ret);
	if (r == 0 && PART_LENGTH(key->part) < strlen(*ret))
		(*ret)[PART_LENGTH(key->part)] = 0;
	return r;
}

static int lookup_member(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret)
{
	_cleanup_(cleanup_reader) struct db *db = reader(q);
	_cleanup_free_ char *prefix = NULL, *path = NULL, *dir = NULL, *first = NULL;
	struct member_row m;
	uint64_t place;
	int r = prefix_of(db, key, &prefix);

	if (r < 0)
		return r;
	if (asprintf(&path, "%s%s", prefix, name) < 0 || asprintf(&dir, "%s/", path) < 0)
		return -ENOMEM;
	*ret = (struct view_key){ .kind = VIEW_MEMBER, .dir = key->dir, .n = key->n };
	r = member_get(db, key->n, path, &m);
	if (r == 0)
		r = member_place(db, key->n, path, &place);
	if (r == 0)
		ret->part = PART(place, 0);
	if (r != -ENOENT)
		return r;
	r = member_place(db, key->n, dir, &place);
	if (r == 0)
		r = member_at(db, key->n, place, &m, &first);
	if (r < 0)
		return r;
	ret->kind = VIEW_VERSION_DIR;
	ret->part = PART(place, strlen(dir));
	return strncmp(first, dir, strlen(dir)) == 0 ? 0 : -ENOENT;
}

static int add_member(void *arg, const struct member_row *m, const char *name)
{
	struct listing *l = arg;
	struct view_key k = { .kind = VIEW_MEMBER, .dir = l->key->dir, .n = l->key->n };
	uint64_t place = l->place++;
	const char *rest = name + strlen(l->prefix), *slash;

	if (strncmp(name, l->prefix, strlen(l->prefix)) != 0)
		return 0;
	slash = strchr(rest, '/');
	if (!slash) {
		k.part = PART(place, 0);
		return view_list_add(l->list, rest, &k);
	}
	if (l->dir && strlen(l->dir) == (size_t)(slash - rest) && !strncmp(l->dir, rest, (size_t)(slash - rest)))
		return 0;
	free(l->dir);
	l->dir = strndup(rest, (size_t)(slash - rest));
	k.kind = VIEW_VERSION_DIR;
	k.part = PART(place, slash + 1 - name);
	return l->dir ? view_list_add(l->list, l->dir, &k) : -ENOMEM;
}

static int list_members(struct view_req *q, const struct view_key *key, struct view_list *list)
{
	_cleanup_(cleanup_reader) struct db *db = reader(q);
	_cleanup_free_ char *prefix = NULL;
	struct listing l = { .list = list, .key = key };
	int r = prefix_of(db, key, &prefix);

	l.prefix = prefix;
	if (r == 0)
		r = member_list(db, key->n, add_member, &l);
	free(l.dir);
	return r;
}

static int get_member(struct view_req *q, const struct view_key *key, struct member_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = reader(q);
	_cleanup_free_ char *name = NULL;
	struct version_row v;
	int r = member_at(db, key->n, PART_PLACE(key->part), ret, &name);

	if (r == 0)
		r = version_get(db, key->n, &v);
	return r < 0 ? r : closed_member(db, &v, name, ret);
}

static int stat_member(struct view_req *q, const struct view_key *key, struct stat *ret)
{
	struct member_row m;
	int r = get_member(q, key, &m);

	if (r == 0)
		set_stat(ret, m.size, m.mode, m.uid, m.gid, m.mtime);
	return r;
}

static int open_member(struct view_req *q, const struct view_key *key, struct object **ret)
{
	struct member_row m;
	int r = get_member(q, key, &m);

	return r < 0 ? r : open_object(q, m.object, ret);
}

const struct view_ops view_history_ops[] = {
	[VIEW_HISTORY - VIEW_HISTORY] = { S_IFDIR, .stat = stat_path, .lookup = lookup_path, .list = list_path },
	[VIEW_VERSION - VIEW_HISTORY] = { S_IFREG, .stat = stat_version, .open = open_version },
	[VIEW_VERSION_DIR - VIEW_HISTORY] = { S_IFDIR, .stat = stat_version, .lookup = lookup_member, .list = list_members },
	[VIEW_MEMBER - VIEW_HISTORY] = { S_IFREG, .stat = stat_member, .open = open_member },
};

static int find_dir(struct view_req *q, uint64_t dir, struct tracked_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = reader(q);

	return tracked_by_dir(db, dir, ret);
}

int view_history_of(struct view_req *q, uint64_t dir, struct view_key *ret)
{
	struct tracked_row t;
	int r = track_moved(q->fs->ex);

	if (r == 0)
		r = find_dir(q, dir, &t);
	if (r == 0)
		*ret = (struct view_key){ .kind = VIEW_HISTORY, .dir = dir, .n = t.id };
	return r;
}
