#include "exp/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/experiment.h"
#include "exp/load_source.h"
#include "exp/path.h"
#include "exp/put.h"
#include "exp/track.h"
#include "exp/way.h"
#include "meta/content.h"
#include "meta/dirent.h"
#include "meta/metric.h"
#include "meta/weights.h"
#include "util/advice.h"

#define TRIES 100 /* against somebody who changes what is there meanwhile */

int load_parse(const char *text, struct load_name *ret)
{
	struct load_name name = { .step = NO_STEP };
	size_t n = strspn(text, "0123456789abcdef");
	const char *at = text + n;
	size_t digits = *at == '@' ? strspn(at + 1, "0123456789") : 0;

	if (n == 0 || n > EXPERIMENT_HASH || (*at && (digits == 0 || digits > 18 || at[1 + digits])))
		return -EINVAL;
	memcpy(name.hash, text, n);
	if (*at)
		name.step = (int64_t)strtoull(at + 1, NULL, 10);
	*ret = name;
	return 0;
}

/* What a transaction of this file needs and gives. */
struct loading {
	struct expfs *ex;
	const struct load *l;
	const struct load_source *source;
	struct put put;
	uint64_t run;         /* inode */
	struct tracked_row t; /* of the run */
	bool tracked;
	size_t changed;
};

/* May he walk to the directory? */
static int check_way(struct loading *k, struct db *db, uint64_t ino)
{
	while (k->l->cred && ino != META_ROOT) {
		struct inode_row dir;
		struct dirent_row d;
		int r = dirent_of(db, ino, &d, NULL);

		if (r == 0)
			r = inode_get(db, d.parent, &dir);
		if (r < 0)
			return r;
		if (!cred_permits(k->l->cred, &dir, X_OK))
			return -EACCES;
		ino = d.parent;
	}
	return 0;
}

static int make_run(struct loading *k, struct db *db)
{
	struct dirent_row d;
	int r = dirent_get(db, META_ROOT, "runs", &d);

	if (r == 0)
		r = check_way(k, db, d.ino);
	return r < 0 ? r : tx_put_new_dir(&k->put, db, d.ino, k->l->new, k->l->uid, k->l->gid, &k->run);
}

static int find_run(struct loading *k, struct db *db)
{
	struct inode_row dir;
	int r;

	k->run = k->l->run;
	if (!k->run)
		return make_run(k, db);
	r = inode_get(db, k->run, &dir);
	if (r == 0 && dir.nlink == 0)
		r = -ESTALE;
	return r < 0 ? r : check_way(k, db, k->run);
}

struct removal {
	struct loading *k;
	struct db *db;
	size_t skip; /* of a path, to what is below the run */
	char **v;    /* paths */
	size_t n;
};

static void cleanup_removal(struct removal *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i]);
	free(m->v);
}

static int add_removal(void *arg, const struct version_row *v, uint64_t parent, const char *name, size_t len)
{
	struct removal *m = arg;
	_cleanup_free_ char *path = NULL;
	char **more;
	int r = tracked_path(m->db, v->tracked, &path);

	if (r < 0 || strlen(path) <= m->skip || load_source_leaves(m->k->source, path + m->skip))
		return MIN(r, 0);
	more = array_grow(m->v, m->n, sizeof(*more));
	if (!more)
		return -ENOMEM;
	m->v = more;
	more[m->n] = strdup(path + m->skip);
	return more[m->n++] ? 0 : -ENOMEM;
}

/* Files that the state did not have go. */
static int take_away(struct loading *k, struct db *db)
{
	_cleanup_(cleanup_removal) struct removal m = { .k = k, .db = db };
	_cleanup_free_ char *run = NULL;
	int r = tracked_path(db, k->t.id, &run);

	m.skip = r == 0 && *run ? strlen(run) + 1 : 0;
	for (size_t i = 0; i < SEGMENTS && r == 0; i++)
		if (k->source->counts[i])
			r = version_list_in_force(db, k->t.id, (int)load_source_role(i), INT64_MAX, add_removal, &m);
	for (size_t i = 0; i < m.n && r == 0; i++) {
		size_t before = k->put.n;

		r = tx_put_gone(&k->put, db, k->run, m.v[i]);
		k->changed += k->put.n > before;
	}
	return r;
}

