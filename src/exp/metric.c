#include "exp/metric.h"

#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/known.h"
#include "format/role.h"
#include "format/trainer_state.h"
#include "meta/dirent.h"
#include "meta/metric.h"
#include "meta/tracked.h"

#define NUMBER_MAX 64   /* bytes of a value */
#define NAMES_MAX 1000  /* of one inode that are looked at */
#define INSIDE_MAX 64   /* metrics of one trainer_state.json that are kept */

struct set {
	struct db *db;
	const struct inode_row *row;
	const char *name;
	bool is_number;
	double value;
	unsigned names;
};

static int put(const struct set *s, uint64_t of)
{
	return s->is_number ? metric_put(s->db, of, s->name, METRIC_SET, s->value) : metric_delete(s->db, of, s->name);
}

static int put_dir(const struct set *s)
{
	struct tracked_row t;
	int r = tracked_by_dir(s->db, s->row->ino, &t);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return t.role == ROLE_WEIGHTS && t.head && !t.changed ? put(s, t.head) : 0;
}

/* The version of one name, if that is what the file holds. */
static int put_name(void *arg, const struct dirent_row *d, const char *name, const struct inode_row *row)
{
	struct set *s = arg;
	struct tracked_row t;
	struct version_row v;
	int r = tracked_by_dir(s->db, d->parent, &t);

	if (r == 0)
		r = tracked_by_name(s->db, t.id, name, &t);
	if (r == 0)
		r = t.role == ROLE_WEIGHTS && t.head ? version_get(s->db, t.head, &v) : -ENOENT;
	if (r == 0 && v.object == s->row->object && !v.is_dir)
		r = put(s, v.id);
	return r < 0 && r != -ENOENT ? r : ++s->names == NAMES_MAX;
}

int tx_metric_set(struct db *db, const struct inode_row *row, const char *name, const char *value, size_t len)
{
	struct set s = { .db = db, .row = row, .name = name };
	char text[NUMBER_MAX];
	int r;

	if (!*name || strlen(name) > METRIC_NAME_MAX)
		return 0;
	while (value && len > 0 && strchr(" \t\r\n", value[len - 1])) /* a NUL at the end, too */
		len--;
	if (value && len > 0 && len < sizeof(text) && !memchr(value, 0, len)) {
		snprintf(text, sizeof(text), "%.*s", (int)len, value);
		s.is_number = metrics_number(text, &s.value);
	}
	r = put(&s, row->ino);
	if (r == 0)
		r = S_ISDIR(row->mode) ? put_dir(&s) :
		    row->flags & INODE_CLOSED ? MIN(dirent_names_of(db, row->ino, put_name, &s), 0) : 0;
	return r;
}

int tx_metric_end(struct db *db, uint64_t ino)
{
	return metric_clear(db, ino);
}

int tx_metric_version(struct db *db, uint64_t ino, uint64_t version)
{
	return metric_copy(db, ino, version);
}

struct metric_inside {
	int64_t step; /* up to which values count */
	size_t n;
	struct {
		char *name;
		int64_t step;
		double value;
	} v[INSIDE_MAX];
};

void metric_inside_free(struct metric_inside *in)
{
	for (size_t i = 0; i < in->n; i++)
		free(in->v[i].name);
	free(in);
}

static void cleanup_inside(struct metric_inside **in)
{
	if (*in)
		metric_inside_free(*in);
}

static int add_inside(void *arg, int64_t step, const char *name, double value)
{
	struct metric_inside *in = arg;
	size_t i = 0;

	while (i < in->n && strcmp(in->v[i].name, name) != 0)
		i++;
	if (step > in->step || i == INSIDE_MAX || (i < in->n && in->v[i].step > step))
		return 0;
	if (i == in->n) {
		in->v[i].name = strdup(name);
		if (!in->v[i].name)
			return -ENOMEM;
		in->n++;
	}
	in->v[i].step = step;
	in->v[i].value = value;
	return 0;
}

int metric_inside_load(struct expfs *ex, const struct members *m, int64_t step, struct metric_inside **ret)
{
	_cleanup_(cleanup_inside) struct metric_inside *in = calloc(1, sizeof(*in));
	_cleanup_free_ char *text = NULL;
	struct trainer_state s;
	struct metrics lines = { 0 };
	struct reason why;
	size_t i = 0;
	int r;

	if (!in)
		return -ENOMEM;
	in->step = step == NO_STEP ? INT64_MAX : step;
	while (i < m->n && strcmp(m->v[i].name, "trainer_state.json") != 0)
		i++;
	if (i < m->n && m->v[i].row.object && m->v[i].row.size <= TRAINER_STATE_SIZE_MAX) {
		r = known_read_object(ex, m->v[i].row.object, m->v[i].row.size, &text);
		if (r == 0)
			r = trainer_state_parse(text, m->v[i].row.size, &lines, add_inside, in, &s, &why);
		if (r == 0)
			trainer_state_clear(&s);
		if (r == -ENOMEM)
			return r;
	}
	*ret = steal(&in);
	return 0;
}

int tx_metric_inside(struct db *db, const struct metric_inside *in, uint64_t version)
{
	int r = 0;

	for (size_t i = 0; i < in->n && r == 0; i++)
		r = metric_put(db, version, in->v[i].name, in->v[i].step, in->v[i].value);
	return r;
}
