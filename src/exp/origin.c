#include "exp/origin.h"

#include <string.h>

#include "exp/checkpoint.h"
#include "exp/entries.h"
#include "exp/file.h"
#include "exp/path.h"
#include "exp/state.h"
#include "exp/tracked_dir.h"
#include "meta/root.h"

void origin_file_free(struct origin_file *f)
{
	free(f->path);
	*f = (struct origin_file){ 0 };
}

struct search {
	struct db *db;
	struct cred *cred;
	struct origin *origin;
};

/* 1: it is one. */
static int try_run(void *arg, const struct line_row *line)
{
	struct search *s = arg;
	struct origin *o = s->origin;
	struct fork_row fork = { .root = line->run };
	int r = fork_get(s->db, line->run, &fork);

	if (r == -ENOENT || r == 0)
		r = tracked_get(s->db, fork.root, &o->run);
	if (r == 0)
		r = tracked_dirs_permit(s->db, s->cred, &o->run, TRACKED_TOP, X_OK);
	if (r > 0)
		r = tracked_dir_row(s->db, &o->run, &o->dir);
	else if (r == 0)
		return 0;
	if (r < 0)
		return r == -ENOENT || r == -ESTALE ? 0 : r;
	o->at = root_has(s->db, line->run) == 1 ? INT64_MAX : line->at; /* names in a root tell whose they are */
	return cred_permits(s->cred, &o->dir, R_OK | X_OK);
}

int origin_find(struct expfs *ex, struct cred *cred, const struct experiment_row *e, struct origin *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct origin o = { .experiment = *e };
	struct search s = { .db = db, .cred = cred, .origin = &o };
	int r = line_list_of(db, e->id, try_run, &s);

	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret = o;
	return 0;
}

static bool is_checkpoints(const char *path, size_t len)
{
	return len == strlen("checkpoints") && !strncmp(path, "checkpoints", len);
}

/* The name that a view gives it, or NULL: it can have none. */
static const char *name_below(const char *path, size_t skip)
{
	const char *last = path_last(path);

	if (strlen(path) <= skip || is_checkpoints(last, strlen(last)))
		return NULL;
	for (const char *p = path + skip; p < last; p += strcspn(p, "/") + 1)
		if (is_checkpoints(p, strcspn(p, "/")))
			return last;
	return path + skip;
}

/* Files of a kind that does not count (format/manager_options.h) are none of the experiment. */
static bool is_absent(const struct origin *o, enum segment which)
{
	return strncmp(o->experiment.hash + (size_t)which * SEGMENT_LEN, "00000000", SEGMENT_LEN) == 0;
}

/* Names of a root's own layout belong to what they name, whenever they were written. */
static bool is_of_other(const struct origin *o, enum segment which, const char *path)
{
	static const char *const dirs[] = { "checkpoints/HP/", "checkpoints/models/", "checkpoints/data/" };
	const char *p = strstr(path, dirs[which]);

	return p && (p == path || p[-1] == '/') &&
	       strncmp(p + strlen(dirs[which]), o->experiment.hash + (size_t)which * SEGMENT_LEN, SEGMENT_LEN) != 0;
}

/* 1: *f is one of the segment that he may see. */
static int fill_file(struct db *db, struct cred *cred, const struct origin *o, enum segment which,
		     struct origin_file *f)
{
	_cleanup_free_ char *top = NULL;
	size_t skip;
	struct inode_row now;
	int r = tracked_dirs_permit(db, cred, &f->tracked, o->run.id, R_OK | X_OK);

	if (r <= 0)
		return r;
	if (f->tracked.ino && inode_get(db, f->tracked.ino, &now) == 0)
		f->version.mode &= now.mode; /* who may not read it now does not read what it was */
	r = tracked_path(db, o->run.id, &top);
	if (r == 0)
		r = tracked_path(db, f->tracked.id, &f->path);
	if (r < 0)
		return r;
	skip = *top ? strlen(top) + 1 : 0;
	if (root_has(db, o->run.id) == 1)
		skip -= strlen(path_last(top)) + 1;
	f->name = name_below(f->path, skip);
	return f->name && !is_of_other(o, which, f->path);
}

