/* A file is asked once: the format's answer is kept with the content. */
#include "exp/complete.h"

#include <stdio.h>
#include <string.h>

#include "exp/closed.h"
#include "exp/entries.h"
#include "exp/file.h"
#include "exp/path.h"
#include "format/whole.h"
#include "meta/content.h"
#include "util/io.h"

#define IDLE_NS 10000000000ll /* a directory left alone that long may be complete */
#define MEMBERS_MAX 100000    /* files of one directory checkpoint */
#define TRACKER_MAX 4096

static const char being_written[] = "being written";
static const char torn[] = "torn";
static const char not_all_yet[] = "may not have all its files yet";
static const char being_removed[] = "lost files a moment ago";
static const char mixed[] = "some of its files were saved anew since it was complete, others not";
static const char no_means[] = "cannot be looked at for want of memory or descriptors";

void members_free(struct members *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].name);
	free(m->v);
	*m = (struct members){ 0 };
}

uint64_t members_begin(const struct members *m, uint64_t since)
{
	uint64_t first = 0, last = 0;

	for (size_t i = 0; i < m->n; i++) {
		uint64_t begin = m->v[i].row.begin;

		last = MAX(last, begin);
		if (begin > since && (first == 0 || begin < first))
			first = begin;
	}
	return first ? first : last;
}

/* The directories between a checkpoint and a file of it. */
struct between {
	const struct inode_row *dir;
	const struct between *above;
	unsigned depth;
};

static uint32_t mode_of(const struct inode_row *file, const struct between *b)
{
	uint32_t mode = file->mode;

	for (; b; b = b->above)
		mode = closed_below(mode, file->gid, b->dir);
	return mode;
}

/* All files below a directory, by name. */
static int collect(struct expfs *ex, uint64_t dir, const char *path, const struct between *above, struct members *m)
{
	_cleanup_entries_ struct entries e = { 0 };
	unsigned depth = above ? above->depth : 0;
	int r = depth == ENTRIES_DEPTH ? -E2BIG : entries_read(ex, dir, path, false, &e);

	for (size_t i = 0; i < e.n && r == 0; i++) {
		struct member *v;

		if (S_ISDIR(e.v[i].row.mode)) {
			m->names_changed = MAX(m->names_changed, e.v[i].row.ctime);
			r = collect(ex, e.v[i].row.ino, e.v[i].path,
				    &(struct between){ .dir = &e.v[i].row, .above = above, .depth = depth + 1 }, m);
			continue;
		}
		if (!S_ISREG(e.v[i].row.mode))
			continue;
		if (m->before && MAX(e.v[i].row.ino, e.v[i].row.begin) >= m->before)
			continue;
		v = array_grow(m->v, m->n, sizeof(*v));
		if (!v || m->n == MEMBERS_MAX)
			return v ? -E2BIG : -ENOMEM;
		m->v = v;
		m->order = MAX(m->order, MAX(e.v[i].row.order, e.v[i].d.order));
		m->imported = m->imported && (e.v[i].row.flags & INODE_IMPORTED);
		m->mtime = MAX(m->mtime, e.v[i].row.mtime);
		v[m->n] = (struct member){ .name = steal(&e.v[i].path), .row = e.v[i].row };
		v[m->n++].row.mode = mode_of(&e.v[i].row, above);
	}
	return r;
}

