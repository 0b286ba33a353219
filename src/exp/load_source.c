#include "exp/load_source.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exp/closed.h"
#include "exp/entries.h"
#include "exp/experiment.h"
#include "exp/point.h"
#include "exp/state.h"
#include "exp/step.h"
#include "meta/weights.h"

int load_fail(char **ret_error, int r, const char *fmt, ...)
{
	va_list ap;

	if (!ret_error || *ret_error)
		return r;
	va_start(ap, fmt);
	if (vasprintf(ret_error, fmt, ap) < 0)
		*ret_error = NULL;
	va_end(ap);
	return r;
}

static void free_files(struct put_file *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i].path);
	free(v);
}

void load_source_free(struct load_source *s)
{
	free_files(s->files, s->n);
	for (size_t i = 0; i < s->n_checkpoints; i++) {
		free_files(s->checkpoints[i].files, s->checkpoints[i].n);
		free(s->checkpoints[i].path);
	}
	free(s->checkpoints);
	*s = (struct load_source){ 0 };
}

enum role load_source_role(size_t segment)
{
	static const enum role roles[SEGMENTS] = { ROLE_HP, ROLE_MODEL, ROLE_DATA };

	return roles[segment];
}

bool load_source_leaves(const struct load_source *s, const char *path)
{
	return state_is_of_root(path) || put_file_find(s->files, s->n, path);
}

static unsigned components(const char *path)
{
	unsigned n = 1;

	while ((path = strchr(path, '/')) != NULL) {
		n++;
		path++;
	}
	return n;
}

static int add_file(struct put_file **v, size_t *n, char *path, const struct put_file *f)
{
	struct put_file *more = path ? array_grow(*v, *n, sizeof(*more)) : NULL;

	if (!more) {
		free(path);
		return -ENOMEM;
	}
	*v = more;
	more[*n] = *f;
	more[(*n)++].path = path;
	return 0;
}

/* The search for what is loaded, with a reader in hand. */
struct search {
	struct expfs *ex;
	struct db *db;
	const struct load *l;
	struct load_source *s;
	struct tracked_row run, checkpoint; /* id 0: there is none */
	struct version_row version;         /* of the checkpoint */
	struct version_row last;            /* of its experiment that has its step */
	bool wrong;  /* it holds the weights of another label */
	size_t skip; /* of a path, to what is below the run */
	char **ret_error;
};

/* Who may not read a file now, or look into a directory above it, does not get what it was. */
static int check_read(const struct search *q, const struct tracked_row *t, uint32_t mode, uint32_t uid, uint32_t gid)
{
	struct inode_row row = { .mode = mode, .uid = uid, .gid = gid };
	struct tracked_row up = *t;
	int r = 0;

	if (!q->l->cred)
		return 0;
	if (!cred_permits(q->l->cred, &row, R_OK))
		return -EACCES;
	for (unsigned depth = 0; r == 0 && up.id != TRACKED_TOP; depth++) {
		if (depth > 0 || up.is_dir) {
			row = (struct inode_row){ .mode = up.mode, .uid = up.uid, .gid = up.gid };
			r = up.ino ? inode_get(q->db, up.ino, &row) : 0;
			if (r == 0 && !cred_permits(q->l->cred, &row, X_OK))
				r = -EACCES;
		}
		if (r == 0)
			r = depth < 4096 ? tracked_get(q->db, up.parent, &up) : -EUCLEAN;
	}
	return r == -ESTALE ? -EAGAIN : r;
}

static int add_version(void *arg, const struct version_row *v, uint64_t parent, const char *name, size_t len)
{
	struct search *q = arg;
	_cleanup_free_ char *path = NULL;
	struct version_row seen = *v;
	struct tracked_row t;
	int r = tracked_get(q->db, v->tracked, &t);

	if (r == 0)
		r = tracked_path(q->db, v->tracked, &path);
	if (r < 0 || strlen(path) <= q->skip || state_is_of_root(path + q->skip))
		return MIN(r, 0);
	r = closed_version(q->db, &seen);
	if (r == 0)
		r = check_read(q, &t, seen.mode, v->uid, v->gid);
	if (r < 0)
		return load_fail(q->ret_error, r, "/%s: may not be read: %s", path, strerror(-r));
	return add_file(&q->s->files, &q->s->n, strdup(path + q->skip),
			&(struct put_file){ .tracked = t.id, .depth = components(path + q->skip), .object = v->object,
					    .size = v->size, .mode = v->mode, .uid = v->uid, .gid = v->gid,
					    .mtime = v->mtime, .begin = v->begin });
}

