#include "exp/state.h"

#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/known.h"
#include "exp/structure.h"
#include "format/hp.h"
#include "format/listing.h"
#include "format/snapshot.h"
#include "meta/content.h"
#include "util/hex.h"

#define VERSIONS_MAX 64      /* of a file that are tried until one parses */

void state_free(struct state *s)
{
	free(s->fault);
	free(s->fault_path);
	*s = (struct state){ 0 };
}

/* Versions that were in force. */
struct items {
	struct state_file *v;
	size_t n;
	struct db *db;
	size_t skip; /* of a path, to what is below the run */
	uint64_t dir; /* of which dir_path is the path: most have the one before's */
	char *dir_path;
};

static void items_free(struct items *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
	free(l->dir_path);
}
#define _cleanup_items_ _cleanup_(items_free)

bool state_is_of_root(const char *path)
{
	static const char *const dirs[] = { "checkpoints/HP/", "checkpoints/data/", "checkpoints/models/" };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		const char *p = strstr(path, dirs[i]);

		if (p && (p == path || p[-1] == '/'))
			return true;
	}
	return false;
}

static int enter(struct items *l, uint64_t dir)
{
	int r;

	if (l->dir == dir)
		return 0;
	l->dir = 0;
	free(steal(&l->dir_path));
	r = tracked_path(l->db, dir, &l->dir_path);
	if (r == 0)
		l->dir = dir;
	return r;
}

/* The path below the run. */
static char *make_path(const struct items *l, const char *name, size_t len)
{
	char *path;

	if (strlen(l->dir_path) <= l->skip)
		return strndup(name, len);
	return asprintf(&path, "%s/%.*s", l->dir_path + l->skip, (int)len, name) < 0 ? NULL : path;
}

static int add_item(void *arg, const struct version_row *v, uint64_t dir, const char *name, size_t len)
{
	struct items *l = arg;
	struct state_file *more;
	int r = enter(l, dir);

	if (r < 0)
		return r;
	more = array_grow(l->v, l->n, sizeof(*more));
	if (!more)
		return -ENOMEM;
	l->v = more;
	more[l->n] = (struct state_file){ .path = make_path(l, name, len), .v = *v };
	if (!more[l->n].path)
		return -ENOMEM;
	if (state_is_of_root(more[l->n].path))
		free(more[l->n].path);
	else
		l->n++;
	return 0;
}

static int item_compare(const void *a, const void *b)
{
	return strcmp(((const struct state_file *)a)->path, ((const struct state_file *)b)->path);
}

/* What of a role was in force, by path. */
static int list_items(struct expfs *ex, const struct tracked_row *run, enum role role, uint64_t at, struct items *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	_cleanup_free_ char *path = NULL;
	int r = tracked_path(db, run->id, &path);

	if (r < 0)
		return r;
	ret->db = db;
	ret->skip = *path ? strlen(path) + 1 : 0;
	r = version_list_in_force(db, run->id, (int)role, at, add_item, ret);
	if (r == 0 && ret->n > 0)
		qsort(ret->v, ret->n, sizeof(*ret->v), item_compare);
	return r;
}

/* The text of a configuration, or "!" and why there is none. */
static int hp_text(struct expfs *ex, const char *path, const struct version_row *v, char **ret)
{
	size_t len = strlen(path);
	enum fact kind = len > 5 && !strcmp(path + len - 5, ".json") ? FACT_HP_JSON : FACT_HP_YAML;
	_cleanup_free_ char *bytes = NULL, *error = NULL;
	const struct config *by = ex->config;
	uint64_t seal = 0;
	int r = v->object ? known_get(ex, v->object, kind, ret, &seal) : -ENOENT;

	if (r == 0 && **ret != '{' && **ret != '!') { /* damaged */
		free(steal(ret));
		r = -ENOENT;
	}
	if (r != -ENOENT)
		return r;
	r = known_read(ex, v, HP_SIZE_MAX, &bytes);
	if (r == 0)
		r = hp_parse(bytes, v->size, path, (const char *const *)by->hash_ignore, ret, &error);
	else if (r == -EFBIG)
		error = strdup("larger than 16 MiB");
	if (r < 0 && r != -EINVAL && r != -EFBIG)
		return r;
	if (r < 0 && asprintf(ret, "!%s", error ? error : "does not parse") < 0)
		return -ENOMEM;
	known_keep(ex, by, v->object, seal, kind, *ret);
	return 0;
}

