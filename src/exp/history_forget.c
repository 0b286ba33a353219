/* Letting versions of a path go. */
#include "exp/file.h"
#include "exp/history_part.h"
#include "exp/track.h"
#include "meta/ledger.h"
#include "meta/line.h"
#include "util/list.h"

struct forgetting {
	struct expfs *ex;
	const struct history *h;
	const bool *marked;
	struct id_list objects; /* that the versions held */
	struct file_drop *drop; /* as many as it takes */
	size_t n_drops;
	uint64_t freed;
};

static void cleanup_forgetting(struct forgetting *f)
{
	id_list_free(&f->objects);
	free(f->drop);
}

static int add_object(struct forgetting *f, uint64_t object)
{
	return object ? id_list_add(&f->objects, object) : 0;
}

static int add_member_object(void *arg, const struct member_row *m, const char *name)
{
	return add_object(arg, m->object);
}

static int forget_version(struct db *db, struct forgetting *f, const struct version_row *v)
{
	int r = add_object(f, v->object);

	if (r == 0)
		r = member_list(db, v->id, add_member_object, f);
	return r < 0 ? r : version_delete(db, v->id);
}

static int drop_object(struct db *db, struct forgetting *f, uint64_t object)
{
	struct content_row content;
	struct file_drop *drop;
	int n, r = content_get(db, object, &content);

	if (r < 0)
		return r == -ESTALE ? 0 : r; /* the same content again, and it is gone */
	if (f->n_drops == 0 || f->drop[f->n_drops - 1].n == FILE_DROP_MAX) {
		drop = array_grow(f->drop, f->n_drops, sizeof(*drop));
		if (!drop)
			return -ENOMEM;
		f->drop = drop;
		drop[f->n_drops++].n = 0;
	}
	drop = &f->drop[f->n_drops - 1];
	n = drop->n;
	r = file_drop_object(db, object, drop);
	if (drop->n > n)
		f->freed += content.size;
	return r;
}

static int is_any(void *arg, const struct tracked_row *t, const char *name)
{
	return 1;
}

static int is_selection(void *arg, const struct ledger_row *row)
{
	return 1;
}

/* Tracked paths that are gone, and have nothing left, go; not runs that went through experiments, or are in the ledger. */
static int forget_paths(struct db *db, uint64_t id)
{
	while (id != TRACKED_TOP) {
		struct version_row v;
		struct tracked_row t;
		struct line_row line;
		int r = tracked_get(db, id, &t);

		if (r < 0 || t.ino)
			return r;
		r = version_before(db, id, INT64_MAX, &v);
		if (r != -ENOENT)
			return r;
		r = tracked_list(db, id, is_any, NULL);
		if (r == 0)
			r = ledger_list_current(db, id, is_selection, NULL);
		if (r == 0)
			r = line_last(db, id, &line);
		if (r != -ENOENT)
			return MIN(r, 0);
		r = tracked_delete(db, id);
		if (r < 0)
			return r;
		id = t.parent;
	}
	return 0;
}

static int tx_forget(struct db *db, void *arg)
{
	struct forgetting *f = arg;
	const struct tracked_row *was = &f->h->tracked;
	struct last_checkpoint last = { .experiment = 0 };
	struct tracked_row t;
	int r = tracked_get(db, was->id, &t);

	f->objects.n = f->n_drops = 0;
	f->freed = 0;
	if (r == -ENOENT || (r == 0 && (t.ino != was->ino || t.n != was->n || t.head != was->head || t.good != was->good ||
					t.changed != was->changed)))
		return -EAGAIN;
	for (size_t i = 0; i < f->h->n && r == 0; i++) {
		const struct history_version *v = &f->h->v[i];

		if (!f->marked[i])
			continue;
		r = history_is_on_line(db, &t, &v->row, &last); /* since it was loaded */
		if (r == 0)
			r = ledger_needs(db, v->row.id, NULL);
		r = r > 0 ? -EAGAIN : r == 0 ? forget_version(db, f, &v->row) : r;
	}
	if (r == 0)
		r = tx_track_forgotten(f->ex, db, &t);
	for (size_t i = 0; i < f->objects.n && r == 0; i++)
		r = drop_object(db, f, f->objects.v[i]);
	return r < 0 ? r : forget_paths(db, was->id);
}

int history_forget(struct expfs *ex, const struct history *h, const bool *marked, uint64_t *ret_freed)
{
	_cleanup_(cleanup_forgetting) struct forgetting f = { .ex = ex, .h = h, .marked = marked };
	int r = expfs_write_freeing(ex, tx_forget, &f);

	if (r < 0)
		return r;
	for (size_t i = 0; i < f.n_drops; i++)
		file_drop_finish(ex, &f.drop[i]);
	*ret_freed = f.freed;
	return 0;
}