static enum role segment_role(enum segment which)
{
	static const enum role roles[] = { ROLE_HP, ROLE_MODEL, ROLE_DATA };

	return roles[which];
}

struct listing {
	struct db *db;
	struct cred *cred;
	const struct origin *origin;
	enum segment which;
	origin_fn f;
	void *arg;
};

static int add_file(void *arg, const struct version_row *v, uint64_t parent, const char *name, size_t len)
{
	const struct listing *l = arg;
	struct origin_file f = { .version = *v };
	int r = tracked_get(l->db, v->tracked, &f.tracked);

	if (r == 0)
		r = fill_file(l->db, l->cred, l->origin, l->which, &f);
	if (r > 0)
		r = l->f(l->arg, &f);
	origin_file_free(&f);
	return r;
}

int origin_files(struct expfs *ex, struct cred *cred, const struct origin *o, enum segment which, origin_fn f,
		 void *arg)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct listing l = { .db = db, .cred = cred, .origin = o, .which = which, .f = f, .arg = arg };

	return is_absent(o, which) ? 0 : version_list_in_force(db, o->run.id, segment_role(which), o->at, add_file, &l);
}

int origin_file_below(struct expfs *ex, struct cred *cred, const struct origin *o, enum segment which,
		      uint64_t tracked, struct origin_file *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct origin_file f = { 0 };
	int r = tracked_get(db, tracked, &f.tracked);

	if (r == 0 && (is_absent(o, which) || f.tracked.run != o->run.id || f.tracked.role != (int)segment_role(which)))
		r = -ENOENT;
	if (r == 0)
		r = version_in_force(db, tracked, o->at, &f.version);
	if (r == 0)
		r = fill_file(db, cred, o, which, &f);
	if (r <= 0) {
		origin_file_free(&f);
		return r < 0 ? r : -ENOENT;
	}
	*ret = f;
	return 0;
}

/* Does the path hold the content, though it may be as a later version? */
static int holds(struct expfs *ex, const struct tracked_row *t, const struct version_row *v)
{
	struct inode_row row;
	int r;

	if (!t->ino || t->is_dir)
		return 0;
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = inode_get(db, t->ino, &row);
	}
	if (r < 0)
		return r == -ESTALE ? 0 : r;
	return row.object == v->object && (row.flags & INODE_CLOSED) && !file_is_written(ex, t->ino);
}

int origin_place(struct expfs *ex, const struct origin_file *f, char **ret)
{
	int there = holds(ex, &f->tracked, &f->version);
	struct checkpoint c = { .path = f->path, .tracked = f->tracked, .version = f->version, .in_history = !there };

	if (there < 0)
		return there;
	*ret = checkpoint_place(&c);
	return *ret ? 0 : -ENOMEM;
}

struct reading {
	struct cred *cred;
	struct state_file *v;
	size_t n;
};

static void reading_free(struct reading *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i].path);
	free(r->v);
}

static int add_readable(void *arg, const struct origin_file *f)
{
	struct reading *r = arg;
	struct inode_row row = { .mode = f->version.mode, .uid = f->version.uid, .gid = f->version.gid };
	struct state_file *v;

	if (!cred_permits(r->cred, &row, R_OK))
		return -EACCES;
	v = array_grow(r->v, r->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	r->v = v;
	v[r->n].v = f->version;
	v[r->n].path = strdup(f->name);
	return v[r->n++].path ? 0 : -ENOMEM;
}

int origin_hp(struct expfs *ex, struct cred *cred, const struct origin *o, char **ret)
{
	_cleanup_(reading_free) struct reading files = { .cred = cred };
	int r = origin_files(ex, cred, o, SEGMENT_HP, add_readable, &files);

	return r < 0 ? r : state_hp_text(ex, files.v, files.n, ret);
}
