/* Files are read in pieces that begin with a line. That a file only grew is known by its
 * content's number and by the last bytes that were read. */
#include "exp/signal.h"

#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/file.h"
#include "exp/removed.h"
#include "format/trainer_state.h"
#include "meta/tracked.h"
#include "meta/version.h"
#include "util/io.h"

#define PIECE (2 * (size_t)METRICS_LINE_MAX)
#define TAIL 64

enum kind { LINES, TABLE, STATE };

struct signal_file {
	uint64_t id; /* as of struct signal_path */
	bool is_version;
	enum kind kind;
	uint64_t object;
	uint64_t size; /* that is done with */
	int64_t mtime;
	uint64_t offset; /* up to which it is done with */
	char tail[TAIL]; /* what stands before that */
	size_t tail_len;
	bool in_long_line; /* one that is too long, whose end did not come yet */
	char *header;      /* of a table */
	size_t header_len;
	struct metrics metrics;
};

/* A file while it is read. */
struct reading {
	struct expfs *ex;
	struct signal_file *f;
	const struct signal_sink *sink;
	int fd;
	char *piece;
};

int signal_file_new(const struct signal_path *p, struct signal_file **ret)
{
	const char *dot = strrchr(p->name, '.');
	struct signal_file *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->id = p->id;
	f->is_version = p->is_version;
	f->kind = dot && !strcmp(dot, ".csv") ? TABLE : dot && !strcmp(dot, ".json") ? STATE : LINES;
	*ret = f;
	return 0;
}

void signal_file_free(struct signal_file *f)
{
	free(f->header);
	free(f);
}

static void begin_anew(struct signal_file *f, const struct signal_sink *sink)
{
	free(f->header);
	*f = (struct signal_file){ .id = f->id, .is_version = f->is_version, .kind = f->kind };
	sink->restart(sink->arg);
}

static int keep_tail(struct reading *rd)
{
	struct signal_file *f = rd->f;
	ssize_t n;

	f->tail_len = (size_t)MIN(f->offset, (uint64_t)TAIL);
	n = io_pread(rd->fd, f->tail, f->tail_len, f->offset - f->tail_len);
	return n < 0 ? (int)n : 0;
}

/* Is what was read still there, and does the rest begin with a line? */
static bool only_grew(struct reading *rd, uint64_t object, uint64_t size)
{
	const struct signal_file *f = rd->f;
	char tail[TAIL];

	if (object != f->object || size < f->offset || f->offset == 0)
		return false;
	if (io_pread(rd->fd, tail, f->tail_len, f->offset - f->tail_len) != (ssize_t)f->tail_len)
		return false;
	return !memcmp(tail, f->tail, f->tail_len) && (f->in_long_line || f->tail[f->tail_len - 1] == '\n');
}

/* Goes on behind the next line break, or to the end. */
static int skip_line(struct reading *rd)
{
	struct signal_file *f = rd->f;

	for (f->in_long_line = true; f->in_long_line;) {
		ssize_t n = io_pread(rd->fd, rd->piece, PIECE, f->offset);
		const char *end = n > 0 ? memchr(rd->piece, '\n', (size_t)n) : NULL;

		if (n <= 0)
			return (int)n;
		f->in_long_line = !end;
		f->offset += end ? (uint64_t)(end - rd->piece) + 1 : (uint64_t)n;
	}
	return 0;
}

