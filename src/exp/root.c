#include "exp/root.h"

#include <string.h>

#include "exp/known.h"
#include "exp/path.h"
#include "format/manifest.h"
#include "util/list.h"

#define HEX "0123456789abcdef"
#define DEPTH 3 /* to which WeightsLab looks for roots below a directory */

void root_free(struct root *r)
{
	free(r->path);
	*r = (struct root){ 0 };
}

void root_list_free(struct root_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		root_free(&l->v[i]);
	free(l->v);
	*l = (struct root_list){ 0 };
}

bool root_hash_of_name(const char *name, char ret[EXPERIMENT_HASH + 1])
{
	const char *step = name + strspn(name, HEX), *end;

	if (step - name != EXPERIMENT_HASH || strncmp(step, "_step_", 6) != 0)
		return false;
	end = step + 6 + strspn(step + 6, "0123456789");
	if (end == step + 6 || strcmp(end, ".pt") != 0)
		return false;
	memcpy(ret, name, EXPERIMENT_HASH);
	ret[EXPERIMENT_HASH] = 0;
	return true;
}

/* The end of the first component checkpoints of a path below a run; 0: there is none. */
static size_t checkpoints_end(const char *rel)
{
	const char *p = rel;

	for (;;) {
		size_t n = strcspn(p, "/");

		if (n == strlen(ROOT_DIR) && !strncmp(p, ROOT_DIR, n))
			return (size_t)(p - rel) + n;
		if (!p[n])
			return 0;
		p += n + 1;
	}
}

/* Is it models/<8 hex>, with a slash in front? */
static bool is_model_dir(const char *below)
{
	const char *hex = below + strlen("/models/");

	return !strncmp(below, "/models/", strlen("/models/")) && strspn(hex, HEX) == SEGMENT_LEN && !hex[SEGMENT_LEN];
}

size_t root_shown_by(const struct ancestry *a, const char *name)
{
	char hash[EXPERIMENT_HASH + 1];
	const char *rel = a->path + MIN(a->base, strlen(a->path));
	size_t end = checkpoints_end(rel);
	bool shows = !strcmp(name, ROOT_MANIFEST) ? !rel[end] : is_model_dir(rel + end) && root_hash_of_name(name, hash);

	for (size_t i = 1; end && shows && i < a->n; i++)
		if (a->dir[i].end == a->base + end)
			return i;
	return 0;
}

bool root_is(struct expfs *ex, struct db *db, uint64_t id, const char *path)
{
	size_t n = path_run_prefix(ex, path);
	const char *rel = path + n + (n > 0);
	size_t end = checkpoints_end(rel);
	struct root_row row;

	return end && !rel[end] && root_get(db, id, &row) == 0;
}

int tx_root_run(struct db *db, const struct tracked_row *dir, const char *name, uint64_t was, uint64_t *ret)
{
	struct tracked_row t;
	struct fork_row fork;
	int r = 0;

	*ret = dir->run;
	if (!strcmp(name, ROOT_STATE)) {
		r = tracked_by_name(db, dir->id, ROOT_DIR, &t);
		if (r == 0 && t.run == t.id)
			*ret = t.id;
	} else if (was && was != dir->run) {
		r = fork_get(db, was, &fork);
		if (r == 0 && fork.root == dir->run)
			*ret = was;
	}
	return r == -ENOENT ? 0 : r;
}

int tx_root_version(struct db *db, uint64_t run, uint64_t v)
{
	struct fork_row fork;
	struct root_row row;
	int r = v ? fork_get(db, run, &fork) : -ENOENT;

	if (r == 0)
		run = fork.root;
	if (v && (r == 0 || r == -ENOENT))
		r = root_get(db, run, &row);
	return r == 0 ? event_put(db, v, run) : r == -ENOENT ? 0 : r;
}

static int list_ids(struct expfs *ex, struct id_list *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return root_list(db, id_list_add, ret);
}

/* -ENOENT: there is none any more. */
static int load(struct expfs *ex, struct db *db, uint64_t id, struct root *ret)
{
	struct tracked_row t, up;
	struct root_row row;
	int r = root_get(db, id, &row);

	if (r == 0)
		r = tracked_get(db, id, &t);
	if (r == 0)
		r = t.run == id && t.ino ? tracked_get(db, t.parent, &up) : -ENOENT;
	if (r == 0)
		r = path_of(db, up.ino, &ret->path);
	if (r < 0)
		return r;
	ret->id = id;
	ret->tracked = up.id;
	ret->ino = up.ino;
	return 0;
}

