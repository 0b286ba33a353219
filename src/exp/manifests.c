#include "exp/manifests.h"

#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/file.h"
#include "format/manifest.h"
#include "format/state_file.h"
#include "meta/version.h"
#include "util/human.h"
#include "util/io.h"

#define READ_MAX 1000 /* versions, the last ones: some seconds */

/* What is remembered of one manifest, by ids of versions. */
struct known {
	uint64_t tracked;
	uint64_t last; /* the last one that was read */
	uint64_t best; /* the last one that had all that those before it had */
};

struct manifests {
	pthread_mutex_t lock;
	struct known *v;
	size_t n;
};

int manifests_new(struct manifests **ret)
{
	struct manifests *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	pthread_mutex_init(&m->lock, NULL);
	*ret = m;
	return 0;
}

void manifests_free(struct manifests *m)
{
	pthread_mutex_destroy(&m->lock);
	free(m->v);
	free(m);
}

void manifest_finding_free(struct manifest_finding *f)
{
	free(f->text);
}

static struct known *find_known(struct manifests *m, uint64_t tracked)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].tracked == tracked)
			return &m->v[i];
	return NULL;
}

static struct known recall(struct expfs *ex, uint64_t tracked)
{
	const struct known *k;

	scoped_lock(&ex->manifests->lock);
	k = find_known(ex->manifests, tracked);
	return k ? *k : (struct known){ .tracked = tracked };
}

/* Without memory for it the versions are read again. */
static void remember(struct expfs *ex, const struct known *what)
{
	struct manifests *m = ex->manifests;
	struct known *k, *v;

	scoped_lock(&m->lock);
	k = find_known(m, what->tracked);
	if (!k) {
		v = array_grow(m->v, m->n, sizeof(*v));
		if (!v)
			return;
		m->v = v;
		k = &v[m->n++];
	}
	*k = *what;
}

/* The bytes of an object (0: none), up to one more than max; to be freed. */
static int read_object(struct expfs *ex, uint64_t object, size_t max, char **ret, size_t *ret_len)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	_cleanup_free_ char *buf = NULL;
	struct stat st = { 0 };
	size_t room;
	ssize_t n = 0;
	int fd, r = object ? object_get(ex->store, object, &o) : 0;

	if (r == 0 && o)
		r = object_pin(o, &fd);
	if (r < 0)
		return r;
	r = o ? io_stat(fd, &st) : 0;
	room = MIN((size_t)st.st_size, max + 1);
	buf = malloc(room + 1);
	if (r == 0)
		n = !buf ? -ENOMEM : o ? io_pread(fd, buf, room, 0) : 0;
	if (o)
		object_unpin(o);
	if (r < 0 || n < 0)
		return r < 0 ? r : (int)n;
	*ret = steal(&buf);
	*ret_len = (size_t)n;
	return 0;
}

static void cleanup_manifest(struct manifest **m)
{
	if (*m)
		manifest_free(*m);
}

static int read_manifest(struct expfs *ex, const struct version_row *v, struct manifest **ret)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = read_object(ex, v->object, MANIFEST_SIZE_MAX, &text, &len);

	return r < 0 ? r : manifest_parse(text, len, ret);
}

struct versions {
	struct known known;
	struct version_row *v;
	size_t n;
};

static void cleanup_versions(struct versions *l)
{
	free(l->v);
}

static int add_version(void *arg, const struct version_row *row)
{
	struct versions *l = arg;
	struct version_row *v;

	if (row->id != l->known.best && row->id < l->known.last)
		return 0;
	v = array_grow(l->v, l->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n++] = *row;
	return 0;
}

/* Those to be read: the best one known and the last one that was read, and all after that. Where the
 * best one was forgotten, all. */
static int list_versions(struct expfs *ex, struct versions *l)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = version_list(db, l->known.tracked, add_version, l);

	if (r < 0 || !l->known.best || (l->n > 0 && l->v[0].id == l->known.best))
		return r;
	l->n = 0;
	l->known = (struct known){ .tracked = l->known.tracked };
	return version_list(db, l->known.tracked, add_version, l);
}

struct walk {
	struct expfs *ex;
	struct version_row best;
	struct manifest *had; /* the best one */
	struct manifest *has; /* the last one; NULL: it is the best one */
};

static void cleanup_walk(struct walk *w)
{
	cleanup_manifest(&w->had);
	cleanup_manifest(&w->has);
}

/* On to the next version. One that cannot be read, or was forgotten meanwhile, tells nothing. */
static int step(struct walk *w, const struct version_row *v)
{
	_cleanup_(cleanup_manifest) struct manifest *m = NULL;
	int r = read_manifest(w->ex, v, &m);

	cleanup_manifest(&w->has);
	w->has = NULL;
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (w->had && manifest_lost(w->had, m)) {
		w->has = steal(&m);
		return 0;
	}
	cleanup_manifest(&w->had);
	w->had = steal(&m);
	w->best = *v;
	return 0;
}