/* The version that a file's path holds now. */
static int version_at(struct db *db, uint64_t dir, const char *name, struct tracked_row *t, struct version_row *ret)
{
	int r = tracked_by_dir(db, dir, t);

	if (r == 0)
		r = tracked_by_name(db, t->id, name, t);
	return r < 0 ? r : t->head ? version_get(db, t->head, ret) : -ENOENT;
}

/* What is loaded is no edit that would make an experiment. */
static int put_files(struct loading *k, struct db *db)
{
	int r = 0;

	for (size_t i = 0; i < k->source->n && r == 0; i++) {
		const struct put_file *f = &k->source->files[i];
		struct put_place place;
		struct tracked_row t;
		struct version_row v;

		r = tx_put_file(&k->put, db, k->run, f, &place);
		if (r < 0 || !place.changed)
			continue;
		k->changed++;
		r = version_at(db, place.dir, path_last(f->path), &t, &v);
		r = r == 0 ? due_delete(db, v.id) : r == -ENOENT ? 0 : r;
	}
	return r;
}

struct load_members {
	struct db *db;
	uint64_t version;
};

static int add_member(void *arg, const struct member_row *m, const char *name)
{
	const struct load_members *l = arg;

	return member_insert(l->db, l->version, m, name);
}

/* A checkpoint that was put: its path and version now. */
struct placed {
	bool has_role; /* in this run */
	struct put_place place;
	struct tracked_row t;
	struct version_row v;
};

/* The directory that was put holds the version. */
static int insert_dir_version(struct loading *k, struct db *db, const struct version_row *v, struct placed *p)
{
	struct tracked_row *t = &p->t;
	struct version_row *new = &p->v;
	struct load_members m = { .db = db };
	int r = tracked_by_dir(db, p->place.ino, t);

	if (r < 0 || t->role != ROLE_WEIGHTS)
		return r < 0 ? r : -ENOENT;
	if (!p->place.changed && t->head && !t->changed)
		return version_get(db, t->head, new);
	r = tx_track_end_version(k->ex, db, t, &k->put.drop);
	if (r < 0)
		return r;
	*new = *v;
	new->id = m.version = t->head = meta_id(k->ex->meta);
	new->tracked = t->id;
	new->n = ++t->n;
	new->until = 0;
	new->gone = false;
	p->place.changed = true;
	r = version_insert(db, new);
	return r < 0 ? r : member_list(db, v->id, add_member, &m);
}

static int put_checkpoint(struct loading *k, struct db *db, const struct load_checkpoint *c, struct placed *p)
{
	int r;

	if (c->version.is_dir) {
		r = tx_put_dir(&k->put, db, k->run, c->path, &c->version, c->files, c->n, &p->place);
		if (r == 0)
			r = insert_dir_version(k, db, &c->version, p);
	} else {
		r = tx_put_file(&k->put, db, k->run, c->files, &p->place);
		if (r == 0)
			r = version_at(db, p->place.dir, path_last(c->path), &p->t, &p->v);
	}
	p->has_role = r == 0;
	k->changed += r == 0 && p->place.changed;
	return r == -ENOENT ? 0 : r;
}

/* One that is known to hold the weights of another label holds them in every run; where these do not tell it, its label
 * would be taken for right, and that of who has them rightly later on for wrong. */
static int put_holds(struct db *db, const struct loading *k, uint64_t from, uint64_t version)
{
	struct holds_row h = { .version = 0 };
	int r = holds_get(db, from, &h);

	if (r == -ENOENT || (r == 0 && !*h.held))
		return unread_put(db, version);
	h.version = version;
	h.run = k->t.id;
	return r < 0 ? r : holds_put(db, &h);
}

