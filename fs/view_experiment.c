/* experiments/<hash>/, models/<model8>/, HP/<hp8>/ and data/<data8>/. */
#include <stdio.h>
#include <string.h>

#include "exp/checkpoint.h"
#include "exp/entries.h"
#include "exp/experiment.h"
#include "view_origin.h"

static bool is_of_experiment(const struct view_key *key)
{
	return key->kind < VIEW_SEGMENT;
}

static void segment_name(uint64_t n, char ret[SEGMENT_LEN + 1])
{
	snprintf(ret, SEGMENT_LEN + 1, "%08x", (unsigned)n);
}

static bool is_hash(const char *name, size_t len)
{
	return strlen(name) == len && strspn(name, "0123456789abcdef") == len;
}

/* What is gone through when the reader of the database is free again. */
struct rows {
	struct experiment_row *v;
	size_t n;
};

static void rows_free(struct rows *l)
{
	free(l->v);
}
#define _cleanup_rows_ _cleanup_(rows_free)

static int add_row(void *arg, const struct experiment_row *row)
{
	struct rows *l = arg;
	struct experiment_row *v;

	if (!is_hash(row->hash, EXPERIMENT_HASH))
		return 0; /* a damaged one must not become a name */
	v = array_grow(l->v, l->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n++] = *row;
	return 0;
}

static int by_id(const void *pa, const void *pb)
{
	const struct experiment_row *a = pa, *b = pb;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* All, or those with the segment of the key; the oldest first. */
static int list_rows(struct view_req *q, const struct view_key *key, struct rows *l)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	char text[SEGMENT_LEN + 1];
	int r = experiment_settle(q->fs->ex, 0);

	if (r < 0)
		return r;
	db = meta_reader(q->fs->ex->meta);
	if (key)
		segment_name(key->n, text);
	r = key ? experiment_list_by_segment(db, (enum segment)key->dir, text, add_row, l) : experiment_list(db, add_row, l);
	if (r == 0 && l->n > 0)
		qsort(l->v, l->n, sizeof(*l->v), by_id);
	return r;
}

static int find_row(struct view_req *q, uint64_t id, struct rows *l)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	struct experiment_row row;
	int r = experiment_settle(q->fs->ex, 0);

	if (r < 0)
		return r;
	db = meta_reader(q->fs->ex->meta);
	r = experiment_get(db, id, &row);
	return r < 0 ? r : add_row(l, &row);
}

int view_origin(struct view_req *q, const struct view_key *key, struct origin *ret)
{
	_cleanup_rows_ struct rows l = { 0 };
	int r = is_of_experiment(key) ? find_row(q, key->n, &l) : list_rows(q, key, &l);

	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t i = l.n; i > 0 && r == -ENOENT; i--)
		r = origin_find(q->fs->ex, &q->cred, &l.v[i - 1], ret);
	return r;
}

static int stat_origin(struct view_req *q, const struct view_key *key, struct stat *ret)
{
	struct origin o;
	int r = view_origin(q, key, &o);

	if (r < 0)
		return r;
	ret->st_mode = o.dir.mode; /* no more than the run shows itself */
	ret->st_uid = o.dir.uid;
	ret->st_gid = o.dir.gid;
	ret->st_mtim = ns_timespec(o.experiment.time);
	return 0;
}

static int get_checkpoints(struct view_req *q, const struct view_key *key, struct checkpoint_set *ret)
{
	char text[SEGMENT_LEN + 1];

	if (is_of_experiment(key))
		return checkpoint_set_of_experiment(q->fs->ex, &q->cred, key->n, ret);
	segment_name(key->n, text);
	return checkpoint_set_of_segment(q->fs->ex, &q->cred, SEGMENT_MODEL, text, ret);
}

