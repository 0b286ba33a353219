#include "op/labels.h"

#include <stdio.h>
#include <string.h>

#include "exp/label.h"
#include "exp/path.h"
#include "exp/weights.h"
#include "format/parts.h"
#include "op/reply.h"
#include "op/warning.h"
#include "util/hex.h"
#include "util/list.h"

bool labels_may_know(struct db *db, struct cred *cred, const struct tracked_row *t)
{
	struct inode_row row;

	return !cred || (t->ino && path_may_walk(db, cred, t->ino, R_OK | X_OK) == 0 && inode_get(db, t->ino, &row) == 0 &&
			 cred_permits(cred, &row, t->is_dir ? R_OK | X_OK : R_OK));
}

/* The path of the version that h has the weights of; -ENOENT where it is gone, or who asks could not find it. */
static int find_other(struct expfs *ex, struct cred *cred, const struct holds_row *h, char **ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct version_row v;
	struct tracked_row t;
	int r = version_get(db, h->other, &v);

	if (r == 0)
		r = tracked_get(db, v.tracked, &t);
	if (r == 0 && !labels_may_know(db, cred, &t))
		r = -ENOENT;
	return r < 0 ? r : tracked_path(db, v.tracked, ret);
}

int labels_fault(struct expfs *ex, struct cred *cred, const struct holds_row *h, char **ret)
{
	_cleanup_free_ char *path = NULL;
	char own[HOLDS_LABEL];
	int r;

	*ret = NULL;
	if (!*h->held)
		return 0;
	r = find_other(ex, cred, h, &path);
	if (r < 0 && r != -ENOENT)
		return r;
	label_text(h, own);
	r = asprintf(ret, "labelled %s, holds %s%s%s", own, h->held, path ? ": its weights are those of /" : "", path ? path : "");
	return r < 0 ? -ENOMEM : 0;
}

/* A version that its path holds now. */
struct wrong {
	struct holds_row h;
	char *path;
};

struct wrongs {
	struct db *db;
	struct cred *cred;
	struct wrong *v;
	size_t n;
};

static void cleanup_wrongs(struct wrongs *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
}

static int add_wrong(void *arg, const struct holds_row *h)
{
	struct wrongs *l = arg;
	struct wrong *v;
	struct version_row row;
	struct tracked_row t;
	int r = l->n == WARNINGS_MAX ? 1 : version_get(l->db, h->version, &row);

	if (r == 0)
		r = tracked_get(l->db, row.tracked, &t);
	if (r != 0 || t.head != h->version || !t.ino)
		return r == -ENOENT ? 0 : r;
	if (!labels_may_know(l->db, l->cred, &t))
		return 0;
	v = array_grow(l->v, l->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n] = (struct wrong){ .h = *h };
	return tracked_path(l->db, t.id, &v[l->n++].path);
}

static int each(struct expfs *ex, struct cred *cred, int (*list)(struct db *, uint64_t, holds_fn, void *), uint64_t of,
		labels_fn f, void *arg)
{
	_cleanup_(cleanup_wrongs) struct wrongs l = { .cred = cred };
	int r;

	cred_ask(cred);
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		l.db = db;
		r = MIN(list(db, of, add_wrong, &l), 0);
	}
	for (size_t i = 0; r == 0 && i < l.n; i++) {
		_cleanup_free_ char *fault = NULL;

		r = labels_fault(ex, cred, &l.v[i].h, &fault);
		if (r == 0 && fault)
			f(arg, l.v[i].path, fault);
	}
	return r;
}

int labels_of_branch(struct expfs *ex, struct cred *cred, const struct branch *b, labels_fn f, void *arg)
{
	int r = each(ex, cred, holds_list_wrong, b->id, f, arg);

	return r < 0 || !b->run ? r : each(ex, cred, holds_list_wrong, b->run, f, arg);
}

int labels_of_experiment(struct expfs *ex, struct cred *cred, uint64_t experiment, labels_fn f, void *arg)
{
	return each(ex, cred, holds_list_wrong_of, experiment, f, arg);
}

static json_t *parts_json(unsigned parts)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < PARTS; i++)
		if (parts & 1u << i)
			json_array_append_new(list, json_string(part_name(i)));
	return list;
}

static int get(struct expfs *ex, uint64_t version, struct holds_row *ret, struct version_row *ret_version)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = version_get(db, version, ret_version);

	return r < 0 ? r : holds_get(db, version, ret);
}

int labels_of_version(struct expfs *ex, uint64_t version, char **ret)
{
	struct version_row v;
	struct holds_row h;
	int r = get(ex, version, &h, &v);

	*ret = NULL;
	return r < 0 ? r == -ENOENT ? 0 : r : labels_fault(ex, NULL, &h, ret);
}

int labels_summary(struct expfs *ex, struct cred *cred, uint64_t version, json_t **ret)
{
	_cleanup_free_ char *fault = NULL;
	struct version_row v;
	struct holds_row h;
	int r = get(ex, version, &h, &v);

	if (r == -ENOENT) {
		*ret = json_pack("{s:b}", "read", 0);
		return 0;
	}
	if (r == 0)
		r = labels_fault(ex, cred, &h, &fault);
	if (r == 0)
		*ret = json_pack("{s:b, s:b, s:o, s:o}", "read", 1, "told", h.told, "parts", parts_json(h.parts), "label",
				 fault ? reply_text(fault) : json_null());
	return r;
}

/* What was read is kept, so that this costs little. */
static int find_why(struct expfs *ex, const struct version_row *v, char **ret)
{
	_cleanup_weights_ struct weights w = { 0 };
	int r = weights_load(ex, v, NULL, NULL, &w);

	if (r == -E2BIG) {
		*ret = strdup("more tensors in it than are read");
		return *ret ? 0 : -ENOMEM;
	}
	return r < 0 ? r : weights_fault(&w, ret);
}

int labels_entry(struct expfs *ex, uint64_t version, json_t **ret)
{
	_cleanup_json_ json_t *entry = NULL;
	_cleanup_free_ char *why = NULL;
	char hex[2 * WEIGHTS_DIGEST + 1] = "";
	struct version_row v;
	struct holds_row h;
	int r = labels_summary(ex, NULL, version, &entry);

	if (r == 0)
		r = get(ex, version, &h, &v);
	if (r == 0 && !h.told)
		r = find_why(ex, &v, &why);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0 && h.told)
		hex_text(h.model, WEIGHTS_DIGEST, hex);
	if (r == 0) {
		json_object_set_new(entry, "model", *hex ? json_string(hex) : json_null());
		json_object_set_new(entry, "epoch", h.epoch == NO_LABEL ? json_null() : json_integer(h.epoch));
		json_object_set_new(entry, "why", why ? reply_text(why) : json_null());
	}
	*ret = json_incref(entry);
	return 0;
}