/* It is what it was, and complete. Of another run's, what made its state is what is loaded. */
static int adopt(struct loading *k, struct db *db, uint64_t at, const struct version_row *from, struct placed *p)
{
	struct version_row *v = &p->v;
	struct inode_row row;
	int r;

	if (!p->place.changed && v->complete == 1)
		return 0;
	v->complete = 1;
	v->experiment = k->source->experiment.id;
	v->step = from->step;
	v->begin = k->source->run == k->t.id ? from->begin : at;
	r = due_delete(db, v->id);
	if (r == 0)
		r = version_update(db, v);
	if (r == 0)
		r = version_set_experiment(db, v->id, v->experiment);
	if (r == 0)
		r = put_holds(db, k, from->id, v->id);
	if (r == 0 && v->id != from->id)
		r = metric_copy(db, from->id, v->id);
	if (r < 0 || v->is_dir)
		return r;
	r = inode_get(db, p->place.ino, &row);
	row.begin = v->begin;
	return r < 0 ? r : inode_update(db, &row);
}

static int keep_on_line(void *arg, struct db *db, uint64_t from, int64_t rank)
{
	struct loading *k = arg;

	return tracked_keep_on_line(db, k->t.id, from, rank);
}

static int set_line(struct loading *k, struct db *db, uint64_t at, uint64_t version)
{
	struct line_row line = {
		.id = at,
		.run = k->t.id,
		.experiment = k->source->experiment.id,
		.version = version,
		.init_step = k->source->init_step,
		.at = at,
		.flags = LINE_LOADED | (k->source->weights ? LINE_WEIGHTS : 0),
	};
	int r = tracked_leave_line(db, k->t.id, at);

	if (r == 0 && !version)
		r = way_to_experiment(db, k->t.id, k->source->experiment.id, keep_on_line, k);
	else if (r == 0 && k->source->run == k->t.id)
		r = way_to(db, k->t.id, k->source->checkpoints->version, keep_on_line, k);
	return r < 0 ? r : line_insert(db, &line);
}

/* It is the last complete one of its path, and on the line. */
static int put_on_line(struct loading *k, struct db *db, uint64_t at, struct placed *p)
{
	struct tracked_row *t = &p->t;

	t->good = p->v.id;
	t->step = p->v.step;
	t->rank = p->v.rank;
	t->off = 0;
	t->changed = t->is_dir && p->place.changed && k->l->cred ? at : 0; /* its files may have other owners now */
	return tracked_update(db, t);
}

static int go_on_from(struct loading *k, struct db *db)
{
	const struct load_checkpoint *c = k->source->checkpoints;
	size_t n = k->source->n_checkpoints;
	_cleanup_free_ struct placed *p = calloc(n + 1, sizeof(*p));
	int r = p ? 0 : -ENOMEM;
	uint64_t at;

	/* The one that is loaded comes last: what stands there at its version is the state, when that is loaded once more. */
	for (size_t i = n; i > 0 && r == 0; i--)
		r = put_checkpoint(k, db, &c[i - 1], &p[i - 1]);
	if (r == 0)
		r = tracked_by_dir(db, k->run, &k->t);
	at = meta_id(k->ex->meta);
	for (size_t i = 0; i < n && r == 0; i++)
		r = p[i].has_role ? adopt(k, db, at, &c[i].version, &p[i]) : 0;
	if (r == 0)
		r = set_line(k, db, at, p->v.id);
	for (size_t i = 0; i < n && r == 0; i++)
		r = p[i].has_role ? put_on_line(k, db, at, &p[i]) : 0;
	return r;
}