struct add_members {
	struct search *q;
	const struct tracked_row *t;
	struct load_checkpoint *c;
};

static int add_member(void *arg, const struct member_row *m, const char *name)
{
	const struct add_members *a = arg;
	struct load_checkpoint *c = a->c;
	struct version_row seen = c->version;
	struct member_row part = *m;
	int r = seen.is_dir ? closed_member(a->q->db, &seen, name, &part) : closed_version(a->q->db, &seen);

	if (r == 0)
		r = check_read(a->q, a->t, seen.is_dir ? part.mode : seen.mode, m->uid, m->gid);
	if (r < 0)
		return load_fail(a->q->ret_error, r, "%s/%s: may not be read: %s", c->path, name, strerror(-r));
	return add_file(&c->files, &c->n, *name ? path_join(c->path, name) : strdup(c->path),
			&(struct put_file){ .tracked = a->t->id, .depth = components(c->path), .object = m->object,
					    .size = m->size, .mode = m->mode, .uid = m->uid, .gid = m->gid,
					    .mtime = m->mtime, .rank = c->version.rank, .begin = c->version.begin });
}

static int add_checkpoint(struct search *q, const struct tracked_row *t, const struct version_row *v)
{
	struct load_source *s = q->s;
	struct member_row m = { .object = v->object, .size = v->size, .mode = v->mode, .uid = v->uid, .gid = v->gid,
				.mtime = v->mtime };
	struct load_checkpoint *more = array_grow(s->checkpoints, s->n_checkpoints, sizeof(*more));
	struct add_members a = { .q = q, .t = t };
	_cleanup_free_ char *path = NULL;
	int r;

	if (!more)
		return -ENOMEM;
	s->checkpoints = more;
	r = tracked_path(q->db, t->id, &path);
	if (r < 0)
		return r;
	a.c = &more[s->n_checkpoints];
	*a.c = (struct load_checkpoint){ .version = *v, .path = strdup(path + q->skip) };
	if (!a.c->path)
		return -ENOMEM;
	s->n_checkpoints++;
	return v->is_dir ? member_list(q->db, v->id, add_member, &a) : add_member(&a, &m, "");
}

/* One that was there when the checkpoint was, or tells that it is of no later step: a loop that keeps latest.pt may save
 * it after the one with the step in its name. */
static bool is_of_state(const struct search *q, const struct version_row *v)
{
	bool tells = v->step != NO_STEP && q->version.step != NO_STEP;

	return v->complete == 1 && v->experiment == q->s->experiment.id &&
	       (tells ? v->step <= q->version.step && v->rank <= q->last.rank : v->rank <= q->version.rank);
}

/* What a path held then, or the last version before that which is of the state. */
static int add_stepless(void *arg, const struct version_row *held, uint64_t parent, const char *name, size_t len)
{
	struct search *q = arg;
	struct version_row v = *held;
	struct tracked_row t;
	int r = !step_is_in_name(name, len, v.is_dir) && v.tracked != q->checkpoint.id ? 0 : -ENOENT;

	while (r == 0 && !is_of_state(q, &v))
		r = version_before(q->db, v.tracked, v.n, &v);
	if (r == 0)
		r = tracked_get(q->db, v.tracked, &t);
	return r < 0 ? r == -ENOENT ? 0 : r : add_checkpoint(q, &t, &v);
}

#define STEPS_TOLD 20

struct steps {
	char *text;
	unsigned n;
};

static int add_step(void *arg, int64_t step)
{
	struct steps *s = arg;
	char *more;
	int n = s->n++ < STEPS_TOLD ? asprintf(&more, "%s%s%" PRId64, s->text ? s->text : "", s->text ? " " : "", step) :
				      asprintf(&more, "%s ...", s->text);

	if (n < 0)
		return -ENOMEM;
	free(s->text);
	s->text = more;
	return s->n > STEPS_TOLD;
}

