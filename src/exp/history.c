#include "exp/history_part.h"

#include <stdio.h>
#include <string.h>

#include "exp/best.h"
#include "exp/branch.h"
#include "exp/checkpoint.h"
#include "exp/complete.h"
#include "exp/entries.h"
#include "exp/experiment.h"
#include "exp/file.h"
#include "exp/kept.h"
#include "exp/selection.h"
#include "exp/track.h"
#include "meta/line.h"
#include "meta/root.h"

void history_free(struct history *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->v[i].selected);
	free(h->name);
	free(h->v);
	*h = (struct history){ 0 };
}

static int find(struct expfs *ex, const char *path, struct tracked_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return tracked_by_path(db, path, ret);
}

static int add_version(void *arg, const struct version_row *row)
{
	struct history *h = arg;
	struct history_version *v = array_grow(h->v, h->n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	h->v = v;
	v[h->n++] = (struct history_version){ .row = *row };
	return 0;
}

static int add_size(void *arg, const struct member_row *m, const char *name)
{
	*(uint64_t *)arg += m->size;
	return 0;
}

/* Of its own run: a branch from that begins with it, deleted or not, whatever others have. */
static int find_last(struct db *db, const struct tracked_row *t, uint64_t experiment, struct last_checkpoint *ret)
{
	struct version_row v;
	int r;

	if (ret->experiment == experiment)
		return 0;
	r = version_last_of_experiment(db, experiment, NO_STEP, t->run, true, &v);
	ret->version = r == 0 ? v.id : 0;
	ret->experiment = experiment;
	return r == -ENOENT ? 0 : r;
}

/* Is the run there, or the root of which it is a branch? */
static int run_is_there(struct db *db, uint64_t id)
{
	struct fork_row fork = { .root = id };
	struct tracked_row run;
	int r = fork_get(db, id, &fork);

	if (r == 0 || r == -ENOENT)
		r = tracked_get(db, fork.root, &run);
	return r < 0 ? r : run.ino != 0;
}

int history_is_on_line(struct db *db, const struct tracked_row *t, const struct version_row *v, struct last_checkpoint *last)
{
	struct line_row line;
	uint64_t until;
	int r = run_is_there(db, t->run);

	if (r <= 0)
		return r;
	switch (t->role) {
	case ROLE_WEIGHTS:
		r = find_last(db, t, v->experiment, last);
		return r < 0 ? r : v->experiment && last->version == v->id;
	case ROLE_HP:
	case ROLE_MODEL:
	case ROLE_DATA:
		r = version_counts_until(db, v, &until);
		if (r == 0)
			r = line_between(db, t->run, v->id, until, &line);
		return r == 0 ? 1 : r == -ENOENT ? 0 : r;
	}
	return 0;
}

static int load_details(struct db *db, struct history *h, struct history_version *v, struct last_checkpoint *last)
{
	struct content_row content;
	int r = checkpoint_is_there(db, &h->tracked, &v->row);

	if (r < 0)
		return r;
	v->held = r;
	r = history_is_on_line(db, &h->tracked, &v->row, last);
	if (r < 0)
		return r;
	v->on_line = r;
	if (v->row.is_dir)
		return member_list(db, v->row.id, add_size, &v->row.size);
	r = v->row.object ? content_get(db, v->row.object, &content) : -ESTALE;
	v->has_digest = r == 0 && content.state == CONTENT_SEALED;
	if (v->has_digest)
		memcpy(v->digest, content.digest, sizeof(v->digest));
	return r == -ESTALE ? 0 : r;
}

void history_stat_live(struct expfs *ex, struct version_row *v)
{
	struct content_row content = { .state = CONTENT_SEALED };
	struct stat st;

	if (v->object) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		content_get(db, v->object, &content);
	}
	if (content.state == CONTENT_SEALED || object_stat(ex->store, v->object, &st) < 0)
		return;
	v->size = (uint64_t)st.st_size;
	v->mtime = timespec_ns(&st.st_mtim);
}

/* All of it as of one moment. */
static int load_versions(struct expfs *ex, const char *path, struct history *h)
{
	struct last_checkpoint last = { .experiment = 0 };
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = tracked_by_path(db, path, &h->tracked);

	if (r == 0)
		r = tracked_name(db, h->tracked.id, &h->name);
	if (r == 0)
		r = version_list(db, h->tracked.id, add_version, h);
	for (size_t i = 0; i < h->n && r == 0; i++)
		r = load_details(db, h, &h->v[i], &last);
	return r;
}

/* The best version of the run, whoever may see it; of one that was removed none is needed. */
static int find_best(struct expfs *ex, uint64_t run, uint64_t *ret)
{
	_cleanup_checkpoint_set_ struct checkpoint_set s = { 0 };
	_cleanup_best_ struct best best = { 0 };
	struct branch b = { 0 };
	int r = branch_by_id(ex, NULL, run, &b);

	if (r == 0 && branch_is_removed(&b))
		r = -ENOENT;
	if (r == 0)
		r = branch_checkpoints(ex, NULL, &b, &s);
	if (r == 0)
		r = checkpoint_best(&s, &best);
	branch_free(&b);
	*ret = r == 0 ? best.checkpoint.version.id : 0;
	return r == -ENOENT ? 0 : r;
}

static int get_selection(struct expfs *ex, uint64_t version, struct ledger_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return ledger_needs(db, version, ret);
}