/* Of a table all waits for its header. */
static int parse_piece(struct reading *rd, size_t n, bool last, size_t *ret_used)
{
	const struct signal_sink *sink = rd->sink;
	struct signal_file *f = rd->f;
	size_t skip = 0;
	int r;

	if (f->kind == LINES)
		return metrics_jsonl(&f->metrics, rd->piece, n, last, sink->row, sink->arg, ret_used);
	if (!f->header) {
		skip = metrics_csv_header(rd->piece, n);
		if (skip == 0) {
			*ret_used = 0;
			return n > METRICS_LINE_MAX ? -EFBIG : 0;
		}
		f->header = malloc(skip);
		if (!f->header)
			return -ENOMEM;
		memcpy(f->header, rd->piece, skip);
		f->header_len = skip;
	}
	r = metrics_csv(&f->metrics, f->header, f->header_len, rd->piece + skip, n - skip, last, sink->row, sink->arg, ret_used);
	*ret_used = r == -EINVAL ? n : *ret_used + skip; /* a table without steps has no rows */
	return r == -EINVAL ? 0 : r;
}

bool signal_file_counts_epochs(const struct signal_file *f)
{
	return f->metrics.by_epoch;
}

/* A line that is too long is left out, and those before it in the piece were taken. */
static int leave_out(struct reading *rd, size_t n)
{
	const char *before = memrchr(rd->piece, '\n', n);

	rd->f->offset += before ? (uint64_t)(before - rd->piece) + 1 : 0;
	return skip_line(rd);
}

static int read_lines(struct reading *rd)
{
	struct signal_file *f = rd->f;
	int r = f->in_long_line ? skip_line(rd) : 0;

	while (r == 0) {
		ssize_t n = io_pread(rd->fd, rd->piece, PIECE, f->offset);
		size_t used = 0;
		bool last;

		if (n <= 0)
			return (int)n;
		last = n < (ssize_t)PIECE && rd->piece[n - 1] != '\n' && !file_is_written(rd->ex, f->id);
		r = parse_piece(rd, (size_t)n, last, &used);
		if (r == -EFBIG) {
			r = leave_out(rd, (size_t)n);
			continue;
		}
		f->offset += used;
		if (r == 0 && used == 0)
			break;
	}
	return r;
}

/* It is written whole; while it is not, what it said before holds. */
static int read_state(struct reading *rd, uint64_t size)
{
	struct signal_file *f = rd->f;
	_cleanup_free_ char *text = size <= TRAINER_STATE_SIZE_MAX ? malloc(size + 1) : NULL;
	struct trainer_state s;
	struct reason why;
	ssize_t n;
	int r;

	f->size = UINT64_MAX;
	if (size <= TRAINER_STATE_SIZE_MAX && file_is_written(rd->ex, f->id))
		return 0;
	begin_anew(f, rd->sink);
	f->size = size;
	if (size > TRAINER_STATE_SIZE_MAX)
		return 0;
	n = text ? io_pread(rd->fd, text, size, 0) : -ENOMEM;
	if (n < 0)
		return (int)n;
	r = trainer_state_parse(text, (size_t)n, &f->metrics, rd->sink->row, rd->sink->arg, &s, &why);
	if (r == 0)
		trainer_state_clear(&s);
	return r == -EINVAL ? 0 : r;
}

static int read_content(struct reading *rd, uint64_t object, uint64_t size)
{
	struct signal_file *f = rd->f;
	int r;

	if (f->kind == STATE)
		return read_state(rd, size);
	rd->piece = malloc(PIECE);
	if (!rd->piece)
		return -ENOMEM;
	if (!only_grew(rd, object, size))
		begin_anew(f, rd->sink);
	r = read_lines(rd);
	f->size = f->offset;
	return r < 0 ? r : keep_tail(rd);
}

static int stat_file(struct expfs *ex, uint64_t ino, struct inode_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return expfs_inode_get(ex, db, ino, ret);
}

static int get_version(struct expfs *ex, uint64_t id, struct version_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return version_get(db, id, ret);
}

