#include "exp/derive.h"

#include <string.h>
#include <time.h>

#include "exp/known.h"
#include "exp/root.h"
#include "format/manifest.h"
#include "format/state_file.h"
#include "util/list.h"

#define CHAIN_MAX 256 /* hashes that were pending only, one after the other */

enum kind { NOTHING, MANIFEST, STATE, WEIGHTS };

struct event {
	struct expfs *ex;
	uint64_t id, root_id; /* of the version; of the root */
	struct version_row v;
	enum kind kind;
	struct manifest *m;
	struct state_file s;
	char hash[EXPERIMENT_HASH + 1]; /* of weights */
	struct root_row root;
};

static void event_clear(struct event *e)
{
	if (e->m)
		manifest_free(e->m);
}

static enum kind kind_of(struct event *e, const struct tracked_row *t, const char *name)
{
	if (t->role == ROLE_WEIGHTS)
		return root_hash_of_name(name, e->hash) ? WEIGHTS : NOTHING;
	if (t->role != ROLE_MANIFEST)
		return NOTHING;
	if (!strcmp(name, ROOT_STATE))
		return STATE;
	return t->parent == e->root_id && !strcmp(name, ROOT_MANIFEST) ? MANIFEST : NOTHING;
}

/* -ENOENT: there is none. */
static int find_event(struct event *e)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(e->ex->meta);
	_cleanup_free_ char *name = NULL;
	struct tracked_row t;
	int r = event_first(db, &e->id, &e->root_id);

	if (r < 0)
		return r;
	r = version_get(db, e->id, &e->v);
	if (r == 0)
		r = tracked_get(db, e->v.tracked, &t);
	if (r == 0)
		r = tracked_name(db, t.id, &name);
	if (r == 0)
		e->kind = kind_of(e, &t, name);
	return r == -ENOENT ? 0 : r; /* the version was none */
}

/* What cannot be read, or is none of its kind, tells nothing. */
static int read_event(struct event *e)
{
	_cleanup_free_ char *bytes = NULL;
	struct reason why;
	int r;

	if (e->kind != MANIFEST && e->kind != STATE)
		return 0;
	r = known_read(e->ex, &e->v, e->kind == STATE ? STATE_FILE_SIZE_MAX : MANIFEST_SIZE_MAX, &bytes);
	if (r == 0)
		r = e->kind == STATE ? state_file_parse(bytes, e->v.size, &e->s, &why) :
				       manifest_parse(bytes, e->v.size, &e->m);
	if (r < 0)
		e->kind = NOTHING;
	return r == -ENOMEM ? r : 0;
}

static bool is_hash(const char *text)
{
	return strlen(text) == EXPERIMENT_HASH && strspn(text, "0123456789abcdef") == EXPERIMENT_HASH;
}

/* 1: the hash is an experiment of the root; 0: it is not. */
static int is_known(struct db *db, const struct event *e, const char *hash)
{
	struct experiment_row row;
	struct line_row line;
	int r = experiment_by_hash(db, hash, &row);

	if (r == 0)
		r = root_line_of(db, e->root.id, row.id, &line);
	return r == 0 ? 1 : r == -ENOENT ? 0 : r;
}

/* The nearest experiment (0: none) at a hash, or before it by the words of state files. */
static int resolve(struct db *db, const struct event *e, const char *hash, uint64_t *ret)
{
	char at[EXPERIMENT_HASH + 1] = "", before[EXPERIMENT_HASH + 1];
	struct experiment_row row;
	int r = 0;

	*ret = 0;
	strncat(at, hash, EXPERIMENT_HASH);
	for (int i = 0; i < CHAIN_MAX && r == 0 && *at; i++) {
		r = experiment_by_hash(db, at, &row);
		if (r == 0)
			*ret = row.id;
		if (r != -ENOENT)
			return r;
		r = succession_get(db, e->root.id, at, before);
		if (r == 0)
			memcpy(at, before, sizeof(at));
	}
	return r == -ENOENT ? 0 : r;
}

