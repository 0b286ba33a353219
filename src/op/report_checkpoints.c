/* Checkpoints of a report. */
#include "op/report.h"

#include <string.h>

#include "exp/complete.h"
#include "exp/entries.h"
#include "exp/step.h"
#include "op/labels.h"
#include "op/reply.h"
#include "store/object.h"
#include "util/list.h"

#define OF_BRANCH 200 /* that are told of one branch */
#define OF_ALL 3000

/* The last ones of a branch; twice as many as are told are kept, so that they are seldom sorted. */
struct last {
	const struct checkpoint_set *set;
	struct db *db;
	bool removed; /* its run was: only what had a complete version counts */
	struct tracked_row v[2 * OF_BRANCH];
	size_t n, count;
};

/* What is not known to be complete was written last. */
static int newest_first(const void *pa, const void *pb)
{
	const struct tracked_row *a = pa, *b = pb;

	if (!a->good != !b->good)
		return a->good ? 1 : -1;
	return a->rank != b->rank ? (a->rank > b->rank ? -1 : 1) : a->id > b->id ? -1 : a->id < b->id;
}

static void keep_last(struct last *l)
{
	if (l->n > 0)
		qsort(l->v, l->n, sizeof(*l->v), newest_first);
	l->n = MIN(l->n, (size_t)OF_BRANCH);
}

static int add_row(void *arg, const struct tracked_row *t, const char *name)
{
	struct last *l = arg;
	int r = l->removed && !t->good ? 0 : checkpoint_is_visible(l->set, l->db, t);

	if (r <= 0)
		return r;
	l->count++;
	if (l->n == ARRAY_SIZE(l->v))
		keep_last(l);
	l->v[l->n++] = *t;
	return 0;
}

static int list_last(struct expfs *ex, const struct checkpoint_set *set, struct last *l)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = 0;

	l->set = set;
	l->db = db;
	for (size_t i = 0; i < set->n && r == 0; i++)
		r = tracked_list_role(db, set->ids[i], ROLE_WEIGHTS, !l->removed, add_row, l);
	keep_last(l);
	return r;
}

/* What a checkpoint consists of. */
struct content {
	struct id_list objects;
	uint64_t size;
};

static int add_member(void *arg, const struct member_row *m, const char *name)
{
	struct content *c = arg;

	c->size += m->size;
	return m->object ? id_list_add(&c->objects, m->object) : 0;
}

static int list_version(struct expfs *ex, const struct version_row *v, struct content *c)
{
	const struct member_row file = { .object = v->object, .size = v->size };
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return v->is_dir ? member_list(db, v->id, add_member, c) : add_member(c, &file, NULL);
}

static int list_file(struct expfs *ex, uint64_t ino, struct content *c, int64_t *ret_mtime)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct member_row file;
	struct inode_row row;
	int r = inode_get(db, ino, &row);

	if (r < 0)
		return r;
	file = member_of(&row);
	*ret_mtime = file.mtime;
	return add_member(c, &file, NULL);
}

/* Of what stands there now. */
static int list_present(struct expfs *ex, const struct tracked_row *t, struct content *c, int64_t *ret_mtime)
{
	_cleanup_members_ struct members m = { 0 };
	int r = t->is_dir ? members_load(ex, t->ino, &m) : list_file(ex, t->ino, c, ret_mtime);

	if (t->is_dir)
		*ret_mtime = m.mtime;
	for (size_t i = 0; i < m.n && r == 0; i++) {
		const struct member_row row = member_of(&m.v[i].row);

		r = add_member(c, &row, NULL);
	}
	return r;
}

/* What its objects take of the disk. */
static json_int_t stored(struct expfs *ex, const struct content *c)
{
	json_int_t bytes = 0;

	for (size_t i = 0; i < c->objects.n; i++) {
		struct stat st;

		if (object_stat(ex->store, c->objects.v[i], &st) == 0)
			bytes += (json_int_t)st.st_blocks * 512;
	}
	return bytes;
}

static json_t *entry_json(struct expfs *ex, const char *place, int64_t step, int64_t mtime, const struct content *c)
{
	return json_pack("{s:o, s:o, s:o, s:I, s:I}", "path", reply_path(place), "step",
			 step == NO_STEP ? json_null() : json_integer(step), "time", reply_time(mtime), "size",
			 (json_int_t)c->size, "stored", stored(ex, c));
}

static int complete_json(struct expfs *ex, const struct tracked_row *t, json_t **ret)
{
	_cleanup_checkpoint_ struct checkpoint k = { 0 };
	_cleanup_free_ char *place = NULL;
	struct content c = { .size = 0 };
	int r = checkpoint_resolve(ex, t, t->good, &k);

	if (r == 0)
		r = list_version(ex, &k.version, &c);
	place = r == 0 ? checkpoint_place(&k) : NULL;
	if (r == 0)
		*ret = place ? entry_json(ex, place, k.version.step, k.version.mtime, &c) : NULL;
	id_list_free(&c.objects);
	return r < 0 ? r : *ret ? 0 : -ENOMEM;
}