static int no_such_step(struct search *q)
{
	const char *hash = q->s->experiment.hash;
	struct steps steps = { 0 };
	int r = version_list_steps(q->db, q->s->experiment.id, add_step, &steps);

	if (r >= 0 && steps.text)
		r = load_fail(q->ret_error, -ENOENT, "%s: has no checkpoint of step %" PRId64 "; it has %s", hash,
			      q->l->name.step, steps.text);
	else if (r >= 0)
		r = load_fail(q->ret_error, -ENOENT, "%s: has no checkpoint with a step", hash);
	free(steps.text);
	return r;
}

static bool is_name_only(const struct experiment_row *e)
{
	for (size_t i = 0; i < SEGMENTS; i++)
		if (*e->segments.digest[i])
			return false;
	return true;
}

static int take_if_named(void *arg, const struct version_row *v, uint64_t parent, const char *name, size_t len)
{
	struct search *q = arg;
	struct holds_row h;
	bool wrong;

	if (!step_is_in_name(name, len, v->is_dir))
		return 0;
	wrong = holds_get(q->db, v->id, &h) == 0 && *h.held;
	if (!wrong || !q->wrong)
		q->version = *v;
	q->wrong = wrong;
	return !wrong;
}

/* Of a step the last one, or the last one that has it in its name, and does not hold the weights of another if one is known
 * that does not. */
static int find_version_of(struct search *q, uint64_t run, bool only_own)
{
	uint64_t experiment = q->s->experiment.id;
	int64_t step = q->l->name.step;
	int r = version_last_of_experiment(q->db, experiment, step, run, only_own, &q->version);

	q->last = q->version;
	if (r == 0 && step != NO_STEP)
		r = version_list_of_step(q->db, experiment, step, run, only_own, take_if_named, q);
	return MIN(r, 0);
}

static int find_version(struct search *q, uint64_t run)
{
	int r = q->l->from ? find_version_of(q, q->l->from, true) : -ENOENT;

	return r == -ENOENT ? find_version_of(q, run, false) : r;
}

struct run_search {
	struct db *db;
	const struct tracked_row *checkpoint;
	uint64_t run, at;
};

/* 1: the checkpoint counts for the run of the line, or lies in its directory. */
static int try_run(void *arg, const struct line_row *line)
{
	struct run_search *s = arg;
	struct tracked_row t = *s->checkpoint;
	int r = 0;

	s->run = line->run;
	s->at = line->at;
	if (t.run == line->run)
		return 1;
	for (unsigned depth = 0; r == 0 && t.id != TRACKED_TOP && t.id != line->run; depth++)
		r = depth < 4096 ? tracked_get(s->db, t.parent, &t) : -EUCLEAN;
	return r < 0 ? r : t.id == line->run && t.id != TRACKED_TOP;
}

/* A directory that was moved is no run any more, but what the checkpoint was saved with is below it. *ret_at: when the run came
 * to the experiment, if it did. */
static int find_run(struct search *q, const struct tracked_row *checkpoint, uint64_t *ret_at)
{
	struct run_search s = { .db = q->db, .checkpoint = checkpoint };
	int r = line_list_of(q->db, q->s->experiment.id, try_run, &s);

	if (r == 1)
		*ret_at = s.at;
	return r < 0 ? r : tracked_get(q->db, r == 1 ? s.run : checkpoint->run, &q->run);
}

/* Was the run in the state of the experiment when the checkpoint was begun? One that was copied there or has come back may belong
 * to what was there at another time (exp/copied.h). 1, 0 or -errno. */
static int was_saved_there(struct search *q)
{
	const char *hash = q->s->experiment.hash;
	struct experiment_row e;
	struct line_row line;
	int r = line_at(q->db, q->run.id, q->version.begin, &line);

	if (r == 0)
		r = experiment_get(q->db, line.experiment, &e);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return point_same_segment(e.hash, hash, SEGMENT_HP) && point_same_segment(e.hash, hash, SEGMENT_DATA);
}

/* The experiment that comes next is another one: its model is not told with the same number. */
static uint64_t other_step(const struct experiment_row *e, uint64_t told, uint64_t n)
{
	return n == told && *e->segments.digest[SEGMENT_MODEL] ? n + 1 : n;
}

/* Where no step was loaded any such number does. */
static uint64_t some_step(const struct experiment_row *e, uint64_t told, uint64_t n)
{
	return *e->segments.digest[SEGMENT_MODEL] ? other_step(e, told, n) : told;
}