static int get_shown(struct view_req *q, const struct view_key *key, struct checkpoint *ret)
{
	_cleanup_checkpoint_set_ struct checkpoint_set set = { 0 };
	int r = get_checkpoints(q, key, &set);

	if (r < 0)
		return r;
	switch (key->kind) {
	case VIEW_EXPERIMENT_LATEST:
	case VIEW_MODEL_LATEST:
		return checkpoint_latest(&set, ret);
	case VIEW_EXPERIMENT_BEST:
	case VIEW_MODEL_BEST:
		return view_best(&set, ret);
	}
	return checkpoint_nearest(&set, key->part, ret);
}

static int stat_checkpoint(struct view_req *q, const struct view_key *key, struct stat *ret)
{
	_cleanup_checkpoint_ struct checkpoint c = { 0 };
	int r = stat_origin(q, key, ret);

	if (r == 0)
		r = get_shown(q, key, &c);
	if (r == 0)
		ret->st_mtim = ns_timespec(c.version.mtime);
	return r;
}

static int checkpoint_target(struct view_req *q, const struct view_key *key, char **ret)
{
	bool deep = key->kind == VIEW_EXPERIMENT_STEP || key->kind == VIEW_MODEL_STEP;
	_cleanup_checkpoint_ struct checkpoint c = { 0 };
	_cleanup_free_ char *place = NULL;
	int r = get_shown(q, key, &c);

	if (r < 0)
		return r;
	place = checkpoint_place(&c);
	return !place || asprintf(ret, "../../%s%s", deep ? "../" : "", place) < 0 ? -ENOMEM : 0;
}

/* Names in experiments/<hash>/ and models/<model8>/. */
static int lookup_top(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret)
{
	static const char *const segments[SEGMENTS] = { "HP", "MODEL", "DATA" };
	bool experiment = is_of_experiment(key);

	*ret = (struct view_key){ .dir = key->dir, .n = key->n };
	if (!strcmp(name, "latest"))
		ret->kind = experiment ? VIEW_EXPERIMENT_LATEST : VIEW_MODEL_LATEST;
	else if (!strcmp(name, "best"))
		ret->kind = experiment ? VIEW_EXPERIMENT_BEST : VIEW_MODEL_BEST;
	else if (!strcmp(name, "step"))
		ret->kind = experiment ? VIEW_EXPERIMENT_STEPS : VIEW_MODEL_STEPS;
	for (uint64_t i = 0; experiment && i < SEGMENTS; i++)
		if (!strcmp(name, segments[i]))
			*ret = (struct view_key){ .kind = VIEW_EXPERIMENT_FILES, .dir = i, .n = key->n };
	return ret->kind ? 0 : -ENOENT;
}

static bool is_of_checkpoint(const struct view_key *key)
{
	return key->kind == VIEW_EXPERIMENT_LATEST || key->kind == VIEW_EXPERIMENT_BEST || key->kind == VIEW_MODEL_LATEST ||
	       key->kind == VIEW_MODEL_BEST;
}

static int list_top(struct view_req *q, const struct view_key *key, struct view_list *l)
{
	static const char *const names[] = { "HP", "MODEL", "DATA", "latest", "best", "step" };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && r == 0; i++) {
		struct stat st = { 0 };
		struct view_key k;

		r = lookup_top(q, key, names[i], &k);
		if (r == 0 && is_of_checkpoint(&k))
			r = stat_checkpoint(q, &k, &st);
		if (r == 0)
			r = view_list_add(l, names[i], &k);
		r = r == -ENOENT ? 0 : r;
	}
	return r;
}

static int lookup_step(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret)
{
	*ret = (struct view_key){ .kind = is_of_experiment(key) ? VIEW_EXPERIMENT_STEP : VIEW_MODEL_STEP, .dir = key->dir,
				  .n = key->n };
	return view_parse_step(name, &ret->part) ? 0 : -ENOENT;
}

static int list_steps(struct view_req *q, const struct view_key *key, struct view_list *l)
{
	_cleanup_checkpoint_set_ struct checkpoint_set set = { 0 };
	int r = get_checkpoints(q, key, &set);

	return r < 0 ? r : view_list_steps(q, key, &set, lookup_step, l);
}

