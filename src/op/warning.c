#include "op/warning.h"

#include <stdio.h>
#include <string.h>

#include "exp/settings.h"
#include "exp/checkpoint.h"
#include "exp/judge.h"
#include "exp/manifests.h"
#include "exp/path.h"
#include "exp/step.h"
#include "op/labels.h"
#include "op/reply.h"
#include "util/human.h"

#define NAMES_COMPARED 16 /* of one step in one directory */

/* path is one of the room exp, or NULL. */
static _printf_(4, 5) void warn(json_t *warnings, const char *kind, const char *path, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	if (json_array_size(warnings) >= WARNINGS_MAX)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		json_array_append_new(warnings, json_pack("{s:s, s:o, s:o}", "kind", kind, "path",
							  path ? reply_path(path) : json_null(), "text",
							  reply_text(text)));
}

static void warn_of_power_cut(const struct recovered *k, json_t *warnings)
{
	if (k->back + k->gone + k->kept > 0)
		warn(warnings, "power-cut", NULL,
		     "of the files that were written last before a power cut %u have their content from before, %u that were "
		     "new are gone, %u are as the disk has them; the store's log names them",
		     k->back, k->gone, k->kept);
}

static int add_collision(void *arg, enum segment which, const char *text, const char *digest)
{
	static const char *const names[] = { "HP", "MODEL", "DATA" };

	warn(arg, "collision", NULL, "the %s of digest %s is named %s, for the first characters of its digest are another's",
	     names[which], digest, text);
	return 0;
}

static int warn_of_collisions(struct expfs *ex, json_t *warnings)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return segment_list_collisions(db, add_collision, warnings);
}

void warn_of_lost(const struct branch *b, const struct ledger_row *selection, json_t *warnings)
{
	warn(warnings, "damaged", b->path, "what was selected as %s:%s is lost; select another one under that name: expfs select",
	     b->name, selection->name);
}

/* Could he come to the path? */
static bool may_find(struct expfs *ex, struct cred *cred, const char *path)
{
	uint64_t ino;

	cred_ask(cred);
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		return !cred || (path_lookup(db, path, &ino) == 0 && path_may_walk(db, cred, ino, R_OK | X_OK) == 0);
	}
}

void warn_of_pending(struct expfs *ex, struct cred *cred, const struct pending *p, json_t *warnings)
{
	if (p->fault && may_find(ex, cred, p->fault_path))
		warn(warnings, "hp-unparsable", p->fault_path, "does not parse: %s; its last version that did counts", p->fault);
}

int warn_of_store(struct expfs *ex, json_t *warnings)
{
	_cleanup_free_ char *fault = NULL;
	char count[HUMAN_COUNT];
	struct statvfs v;
	int r;

	if (atomic_load(&ex->read_only) && ex->read_only_reason)
		warn(warnings, "read-only", NULL, "%s", ex->read_only_reason);
	r = settings_fault(ex, &fault);
	if (r < 0)
		return r;
	if (fault)
		warn(warnings, "config", NULL, "config.yaml: %s", fault);
	for (char **p = ex->config->unknown; *p; p++)
		warn(warnings, "config", NULL, "config.yaml: %s", *p);
	if (atomic_load(&ex->track_faults) > 0)
		warn(warnings, "damaged", NULL, "%s could not be followed in history and views; unmount the store and "
		     "run expfs fsck on it", human_count(atomic_load(&ex->track_faults), "change", count));
	if (atomic_load(&ex->untold) > 0)
		warn(warnings, "kernel", NULL, "the kernel does not know yet of %s that a load changed, which may lead to what "
		     "was before; the store's log tells why", human_count(atomic_load(&ex->untold), "name", count));
	if (atomic_load(&ex->experiment_faults) > 0)
		warn(warnings, "damaged", NULL, "the experiments of %s could not be found out; the store's log tells "
		     "why of the first", human_count(atomic_load(&ex->experiment_faults), "checkpoint", count));
	warn_of_power_cut(&ex->recovered, warnings);
	r = warn_of_collisions(ex, warnings);
	if (r == 0)
		r = expfs_statvfs(ex, &v);
	if (r < 0)
		return r;
	if ((uint64_t)v.f_bavail * v.f_frsize < STORE_RESERVE)
		warn(warnings, "full", NULL, "the disk of the store is full");
	else if (v.f_files > 0 && v.f_favail == 0)
		warn(warnings, "full", NULL, "the disk of the store has no inodes left");
	return 0;
}

