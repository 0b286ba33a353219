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

#include "exp/file.h"
#include "exp/path.h"
#include "format/whole.h"
#include "meta/content.h"
#include "meta/dirent.h"
#include "util/log.h"

#define IDLE_NS 10000000000ll /* a directory left alone that long may be complete */
#define MEMBERS_MAX 100000    /* files of one directory checkpoint */
#define TRACKER_MAX 4096

static const char being_written[] = "being written";
static const char not_all_yet[] = "may not have all its files yet";
static const char removed[] = "removed";

struct member { /* a file of a directory checkpoint */
	char *name; /* below the directory */
	struct inode_row row;
};

struct members {
	struct member *v;
	size_t n;
	uint64_t order; /* of the latest */
	bool imported;  /* all of them */
	int64_t mtime;
};

/* A name met on the walk, kept until its directory's query has ended. */
struct entry {
	struct dirent_row d;
	struct inode_row row;
	char *path;
};

struct entries {
	struct entry *v;
	size_t n;
	const char *dir;
};

static void cleanup_members(struct members *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].name);
	free(m->v);
}

static void cleanup_entries(struct entries *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->v[i].path);
	free(e->v);
}

/* Room for one more in an array that doubles. */
static void *grow(void *v, size_t n, size_t size)
{
	return n & (n - 1) ? v : realloc(v, (n ? n * 2 : 1) * size);
}

static char *join(const char *dir, const char *name)
{
	char *path;

	return asprintf(&path, "%s%s%s", dir, *dir ? "/" : "", name) < 0 ? NULL : path;
}

static int add_entry(void *arg, const struct dirent_row *d, const char *name, const struct inode_row *row)
{
	struct entries *e = arg;
	struct entry *v = grow(e->v, e->n, sizeof(*v));
	char *path = join(e->dir, name);

	if (v)
		e->v = v;
	if (!v || !path) {
		free(path);
		return -ENOMEM;
	}
	v[e->n++] = (struct entry){ .d = *d, .row = *row, .path = path };
	return strlen(path) < PATH_BOUND ? 0 : -ENAMETOOLONG;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

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
	struct checkpoint *v = grow(l->v, l->n, sizeof(*v));
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
	c.has_step = step_of_name(last_component(c.path), is_dir, &c.step);
	if (!c.has_step && is_dir && role_digit_dir(last_component(c.path))) {
		errno = 0;
		c.step = strtoull(last_component(c.path), NULL, 10);
		c.has_step = errno == 0 && c.step <= INT64_MAX;
	}
	v[l->n++] = c;
	return 0;
}

/* Is it an all-digit directory with a marker in it (Orbax, torch DCP)? */
static int is_digit_checkpoint(struct db *db, const struct entry *e)
{
	static const char *const marker[] = { "_CHECKPOINT_METADATA", ".metadata" };

	if (!role_digit_dir(last_component(e->path)))
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
	_cleanup_(cleanup_entries) struct entries e = { .dir = path };
	int r = dirent_list_roles(db, dir, add_entry, &e);

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

/* All files below a directory, by name. */
static int collect(struct db *db, uint64_t dir, const char *path, struct members *m)
{
	_cleanup_(cleanup_entries) struct entries e = { .dir = path };
	int r = dirent_list(db, dir, 0, true, add_entry, &e);

	for (size_t i = 0; i < e.n && r == 0; i++) {
		struct member *v;

		if (S_ISDIR(e.v[i].row.mode)) {
			r = collect(db, e.v[i].row.ino, e.v[i].path, m);
			continue;
		}
		if (!S_ISREG(e.v[i].row.mode))
			continue;
		v = grow(m->v, m->n, sizeof(*v));
		if (!v || m->n == MEMBERS_MAX)
			return v ? -E2BIG : -ENOMEM;
		m->v = v;
		m->order = MAX(m->order, MAX(e.v[i].row.order, e.v[i].d.order));
		m->imported = m->imported && (e.v[i].row.flags & INODE_IMPORTED);
		m->mtime = MAX(m->mtime, e.v[i].row.mtime);
		v[m->n++] = (struct member){ .name = steal(&e.v[i].path), .row = e.v[i].row };
	}
	return r;
}

static int member_compare(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static int get_members(struct expfs *ex, uint64_t dir, struct members *m)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r;

	m->imported = true;
	r = collect(db, dir, "", m);
	if (r == 0 && m->n > 0)
		qsort(m->v, m->n, sizeof(*m->v), member_compare);
	return r;
}

struct verdict {
	struct content_row content;
	bool whole;
	unsigned kind; /* of the name */
};

static int tx_set_verdict(struct db *db, void *arg)
{
	struct verdict *v = arg;

	return content_set_verdict(db, v->content.id, v->content.seal, (int)v->kind * 2 + v->whole);
}

/* Asks the format, and keeps its answer with the content. */
static int ask_format(struct expfs *ex, struct verdict *v, const char *name, const char **ret_why)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	int fd, r;

	r = object_get(ex->store, v->content.id, &o);
	if (r < 0)
		return r;
	r = object_pin(o, &fd);
	if (r < 0)
		return r;
	r = format_whole(fd, v->content.size, name, &v->whole, ret_why);
	object_unpin(o);
	if (r < 0)
		return r;
	expfs_write(ex, tx_set_verdict, v); /* if it cannot be kept, it is asked again */
	return 0;
}