static int add_once(struct view_list *l, const char *name, const struct view_key *key)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			return 0;
	return view_list_add(l, name, key);
}

/* HP/<hp8>/ and data/<data8>/: the files, and links to the experiments. */
static int lookup_segment(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret)
{
	if (strcmp(name, "experiments") != 0)
		return view_files_lookup(q, key, name, ret);
	*ret = (struct view_key){ .kind = VIEW_SEGMENT_EXPERIMENTS, .dir = key->dir, .n = key->n };
	return 0;
}

static int list_segment(struct view_req *q, const struct view_key *key, struct view_list *l)
{
	const struct view_key k = { .kind = VIEW_SEGMENT_EXPERIMENTS, .dir = key->dir, .n = key->n };
	int r = view_files_list(q, key, l);

	return r < 0 ? r : add_once(l, "experiments", &k);
}

static int lookup_experiment(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret)
{
	_cleanup_rows_ struct rows l = { 0 };
	int r = list_rows(q, key, &l);

	for (size_t i = 0; i < l.n && r == 0; i++) {
		struct origin o;

		if (strcmp(l.v[i].hash, name) != 0)
			continue;
		*ret = (struct view_key){ .kind = VIEW_SEGMENT_EXPERIMENT, .dir = key->dir, .n = key->n, .part = l.v[i].id };
		return origin_find(q->fs->ex, &q->cred, &l.v[i], &o);
	}
	return r < 0 ? r : -ENOENT;
}

static int list_experiments(struct view_req *q, const struct view_key *key, struct view_list *list)
{
	_cleanup_rows_ struct rows l = { 0 };
	int r = list_rows(q, key, &l);

	for (size_t i = 0; i < l.n && r == 0; i++) {
		struct view_key k = { .kind = VIEW_SEGMENT_EXPERIMENT, .dir = key->dir, .n = key->n, .part = l.v[i].id };
		struct origin o;

		r = origin_find(q->fs->ex, &q->cred, &l.v[i], &o);
		if (r == 0)
			r = view_list_add(list, l.v[i].hash, &k);
		r = r == -ENOENT ? 0 : r;
	}
	return r;
}

static int experiment_target(struct view_req *q, const struct view_key *key, char **ret)
{
	const struct view_key k = { .kind = VIEW_EXPERIMENT, .n = key->part };
	struct origin o;
	int r = view_origin(q, &k, &o);

	if (r < 0)
		return r;
	return asprintf(ret, "../../../experiments/%s", o.experiment.hash) < 0 ? -ENOMEM : 0;
}

#define OP(kind) [(kind) - VIEW_EXPERIMENT]

const struct view_ops view_experiment_ops[] = {
	OP(VIEW_EXPERIMENT) = { S_IFDIR, .stat = stat_origin, .lookup = lookup_top, .list = list_top },
	OP(VIEW_EXPERIMENT_FILES) = { S_IFDIR, .stat = stat_origin, .lookup = view_files_lookup, .list = view_files_list },
	OP(VIEW_EXPERIMENT_FILE) = { S_IFLNK, .stat = stat_origin, .target = view_files_target },
	OP(VIEW_EXPERIMENT_LATEST) = { S_IFLNK, .stat = stat_checkpoint, .target = checkpoint_target },
	OP(VIEW_EXPERIMENT_BEST) = { S_IFLNK, .stat = stat_checkpoint, .target = checkpoint_target },
	OP(VIEW_EXPERIMENT_STEPS) = { S_IFDIR, .stat = stat_origin, .lookup = lookup_step, .list = list_steps },
	OP(VIEW_EXPERIMENT_STEP) = { S_IFLNK, .stat = stat_checkpoint, .target = checkpoint_target },
	OP(VIEW_SEGMENT) = { S_IFDIR, .stat = stat_origin, .lookup = lookup_segment, .list = list_segment },
	OP(VIEW_SEGMENT_FILES) = { S_IFDIR, .stat = stat_origin, .lookup = view_files_lookup, .list = view_files_list },
	OP(VIEW_SEGMENT_FILE) = { S_IFLNK, .stat = stat_origin, .target = view_files_target },
	OP(VIEW_SEGMENT_EXPERIMENTS) = { S_IFDIR, .stat = stat_origin, .lookup = lookup_experiment,
					 .list = list_experiments },
	OP(VIEW_SEGMENT_EXPERIMENT) = { S_IFLNK, .stat = stat_origin, .target = experiment_target },
	OP(VIEW_MODEL) = { S_IFDIR, .stat = stat_origin, .lookup = lookup_top, .list = list_top },
	OP(VIEW_MODEL_LATEST) = { S_IFLNK, .stat = stat_checkpoint, .target = checkpoint_target },
	OP(VIEW_MODEL_BEST) = { S_IFLNK, .stat = stat_checkpoint, .target = checkpoint_target },
	OP(VIEW_MODEL_STEPS) = { S_IFDIR, .stat = stat_origin, .lookup = lookup_step, .list = list_steps },
	OP(VIEW_MODEL_STEP) = { S_IFLNK, .stat = stat_checkpoint, .target = checkpoint_target },
};