/* The name with its numbers without leading zeros. */
static void canonical(char *name)
{
	char *to = name;
	bool in_number = false;

	for (const char *s = name; *s; s++) {
		bool digit = *s >= '0' && *s <= '9';

		if (*s == '0' && !in_number && s[1] >= '0' && s[1] <= '9')
			continue;
		in_number = digit;
		*to++ = *s;
	}
	*to = 0;
}

/* What is found in the database is told when its reader is free again. */
struct found {
	struct {
		struct tracked_row t;
		char *name, *path;
		char *other; /* the name of the same step */
	} v[WARNINGS_MAX];
	size_t n;
	struct db *db;
	struct cred *cred; /* who is told */
};

static void cleanup_found(struct found **f)
{
	for (size_t i = 0; *f && i < (*f)->n; i++) {
		free((*f)->v[i].name);
		free((*f)->v[i].path);
		free((*f)->v[i].other);
	}
	free(*f);
}

/* Could he find it, and look into it where that is what is told of? */
static bool may_know(const struct found *f, const struct tracked_row *t)
{
	return t->is_dir ? labels_may_know(f->db, f->cred, t) : !f->cred || path_may_walk(f->db, f->cred, t->ino, R_OK | X_OK) == 0;
}

static int add(struct found *f, const struct tracked_row *t, const char *name, const char *other)
{
	int r;

	if (f->n == WARNINGS_MAX)
		return 1;
	if (!may_know(f, t))
		return 0;
	f->v[f->n].t = *t;
	f->v[f->n].name = strdup(name);
	f->v[f->n].other = other ? strdup(other) : NULL;
	r = tracked_path(f->db, t->id, &f->v[f->n].path);
	f->n++;
	return r < 0 ? r : f->v[f->n - 1].name ? 0 : -ENOMEM;
}

static int add_path(void *arg, const struct tracked_row *t, const char *name)
{
	return add(arg, t, name, NULL);
}

/* Names in one directory that have one step. */
struct same_step {
	struct found *f;
	uint64_t parent;
	int64_t step;
	char name[NAMES_COMPARED][TRACKED_NAME];
	size_t n;
};

static bool are_one(const char *name, const char *other)
{
	char a[TRACKED_NAME], b[TRACKED_NAME];

	snprintf(a, sizeof(a), "%s", name);
	snprintf(b, sizeof(b), "%s", other);
	canonical(a);
	canonical(b);
	return strcmp(a, b) == 0;
}

/* As step_0900000.pt and step_900000.pt; what tells its step inside is a copy, at most. */
static int add_duplicate(void *arg, const struct tracked_row *t, const char *name)
{
	struct same_step *s = arg;

	if (t->parent != s->parent || t->step != s->step)
		s->n = 0;
	s->parent = t->parent;
	s->step = t->step;
	if (step_in_name(name, t->is_dir) == NO_STEP)
		return 0;
	for (size_t i = 0; i < s->n; i++)
		if (are_one(name, s->name[i]))
			return add(s->f, t, name, s->name[i]);
	if (s->n < NAMES_COMPARED)
		snprintf(s->name[s->n++], TRACKED_NAME, "%s", name);
	return 0;
}

static int list_incomplete(struct db *db, uint64_t run, struct found *f)
{
	return tracked_list_incomplete(db, run, add_path, f);
}

