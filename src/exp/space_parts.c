/* Each holder of a content that is met makes a row in memory: a file's name, or a version. Sorted by part and content they
 * tell what each part has, sorted by content what all have together. */
#include "exp/space.h"

#include <string.h>
#include <sys/stat.h>

#include "exp/tracked_dir.h"
#include "meta/dirent.h"
#include "meta/holders.h"
#include "util/list.h"
#include "util/progress.h"

#define BLOCK 512
#define BATCH 256 /* contents that are asked of with one reader of the database */

struct ref {
	uint64_t object;  /* 0: an empty file */
	uint64_t ino;     /* 0: a version */
	uint64_t size, blocks;
	uint64_t holders; /* in all the store, where that was asked */
	uint32_t part, nlink;
	bool in_files;    /* some inode anywhere has it, likewise */
};

struct todo {
	uint64_t ino, tracked; /* of which one is 0 */
	uint32_t part;
};

struct walk {
	struct space_question *q;
	struct id_list inos, paths; /* of the roots, ascending */
	struct todo *todo;
	size_t n_todo;
	struct ref *refs;
	size_t n_refs;
	uint32_t part; /* of what is being looked at, */
	uint64_t tracked; /* and its tracked path */
	struct progress progress; /* of time: how much there is nobody knows before */
};

static void cleanup_walk(struct walk *w)
{
	id_list_free(&w->inos);
	id_list_free(&w->paths);
	free(w->todo);
	free(w->refs);
}

static int compare_ids(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool is_root(const struct id_list *roots, uint64_t id)
{
	return roots->n > 0 && bsearch(&id, roots->v, roots->n, sizeof(id), compare_ids);
}

static int add_todo(struct walk *w, uint64_t ino, uint64_t tracked, size_t part)
{
	struct todo *v = array_grow(w->todo, w->n_todo, sizeof(*v));

	if (!v)
		return -ENOMEM;
	w->todo = v;
	v[w->n_todo++] = (struct todo){ ino, tracked, (uint32_t)part };
	return 0;
}

static int add_ref(struct walk *w, const struct ref *ref)
{
	struct ref *v = array_grow(w->refs, w->n_refs, sizeof(*v));

	if (!v)
		return -ENOMEM;
	w->refs = v;
	v[w->n_refs] = *ref;
	v[w->n_refs++].part = w->part;
	return 0;
}

static int on_version(void *arg, uint64_t tracked, uint64_t object, uint64_t size)
{
	struct walk *w = arg;

	if (tracked != w->tracked && is_root(&w->paths, tracked))
		return 0;
	return add_ref(w, &(struct ref){ .object = object, .size = size, .blocks = (size + 4095) / 4096 * (4096 / BLOCK) });
}

static int add_file(struct walk *w, struct inode_row *row)
{
	if (row->flags & INODE_LIVE)
		expfs_stat_live(w->q->ex, row); /* if it is gone meanwhile, the row is as near */
	return add_ref(w, &(struct ref){ .object = row->object, .ino = row->ino, .size = row->size, .blocks = row->blocks,
					 .nlink = row->nlink });
}

static int on_entry(void *arg, const struct dirent_row *d, const char *name, const struct inode_row *attr)
{
	struct inode_row row = *attr;
	struct walk *w = arg;

	(void)d;
	(void)name;
	if (S_ISDIR(row.mode))
		return is_root(&w->inos, row.ino) ? 0 : add_todo(w, row.ino, 0, w->part);
	return S_ISREG(row.mode) && !is_root(&w->inos, row.ino) ? add_file(w, &row) : 0;
}

static int look_at_names(struct walk *w, uint64_t ino)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(w->q->ex->meta);
	struct inode_row row;
	int r = inode_get(db, ino, &row);

	if (r < 0)
		return r == -ESTALE ? 0 : r; /* it was removed meanwhile */
	if (S_ISREG(row.mode))
		return add_file(w, &row);
	if (!cred_permits(w->q->cred, &row, R_OK | X_OK))
		return 0;
	return dirent_list_below(db, ino, false, on_entry, w);
}

static int look_at_history(struct walk *w, uint64_t tracked)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(w->q->ex->meta);
	_cleanup_id_list_ struct id_list dirs = { 0 };
	struct inode_row dir;
	struct tracked_row t;
	int r = tracked_get(db, tracked, &t);

	if (r == 0 && t.is_dir)
		r = tracked_dir_row(db, &t, &dir);
	if (r < 0)
		return r == -ENOENT || r == -ESTALE ? 0 : r;
	if (t.is_dir && !cred_permits(w->q->cred, &dir, R_OK | X_OK))
		return 0;
	r = held_by_path(db, tracked, on_version, w);
	if (r == 0 && t.is_dir)
		r = held_by_files_in(db, tracked, on_version, w);
	if (r == 0 && t.is_dir)
		r = held_dirs_in(db, tracked, &dirs);
	for (size_t i = 0; i < dirs.n && r == 0; i++)
		if (!is_root(&w->paths, dirs.v[i]))
			r = add_todo(w, 0, dirs.v[i], w->part);
	return r;
}