/* The text of the last version up to v that has one; *ret is NULL where none has. */
static int last_hp_text(struct expfs *ex, const struct state_file *it, char **ret, struct state *s)
{
	struct version_row v = it->v;

	for (int i = 0; i < VERSIONS_MAX; i++) {
		_cleanup_free_ char *text = NULL;
		int r = hp_text(ex, it->path, &v, &text);

		if (r < 0)
			return r;
		if (*text != '!') {
			*ret = steal(&text);
			return 0;
		}
		if (!s->fault) {
			s->fault = strdup(text + 1);
			s->fault_path = strdup(it->path);
			if (!s->fault || !s->fault_path)
				return -ENOMEM;
		}
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

			r = version_before(db, v.tracked, v.n, &v);
		}
		if (r < 0)
			return r == -ENOENT ? 0 : r;
	}
	return 0;
}

/* Of several lightning_logs/version_<n>/hparams.yaml only the last one counts. */
static bool is_superseded(const struct items *l, size_t i)
{
	uint64_t n, other;

	if (!role_hp_version(l->v[i].path, &n))
		return false;
	for (size_t j = 0; j < l->n; j++)
		if (role_hp_version(l->v[j].path, &other) && other > n)
			return true;
	return false;
}

/* The section may be in any of the files. A text is JSON, which is YAML too. */
static void read_options(const char *text, struct manager_options *o)
{
	struct manager_options more;
	struct reason why;

	if (manager_options_parse(text, strlen(text), &more, &why) == 0 && more.given)
		*o = more;
}

/* *ret is NULL where no file has a text. */
static int hp_text_of(struct expfs *ex, const struct items *l, struct state *s, char **ret)
{
	_cleanup_free_ struct hp_file *files = calloc(l->n + 1, sizeof(*files));
	char **texts = calloc(l->n + 1, sizeof(*texts));
	size_t n = 0;
	int r = files && texts ? 0 : -ENOMEM;

	for (size_t i = 0; i < l->n && r == 0; i++) {
		if (is_superseded(l, i))
			continue;
		r = last_hp_text(ex, &l->v[i], &texts[n], s);
		if (r < 0 || !texts[n])
			continue;
		read_options(texts[n], &s->options);
		files[n] = (struct hp_file){ .path = l->v[i].path, .text = texts[n] };
		n++;
	}
	if (r == 0 && n > 0)
		r = hp_whole(files, n, ret);
	for (size_t i = 0; texts && i < n; i++)
		free(texts[i]);
	free(texts);
	return r;
}

static int hp_digest_of(struct expfs *ex, const struct items *l, struct state *s)
{
	_cleanup_free_ char *text = NULL;
	int r = hp_text_of(ex, l, s, &text);

	return r == 0 && text && s->options.dump_config_state ? hp_digest(text, s->segments.digest[SEGMENT_HP]) : r;
}

int state_hp_text(struct expfs *ex, struct state_file *files, size_t n, char **ret)
{
	const struct items l = { .v = files, .n = n };
	_cleanup_state_ struct state s = { 0 };
	_cleanup_free_ char *text = NULL;
	int r = hp_text_of(ex, &l, &s, &text);

	if (r < 0)
		return r;
	*ret = text ? steal(&text) : strdup("{}");
	return *ret ? 0 : -ENOMEM;
}

/* What tells a content from others; of one that is live, as a sparse file may be, its number. */
static int content_digest(struct db *db, const struct version_row *v, uint8_t ret[LISTING_DIGEST_SIZE])
{
	struct content_row c = { 0 };
	int r = v->object ? content_get(db, v->object, &c) : 0;

	if (r == 0 && c.state == CONTENT_LIVE)
		memcpy(c.digest, &v->id, sizeof(v->id));
	memcpy(ret, c.digest, LISTING_DIGEST_SIZE);
	return r == -ESTALE ? 0 : r;
}

/* A single file counts by its content alone if alone is set. */
static int list_digest(struct expfs *ex, const struct items *l, bool alone, char ret[SEGMENT_DIGEST + 1])
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct listing *list = NULL;
	uint8_t digest[LISTING_DIGEST_SIZE], sum[LISTING_SHA256_SIZE];
	int r = listing_new(&list);

	for (size_t i = 0; i < l->n && r == 0; i++) {
		r = content_digest(db, &l->v[i].v, digest);
		if (r == 0)
			r = listing_add(list, alone && l->n == 1 ? "-" : l->v[i].path, digest);
	}
	if (r == 0)
		r = listing_finish(list, sum);
	if (r == 0)
		hex_text(sum, sizeof(sum), ret);
	if (list)
		listing_free(list);
	return r;
}

static bool is_snapshot(const char *path)
{
	const char *name = path_last(path), *tail = strstr(name, "_data_snapshot.");

	return tail && (!strcmp(tail, "_data_snapshot.json") || !strcmp(tail, "_data_snapshot.data.json"));
}

