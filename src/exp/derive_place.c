#include "exp/derive_place.h"

#include <string.h>

#include "exp/expfs.h"

#define CHAIN_MAX 256 /* hashes that were pending only, one after the other */

int derive_is_known(struct db *db, const struct event *e, const char *hash)
{
	struct experiment_row row;
	struct line_row line;
	int r = experiment_by_hash(db, hash, &row);

	if (r == 0)
		r = root_line_of(db, e->root.id, row.id, &line);
	return r == 0 ? 1 : r == -ENOENT ? 0 : r;
}

int derive_resolve(struct db *db, const struct event *e, const char *hash, uint64_t *ret)
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

int derive_branch(struct db *db, const struct event *e, uint64_t after, uint64_t *ret)
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

int derive_add(struct db *db, struct event *e, const char *hash, uint64_t after, bool guess, int64_t time)
{
	/* It happened when that was written, however late it is read. */
	struct line_row line = { .id = meta_id(e->ex->meta), .version = e->kind == WEIGHTS ? e->id : 0, .at = e->id };
	int r = derive_branch(db, e, after, &line.run);

	if (r == 0)
		r = find_experiment(db, e, hash, after, time, &line.experiment);
	if (r == 0)
		r = line_insert(db, &line);
	e->root.guess = guess ? line.id : 0;
	return r < 0 ? r : root_update(db, &e->root);
}

int derive_told_before(struct db *db, const struct event *e, const char *hash, uint64_t *ret)
{
	char before[EXPERIMENT_HASH + 1];
	uint64_t id = 0;
	int r = succession_get(db, e->root.id, hash, before);

	if (r == 0)
		r = derive_resolve(db, e, before, &id);
	if (r < 0 || id == 0)
		return r == -ENOENT ? 0 : r;
	*ret = id;
	return 1;
}

int derive_has_state(struct db *db, const struct event *e)
{
	struct tracked_row t;
	int r = tracked_get(db, e->root.id, &t);

	if (r == 0)
		r = tracked_by_name(db, t.parent, ROOT_STATE, &t);
	return r == 0 ? t.ino != 0 : r == -ENOENT ? 0 : r;
}

int derive_last(struct db *db, const struct event *e, uint64_t *ret)
{
	struct line_row line;
	int r = root_line_last(db, e->root.id, &line);

	*ret = r == 0 ? line.experiment : 0;
	return r == -ENOENT ? 0 : r;
}

int derive_guess_before(struct db *db, const struct event *e, const char *hash, uint64_t *ret)
{
	int r = strcmp(e->root.current, hash) != 0 ? derive_has_state(db, e) : 0;

	*ret = 0;
	if (r == 1)
		r = derive_resolve(db, e, e->root.current, ret);
	return r < 0 || *ret ? r : derive_last(db, e, ret);
}