static int add_root(struct walk *w, const struct space_root *root)
{
	uint64_t tracked = root->tracked;
	struct tracked_row t;
	int r = 0;

	if (root->ino)
		r = id_list_add(&w->inos, root->ino);
	if (r == 0 && root->ino)
		r = add_todo(w, root->ino, 0, root->part);
	if (r == 0 && !tracked) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(w->q->ex->meta);

		r = tracked_by_dir(db, root->ino, &t);
		tracked = r == 0 ? t.id : 0;
	}
	if (r < 0 || !tracked)
		return r == -ENOENT ? 0 : r;
	r = id_list_add(&w->paths, tracked);
	return r < 0 ? r : add_todo(w, 0, tracked, root->part);
}

static void sort_ids(struct id_list *l)
{
	if (l->n > 0)
		qsort(l->v, l->n, sizeof(*l->v), compare_ids);
}

static int walk(struct walk *w)
{
	int r = 0;

	cred_ask(w->q->cred);
	for (size_t i = 0; i < w->q->n_roots && r == 0; i++)
		r = add_root(w, &w->q->roots[i]);
	sort_ids(&w->inos);
	sort_ids(&w->paths);
	while (r == 0 && w->n_todo > 0) {
		struct todo t = w->todo[--w->n_todo];

		w->part = t.part;
		w->tracked = t.tracked;
		progress_add(&w->progress, 0);
		if (w->q->stop && w->q->stop(w->q->stop_arg))
			return -ECANCELED;
		r = t.ino ? look_at_names(w, t.ino) : look_at_history(w, t.tracked);
	}
	return r;
}

static int by_content(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;

	return x->object != y->object ? (x->object > y->object) - (x->object < y->object) : (x->ino > y->ino) - (x->ino < y->ino);
}

static int by_part(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;

	return x->part != y->part ? (x->part > y->part) - (x->part < y->part) : by_content(a, b);
}

/* How many of the rows from v on have its content, in its part if they are sorted so. */
static size_t group_of(const struct ref *v, size_t n, bool of_part)
{
	size_t i = 1;

	while (i < n && v[i].object == v->object && (!of_part || v[i].part == v->part))
		i++;
	return i;
}

/* Asks who else holds the contents; rows are sorted by these. */
static int ask_holders(struct walk *w)
{
	size_t i = 0, n;

	while (i < w->n_refs) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(w->q->ex->meta);

		for (size_t k = 0; k < BATCH && i < w->n_refs; k++, i += n) {
			struct holders h = { 0 };
			struct ref *v = &w->refs[i];
			int r = v->object ? holders_of(db, v->object, &h) : 0;

			if (r < 0)
				return r;
			n = group_of(v, w->n_refs - i, false);
			for (size_t j = 0; j < n; j++) {
				v[j].holders = h.all;
				v[j].in_files = h.inodes > 0;
				if (h.inodes > 0 && !v[j].ino)
					v[j].blocks = h.blocks;
			}
		}
		progress_add(&w->progress, 0);
		if (w->q->stop && w->q->stop(w->q->stop_arg))
			return -ECANCELED;
	}
	return 0;
}

/* One content, of which n rows tell, the versions first. A file that has other names elsewhere holds it there, too. */
static void add_content(struct space *s, const struct ref *v, size_t n)
{
	uint64_t size = 0, blocks = 0, held = 0;
	size_t i = 0, names;

	for (; i < n && !v[i].ino; i++) {
		size = MAX(size, v[i].size);
		blocks = MAX(blocks, v[i].blocks);
		held++;
	}
	if (i < n) /* what a file has is told best by the file */
		size = blocks = 0;
	for (; i < n; i += names) {
		names = 1;
		while (i + names < n && v[i + names].ino == v[i].ino)
			names++;
		s->files++;
		s->raw += v[i].size;
		size = MAX(size, v[i].size);
		blocks = MAX(blocks, v[i].blocks);
		held += v[i].nlink <= names;
	}
	if (!v->object)
		return;
	s->contents++;
	s->unique += size;
	s->stored += blocks * BLOCK;
	s->history += v->in_files ? 0 : blocks * BLOCK;
	s->own += held >= v->holders ? blocks * BLOCK : 0;
}

static void add_up(struct walk *w, bool of_part)
{
	size_t n;

	qsort(w->refs, w->n_refs, sizeof(*w->refs), of_part ? by_part : by_content);
	for (size_t i = 0; i < w->n_refs; i += n) {
		const struct ref *v = &w->refs[i];

		n = group_of(v, w->n_refs - i, of_part);
		add_content(of_part ? &w->q->parts[v->part] : &w->q->all, v, n);
	}
}

static int look(struct walk *w)
{
	int r = walk(w);

	if (r < 0 || w->n_refs == 0 || !w->q->holders)
		return r;
	qsort(w->refs, w->n_refs, sizeof(*w->refs), by_content);
	return ask_holders(w);
}

int space_of_parts(struct space_question *q)
{
	_cleanup_(cleanup_walk) struct walk w = { .q = q };
	int r;

	memset(q->parts, 0, q->n_parts * sizeof(*q->parts));
	q->all = (struct space){ 0 };
	progress_start(&w.progress, "expfs: adding up", 0);
	r = look(&w);
	progress_end(&w.progress);
	if (r < 0 || w.n_refs == 0)
		return r;
	add_up(&w, true);
	add_up(&w, false);
	return 0;
}
