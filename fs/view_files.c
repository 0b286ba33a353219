/* experiments/<hash>/HP/, MODEL/ and DATA/, HP/<hp8>/ and data/<data8>/: links to the files that made the
 * segment, in the directories in which they lie below the run. */
#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "view_origin.h"

static struct view_key key_of(const struct view_key *key, uint64_t tracked, bool is_dir)
{
	struct view_key ret = { .kind = key->kind == VIEW_EXPERIMENT_FILES ? VIEW_EXPERIMENT_FILE : VIEW_SEGMENT_FILE,
				.dir = key->dir, .n = key->n, .part = tracked };

	if (is_dir)
		ret.kind = key->kind == VIEW_EXPERIMENT_FILES ? VIEW_EXPERIMENT_FILES : VIEW_SEGMENT_FILES;
	return ret;
}

/* One name in a directory. */
struct child {
	char *name;
	uint64_t tracked; /* 0: a directory */
};

struct children {
	struct child *v;
	size_t n;
	const char *prefix; /* of the names in the directory, with a slash at its end */
	const char *only;   /* NULL: all names */
};

static void children_free(struct children *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].name);
	free(c->v);
}
#define _cleanup_children_ _cleanup_(children_free)

static int add_child(void *arg, const struct origin_file *f)
{
	struct children *c = arg;
	size_t skip = strlen(c->prefix), len;
	const char *rest = f->name + skip;
	struct child *v;

	if (strncmp(f->name, c->prefix, skip) != 0)
		return 0;
	len = strcspn(rest, "/");
	if (c->only && (strlen(c->only) != len || strncmp(rest, c->only, len) != 0))
		return 0;
	if (c->n > 0 && strlen(c->v[c->n - 1].name) == len && !strncmp(c->v[c->n - 1].name, rest, len))
		return 0;
	v = array_grow(c->v, c->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	c->v = v;
	v[c->n].tracked = rest[len] ? 0 : f->tracked.id;
	v[c->n].name = strndup(rest, len);
	if (!v[c->n++].name)
		return -ENOMEM;
	return c->only ? 1 : 0;
}

/* The path of a directory below the run, with a slash at its end, to be freed. */
static int prefix_of(struct view_req *q, const struct origin *o, uint64_t tracked, char **ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->fs->ex->meta);
	_cleanup_free_ char *top = NULL, *path = NULL;
	int r = tracked ? tracked_path(db, o->run.id, &top) : 0;

	if (r == 0 && tracked)
		r = tracked_path(db, tracked, &path);
	if (r < 0)
		return r;
	if (!tracked)
		*ret = strdup("");
	else if (asprintf(ret, "%s/", path + (*top ? strlen(top) + 1 : 0)) < 0)
		*ret = NULL;
	return *ret ? 0 : -ENOMEM;
}

static int find_named(struct view_req *q, const struct origin *o, uint64_t dir, const char *name,
		      struct tracked_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->fs->ex->meta);

	return tracked_by_name(db, dir ? dir : o->run.id, name, ret);
}

static int read_children(struct view_req *q, const struct view_key *key, const struct origin *o, const char *only,
			 struct children *c)
{
	_cleanup_free_ char *prefix = NULL;
	int r = prefix_of(q, o, key->part, &prefix);

	c->prefix = prefix;
	c->only = only;
	if (r == 0)
		r = origin_files(q->fs->ex, &q->cred, o, (enum segment)key->dir, add_child, c);
	return MIN(r, 0);
}

/* A file is found by index, for there may be many; else all are gone through. */
int view_files_lookup(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret)
{
	_cleanup_children_ struct children c = { 0 };
	struct tracked_row t = { 0 };
	struct origin_file f;
	struct origin o;
	int named, r = view_origin(q, key, &o);

	if (r < 0)
		return r;
	named = find_named(q, &o, key->part, name, &t);
	r = named == 0 && !t.is_dir ? origin_file_below(q->fs->ex, &q->cred, &o, (enum segment)key->dir, t.id, &f) : named;
	if (r == 0 && !t.is_dir) {
		origin_file_free(&f);
		*ret = key_of(key, t.id, false);
		return 0;
	}
	if (r < 0 && r != -ENOENT)
		return r;
	r = read_children(q, key, &o, name, &c);
	if (r < 0 || c.n == 0)
		return r < 0 ? r : -ENOENT;
	*ret = key_of(key, c.v[0].tracked ? c.v[0].tracked : t.id, !c.v[0].tracked);
	return 0;
}

static int child_compare(const void *pa, const void *pb)
{
	const struct child *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

int view_files_list(struct view_req *q, const struct view_key *key, struct view_list *l)
{
	_cleanup_children_ struct children c = { 0 };
	struct origin o;
	int r = view_origin(q, key, &o);

	if (r == 0)
		r = read_children(q, key, &o, NULL, &c);
	if (r == 0 && c.n > 0)
		qsort(c.v, c.n, sizeof(*c.v), child_compare);
	for (size_t i = 0; i < c.n && r == 0; i++) {
		struct tracked_row t = { .id = c.v[i].tracked };
		struct view_key k;

		if (i > 0 && !strcmp(c.v[i].name, c.v[i - 1].name))
			continue;
		if (!t.id)
			r = find_named(q, &o, key->part, c.v[i].name, &t);
		k = key_of(key, t.id, !c.v[i].tracked);
		if (r == 0)
			r = view_list_add(l, c.v[i].name, &k);
		r = r == -ENOENT ? 0 : r;
	}
	return r;
}

int view_files_target(struct view_req *q, const struct view_key *key, char **ret)
{
	_cleanup_free_ char *place = NULL, *up = NULL;
	struct origin_file f;
	struct origin o;
	size_t depth = key->kind == VIEW_EXPERIMENT_FILE ? 3 : 2;
	int r = view_origin(q, key, &o);

	if (r == 0)
		r = origin_file_below(q->fs->ex, &q->cred, &o, (enum segment)key->dir, key->part, &f);
	if (r < 0)
		return r;
	for (const char *p = f.name; (p = strchr(p, '/')); p++)
		depth++;
	r = origin_place(q->fs->ex, &f, &place);
	origin_file_free(&f);
	up = r == 0 ? calloc(depth, strlen("../")) : NULL;
	if (r < 0 || !up)
		return r < 0 ? r : -ENOMEM;
	for (size_t i = 0; i < depth; i++)
		memcpy(up + i * strlen("../"), "../", strlen("../"));
	return asprintf(ret, "%.*s%s", (int)(depth * strlen("../")), up, place) < 0 ? -ENOMEM : 0;
}