/* It does not change any more, but may be forgotten. */
static int read_version(struct reading *rd, int64_t *ret_mtime)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	struct signal_file *f = rd->f;
	struct version_row v;
	int r = get_version(rd->ex, f->id, &v);

	if (r == 0 && f->object == v.object) {
		*ret_mtime = v.mtime;
		return 0;
	}
	if (r == 0)
		r = v.object ? object_get(rd->ex->store, v.object, &o) : -ENOENT;
	if (r == 0)
		r = object_pin(o, &rd->fd);
	if (r < 0) {
		begin_anew(f, rd->sink);
		*ret_mtime = 0;
		return r == -ENOENT ? 0 : r;
	}
	r = read_content(rd, v.object, v.size);
	object_unpin(o);
	free(rd->piece);
	f->object = r == 0 ? v.object : 0;
	*ret_mtime = v.mtime;
	return r;
}

int signal_file_read(struct expfs *ex, struct signal_file *f, const struct signal_sink *sink, int64_t *ret_mtime)
{
	struct reading rd = { .ex = ex, .f = f, .sink = sink };
	_cleanup_(cleanup_file) struct file *file = NULL;
	struct inode_row row;
	struct object *o = NULL;
	int r;

	if (f->is_version)
		return read_version(&rd, ret_mtime);
	r = stat_file(ex, f->id, &row);

	if (r == 0 && row.object == f->object && row.size == f->size && row.mtime == f->mtime) {
		*ret_mtime = row.mtime;
		return 0;
	}
	if (r == 0)
		r = file_get(ex, f->id, &file);
	if (r == 0)
		r = file_read_begin(file, true, &o, &rd.fd);
	if (r == 0 && o)
		r = read_content(&rd, object_id(o), row.size);
	else if (r == 0 || r == -ESTALE || r == -EINVAL)
		begin_anew(f, sink);
	f->object = o ? object_id(o) : 0;
	file_read_end(o);
	free(rd.piece);
	if (r < 0 && r != -ESTALE && r != -EINVAL) {
		f->object = 0; /* to be read again */
		return r;
	}
	*ret_mtime = f->mtime = r == 0 ? row.mtime : 0;
	return 0;
}

int signal_paths_add(struct signal_paths *l, const struct signal_path *p, const char *name)
{
	struct signal_path *v = array_grow(l->v, l->n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n] = *p;
	v[l->n].name = strdup(name);
	return v[l->n++].name ? 0 : -ENOMEM;
}

struct listing {
	struct db *db;
	struct signal_paths *l;
	bool removed; /* the run */
};

static int add_path(void *arg, const struct tracked_row *t, const char *name)
{
	const struct listing *listing = arg;
	struct signal_path p = { .tracked = t->id, .id = t->ino, .is_version = listing->removed };
	struct version_row last = { 0 };
	int r = listing->removed ? version_before(listing->db, t->id, t->n + 1, &last) : 0;

	if (t->is_dir || last.is_dir || r < 0)
		return r == -ENOENT ? 0 : r;
	if (p.is_version)
		p.id = last.id;
	return signal_paths_add(listing->l, &p, name);
}

static int path_compare(const void *pa, const void *pb)
{
	const struct signal_path *a = pa, *b = pb;

	return a->id < b->id ? -1 : a->id > b->id;
}

int signal_paths_load(struct expfs *ex, uint64_t run, struct signal_paths *ret)
{
	_cleanup_signal_paths_ struct signal_paths l = { 0 };
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct listing listing = { .db = db, .l = &l };
	int r = removed_is_run(db, run);
	size_t out = 0;

	listing.removed = r > 0;
	if (r >= 0)
		r = tracked_list_role(db, run, ROLE_SIGNALS, !listing.removed, add_path, &listing);
	if (r < 0)
		return r;
	if (l.n > 0)
		qsort(l.v, l.n, sizeof(*l.v), path_compare);
	for (size_t i = 0; i < l.n; i++) {
		if (out > 0 && l.v[i].id == l.v[out - 1].id)
			free(l.v[i].name);
		else
			l.v[out++] = l.v[i];
	}
	l.n = out;
	*ret = l;
	l = (struct signal_paths){ 0 };
	return 0;
}

void signal_paths_free(struct signal_paths *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
	*l = (struct signal_paths){ 0 };
}
