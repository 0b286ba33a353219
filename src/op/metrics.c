/* The format: https://prometheus.io/docs/instrumenting/exposition_formats/ (text, version 0.0.4). A family is
 *
 *   # HELP name what it is
 *   # TYPE name gauge
 *   name{label="value"} number
 *
 * and all of one family stand together, so each is written by a loop over the branches. Labels are names of branches, metrics that
 * best goes by, and words of ours; in their values \, " and line feeds are escaped. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exp/branch.h"
#include "exp/branch_line.h"
#include "meta/counts.h"
#include "op/reply.h"
#include "op/stats.h"
#include "op/status.h"

/* What status does not say of a branch. */
struct branch_numbers {
	uint64_t complete, incomplete, experiments;
	double latest; /* time of the newest complete checkpoint, NaN: none */
};

struct metrics {
	FILE *f;
	const json_t *status;
	const struct branch_list *l;
	const struct branch_numbers *v;
};

static void put_family(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP expfs_%s %s\n# TYPE expfs_%s %s\n", name, help, name, type);
}

static void put_label(FILE *f, const char *key, const char *value, bool more)
{
	fprintf(f, "%s%s=\"", more ? "," : "{", key);
	for (; *value; value++)
		if (*value == '\n')
			fputs("\\n", f);
		else
			fprintf(f, *value == '\\' || *value == '"' ? "\\%c" : "%c", *value);
	fputs("\"", f);
}

/* With as few digits as tell it from all others. */
static void put_number(FILE *f, const char *before, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	if (isnan(value))
		fprintf(f, "%s NaN\n", before);
	else if (isinf(value))
		fprintf(f, "%s %sInf\n", before, value < 0 ? "-" : "+");
	else
		fprintf(f, "%s %s\n", before, text);
}

static void put(FILE *f, const char *name, const char *type, const char *help, double value)
{
	put_family(f, name, type, help);
	fprintf(f, "expfs_%s", name);
	put_number(f, "", value);
}

static void put_of(FILE *f, const char *name, const char *key, const char *label, double value)
{
	fprintf(f, "expfs_%s", name);
	put_label(f, key, label, false);
	put_number(f, "}", value);
}

static double number(const json_t *j, const char *key)
{
	const json_t *n = json_object_get(j, key);

	return json_is_string(n) ? strtod(json_string_value(n), NULL) : json_number_value(n);
}