static int list_duplicates(struct db *db, uint64_t run, struct found *f)
{
	struct same_step s = { .f = f };

	return tracked_list_steps(db, run, add_duplicate, &s);
}

static int list_manifests(struct db *db, uint64_t run, struct found *f)
{
	return tracked_list_role(db, run, ROLE_MANIFEST, true, add_path, f);
}

/* Of the run of a branch. */
static int find(struct expfs *ex, struct cred *cred, const struct branch *b, int (*list)(struct db *, uint64_t, struct found *),
		struct found *ret)
{
	const uint64_t ids[] = { b->id, b->run };
	int r = 0;

	cred_ask(cred);
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		ret->db = db;
		ret->cred = cred;
		for (size_t i = 0; i < (b->run ? 2 : 1) && r == 0; i++)
			r = list(db, ids[i], ret);
	}
	return MIN(r, 0);
}

static int warn_of_incomplete(struct expfs *ex, struct cred *cred, const struct branch *b, bool none, json_t *warnings)
{
	static const char *const kinds[] = { [JUDGE_TORN] = "torn", [JUDGE_PASSING] = "waiting", [JUDGE_MIXED] = "mixed" };
	_cleanup_(cleanup_found) struct found *f = calloc(1, sizeof(*f));
	int r = f ? find(ex, cred, b, list_incomplete, f) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < f->n; i++) {
		_cleanup_free_ char *why = NULL;
		enum judge_kind kind;

		r = judge_explain(ex, &f->v[i].t, &why, &kind);
		/* What somebody who misses it wants to know. */
		if (r == 0 && why && (kind != JUDGE_PASSING || (none && i == f->n - 1)))
			warn(warnings, kinds[kind], f->v[i].path, "is not complete: %s", why);
	}
	return r;
}

int warn_of_checkpoints(struct expfs *ex, struct cred *cred, const struct branch *b, bool none, json_t *warnings)
{
	_cleanup_(cleanup_found) struct found *f = NULL;
	int r = warn_of_incomplete(ex, cred, b, none, warnings);

	f = r == 0 ? calloc(1, sizeof(*f)) : NULL;
	if (!f)
		return r < 0 ? r : -ENOMEM;
	r = find(ex, cred, b, list_duplicates, f);
	for (size_t i = 0; r == 0 && i < f->n; i++)
		warn(warnings, "duplicate-step", f->v[i].path, "stands for the same step as %s", f->v[i].other);
	return r;
}

static void add_label(void *arg, const char *path, const char *fault)
{
	warn(arg, "label", path, "%s", fault);
}

int warn_of_labels(struct expfs *ex, struct cred *cred, const struct branch *b, json_t *warnings)
{
	return labels_of_branch(ex, cred, b, add_label, warnings);
}

static void warn_of_manifest(struct expfs *ex, const char *path, const struct manifest_finding *f, json_t *warnings)
{
	if (f->fault == MANIFEST_LOST)
		warn(warnings, "manifest-lost", path, "%s, which comes back by: expfs restore %s/%s@%llu", f->text,
		     ex->mountpoint ? ex->mountpoint : "", path, (unsigned long long)f->better);
	else if (f->fault == MANIFEST_UNKNOWN_HASH)
		warn(warnings, "state-unknown-hash", path, "%s", f->text);
}

int warn_of_manifests(struct expfs *ex, struct cred *cred, const struct branch *b, json_t *warnings)
{
	_cleanup_(cleanup_found) struct found *f = calloc(1, sizeof(*f));
	int r = f ? find(ex, cred, b, list_manifests, f) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < f->n; i++) {
		struct manifest_finding finding;

		r = manifest_find_fault(ex, &f->v[i].t, f->v[i].name, &finding);
		if (r == 0)
			warn_of_manifest(ex, f->v[i].path, &finding, warnings);
		manifest_finding_free(&finding);
	}
	return r;
}
