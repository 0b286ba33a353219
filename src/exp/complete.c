/* A file is asked once: the format's answer is kept with the content. A directory
 * is asked at each look-up, until it was complete once. */
#include "exp/complete.h"

#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/file.h"
#include "exp/path.h"
#include "format/whole.h"
#include "meta/content.h"
#include "util/io.h"

#define IDLE_NS 10000000000ll /* a directory left alone that long may be complete */
#define CLOCK_NS 20000000ll   /* more than the kernel's clock for files may be coarse */
#define MEMBERS_MAX 100000    /* files of one directory checkpoint */
#define TRACKER_MAX 4096

static const char being_written[] = "being written";
static const char torn[] = "torn";
static const char not_all_yet[] = "may not have all its files yet";

void members_free(struct members *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].name);
	free(m->v);
	*m = (struct members){ 0 };
}

/* All files below a directory, by name. */
static int collect(struct expfs *ex, uint64_t dir, const char *path, unsigned depth, struct members *m)
{
	_cleanup_entries_ struct entries e = { 0 };
	int r = depth == ENTRIES_DEPTH ? -E2BIG : entries_read(ex, dir, path, false, &e);

	for (size_t i = 0; i < e.n && r == 0; i++) {
		struct member *v;

		if (S_ISDIR(e.v[i].row.mode)) {
			m->nested = true;
			r = collect(ex, e.v[i].row.ino, e.v[i].path, depth + 1, m);
			continue;
		}
		if (!S_ISREG(e.v[i].row.mode))
			continue;
		v = array_grow(m->v, m->n, sizeof(*v));
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

int members_load(struct expfs *ex, uint64_t dir, struct members *m)
{
	int r;

	m->imported = true;
	r = collect(ex, dir, "", 0, m);
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
static int get_content(struct expfs *ex, const struct inode_row *row, struct content_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct stat st;
	int r = content_get(db, row->object, ret);

	if (r == 0 && ret->state == CONTENT_LIVE) {
		r = object_stat(ex->store, row->object, &st);
		ret->size = r < 0 ? 0 : (uint64_t)st.st_size;
	}
	return r;
}

/* Why a file is not complete; NULL if it is. */
const char *complete_file_fault(struct expfs *ex, const struct inode_row *row, const char *name)
{
	struct verdict v;
	const char *why = torn;
	int r;

	if (file_is_written(ex, row->ino))
		return being_written;
	if (!row->object)
		return "empty";
	if (!(row->flags & INODE_CLOSED))
		return "was never closed by its writer";
	r = get_content(ex, row, &v.content);
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
		n = io_pread(fd, buf, size, 0);
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
		if (m->v[i].row.ctime > now - IDLE_NS)
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
 * own entries (which clears the flag) and its files (whose order is kept). One
 * with subdirectories is asked each time. */
static bool was_complete(const struct checkpoint *c)
{
	return (c->flags & INODE_CLOSED) && !c->members->nested && c->members->order <= c->dir_order;
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

/* Of one of the files, or of none: then *ret_at is m->n. */
static const char *files_fault(struct expfs *ex, const struct members *m, size_t *ret_at)
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

const char *complete_dir_fault(struct expfs *ex, const struct checkpoint *c, bool *ret_sure)
{
	size_t at;
	const char *why = files_fault(ex, c->members, &at);

	*ret_sure = why || was_complete(c) || has_marker(c->members) || tracker_has(ex, c);
	return why;
}

const char *complete_dir_fault_after(const struct checkpoint *c, const struct members *before)
{
	const struct members *m = c->members;
	bool subset = before->n > 0 && is_subset(m, before);

	if (subset && m->n == before->n)
		return NULL;
	if (!left_alone(m))
		return not_all_yet;
	/* Fewer files than the last time: more are expected, however long it takes. */
	return subset ? "files of the checkpoint before it are missing" : NULL;
}

void complete_remember(struct expfs *ex, struct checkpoint *c)
{
	/* So young a change can hide another one behind its time. */
	if (!was_complete(c) && !c->members->nested && c->dir_mtime < now_ns() - CLOCK_NS)
		expfs_write(ex, tx_set_complete, c); /* if it cannot be kept, it is judged again */
}

bool complete_may_come(const char *fault)
{
	return fault == being_written || fault == not_all_yet;
}

bool complete_has_whole_files(const char *fault)
{
	return !fault || fault == not_all_yet;
}

/* The format's own words, which are not kept with its answer. */
static const char *file_reason(struct expfs *ex, const struct inode_row *row, const char *name)
{
	const char *why = complete_file_fault(ex, row, name);
	struct verdict v = { .kind = format_kind(name) };
	int r;

	if (why != torn)
		return why;
	r = get_content(ex, row, &v.content);
	return r < 0 || ask_format(ex, &v, name, &why) < 0 || !why ? torn : why;
}

void complete_explain(struct expfs *ex, const struct checkpoint *c, char *ret, size_t size)
{
	struct inode_row row;
	size_t at;
	int r;

	snprintf(ret, size, "%s", c->why);
	if (c->is_dir && c->members && files_fault(ex, c->members, &at) && at < c->members->n) {
		const struct member *m = &c->members->v[at];

		snprintf(ret, size, "%s: %s", m->name, file_reason(ex, &m->row, m->name));
		return;
	}
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = inode_get(db, c->ino, &row);
	}
	if (!c->is_dir && r == 0 && c->why == torn)
		snprintf(ret, size, "%s", file_reason(ex, &row, path_last(c->path)));
}
