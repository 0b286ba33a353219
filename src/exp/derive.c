#include "exp/derive.h"

#include <string.h>
#include <time.h>

#include "exp/derive_place.h"
#include "exp/known.h"
#include "meta/ledger.h"
#include "util/list.h"

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

static int take_weights(struct db *db, struct event *e)
{
	struct experiment_row row;
	struct tracked_row t;
	struct line_row line;
	uint64_t before = 0;
	int told, r = derive_is_known(db, e, e->hash);

	if (r == 0) {
		told = derive_told_before(db, e, e->hash, &before);
		r = told < 0 ? told : told ? 0 : derive_guess_before(db, e, e->hash, &before);
		if (r == 0)
			r = derive_add(db, e, e->hash, before, !told, e->v.mtime);
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
	r = ledger_move(db, row.id, t.run, line.run); /* where all is derived again */
	if (r < 0)
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
		int r = is_hash(e->m->entries[i].hash) ? derive_is_known(db, e, e->m->entries[i].hash) : 1;

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
	int told = derive_told_before(db, e, entry->hash, &before);
	int r = MIN(told, 0);

	if (told == 0)
		r = alone ? derive_guess_before(db, e, entry->hash, &before) : derive_last(db, e, &before);
	return r < 0 ? r : derive_add(db, e, entry->hash, before, !told, time_of(entry->created, e->v.mtime));
}

static int take_entries(struct db *db, struct event *e)
{
	int n = count_new(db, e), r = MIN(n, 0);

	for (size_t i = 0; n > 0 && r >= 0 && i < e->m->count; i++) {
		const struct manifest_entry *entry = &e->m->entries[i];

		r = is_hash(entry->hash) ? derive_is_known(db, e, entry->hash) : 1;
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
	told = derive_told_before(db, e, row.hash, &before);
	r = told == 0 ? derive_last(db, e, &before) : MIN(told, 0);
	return r < 0 ? r : derive_add(db, e, row.hash, before, !told, row.time);
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
	r = derive_resolve(db, e, e->s.previous_exp_hash, &before);
	if (r == 0)
		r = line_before(db, &line, &last);
	if (r < 0 || before == 0 || before == row.id || before == last.experiment)
		return r == -ENOENT ? 0 : r;
	r = derive_branch(db, e, before, &run);
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
		r = derive_is_known(db, e, current);
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
	int r = is_hash(e->root.current) ? derive_has_state(db, e) : 0;

	if (r == 1)
		r = derive_is_known(db, e, e->root.current);
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
	r = derive_resolve(db, &e, e.root.current, &before);
	if (r == 0 && !before)
		r = derive_last(db, &e, &before);
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