static int say_lost(const struct walk *w, struct manifest_finding *ret)
{
	static const char *const what[] = {
		[MANIFEST_WHOLE] = "lost experiments", [MANIFEST_NO_LATEST] = "has no latest_hash",
		[MANIFEST_NO_EXPERIMENTS] = "has no experiments", [MANIFEST_EMPTY] = "is empty",
		[MANIFEST_BROKEN] = "does not parse",
	};
	char count[HUMAN_COUNT];
	size_t left = 0;

	for (size_t i = 0; i < w->had->count; i++)
		left += manifest_find(w->has, w->had->entries[i].hash) != NULL;
	ret->fault = MANIFEST_LOST;
	ret->better = w->best.n;
	if (asprintf(&ret->text, "%s%s%s; it has %zu of the %s of version %llu", what[w->has->state],
		     *w->has->why.text ? ": " : "", w->has->why.text, left, human_count(w->had->count, "experiment", count),
		     (unsigned long long)w->best.n) < 0)
		ret->text = NULL;
	return ret->text ? 0 : -ENOMEM;
}

static int find_lost(struct expfs *ex, const struct tracked_row *t, struct manifest_finding *ret)
{
	_cleanup_(cleanup_walk) struct walk w = { .ex = ex };
	_cleanup_(cleanup_versions) struct versions l = { .known = recall(ex, t->id) };
	int r = list_versions(ex, &l);
	size_t i = l.n > READ_MAX ? l.n - READ_MAX : 0;

	if (r == 0 && i > 0 && l.known.best)
		r = step(&w, &l.v[0]);
	for (; i < l.n && r == 0; i++)
		r = step(&w, &l.v[i]);
	if (r < 0 || !w.had)
		return r;
	remember(ex, &(struct known){ .tracked = t->id, .last = l.v[l.n - 1].id, .best = w.best.id });
	return w.has ? say_lost(&w, ret) : 0;
}

/* The version that the manifest beside a state file holds; -ENOENT. */
static int find_manifest(struct expfs *ex, const struct tracked_row *state, struct version_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row dir, t;
	int r = tracked_by_name(db, state->parent, "checkpoints", &dir);

	if (r == 0)
		r = tracked_by_name(db, dir.id, "manifest.yaml", &t);
	return r < 0 ? r : t.head ? version_get(db, t.head, ret) : -ENOENT;
}

static int read_state(struct expfs *ex, const struct tracked_row *t, struct state_file *ret)
{
	_cleanup_free_ char *text = NULL;
	struct version_row v;
	struct reason why;
	size_t len;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = version_get(db, t->head, &v);
	}
	if (r == 0)
		r = read_object(ex, v.object, STATE_FILE_SIZE_MAX, &text, &len);
	return r < 0 ? r : state_file_parse(text, len, ret, &why);
}

/* A state file that does not parse is passed over by who resumes. */
static int find_unknown(struct expfs *ex, const struct tracked_row *t, struct manifest_finding *ret)
{
	_cleanup_(cleanup_manifest) struct manifest *m = NULL;
	struct version_row v;
	struct state_file s;
	int r = read_state(ex, t, &s);

	if (r < 0 || !*s.current_exp_hash)
		return r == -ENOMEM ? r : 0;
	r = find_manifest(ex, t, &v);
	if (r == 0)
		r = read_manifest(ex, &v, &m);
	if (r < 0 && r != -ENOENT)
		return r == -ENOMEM ? r : 0;
	if (m && manifest_find(m, s.current_exp_hash))
		return 0;
	ret->fault = MANIFEST_UNKNOWN_HASH;
	if (asprintf(&ret->text, "names the experiment %s, which %s; a training that resumes from it loads nothing",
		     s.current_exp_hash, m ? "checkpoints/manifest.yaml does not list" : "no manifest lists") < 0)
		ret->text = NULL;
	return ret->text ? 0 : -ENOMEM;
}

int manifest_find_fault(struct expfs *ex, const struct tracked_row *t, const char *name, struct manifest_finding *ret)
{
	*ret = (struct manifest_finding){ .fault = MANIFEST_FINE };
	/* What a forked child's close sealed may not be all yet. */
	if (!t->ino || !t->head || file_is_written(ex, t->ino))
		return 0;
	if (!strcmp(name, "manifest.yaml"))
		return find_lost(ex, t, ret);
	return !strcmp(name, ".checkpoint_manager_state.json") ? find_unknown(ex, t, ret) : 0;
}