/* Why a file is not complete; NULL if it is. */
static const char *file_fault(struct expfs *ex, const struct inode_row *row, const char *name)
{
	struct verdict v;
	const char *why = "torn";
	int r;

	if (file_is_written(ex, row->ino))
		return being_written;
	if (!row->object)
		return "empty";
	if (!(row->flags & INODE_CLOSED) || (row->flags & INODE_LIVE))
		return "was never closed by its writer";
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = content_get(db, row->object, &v.content);
	}
	if (r < 0)
		return "cannot be read";
	v.kind = format_kind(name);
	if (v.content.verdict / 2 == (int)v.kind && v.content.verdict != CONTENT_NO_VERDICT)
		return v.content.verdict % 2 ? NULL : why;
	r = ask_format(ex, &v, name, &why);
	return r < 0 ? "cannot be read" : v.whole ? NULL : why;
}

static bool has_marker(const struct members *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (role_is_marker(m->v[i].name))
			return true;
	return false;
}

/* Reads a small file by its name in a directory. */
static ssize_t read_small(struct expfs *ex, uint64_t dir, const char *name, char *buf, size_t size)
{
	_cleanup_(cleanup_file) struct file *f = NULL;
	struct dirent_row d;
	struct object *obj;
	ssize_t n = 0;
	int fd, r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = dirent_get(db, dir, name, &d);
	}
	if (r == 0)
		r = file_get(ex, d.ino, &f);
	if (r == 0)
		r = file_read_begin(f, &obj, &fd);
	if (r < 0)
		return r;
	if (obj) {
		n = pread(fd, buf, size, 0);
		file_read_end(obj);
	}
	return n;
}

/* Does a tracker beside the directory (DeepSpeed's, Megatron's) name it? */
static bool tracker_has(struct expfs *ex, const struct checkpoint *c)
{
	static const char *const tracker[] = { "latest", "latest_checkpointed_iteration.txt" };
	_cleanup_free_ char *name = NULL;
	struct dirent_row d;
	char buf[TRACKER_MAX];
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = dirent_of(db, c->ino, &d, &name);
	}
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(tracker); i++) {
		ssize_t n = read_small(ex, d.parent, tracker[i], buf, sizeof(buf));

		if (n > 0 && tracker_names(buf, (size_t)n, name))
			return true;
	}
	return false;
}

static bool left_alone(const struct members *m)
{
	int64_t now = now_ns();

	for (size_t i = 0; i < m->n; i++)
		if (now - m->v[i].row.ctime < IDLE_NS)
			return false;
	return true;
}

/* Are all names of a in b? Both are sorted. */
static bool is_subset(const struct members *a, const struct members *b)
{
	size_t j = 0;

	for (size_t i = 0; i < a->n; i++) {
		while (j < b->n && strcmp(b->v[j].name, a->v[i].name) < 0)
			j++;
		if (j == b->n || strcmp(b->v[j].name, a->v[i].name) != 0)
			return false;
	}
	return true;
}

/* A directory that was complete stays so as long as nothing in it changed: its
 * own entries (which clears the flag) and its files (whose order is kept). */
static bool was_complete(const struct checkpoint *c, const struct members *m)
{
	return (c->flags & INODE_CLOSED) && m->order <= c->dir_order;
}

static int tx_set_complete(struct db *db, void *arg)
{
	struct checkpoint *c = arg;
	struct inode_row row;
	int r = inode_get(db, c->ino, &row);

	if (r < 0 || row.mtime != c->dir_mtime)
		return r; /* an entry came or went meanwhile */
	row.flags |= INODE_CLOSED;
	row.order = c->members->order;
	return inode_update(db, &row);
}

static const char *files_fault(struct expfs *ex, const struct members *m)
{
	bool any = false;

	for (size_t i = 0; i < m->n; i++) {
		bool weights = role_weights_suffix(m->v[i].name, strlen(m->v[i].name));
		const char *why;

		if (!m->v[i].row.object && !weights && !file_is_written(ex, m->v[i].row.ino))
			continue; /* an empty file beside the weights is whole */
		why = file_fault(ex, &m->v[i].row, m->v[i].name);
		if (why)
			return why;
		any = true;
	}
	return any ? NULL : "empty";
}

static const char *dir_fault(struct expfs *ex, const struct checkpoint *c, const struct members *m,
			     const struct members *before)
{
	bool subset, same;
	const char *why = files_fault(ex, m);

	if (why || was_complete(c, m) || has_marker(m) || tracker_has(ex, c))
		return why;
	subset = before->n > 0 && is_subset(m, before);
	same = subset && m->n == before->n;
	if (same)
		return NULL;
	if (!left_alone(m))
		return not_all_yet;
	/* Fewer files than the last time: more are expected, however long it takes. */
	return subset ? "files of the checkpoint before it are missing" : NULL;
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
	return r < 0 ? removed : file_fault(ex, &row, last_component(c->path));
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
		r = get_members(ex, c->ino, c->members);
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
		cleanup_members(l->v[i].members);
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

		c->why = c->is_dir ? dir_fault(ex, c, c->members, before) : judge_file(ex, c);
		c->complete = c->why == NULL;
		c->passing = c->why == being_written || c->why == not_all_yet || c->why == removed;
		if (!c->complete || !c->is_dir)
			continue;
		before = c->members;
		if (!was_complete(c, c->members))
			expfs_write(ex, tx_set_complete, c); /* if it cannot be kept, it is judged again */
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
	_cleanup_(cleanup_entries) struct entries e = { .dir = path };
	int r = dirent_list_roles(db, dir, add_entry, &e);

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