static const char *text(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

static int put_store(struct expfs *ex, const struct metrics *m)
{
	const json_t *space = json_object_get(m->status, "space"), *counts = json_object_get(m->status, "counts");
	struct statvfs v;
	FILE *f = m->f;
	int r = expfs_statvfs(ex, &v);

	if (r < 0)
		return r;
	put_family(f, "info", "gauge", "Version of the program; always 1.");
	put_of(f, "info", "version", PACKAGE_VERSION, 1);
	put(f, "read_only", "gauge", "1 while the mount takes no changes.", json_is_true(json_object_get(m->status, "read_only")));
	put(f, "raw_bytes", "gauge", "Bytes of all files.", number(space, "raw"));
	put(f, "unique_bytes", "gauge", "Bytes of all contents, equal ones once, those of history too.", number(space, "unique"));
	put(f, "stored_bytes", "gauge", "What the contents take of the disk.", number(space, "stored"));
	put(f, "disk_size_bytes", "gauge", "Size of the disk of the store.", (double)v.f_blocks * (double)v.f_frsize);
	put(f, "disk_free_bytes", "gauge", "What is free on the disk of the store.", (double)v.f_bavail * (double)v.f_frsize);
	put(f, "files", "gauge", "Regular files.", number(counts, "files"));
	put(f, "contents", "gauge", "Different contents.", number(counts, "objects"));
	put(f, "inodes", "gauge", "Files, directories, links and devices.", number(counts, "inodes"));
	put_family(f, "faults_total", "counter", "What went wrong in what expfs knows of experiments, since the mount.");
	put_of(f, "faults_total", "kind", "tracking", atomic_load(&ex->track_faults));
	put_of(f, "faults_total", "kind", "experiment", atomic_load(&ex->experiment_faults));
	return 0;
}

static void put_background(const struct metrics *m)
{
	json_t *background = json_object_get(m->status, "background"), *n;
	const char *key;

	put_family(m->f, "background_tasks", "gauge", "What waits for work in the background.");
	json_object_foreach (background, key, n)
		put_of(m->f, "background_tasks", "kind", key, json_number_value(n));
}

/* Those of a kind that is not there are 0, so that an alert can be made of it before. */
static void put_warnings(const struct metrics *m)
{
	static const char *const kinds[] = { "read-only", "config", "full", "power-cut", "damaged", "kernel", "collision", "torn",
					     "mixed", "waiting", "duplicate-step", "label", "hp-unparsable", "manifest-lost",
					     "state-unknown-hash" };
	_cleanup_json_ json_t *counts = json_object();
	json_t *w, *n;
	const char *kind;
	size_t i;

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		json_object_set_new(counts, kinds[k], json_integer(0));
	json_array_foreach (json_object_get(m->status, "warnings"), i, w)
		json_object_set_new(counts, text(w, "kind"), json_integer(1 + (json_int_t)number(counts, text(w, "kind"))));
	put_family(m->f, "warnings", "gauge", "Warnings of expfs status, up to 1000 in all.");
	json_object_foreach (counts, kind, n)
		put_of(m->f, "warnings", "kind", kind, json_number_value(n));
}

static void put_best(const struct metrics *m)
{
	const json_t *branches = json_object_get(m->status, "branches"), *b;
	size_t i;

	put_family(m->f, "latest_step", "gauge", "Step of the newest complete checkpoint.");
	json_array_foreach (branches, i, b)
		if (json_is_integer(json_object_get(json_object_get(b, "latest"), "step")))
			put_of(m->f, "latest_step", "branch", text(b, "name"), number(json_object_get(b, "latest"), "step"));
	put_family(m->f, "best_step", "gauge", "Step of the best checkpoint.");
	json_array_foreach (branches, i, b)
		if (json_is_integer(json_object_get(json_object_get(b, "best"), "step")))
			put_of(m->f, "best_step", "branch", text(b, "name"), number(json_object_get(b, "best"), "step"));
	put_family(m->f, "best_value", "gauge", "Metric of the best checkpoint.");
	json_array_foreach (branches, i, b) {
		const json_t *best = json_object_get(b, "best");

		if (!*text(best, "metric"))
			continue;
		fputs("expfs_best_value", m->f);
		put_label(m->f, "branch", text(b, "name"), false);
		put_label(m->f, "metric", text(best, "metric"), true);
		put_number(m->f, "}", number(best, "value"));
	}
}

static void put_branch_label(const struct metrics *m, size_t i, const char *name)
{
	_cleanup_json_ json_t *branch = reply_text(m->l->v[i].name);

	fprintf(m->f, "expfs_%s", name);
	put_label(m->f, "branch", json_string_value(branch), false);
}

static void put_branches(const struct metrics *m)
{
	put(m->f, "branches", "gauge", "Branches.", (double)m->l->n);
	put_family(m->f, "experiments", "gauge", "Experiments on the line of a branch.");
	for (size_t i = 0; i < m->l->n; i++) {
		put_branch_label(m, i, "experiments");
		put_number(m->f, "}", (double)m->v[i].experiments);
	}
	put_family(m->f, "checkpoints", "gauge", "Checkpoints that are there: complete, or as they are now not.");
	for (size_t i = 0; i < m->l->n; i++) {
		put_branch_label(m, i, "checkpoints");
		put_label(m->f, "state", "complete", true);
		put_number(m->f, "}", (double)m->v[i].complete);
		put_branch_label(m, i, "checkpoints");
		put_label(m->f, "state", "incomplete", true);
		put_number(m->f, "}", (double)m->v[i].incomplete);
	}
	put_family(m->f, "latest_modified_timestamp_seconds", "gauge", "When the newest complete checkpoint was written.");
	for (size_t i = 0; i < m->l->n; i++)
		if (!isnan(m->v[i].latest)) {
			put_branch_label(m, i, "latest_modified_timestamp_seconds");
			put_number(m->f, "}", m->v[i].latest);
		}
}

/* Of the directories into which he who asks may look. */
struct counting {
	const struct checkpoint_set *s;
	struct db *db;
	uint64_t n;
};

static int add_directory(void *arg, uint64_t one, uint64_t n)
{
	struct counting *c = arg;
	struct tracked_row t;
	int r = tracked_get(c->db, one, &t);

	if (r == 0)
		r = checkpoint_is_visible(c->s, c->db, &t);
	c->n += r == 1 ? n : 0;
	return MIN(r, 0);
}

static int count(const struct checkpoint_set *s, bool complete, uint64_t *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);
	struct counting c = { .s = s, .db = db };
	int r = 0;

	for (size_t i = 0; i < s->n && r == 0; i++)
		r = count_checkpoints(db, s->ids[i], complete, add_directory, &c);
	*ret = c.n;
	return r;
}

static int get_numbers(struct expfs *ex, struct cred *cred, const struct branch *b, struct branch_numbers *ret)
{
	_cleanup_checkpoint_set_ struct checkpoint_set s = { 0 };
	_cleanup_checkpoint_ struct checkpoint c = { 0 };
	int r = branch_checkpoints(ex, cred, b, &s);

	if (r == 0)
		r = checkpoint_latest(&s, &c);
	ret->latest = r == 0 ? (double)c.version.mtime / 1e9 : NAN;
	if (r == 0 || r == -ENOENT)
		r = count(&s, true, &ret->complete);
	if (r == 0)
		r = count(&s, false, &ret->incomplete);
	for (size_t i = 0; i < s.n && r == 0; i++) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
		uint64_t n = 0;

		r = count_experiments(db, s.ids[i], &n);
		ret->experiments += n;
	}
	return r;
}

static int write_all(struct expfs *ex, const struct metrics *m)
{
	int r = put_store(ex, m);

	put_background(m);
	put_warnings(m);
	put_branches(m);
	put_best(m);
	return r;
}

static int make_text(struct expfs *ex, struct metrics *m, char **ret)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	m->f = open_memstream(&text, &len);
	if (!m->f)
		return -ENOMEM;
	r = write_all(ex, m);
	if (fclose(m->f) != 0)
		return -ENOMEM;
	if (r == 0)
		*ret = steal(&text);
	return r;
}

int metrics_text(struct expfs *ex, struct cred *cred, char **ret)
{
	_cleanup_free_ struct branch_numbers *v = NULL;
	_cleanup_json_ json_t *status = NULL;
	struct branch_list l;
	int r = status_json(ex, cred, "", &status);

	if (r == 0)
		r = branch_list_open(ex, cred, &l);
	if (r < 0)
		return r;
	v = calloc(l.n + 1, sizeof(*v));
	r = v ? 0 : -ENOMEM;
	for (size_t i = 0; i < l.n && r == 0; i++)
		r = get_numbers(ex, cred, &l.v[i], &v[i]);
	if (r == 0)
		r = make_text(ex, &(struct metrics){ .status = status, .l = &l, .v = v }, ret);
	branch_list_free(&l);
	return r;
}