static int tx_load(struct db *db, void *arg)
{
	struct loading *k = arg;
	int r;

	put_begin(&k->put);
	k->changed = 0;
	r = find_run(k, db);
	if (r < 0)
		return r;
	r = tracked_by_dir(db, k->run, &k->t);
	if (r == 0)
		r = k->t.run == k->t.id ? take_away(k, db) : -ENOTTY;
	if (r == 0 || r == -ENOENT)
		r = put_files(k, db);
	if (r == 0)
		r = go_on_from(k, db);
	return r < 0 ? r : put_check_sealed(&k->put);
}

static const char *reason(int r)
{
	switch (-r) {
	case EBUSY:
		return "is being written; wait until that is done";
	case EACCES:
	case EPERM:
		return "may not be replaced: permission denied";
	case EISDIR:
	case ENOTDIR:
	case EEXIST:
		return "something of another type stands there, or above it; move it away first";
	case EOPNOTSUPP:
		return "history cannot keep what it holds; move it away first";
	}
	return advice(r);
}

static int explain(struct loading *k, int r, char **ret_error)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	_cleanup_free_ char *run = NULL, *path = NULL;

	if (r == -EEXIST && !k->put.path && k->l->new)
		return load_fail(ret_error, r, "runs/%s: is there already; name another", k->l->new);
	if (r == -ENOTTY)
		return load_fail(ret_error, r, "%s: only a run takes a state", k->l->name.hash);
	if (!k->put.path)
		return load_fail(ret_error, r, "%s: %s", k->l->name.hash, advice(r));
	db = meta_reader(k->ex->meta);
	if (path_of(db, k->run, &run) == 0) /* a new one is not there */
		path = path_join(run, k->put.path);
	return load_fail(ret_error, r, "/%s: %s", path ? path : k->put.path, reason(r));
}

/* 1: to be tried again. */
static int try(struct loading *k, struct load_source *s, char **ret_error)
{
	int r = load_source_find(k->ex, k->l, s, ret_error);

	k->source = s;
	if (r == 0)
		r = load_source_settle(k->ex, s, ret_error);
	if (r < 0)
		return r;
	r = expfs_write(k->ex, tx_load, k);
	if (r == -EBUSY && !file_is_written(k->ex, k->put.ino))
		return 1; /* its close had returned */
	if (r == -EAGAIN)
		put_seal(&k->put);
	return r == -EAGAIN ? 1 : r < 0 ? explain(k, r, ret_error) : 0;
}

static int fill_loaded(const struct loading *k, const struct load_source *s, struct loaded *ret)
{
	const struct load_checkpoint *c = s->n_checkpoints > 0 ? s->checkpoints : NULL;

	*ret = (struct loaded){ .step = c ? c->version.step : NO_STEP, .changed = k->changed };
	memcpy(ret->hash, s->experiment.hash, sizeof(ret->hash));
	ret->checkpoint = c ? strdup(c->path) : NULL;
	return c && !ret->checkpoint ? -ENOMEM : 0;
}

int load_state(struct expfs *ex, const struct load *l, char **ret_error, struct loaded *ret)
{
	struct loading k = { .ex = ex, .l = l, .put = { .ex = ex, .cred = l->cred } };
	int r = 1;

	if (expfs_is_read_only(ex))
		return load_fail(ret_error, -EROFS, "%s: the mount is read-only", store_path(ex->store));
	cred_ask(l->cred);
	for (int i = 0; i < TRIES && r == 1; i++) {
		_cleanup_load_source_ struct load_source s = { 0 };

		r = try(&k, &s, ret_error);
		if (r == 0)
			r = fill_loaded(&k, &s, ret);
	}
	if (r == 0) {
		file_drop_finish(ex, &k.put.drop);
		if (ex->changed && k.put.n > 0)
			ex->changed(ex->is_known_arg, k.put.changes, k.put.n);
		r = expfs_sync_result(ex, meta_sync(ex->meta));
	}
	put_free(&k.put);
	return r == 1 ? load_fail(ret_error, -EBUSY, "%s: what is in the run changes without end; try again later", l->name.hash) :
			r;
}