static int member_compare(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

int members_load(struct expfs *ex, uint64_t dir, struct members *m)
{
	struct inode_row row = { .ctime = 0 };
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = inode_get(db, dir, &row);
	}
	if (r < 0 && r != -ESTALE)
		return r;
	m->imported = true;
	m->names_changed = row.ctime;
	r = collect(ex, dir, "", NULL, m);
	if (r == -E2BIG || r == -ENAMETOOLONG) {
		m->too_many = true;
		r = 0;
	}
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

/* One that stays live though it was closed has large holes: its size is its file's. */
static int get_content(struct expfs *ex, uint64_t object, struct content_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct stat st;
	int r = content_get(db, object, ret);

	if (r == 0 && ret->state == CONTENT_LIVE) {
		r = object_stat(ex->store, object, &st);
		ret->size = r < 0 ? 0 : (uint64_t)st.st_size;
	}
	return r;
}

static const char *read_fault(int r)
{
	return r == -ENOMEM || r == -EMFILE || r == -ENFILE ? no_means : "cannot be read";
}

static const char *content_fault(struct expfs *ex, uint64_t object, const char *name)
{
	struct verdict v = { .kind = format_kind(name) };
	const char *why = torn;
	int r;

	if (!object)
		return "empty";
	r = get_content(ex, object, &v.content);
	if (r < 0)
		return read_fault(r);
	if (v.content.verdict / 2 == (int)v.kind && v.content.verdict != CONTENT_NO_VERDICT)
		return v.content.verdict % 2 ? NULL : why;
	r = ask_format(ex, &v, name, &why);
	return r < 0 ? read_fault(r) : v.whole ? NULL : why;
}

const char *complete_version_fault(struct expfs *ex, const struct version_row *v, const char *name)
{
	return content_fault(ex, v->object, name);
}

const char *complete_file_fault(struct expfs *ex, const struct inode_row *row, const char *name)
{
	if (file_is_written(ex, row->ino))
		return being_written;
	if (row->object && !(row->flags & INODE_CLOSED))
		return "was never closed by its writer";
	return content_fault(ex, row->object, name);
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
		r = file_read_begin(f, false, &obj, &fd);
	if (r < 0)
		return r;
	if (obj) {
		n = io_pread(fd, buf, size, 0);
		file_read_end(obj);
	}
	return n;
}

/* Does a tracker beside the directory (DeepSpeed's, Megatron's) name it? */
static bool tracker_has(struct expfs *ex, uint64_t dir)
{
	static const char *const tracker[] = { "latest", "latest_checkpointed_iteration.txt" };
	_cleanup_free_ char *name = NULL;
	struct dirent_row d;
	char buf[TRACKER_MAX];
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = dirent_of(db, dir, &d, &name);
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
		if (m->v[i].row.ctime > now - IDLE_NS)
			return false;
	return true;
}

/* Are all names of the files among the others? Both are sorted. */
static bool is_subset(const struct members *m, char *const *other, size_t n)
{
	size_t j = 0;

	for (size_t i = 0; i < m->n; i++) {
		while (j < n && strcmp(other[j], m->v[i].name) < 0)
			j++;
		if (j == n || strcmp(other[j], m->v[i].name) != 0)
			return false;
	}
	return true;
}

const char *complete_removal_fault(const struct members *m, char *const *before, size_t n)
{
	return m->n < n && m->names_changed > now_ns() - IDLE_NS && is_subset(m, before, n) ? being_removed : NULL;
}

static bool has_name(char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

const char *complete_mixed_fault(const struct members *m, char *const *before, size_t n, uint64_t since)
{
	bool any_new = false, any_old = false;

	for (size_t i = 0; i < m->n; i++) {
		const char *name = m->v[i].name;

		if (role_is_marker(name) && m->v[i].row.begin > since)
			return NULL;
		if (!role_weights_suffix(name, strlen(name)) || !has_name(before, n, name))
			continue;
		any_new = any_new || m->v[i].row.begin > since;
		any_old = any_old || m->v[i].row.begin <= since;
	}
	return !any_new || !any_old ? NULL : left_alone(m) ? mixed : not_all_yet;
}

bool complete_is_mixed(const char *fault)
{
	return fault == mixed;
}

const char *complete_files_fault(struct expfs *ex, const struct members *m, size_t *ret_at)
{
	bool any = false;

	*ret_at = m->n;
	if (m->too_many)
		return "has more files or levels than are looked at";
	for (size_t i = 0; i < m->n; i++) {
		bool weights = role_weights_suffix(m->v[i].name, strlen(m->v[i].name));
		const char *why;

		if (!m->v[i].row.object && !weights && !file_is_written(ex, m->v[i].row.ino))
			continue; /* an empty file beside the weights is whole */
		why = complete_file_fault(ex, &m->v[i].row, m->v[i].name);
		if (why) {
			*ret_at = i;
			return why;
		}
		any = true;
	}
	return any ? NULL : "empty";
}

const char *complete_dir_fault(struct expfs *ex, uint64_t dir, const struct members *m, char *const *before, size_t n)
{
	bool subset = n > 0 && is_subset(m, before, n);

	if (has_marker(m) || tracker_has(ex, dir) || (subset && m->n == n))
		return NULL;
	if (!left_alone(m))
		return not_all_yet;
	/* Fewer files than the last time: more are expected, however long it takes. */
	return subset ? "files of the checkpoint before it are missing" : NULL;
}

bool complete_may_come(const char *fault)
{
	return fault == being_written || fault == not_all_yet || fault == being_removed || fault == no_means;
}

/* The format's own words, which are not kept with its answer. */
const char *complete_explain(struct expfs *ex, uint64_t object, const char *name, const char *fault)
{
	struct verdict v = { .kind = format_kind(name) };
	const char *why = NULL;
	int r;

	if (fault != torn)
		return fault;
	r = get_content(ex, object, &v.content);
	return r < 0 || ask_format(ex, &v, name, &why) < 0 || !why ? torn : why;
}
