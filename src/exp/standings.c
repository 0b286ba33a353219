#include "exp/standings.h"

#include <string.h>

#include "exp/entries.h"
#include "exp/signal.h"
#include "exp/step.h"
#include "exp/way.h"
#include "meta/metric.h"
#include "meta/tracked.h"

#define ROWS_MAX (1u << 20)     /* of one curve of one file; of more the last ones */
#define MEMORY_MAX (64u << 20)  /* bytes for all runs but the one that is asked for */

struct row {
	int64_t step;
	double value;
	bool by_epoch; /* step is an epoch */
};

struct curve {
	struct row *v;
	size_t n;
};

/* A file with the rows of the metrics that decide. */
struct source {
	struct run *run;
	struct signal_file *file;
	uint64_t id; /* as of struct signal_path */
	int64_t mtime;
	bool listed;
	struct curve curve[METRIC_CHOICES];
};

struct run {
	uint64_t id; /* of its tracked path */
	struct standings *all;
	struct run *next;
	uint64_t count; /* meta_checkpoints() before its versions were read */
	struct ranking *ranking; /* NULL: to be read */
	bool ranked;
	struct source **source;
	size_t n;
};

struct standings {
	pthread_mutex_t lock;
	struct run *first; /* the one that was asked for last */
	const struct config *by; /* that was in force then */
	size_t choices;          /* of its metrics */
};