static enum segment family_segment(enum fs_family family)
{
	return family == FAMILY_HP ? SEGMENT_HP : family == FAMILY_MODELS ? SEGMENT_MODEL : SEGMENT_DATA;
}

static struct view_key segment_key(enum segment which, const char *text)
{
	return (struct view_key){ .kind = which == SEGMENT_MODEL ? VIEW_MODEL : VIEW_SEGMENT, .dir = which,
				  .n = strtoull(text, NULL, 16) };
}

static int experiment_by_name(struct view_req *q, const char *name, struct view_key *ret)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	struct experiment_row row;
	int r = experiment_settle(q->fs->ex, 0);

	if (r < 0)
		return r;
	db = meta_reader(q->fs->ex->meta);
	r = experiment_by_hash(db, name, &row);
	if (r == 0)
		*ret = (struct view_key){ .kind = VIEW_EXPERIMENT, .n = row.id };
	return r;
}

bool view_experiment_is_name(enum fs_family family, const char *name)
{
	return is_hash(name, family == FAMILY_EXPERIMENTS ? EXPERIMENT_HASH : SEGMENT_LEN);
}

int view_experiment_by_name(struct view_req *q, enum fs_family family, const char *name, struct view_key *ret)
{
	struct origin o;
	int r = 0;

	if (family == FAMILY_EXPERIMENTS)
		r = experiment_by_name(q, name, ret);
	else
		*ret = segment_key(family_segment(family), name);
	if (r == 0 && family != FAMILY_EXPERIMENTS && ret->n == 0)
		r = -ENOENT; /* what has no such segment */
	return r < 0 ? r : view_origin(q, ret, &o);
}

int view_experiment_list(struct view_req *q, enum fs_family family, struct view_list *list)
{
	enum segment which = family_segment(family);
	_cleanup_rows_ struct rows l = { 0 };
	int r = list_rows(q, NULL, &l);

	for (size_t i = 0; i < l.n && r == 0; i++) {
		struct view_key k = { .kind = VIEW_EXPERIMENT, .n = l.v[i].id };
		char text[SEGMENT_LEN + 1] = "";
		struct origin o;

		strncat(text, l.v[i].hash + which * SEGMENT_LEN, SEGMENT_LEN);
		if (family != FAMILY_EXPERIMENTS)
			k = segment_key(which, text);
		r = k.n ? origin_find(q->fs->ex, &q->cred, &l.v[i], &o) : -ENOENT;
		if (r == 0 && family == FAMILY_EXPERIMENTS)
			r = view_list_add(list, l.v[i].hash, &k);
		else if (r == 0)
			r = add_once(list, text, &k);
		r = r == -ENOENT ? 0 : r;
	}
	return r;
}