static int find_selections(struct expfs *ex, struct history *h)
{
	int r = 0;

	for (size_t i = 0; i < h->n && r >= 0; i++) {
		_cleanup_ledger_row_ struct ledger_row row = { 0 };
		_cleanup_free_ char *branch = NULL;

		r = get_selection(ex, h->v[i].row.id, &row);
		if (r <= 0)
			continue;
		r = selection_branch(ex, row.run, &branch);
		if (r == 0 && asprintf(&h->v[i].selected, "it is the selection %s:%s, until another one is selected under that name",
				       branch, row.name) < 0) {
			h->v[i].selected = NULL;
			r = -ENOMEM;
		}
	}
	return MIN(r, 0);
}

/* What its run does not record is shown to nobody. */
static int leave_out(struct expfs *ex, struct history *h)
{
	size_t n = 0, all = h->n;

	for (size_t i = 0; i < h->n; i++)
		if (kept_version(ex, &h->tracked, &h->v[i].row))
			h->v[n++] = h->v[i];
	h->n = n;
	return all > 0 && n == 0 ? -ENODATA : 0;
}

int history_load(struct expfs *ex, const char *path, struct history *ret)
{
	_cleanup_history_ struct history h = { .n = 0 };
	struct tracked_row t;
	bool written;
	int r = track_moved(ex);

	if (r == 0)
		r = find(ex, path, &t);
	if (r == 0)
		r = experiment_settle(ex, t.run);
	if (r == 0)
		r = load_versions(ex, path, &h);
	if (r == 0 && h.tracked.role == ROLE_WEIGHTS)
		r = find_best(ex, h.tracked.run, &h.best);
	if (r == 0)
		r = leave_out(ex, &h);
	if (r == 0 && h.tracked.role == ROLE_WEIGHTS)
		r = find_selections(ex, &h);
	if (r < 0)
		return r;
	if (h.n == 0)
		return h.tracked.is_dir && h.tracked.role == ROLE_NONE ? -EISDIR : -ENOENT;
	written = !h.tracked.is_dir && h.tracked.ino && file_is_written(ex, h.tracked.ino);
	for (size_t i = 0; i < h.n; i++) {
		struct history_version *v = &h.v[i];

		v->held = v->held && !written;
		history_stat_live(ex, &v->row);
		if (v->row.complete == VERSION_UNJUDGED)
			v->row.complete = complete_version_fault(ex, &v->row, h.name) == NULL;
	}
	*ret = h;
	h = (struct history){ .n = 0 };
	return 0;
}

/* The last complete one since the path is there. */
static const struct history_version *last_complete(const struct history *h)
{
	for (size_t i = h->n; i > 0 && !h->v[i - 1].row.gone; i--)
		if (h->v[i - 1].row.complete == 1)
			return &h->v[i - 1];
	return NULL;
}

const char *history_need(const struct history *h, const struct history_version *v)
{
	if (v->selected)
		return v->selected;
	if (h->tracked.ino && v->row.id == h->tracked.head)
		return v->held ? "it is what the path holds" : "it is what the path held until it began to be written";
	if (h->tracked.ino && h->tracked.role == ROLE_WEIGHTS && v == last_complete(h))
		return "it is the last complete one of the checkpoint, which latest and step/ lead to";
	if (v->row.id == h->best)
		return "it is the best of its branch, which best leads to";
	if (v->on_line)
		return h->tracked.role == ROLE_WEIGHTS ? "it is the last checkpoint of its experiment" :
							 "an experiment of its run consists of it";
	return NULL;
}

/* 1: the path is tracked, and has versions; 0: it has none. */
static int has_versions(struct db *db, const char *path, struct tracked_row *ret)
{
	struct version_row v;
	int r = tracked_by_path(db, path, ret);

	if (r == 0)
		r = version_before(db, ret->id, INT64_MAX, &v);
	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

/* Sets *ret_path to the last of path~1, path~2, ... below which rest has versions. */
static int find_aside(struct db *db, const char *path, size_t len, const char *rest, char **ret_path)
{
	struct tracked_row t;
	int r = 0;

	for (unsigned k = 1; r >= 0; k++) {
		_cleanup_free_ char *dir = NULL, *aside = NULL;

		if (asprintf(&dir, "%.*s~%u", (int)len, path, k) < 0 || asprintf(&aside, "%s%s", dir, rest) < 0)
			return -ENOMEM;
		r = tracked_by_path(db, dir, &t);
		if (r == 0)
			r = has_versions(db, aside, &t);
		if (r > 0) {
			free(*ret_path);
			*ret_path = steal(&aside);
		}
	}
	return r == -ENOENT ? 0 : r;
}

int history_find_displaced(struct expfs *ex, const char *path, char **ret_path)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	_cleanup_free_ char *found = NULL;
	int r = 0;

	for (size_t n = strlen(path); n > 0 && r == 0 && !found; n--)
		if (path[n - 1] != '/' && (path[n] == '/' || !path[n]))
			r = find_aside(db, path, n, path + n, &found);
	if (r < 0)
		return r;
	*ret_path = steal(&found);
	return *ret_path ? 0 : -ENOENT;
}

int history_find_above(struct expfs *ex, const char *path, char **ret_path)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	_cleanup_free_ char *above = strdup(path);
	struct tracked_row t;
	char *slash;
	int r = 0;

	if (!above)
		return -ENOMEM;
	while (r == 0 && (slash = strrchr(above, '/')) != NULL) {
		*slash = 0;
		r = has_versions(db, above, &t);
	}
	if (r < 0)
		return r;
	if (r == 0 || !t.is_dir)
		return -ENOENT;
	*ret_path = steal(&above);
	return 0;
}