static int get_path(struct expfs *ex, uint64_t tracked, char **ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return tracked_path(db, tracked, ret);
}

static int incomplete_json(struct expfs *ex, const struct tracked_row *t, json_t **ret)
{
	_cleanup_free_ char *path = NULL;
	struct content c = { .size = 0 };
	int64_t mtime = 0;
	int r = get_path(ex, t->id, &path);

	if (r == 0)
		r = list_present(ex, t, &c, &mtime);
	if (r == 0)
		*ret = entry_json(ex, path, step_in_name(path_last(path), t->is_dir), mtime, &c);
	id_list_free(&c.objects);
	return r < 0 ? r : *ret ? 0 : -ENOMEM;
}

static bool may_know(struct expfs *ex, struct cred *cred, const struct tracked_row *t)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return labels_may_know(db, cred, t);
}

/* -ENOENT: it went meanwhile. */
static int add_entry(struct expfs *ex, struct cred *cred, const struct tracked_row *t, json_t *list)
{
	json_t *entry = NULL, *weights = NULL;
	int r = t->good ? complete_json(ex, t, &entry) : incomplete_json(ex, t, &entry);

	if (r == 0 && t->good && may_know(ex, cred, t))
		r = labels_summary(ex, cred, t->good, &weights);
	if (r < 0) {
		json_decref(entry);
		return r == -ENOENT || r == -ESTALE ? 0 : r;
	}
	json_object_set_new(entry, "complete", json_boolean(t->good));
	json_object_set_new(entry, "off", json_boolean(t->off));
	json_object_set_new(entry, "weights", weights ? weights : json_null());
	return json_array_append_new(list, entry) < 0 ? -ENOMEM : 0;
}

static json_int_t step_of(const json_t *entry)
{
	const json_t *step = json_object_get(entry, "step");

	return json_is_integer(step) ? json_integer_value(step) : -1;
}

/* RFC 3339 in UTC orders as text. */
static int highest_first(const void *pa, const void *pb)
{
	const json_t *a = *(json_t *const *)pa, *b = *(json_t *const *)pb;
	const char *x = json_string_value(json_object_get(a, "time")), *y = json_string_value(json_object_get(b, "time"));

	if (step_of(a) != step_of(b))
		return step_of(a) > step_of(b) ? -1 : 1;
	return -strcmp(x ? x : "", y ? y : "");
}

static int sort(json_t *list)
{
	size_t n = json_array_size(list);
	_cleanup_free_ json_t **v = calloc(n + 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		v[i] = json_incref(json_array_get(list, i));
	qsort(v, n, sizeof(*v), highest_first);
	for (size_t i = 0; i < n; i++)
		json_array_set_new(list, i, v[i]);
	return 0;
}

static void mark(const json_t *branch, const char *key, const json_t *list)
{
	const json_t *path = json_object_get(json_object_get(branch, key), "path");
	json_t *entry;
	size_t i;

	json_array_foreach (list, i, entry)
		if (path && json_equal(path, json_object_get(entry, "path")))
			json_object_set_new(entry, key, json_true());
}

static const json_t *branch_of(const json_t *branches, const json_t *name)
{
	const json_t *b;
	size_t i;

	json_array_foreach (branches, i, b)
		if (json_equal(json_object_get(b, "name"), name))
			return b;
	return NULL;
}

/* left: how many may be told. */
static int add_branch(struct expfs *ex, struct cred *cred, const struct branch *b, const json_t *branches, size_t *left,
		      json_t *to)
{
	_cleanup_checkpoint_set_ struct checkpoint_set set = { 0 };
	_cleanup_free_ struct last *l = calloc(1, sizeof(*l));
	_cleanup_json_ json_t *list = json_array(), *name = reply_text(b->name);
	int r = l ? branch_checkpoints(ex, cred, b, &set) : -ENOMEM;

	if (r == 0) {
		l->removed = branch_is_removed(b);
		r = list_last(ex, &set, l);
	}
	for (size_t i = 0; r == 0 && i < l->n && *left > 0; i++, (*left)--)
		r = add_entry(ex, cred, &l->v[i], list);
	if (r == 0)
		r = sort(list);
	if (r < 0)
		return r;
	mark(branch_of(branches, name), "latest", list);
	mark(branch_of(branches, name), "best", list);
	json_array_append_new(to, json_pack("{s:O, s:I, s:O}", "branch", name, "count", (json_int_t)l->count, "list", list));
	return 0;
}

int report_checkpoints(struct expfs *ex, struct cred *cred, const struct report_branches *b, const json_t *branches,
		       json_t **ret)
{
	_cleanup_json_ json_t *to = json_array();
	size_t left = OF_ALL;
	int r = to ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->n && r == 0; i++)
		r = add_branch(ex, cred, b->v[i], branches, &left, to);
	if (r == 0)
		*ret = steal(&to);
	return r;
}