/* The run of the checkpoint, or the first one that was in the state; *ret_at: when. */
static int find_origin(struct search *q, uint64_t *ret_at)
{
	struct load_source *s = q->s;
	struct tracked_row target = { 0 };
	struct line_row line;
	uint64_t at = 0;
	int r = q->l->run ? tracked_by_dir(q->db, q->l->run, &target) : -ENOENT;

	if (r == 0 || r == -ENOENT)
		r = line_of_experiment(q->db, s->experiment.id, &line);
	if (r == -ENOENT || (r == 0 && is_name_only(&s->experiment)))
		return load_fail(q->ret_error, -EOPNOTSUPP, "%s: is known by its name only; who wrote it loads it himself, as "
				 "WeightsLab does", s->experiment.hash);
	if (r < 0)
		return r;
	s->init_step = some_step(&s->experiment, line.init_step, line.init_step + 1);
	*ret_at = line.at;
	r = find_version(q, target.id);
	if (r == -ENOENT)
		return q->l->name.step == NO_STEP ? tracked_get(q->db, line.run, &q->run) : no_such_step(q);
	if (r == 0)
		r = tracked_get(q->db, q->version.tracked, &q->checkpoint);
	if (r == 0)
		r = find_run(q, &q->checkpoint, &at);
	if (r == 0 && q->version.begin)
		r = at ? was_saved_there(q) : 1;
	if (r < 0)
		return r;
	if (r == 1 || at)
		*ret_at = r == 1 ? q->version.begin : at;
	s->init_step = q->version.step != NO_STEP ?
			       other_step(&s->experiment, line.init_step, (uint64_t)q->version.step) :
			       some_step(&s->experiment, line.init_step, q->version.n);
	return 0;
}

static int find_files(struct search *q, uint64_t at)
{
	struct load_source *s = q->s;

	for (size_t i = 0; i < SEGMENTS; i++) {
		size_t before = s->n;
		int r = s->counts[i] ? version_list_in_force(q->db, q->run.id, (int)load_source_role(i), at, add_version, q) : 0;

		if (r < 0)
			return r;
		if (s->n == before && *s->experiment.segments.digest[i] && i != SEGMENT_MODEL)
			return load_fail(q->ret_error, -ENODATA, "%s: versions of its files were forgotten", s->experiment.hash);
	}
	if (s->n > 0)
		qsort(s->files, s->n, sizeof(*s->files), put_file_compare);
	return 0;
}

static int get_options(struct expfs *ex, const struct tracked_row *run, uint64_t at, struct load_source *s)
{
	_cleanup_state_ struct state state = { 0 };
	int r = state_at(ex, run, at, NULL, 0, &state);

	s->counts[SEGMENT_HP] = state.options.dump_config_state;
	s->counts[SEGMENT_MODEL] = state.options.dump_model_architecture;
	s->counts[SEGMENT_DATA] = state.options.dump_data_state;
	s->weights = state.weights;
	return r;
}

int load_source_find(struct expfs *ex, const struct load *l, struct load_source *ret, char **ret_error)
{
	struct search q = { .ex = ex, .l = l, .s = ret, .ret_error = ret_error };
	_cleanup_(cleanup_reader) struct db *db = NULL;
	_cleanup_free_ char *run = NULL;
	uint64_t at = 0;
	int r = experiment_find(ex, l->name.hash, &ret->experiment);

	if (r == -ENOENT)
		return load_fail(ret_error, r, "%s: there is no such experiment; see: expfs log", l->name.hash);
	if (r == -EEXIST)
		return load_fail(ret_error, -EINVAL, "%s: several experiments begin so; give more of the hash", l->name.hash);
	if (r == 0) {
		_cleanup_(cleanup_reader) struct db *reader = q.db = meta_reader(ex->meta);

		r = find_origin(&q, &at);
	}
	if (r == 0)
		r = get_options(ex, &q.run, at, ret);
	if (r < 0)
		return r;
	ret->run = q.run.id;
	q.db = db = meta_reader(ex->meta);
	r = tracked_path(db, q.run.id, &run);
	q.skip = r == 0 && *run ? strlen(run) + 1 : 0;
	if (r == 0)
		r = find_files(&q, at);
	if (r < 0 || !q.checkpoint.id)
		return r;
	r = add_checkpoint(&q, &q.checkpoint, &q.version);
	return r < 0 ? r : version_list_in_force(db, q.run.id, ROLE_WEIGHTS, q.last.id, add_stepless, &q);
}