/* "" where the file does not give WeightsLab's text. */
static int snapshot_digest(struct expfs *ex, const struct version_row *v, char ret[SEGMENT_DIGEST + 1])
{
	_cleanup_free_ char *bytes = NULL, *kept = NULL;
	struct snapshot s = { 0 };
	struct reason why;
	uint64_t seal = 0;
	int r = v->object ? known_get(ex, v->object, FACT_SNAPSHOT, &kept, &seal) : 0;

	*ret = 0;
	if (r == 0 && kept && strlen(kept) == SEGMENT_DIGEST)
		strncat(ret, kept, SEGMENT_DIGEST);
	if (r != -ENOENT)
		return r;
	r = known_read(ex, v, SNAPSHOT_SIZE_MAX, &bytes);
	if (r == 0)
		r = snapshot_parse(bytes, v->size, &s, &why);
	if (r == 0 && s.text)
		r = hp_digest(s.text, ret);
	snapshot_clear(&s);
	if (r < 0 && r != -EINVAL && r != -EFBIG)
		return r;
	known_keep(ex, NULL, v->object, seal, FACT_SNAPSHOT, ret);
	return 0;
}

static int data_digest(struct expfs *ex, const struct items *l, char ret[SEGMENT_DIGEST + 1])
{
	const struct state_file *newest = NULL;
	int r = 0;

	for (size_t i = 0; i < l->n; i++)
		if (is_snapshot(l->v[i].path) && (!newest || l->v[i].v.id > newest->v.id))
			newest = &l->v[i];
	if (newest)
		r = snapshot_digest(ex, &newest->v, ret);
	return r < 0 || *ret ? r : list_digest(ex, l, false, ret);
}

/* A branch that was initialised at a step has another model than one that began with none. */
static int model_files_digest(struct expfs *ex, const struct items *l, uint64_t init_step, char ret[SEGMENT_DIGEST + 1])
{
	_cleanup_free_ char *text = NULL;
	int r = list_digest(ex, l, true, ret);

	if (r < 0 || init_step == 0)
		return r;
	if (asprintf(&text, "init_step:%llu\n%s", (unsigned long long)init_step, ret) < 0)
		return -ENOMEM;
	return hp_digest(text, ret);
}

/* Where nothing is said of what is to be kept, all of it counts. */
static const struct manager_options all = { true, true, true, true, true, true, false };

int state_at(struct expfs *ex, const struct tracked_row *run, uint64_t at, const struct version_row *checkpoint,
	     uint64_t init_step, struct state *ret)
{
	_cleanup_items_ struct items hp = { 0 }, model = { 0 }, data = { 0 };
	_cleanup_state_ struct state s = { .options = all };
	char *model_digest = s.segments.digest[SEGMENT_MODEL];
	int r = list_items(ex, run, ROLE_HP, at, &hp);

	if (r == 0)
		r = hp_digest_of(ex, &hp, &s);
	if (r == 0 && s.options.dump_model_architecture)
		r = list_items(ex, run, ROLE_MODEL, at, &model);
	s.weights = model.n == 0;
	if (r == 0 && !s.weights)
		r = model_files_digest(ex, &model, init_step, model_digest);
	else if (r == 0 && checkpoint)
		r = structure_of_version(ex, checkpoint, init_step, model_digest);
	if (r == 0 && s.options.dump_data_state)
		r = list_items(ex, run, ROLE_DATA, at, &data);
	if (r == 0 && data.n > 0)
		r = data_digest(ex, &data, s.segments.digest[SEGMENT_DATA]);
	if (r < 0)
		return r;
	*ret = s;
	s = (struct state){ 0 };
	return 0;
}

int state_options(struct expfs *ex, const struct tracked_row *run, uint64_t at, struct manager_options *ret)
{
	_cleanup_items_ struct items hp = { 0 };
	_cleanup_state_ struct state s = { .options = all };
	_cleanup_free_ char *text = NULL;
	int r = list_items(ex, run, ROLE_HP, at, &hp);

	if (r == 0)
		r = hp_text_of(ex, &hp, &s, &text);
	*ret = s.options;
	return r < 0 ? r : s.fault != NULL;
}

int state_files(struct expfs *ex, const struct tracked_row *run, enum role role, uint64_t at, state_file_fn f, void *arg)
{
	_cleanup_items_ struct items l = { 0 };
	int r = list_items(ex, run, role, at, &l);

	for (size_t i = 0; i < l.n && r == 0; i++)
		if (role != ROLE_HP || !is_superseded(&l, i))
			r = f(arg, l.v[i].path, &l.v[i].v);
	return r;
}