/* The branch on which comes what comes after an experiment (0: after none). */
static int find_branch(struct db *db, const struct event *e, uint64_t after, uint64_t *ret)
{
	struct fork_row fork = { .root = e->root.id };
	struct line_row line, last;
	int r = after ? root_line_of(db, e->root.id, after, &line) : -ENOENT;

	if (r == 0)
		r = line_last(db, line.run, &last);
	if (r == 0 && last.id == line.id) {
		*ret = line.run;
		return 0;
	}
	if (r == -ENOENT)
		r = root_line_last(db, e->root.id, &last);
	if (r == -ENOENT) {
		*ret = e->root.id;
		return 0;
	}
	if (r == 0)
		r = fork_count(db, e->root.id, &fork.n);
	if (r < 0)
		return r;
	fork.n += 2;
	fork.id = *ret = meta_id(e->ex->meta);
	return fork_insert(db, &fork);
}

static int find_experiment(struct db *db, const struct event *e, const char *hash, uint64_t after, int64_t time,
			   uint64_t *ret)
{
	struct experiment_row row;
	int r = experiment_by_hash(db, hash, &row);

	if (r == -ENOENT) {
		row = (struct experiment_row){ .id = meta_id(e->ex->meta), .parent = after, .time = time };
		strncat(row.hash, hash, EXPERIMENT_HASH);
		r = experiment_insert(db, &row);
	} else if (r == 0 && after && !row.parent) {
		r = experiment_set_parent(db, row.id, after);
	}
	*ret = row.id;
	return r;
}

/* A hash that is none yet becomes an experiment of the root, which came after another one (0: none); guess: that
 * is a guess. */
static int add_experiment(struct db *db, struct event *e, const char *hash, uint64_t after, bool guess, int64_t time)
{
	/* It happened when that was written, however late it is read. */
	struct line_row line = { .id = meta_id(e->ex->meta), .version = e->kind == WEIGHTS ? e->id : 0, .at = e->id };
	int r = find_branch(db, e, after, &line.run);

	if (r == 0)
		r = find_experiment(db, e, hash, after, time, &line.experiment);
	if (r == 0)
		r = line_insert(db, &line);
	e->root.guess = guess ? line.id : 0;
	return r < 0 ? r : root_update(db, &e->root);
}

/* What state files say came before a hash; 1 if they say something. */
static int told_before(struct db *db, const struct event *e, const char *hash, uint64_t *ret)
{
	char before[EXPERIMENT_HASH + 1];
	uint64_t id = 0;
	int r = succession_get(db, e->root.id, hash, before);

	if (r == 0)
		r = resolve(db, e, before, &id);
	if (r < 0 || id == 0)
		return r == -ENOENT ? 0 : r;
	*ret = id;
	return 1;
}

/* Is the last state file that was read the one that there is? */
static int has_state(struct db *db, const struct event *e)
{
	struct tracked_row t;
	int r = tracked_get(db, e->root.id, &t);

	if (r == 0)
		r = tracked_by_name(db, t.parent, ROOT_STATE, &t);
	return r == 0 ? t.ino != 0 : r == -ENOENT ? 0 : r;
}

static int last_experiment(struct db *db, const struct event *e, uint64_t *ret)
{
	struct line_row line;
	int r = root_line_last(db, e->root.id, &line);

	*ret = r == 0 ? line.experiment : 0;
	return r == -ENOENT ? 0 : r;
}

/* What came before a hash where nothing tells. */
static int guess_before(struct db *db, const struct event *e, const char *hash, uint64_t *ret)
{
	int r = strcmp(e->root.current, hash) != 0 ? has_state(db, e) : 0;

	*ret = 0;
	if (r == 1)
		r = resolve(db, e, e->root.current, ret);
	return r < 0 || *ret ? r : last_experiment(db, e, ret);
}

static int take_weights(struct db *db, struct event *e)
{
	struct experiment_row row;
	struct tracked_row t;
	struct line_row line;
	uint64_t before = 0;
	int told, r = is_known(db, e, e->hash);

	if (r == 0) {
		told = told_before(db, e, e->hash, &before);
		r = told < 0 ? told : told ? 0 : guess_before(db, e, e->hash, &before);
		if (r == 0)
			r = add_experiment(db, e, e->hash, before, !told, e->v.mtime);
	}
	if (r >= 0)
		r = experiment_by_hash(db, e->hash, &row);
	if (r == 0)
		r = root_line_of(db, e->root.id, row.id, &line);
	if (r == 0)
		r = version_set_experiment(db, e->id, row.id);
	if (r == 0)
		r = tracked_get(db, e->v.tracked, &t);
	if (r < 0 || t.run == line.run)
		return r;
	t.run = line.run;
	return tracked_update(db, &t);
}