int standings_new(struct standings **ret)
{
	struct standings *all = calloc(1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	pthread_mutex_init(&all->lock, NULL);
	*ret = all;
	return 0;
}

static void source_free(struct source *s)
{
	for (size_t i = 0; i < METRIC_CHOICES; i++)
		free(s->curve[i].v);
	if (s->file)
		signal_file_free(s->file);
	free(s);
}

static void run_free(struct run *run)
{
	for (size_t i = 0; i < run->n; i++)
		source_free(run->source[i]);
	free(run->source);
	if (run->ranking)
		ranking_free(run->ranking);
	free(run);
}

static void free_all(struct run *run)
{
	while (run) {
		struct run *next = run->next;

		run_free(run);
		run = next;
	}
}

void standings_free(struct standings *all)
{
	free_all(all->first);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

static size_t run_size(const struct run *run)
{
	size_t size = sizeof(*run) + (run->ranking ? ranking_size(run->ranking) : 0);

	for (size_t i = 0; i < run->n; i++)
		for (size_t j = 0; j < METRIC_CHOICES; j++)
			size += run->source[i]->curve[j].n * sizeof(struct row);
	return size;
}

/* Lets go what has not been asked for for the longest time. */
static void trim(struct standings *all)
{
	size_t size = 0;

	for (struct run *run = all->first; run; run = run->next) {
		size += run == all->first ? 0 : run_size(run);
		if (!run->next || size + run_size(run->next) <= MEMORY_MAX)
			continue;
		free_all(run->next);
		run->next = NULL;
	}
}

/* The run, first of all afterwards. */
static struct run *get_run(struct standings *all, uint64_t id)
{
	struct run **p = &all->first, *run;

	while (*p && (*p)->id != id)
		p = &(*p)->next;
	run = *p;
	if (run)
		*p = run->next;
	else
		run = calloc(1, sizeof(*run));
	if (!run)
		return NULL;
	run->id = id;
	run->all = all;
	run->next = all->first;
	all->first = run;
	return run;
}

static int find_name(const struct standings *all, const char *name)
{
	for (size_t i = 0; i < all->choices; i++)
		if (!strcmp(all->by->best_metric[i], name))
			return (int)i;
	return -1;
}

/* --- the rows of a file --- */

static void restart(void *arg)
{
	struct source *s = arg;

	for (size_t i = 0; i < METRIC_CHOICES; i++)
		s->curve[i].n = 0;
	s->run->ranked = false;
}

static int add_row(void *arg, int64_t step, const char *name, double value)
{
	struct source *s = arg;
	int choice = find_name(s->run->all, name);
	struct curve *c = &s->curve[MAX(choice, 0)];
	struct row *v;

	if (choice < 0)
		return 0;
	if (c->n == ROWS_MAX) {
		c->n /= 2;
		memmove(c->v, c->v + c->n, c->n * sizeof(*c->v));
	}
	v = array_grow(c->v, c->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	c->v = v;
	v[c->n++] = (struct row){ .step = step, .value = value, .by_epoch = signal_file_counts_epochs(s->file) };
	s->run->ranked = false;
	return 0;
}

static struct source *find_source(const struct run *run, uint64_t id)
{
	for (size_t i = 0; i < run->n; i++)
		if (run->source[i]->id == id)
			return run->source[i];
	return NULL;
}

static int add_source(struct run *run, const struct signal_path *p)
{
	struct source *s = find_source(run, p->id), **v;
	int r;

	if (s) {
		s->listed = true;
		return 0;
	}
	v = array_grow(run->source, run->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	run->source = v;
	s = calloc(1, sizeof(*s));
	r = s ? signal_file_new(p, &s->file) : -ENOMEM;
	if (r < 0) {
		free(s);
		return r;
	}
	s->run = run;
	s->id = p->id;
	s->listed = true;
	v[run->n++] = s;
	return 0;
}

static int source_compare(const void *pa, const void *pb)
{
	const struct source *a = *(struct source *const *)pa, *b = *(struct source *const *)pb;

	if (a->mtime != b->mtime)
		return a->mtime < b->mtime ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* Takes the sources out that are no longer there; the room that they had stays (array_grow()). */
static void remove_unlisted(struct run *run)
{
	size_t out = 0;

	for (size_t i = 0; i < run->n; i++) {
		if (run->source[i]->listed) {
			run->source[out++] = run->source[i];
			continue;
		}
		source_free(run->source[i]);
		run->ranked = false;
	}
	run->n = out;
}

static int read_sources(struct expfs *ex, struct run *run)
{
	_cleanup_signal_paths_ struct signal_paths paths = { 0 };
	int r = signal_paths_load(ex, run->id, &paths);

	for (size_t i = 0; i < run->n; i++)
		run->source[i]->listed = false;
	for (size_t i = 0; i < paths.n && r == 0; i++)
		r = add_source(run, &paths.v[i]);
	if (r < 0)
		return r;
	remove_unlisted(run);
	for (size_t i = 0; i < run->n && r == 0; i++) {
		struct source *s = run->source[i];

		r = signal_file_read(ex, s->file, &(struct signal_sink){ restart, add_row, s }, &s->mtime);
	}
	return r;
}

/* --- the versions of a run --- */

struct reading {
	struct ranking *ranking;
	struct way line;
	uint64_t tracked, version; /* of the last row */
	size_t begin;  /* the first version of that path */
	bool counts;
};

/* Of what was written over later only its own begin and rank tell. */
static bool is_off(const struct reading *rd, const struct metric_version *v)
{
	return v->good ? v->off : !way_has(&rd->line, v->begin, v->rank);
}

static int add_version(void *arg, const struct metric_version *v)
{
	struct reading *rd = arg;
	struct ranked row = { .tracked = v->tracked, .parent = v->parent, .version = v->id, .experiment = v->experiment,
			      .step = v->step, .rank = v->rank, .complete = v->complete, .off = is_off(rd, v) };
	int r = 0;

	if (v->tracked != rd->tracked)
		rd->begin = ranking_count(rd->ranking);
	if (v->id != rd->version) {
		row.named = v->step != NO_STEP && step_is_in_name(v->name, v->name_len, v->is_dir);
		/* The last one of a path that nobody judged yet is being written. */
		rd->counts = v->there && !v->gone && v->complete != 0 && !(v->complete == VERSION_UNJUDGED && v->head);
		r = ranking_add_version(rd->ranking, &row, rd->counts);
	}
	if (v->gone)
		ranking_cut(rd->ranking, rd->begin);
	rd->tracked = v->tracked;
	rd->version = v->id;
	return r < 0 || !rd->counts || v->choice < 0 ? r : ranking_add_own(rd->ranking, v->choice, v->at, v->value);
}

static int read_versions(struct expfs *ex, struct run *run)
{
	struct standings *all = run->all;
	struct reading rd = { .tracked = 0 };
	int r;

	run->count = meta_checkpoints(ex->meta);
	r = ranking_new((int)all->choices, all->by->best_is_max, &rd.ranking);
	if (r == 0) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = way_load(db, run->id, &rd.line);
		if (r == 0)
			r = metric_list_versions(db, run->id, all->by->best_metric, all->choices, add_version, &rd);
	}
	way_free(&rd.line);
	if (r < 0) {
		if (rd.ranking)
			ranking_free(rd.ranking);
		return r;
	}
	run->ranking = rd.ranking;
	return 0;
}

struct recorded {
	struct ranking *ranking;
	int choice;
};

static int add_recorded(void *arg, int64_t step, const char *name, double value)
{
	struct recorded *c = arg;

	ranking_add_curve(c->ranking, c->choice, step, value);
	return 0;
}

static int add_signals(struct expfs *ex, struct run *run)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = 0;

	for (size_t i = 0; i < run->all->choices && r == 0; i++)
		r = signal_list(db, run->id, run->all->by->best_metric[i], add_recorded, &(struct recorded){ run->ranking, (int)i });
	return r;
}

static int rank(struct expfs *ex, struct run *run)
{
	int r = ranking_begin(run->ranking);

	if (r < 0)
		return r;
	if (run->n > 0)
		qsort(run->source, run->n, sizeof(*run->source), source_compare);
	for (size_t i = 0; i < run->n; i++)
		for (int k = 0; k < (int)run->all->choices; k++) {
			const struct curve *c = &run->source[i]->curve[k];

			for (size_t j = 0; j < c->n; j++)
				(c->v[j].by_epoch ? ranking_add_epoch : ranking_add_curve)(run->ranking, k, c->v[j].step,
											   c->v[j].value);
		}
	r = add_signals(ex, run);
	return r < 0 ? r : ranking_end(run->ranking);
}

/* Brings what is known of a run in line with what it is now. */
static int update(struct expfs *ex, struct run *run)
{
	int r = read_sources(ex, run);

	if (r == 0 && (!run->ranking || run->count != meta_checkpoints(ex->meta))) {
		if (run->ranking)
			ranking_free(steal(&run->ranking));
		run->ranked = false;
		r = read_versions(ex, run);
	}
	if (r == 0 && !run->ranked)
		r = rank(ex, run);
	run->ranked = r == 0;
	return r;
}

/* What was ranked by another one is of no use. */
static void follow_config(struct standings *all, const struct config *c)
{
	if (all->by == c)
		return;
	free_all(steal(&all->first));
	all->by = c;
	for (all->choices = 0; all->choices < METRIC_CHOICES && c->best_metric[all->choices];)
		all->choices++;
}

int standings_look(struct expfs *ex, uint64_t id, standing_fn f, void *arg)
{
	struct standings *all = ex->standings;
	struct run *run;
	int r;

	scoped_lock(&all->lock);
	follow_config(all, ex->config);
	run = get_run(all, id);
	if (!run)
		return -ENOMEM;
	r = update(ex, run);
	if (r == 0)
		r = f(arg, run->ranking, all->by);
	trim(all);
	return r;
}