int root_get_there(struct expfs *ex, struct cred *cred, uint64_t id, struct root *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	_cleanup_root_ struct root root = { 0 };
	int r = load(ex, db, id, &root);

	if (r == 0)
		r = path_may_walk(db, cred, root.ino, X_OK);
	if (r < 0)
		return r;
	*ret = root;
	root = (struct root){ 0 };
	return 0;
}

static int add_root(struct root_list *l, struct root *root)
{
	struct root *v = array_grow(l->v, l->n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n++] = *root;
	*root = (struct root){ 0 };
	return 0;
}

int root_list_there(struct expfs *ex, struct cred *cred, unsigned want, struct root_list *ret)
{
	_cleanup_root_list_ struct root_list l = { 0 };
	_cleanup_id_list_ struct id_list ids = { 0 };
	int r = list_ids(ex, &ids);

	for (size_t i = 0; i < ids.n && r == 0; i++) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
		_cleanup_root_ struct root root = { 0 };

		r = load(ex, db, ids.v[i], &root);
		if (r == 0)
			r = path_may_walk(db, cred, root.ino, want);
		r = r == 0 ? add_root(&l, &root) : r == -ENOENT ? 0 : r;
	}
	if (r < 0)
		return r;
	*ret = l;
	l = (struct root_list){ 0 };
	return 0;
}

/* Would it be found in the directory? */
static bool is_near(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	unsigned depth = 0;

	if (strncmp(path, dir, n) != 0 || (n > 0 && path[n] && path[n] != '/'))
		return false;
	for (path += n + (n > 0 && path[n]); *path; depth++) {
		size_t len = strcspn(path, "/");

		if (*path == '.' || (len == strlen(ROOT_DIR) && !strncmp(path, ROOT_DIR, len)))
			return false;
		path += len + (path[len] != 0);
	}
	return depth <= DEPTH;
}

static int find_manifest(struct expfs *ex, uint64_t root, struct version_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;
	int r = tracked_by_name(db, root, ROOT_MANIFEST, &t);

	if (r == 0)
		r = t.ino && t.head ? version_get(db, t.head, ret) : -ENOENT;
	return r;
}

/* When a root says that it was updated, as text; "" where it does not. To be freed. */
static int updated(struct expfs *ex, const struct root *root, char **ret)
{
	_cleanup_free_ char *bytes = NULL;
	const struct manifest_entry *e;
	struct manifest *m = NULL;
	struct version_row v;
	const char *text = NULL;
	int r = find_manifest(ex, root->id, &v);

	if (r == 0)
		r = known_read(ex, &v, MANIFEST_SIZE_MAX, &bytes);
	if (r == 0)
		r = manifest_parse(bytes, v.size, &m);
	if (r == -ENOMEM)
		return r;
	if (r == 0) {
		e = m->latest_hash ? manifest_find(m, m->latest_hash) : NULL;
		text = m->last_updated && *m->last_updated ? m->last_updated :
		       e && e->last_used && *e->last_used  ? e->last_used :
							     e ? e->created : NULL;
	}
	*ret = strdup(text ? text : "");
	if (m)
		manifest_free(m);
	return *ret ? 0 : -ENOMEM;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct root *)a)->path, ((const struct root *)b)->path);
}

/* Of two that were updated at one time the later one counts. */
static int find_effective(struct expfs *ex, const struct root_list *l, size_t *ret)
{
	_cleanup_free_ char *newest = NULL;

	for (size_t i = 0; i < l->n; i++) {
		_cleanup_free_ char *text = NULL;
		int r = updated(ex, &l->v[i], &text);

		if (r < 0)
			return r;
		if (newest && strcmp(text, newest) < 0)
			continue;
		free(newest);
		newest = steal(&text);
		*ret = i;
	}
	return 0;
}

static bool may_look(struct expfs *ex, struct cred *cred, uint64_t ino)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct inode_row dir;

	return inode_get(db, ino, &dir) == 0 && cred_permits(cred, &dir, R_OK | X_OK);
}

int root_list_below(struct expfs *ex, struct cred *cred, const char *dir, struct root_list *ret, size_t *ret_effective)
{
	_cleanup_root_list_ struct root_list l = { 0 };
	size_t out = 0;
	int r = root_list_there(ex, cred, R_OK | X_OK, &l);

	if (r < 0)
		return r;
	for (size_t i = 0; i < l.n; i++) {
		if (is_near(l.v[i].path, dir) && may_look(ex, cred, l.v[i].ino))
			l.v[out++] = l.v[i];
		else
			root_free(&l.v[i]);
	}
	l.n = out;
	if (l.n > 0)
		qsort(l.v, l.n, sizeof(*l.v), compare);
	r = find_effective(ex, &l, ret_effective);
	if (r < 0)
		return r;
	*ret = l;
	l = (struct root_list){ 0 };
	return 0;
}