/* Local time without a zone, as Python's isoformat() gives it. */
static int64_t time_of(const char *text, int64_t otherwise)
{
	struct tm tm = { .tm_isdst = -1 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	int64_t time = rest ? (int64_t)mktime(&tm) : 0, unit = 100000000, ns = 0;

	if (!rest || time > INT64_MAX / 1000000000 - 1 || time < INT64_MIN / 1000000000 + 1)
		return otherwise;
	for (rest += *rest == '.'; *rest >= '0' && *rest <= '9' && unit > 0; rest++, unit /= 10)
		ns += (*rest - '0') * unit;
	return time * 1000000000 + ns;
}

static int count_new(struct db *db, const struct event *e)
{
	int n = 0;

	for (size_t i = 0; i < e->m->count && n < 2; i++) {
		int r = is_hash(e->m->entries[i].hash) ? is_known(db, e, e->m->entries[i].hash) : 1;

		if (r < 0)
			return r;
		n += r == 0;
	}
	return n;
}

/* Several that come at once, as in a copy, stand in their order, which the last state file says nothing of. */
static int take_entry(struct db *db, struct event *e, const struct manifest_entry *entry, bool alone)
{
	uint64_t before = 0;
	int told = told_before(db, e, entry->hash, &before);
	int r = MIN(told, 0);

	if (told == 0)
		r = alone ? guess_before(db, e, entry->hash, &before) : last_experiment(db, e, &before);
	return r < 0 ? r : add_experiment(db, e, entry->hash, before, !told, time_of(entry->created, e->v.mtime));
}

static int take_entries(struct db *db, struct event *e)
{
	int n = count_new(db, e), r = MIN(n, 0);

	for (size_t i = 0; n > 0 && r >= 0 && i < e->m->count; i++) {
		const struct manifest_entry *entry = &e->m->entries[i];

		r = is_hash(entry->hash) ? is_known(db, e, entry->hash) : 1;
		if (r == 0)
			r = take_entry(db, e, entry, n == 1);
	}
	return MIN(r, 0);
}

/* An experiment that weights made, to its place among those that the manifest lists. */
static int put_back(struct db *db, struct event *e, uint64_t id)
{
	struct experiment_row row;
	struct line_row line;
	uint64_t before = 0;
	int told, r = experiment_get(db, id, &row);

	if (r == 0)
		r = root_line_of(db, e->root.id, id, &line);
	if (r == 0)
		return line.run == e->root.id ? 0 : line_move_checkpoints(db, &line, e->root.id);
	if (r != -ENOENT)
		return r;
	told = told_before(db, e, row.hash, &before);
	r = told == 0 ? last_experiment(db, e, &before) : MIN(told, 0);
	return r < 0 ? r : add_experiment(db, e, row.hash, before, !told, row.time);
}

/* In a copy weights may come before the manifest, in no order. */
static int take_first_manifest(struct db *db, struct event *e)
{
	_cleanup_id_list_ struct id_list ids = { 0 };
	int r = root_list_experiments(db, e->root.id, id_list_add, &ids);

	if (r == 0)
		r = root_forget_lines(db, e->root.id);
	e->root.listed = true;
	e->root.guess = 0;
	if (r == 0)
		r = root_update(db, &e->root);
	if (r == 0)
		r = take_entries(db, e);
	for (size_t i = 0; i < ids.n && r == 0; i++)
		r = put_back(db, e, ids.v[i]);
	return r;
}

static int take_manifest(struct db *db, struct event *e)
{
	if (e->m->count == 0)
		return 0;
	return e->root.listed ? take_entries(db, e) : take_first_manifest(db, e);
}

/* The word of a state file about the experiment that came last, after that was put where it was guessed to belong. */
static int correct_guess(struct db *db, struct event *e)
{
	struct experiment_row row;
	struct line_row line, last;
	uint64_t before = 0, run;
	int r = root_line_last(db, e->root.id, &line);

	if (r == 0)
		r = experiment_get(db, line.experiment, &row);
	if (r < 0 || line.id != e->root.guess || strcmp(row.hash, e->s.current_exp_hash) != 0)
		return r;
	r = resolve(db, e, e->s.previous_exp_hash, &before);
	if (r == 0)
		r = line_before(db, &line, &last);
	if (r < 0 || before == 0 || before == row.id || before == last.experiment)
		return r == -ENOENT ? 0 : r;
	r = find_branch(db, e, before, &run);
	if (r == 0)
		r = line_move(db, line.id, run);
	if (r == 0)
		r = line_move_checkpoints(db, &(struct line_row){ .run = run, .experiment = row.id }, line.run);
	return r < 0 ? r : experiment_set_parent(db, row.id, before);
}

static int take_state(struct db *db, struct event *e)
{
	const char *current = e->s.current_exp_hash, *previous = e->s.previous_exp_hash;
	bool tells = is_hash(current) && is_hash(previous) && strcmp(current, previous) != 0;
	int r = tells && e->root.guess ? correct_guess(db, e) : 0;

	if (r == 0 && tells)
		r = is_known(db, e, current);
	if (r == 0 && tells)
		r = succession_put(db, e->root.id, current, previous);
	if (r < 0)
		return r;
	e->root.guess = 0;
	memcpy(e->root.current, current, sizeof(e->root.current));
	return root_update(db, &e->root);
}

static int tx_event(struct db *db, void *arg)
{
	struct event *e = arg;
	struct version_row v;
	int r = event_delete(db, e->id);

	if (r < 0) /* somebody else was quicker */
		return r == -ENOENT ? 0 : r;
	r = root_get(db, e->root_id, &e->root);
	if (r == 0)
		r = version_get(db, e->id, &v);
	if (r < 0 || e->kind == NOTHING)
		return r == -ENOENT ? 0 : r;
	return e->kind == WEIGHTS ? take_weights(db, e) : e->kind == STATE ? take_state(db, e) : take_manifest(db, e);
}

static int tx_skip(struct db *db, void *arg)
{
	struct event *e = arg;
	int r = event_delete(db, e->id);

	return r == -ENOENT ? 0 : r;
}

/* Rows that are not as they should be. */
static bool is_damage(int r)
{
	return r == -ENOENT || r == -ESTALE || r == -EEXIST || r == -EUCLEAN;
}

/* 1: there was none. */
static int settle_one(struct expfs *ex)
{
	_cleanup_(event_clear) struct event e = { .ex = ex };
	int r = find_event(&e);

	if (r < 0)
		return r == -ENOENT ? 1 : r;
	r = read_event(&e);
	if (r == 0)
		r = expfs_write(ex, tx_event, &e);
	if (!is_damage(r))
		return r;
	atomic_fetch_add(&ex->track_faults, 1);
	return expfs_write(ex, tx_skip, &e);
}

int root_settle(struct expfs *ex)
{
	int r;

	while ((r = settle_one(ex)) == 0)
		;
	return r == 1 || expfs_takes_nothing(r) ? 0 : r;
}

/* The branch of a root, or it itself. */
static int load_root(struct db *db, uint64_t branch, struct root_row *ret)
{
	struct fork_row fork = { .root = branch };
	int r = fork_get(db, branch, &fork);

	return r < 0 && r != -ENOENT ? r : root_get(db, fork.root, ret);
}

/* 1: the state file names a hash that is no experiment. */
static int names_other(struct db *db, const struct event *e)
{
	int r = is_hash(e->root.current) ? has_state(db, e) : 0;

	if (r == 1)
		r = is_known(db, e, e->root.current);
	else
		return r;
	return r < 0 ? r : !r;
}

int root_pending(struct expfs *ex, uint64_t branch, struct pending *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct event e = { .ex = ex };
	struct experiment_row from = { .hash = "" };
	struct line_row line = { 0 };
	uint64_t before;
	int r = load_root(db, branch, &e.root);

	*ret = (struct pending){ 0 };
	if (r == 0)
		r = names_other(db, &e);
	if (r <= 0)
		return r;
	r = resolve(db, &e, e.root.current, &before);
	if (r == 0 && !before)
		r = last_experiment(db, &e, &before);
	if (r == 0)
		r = root_line_of(db, e.root.id, before, &line);
	if (r == 0)
		r = experiment_get(db, before, &from);
	if (r < 0 && r != -ENOENT)
		return r;
	if (branch != (r == 0 ? line.run : e.root.id))
		return 0;
	for (size_t i = 0; i < SEGMENTS; i++)
		ret->changed[i] = strncmp(e.root.current + i * SEGMENT_LEN, from.hash + i * SEGMENT_LEN, SEGMENT_LEN) != 0;
	memcpy(ret->hash, e.root.current, sizeof(ret->hash));
	return 0;
}
