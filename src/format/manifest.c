/* Read from libyaml's events; what is not known is skipped. A tag that safe_load
 * does not construct (yaml.dump writes !!python/… for a name that is no text)
 * makes the whole unreadable there, so here too. */
#include "format/manifest.h"

#include <string.h>

#include "format/yaml_walk.h"

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
	{ "hp_hash", offsetof(struct manifest_entry, hp_hash) },
	{ "model_hash", offsetof(struct manifest_entry, model_hash) },
	{ "data_hash", offsetof(struct manifest_entry, data_hash) },
	{ "created", offsetof(struct manifest_entry, created) },
	{ "last_used", offsetof(struct manifest_entry, last_used) },
	{ "latest_weight_checkpoint", offsetof(struct manifest_entry, latest_weight_checkpoint) },
	{ "experiment_name", offsetof(struct manifest_entry, experiment_name) },
	{ "notes", offsetof(struct manifest_entry, notes) },
};

static char **field(struct manifest_entry *e, size_t i)
{
	return (char **)(void *)((char *)e + fields[i].offset);
}

static void clear_entry(struct manifest_entry *e)
{
	free(e->hash);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		free(*field(e, i));
}

static void clear_entries(struct manifest *m)
{
	for (size_t i = 0; i < m->count; i++)
		clear_entry(&m->entries[i]);
	free(m->entries);
	m->entries = NULL;
	m->count = 0;
}

void manifest_free(struct manifest *m)
{
	if (!m)
		return;
	clear_entries(m);
	free(m->latest_hash);
	free(m->last_updated);
	free(m->by_hash);
	free(m);
}

static void cleanup_manifest(struct manifest **m)
{
	manifest_free(*m);
}

struct reader {
	struct yaml_walk *walk;
	struct manifest *manifest;
	size_t allocated;
	bool experiments; /* a mapping of them was there */
};

/* The node's text into *to, over what is there; nodes without one are NULL. */
static int read_text(struct reader *rd, char **to)
{
	char *copy = NULL;

	if (yaml_walk_text(rd->walk) && !yaml_walk_is_null(rd->walk)) {
		copy = strdup(yaml_walk_text(rd->walk));
		if (!copy)
			return -ENOMEM;
	}
	free(*to);
	*to = copy;
	return yaml_walk_skip(rd->walk);
}

/* As yaml.dump writes integers. */
static int read_step(struct reader *rd, int64_t *to)
{
	const char *text = yaml_walk_text(rd->walk);
	int64_t step = 0;
	size_t n = text ? strspn(text, "0123456789") : 0;

	*to = -1;
	if (n == 0 || text[n] || (n > 1 && text[0] == '0'))
		return yaml_walk_skip(rd->walk);
	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(step, 10, &step) || __builtin_add_overflow(step, text[i] - '0', &step))
			return 0;
	*to = step;
	return 0;
}

static int read_field(struct reader *rd, struct manifest_entry *e)
{
	const char *key = yaml_walk_text(rd->walk);
	size_t i = key ? 0 : ARRAY_SIZE(fields);
	bool step;
	int r;

	while (i < ARRAY_SIZE(fields) && strcmp(key, fields[i].name) != 0)
		i++;
	step = key && !strcmp(key, "latest_weight_step");
	r = yaml_walk_skip(rd->walk);
	if (r == 0)
		r = yaml_walk_next(rd->walk);
	if (r < 0)
		return r;
	if (step)
		return read_step(rd, &e->latest_weight_step);
	return i < ARRAY_SIZE(fields) ? read_text(rd, field(e, i)) : yaml_walk_skip(rd->walk);
}

static int read_entry(struct reader *rd, struct manifest_entry *e)
{
	struct yaml_walk *w = rd->walk;
	int r;

	if (yaml_walk_is_null(w))
		return 0;
	if (w->event.type != YAML_MAPPING_START_EVENT)
		return yaml_walk_bad(w, "experiments: %.64s: fields are wanted here", e->hash);
	for (r = yaml_walk_next(w); r == 0 && w->event.type != YAML_MAPPING_END_EVENT; r = yaml_walk_next(w)) {
		r = read_field(rd, e);
		if (r < 0)
			return r;
	}
	return r;
}

static struct manifest_entry *add_entry(struct reader *rd)
{
	struct manifest *m = rd->manifest;

	if (m->count == rd->allocated) {
		size_t n = MAX(rd->allocated * 2, 16u);
		struct manifest_entry *more = reallocarray(m->entries, n, sizeof(*more));

		if (!more)
			return NULL;
		m->entries = more;
		rd->allocated = n;
	}
	m->entries[m->count] = (struct manifest_entry){ .latest_weight_step = -1 };
	return &m->entries[m->count++];
}

static int read_experiments(struct reader *rd)
{
	struct yaml_walk *w = rd->walk;
	int r;

	rd->experiments = w->event.type == YAML_MAPPING_START_EVENT;
	clear_entries(rd->manifest); /* a second time: the last one counts */
	rd->allocated = 0;
	if (!rd->experiments)
		return yaml_walk_skip(w);
	for (r = yaml_walk_next(w); r == 0 && w->event.type != YAML_MAPPING_END_EVENT; r = yaml_walk_next(w)) {
		struct manifest_entry *e;

		if (!yaml_walk_text(w))
			return yaml_walk_bad(w, "experiments: a hash is wanted here");
		e = add_entry(rd);
		if (!e)
			return -ENOMEM;
		e->hash = strdup(yaml_walk_text(w));
		if (!e->hash)
			return -ENOMEM;
		r = yaml_walk_next(w);
		if (r == 0)
			r = read_entry(rd, e);
		if (r < 0)
			return r;
	}
	return r;
}

static int read_top_value(struct reader *rd)
{
	enum { EXPERIMENTS, LATEST, UPDATED, OTHER } key = OTHER;
	const char *text = yaml_walk_text(rd->walk);
	int r;

	if (text)
		key = !strcmp(text, "experiments") ? EXPERIMENTS : !strcmp(text, "latest_hash") ? LATEST :
		      !strcmp(text, "last_updated") ? UPDATED : OTHER;
	r = yaml_walk_skip(rd->walk);
	if (r == 0)
		r = yaml_walk_next(rd->walk);
	if (r < 0)
		return r;
	switch (key) {
	case EXPERIMENTS:
		return read_experiments(rd);
	case LATEST:
		return read_text(rd, &rd->manifest->latest_hash);
	case UPDATED:
		return read_text(rd, &rd->manifest->last_updated);
	default:
		return yaml_walk_skip(rd->walk);
	}
}

static int read_top(struct yaml_walk *w, void *data)
{
	struct reader *rd = data;
	int r;

	rd->walk = w;
	if (yaml_walk_is_null(w))
		return 0;
	if (w->event.type != YAML_MAPPING_START_EVENT)
		return yaml_walk_bad(w, "keys with values are wanted here");
	for (r = yaml_walk_next(w); r == 0 && w->event.type != YAML_MAPPING_END_EVENT; r = yaml_walk_next(w)) {
		r = read_top_value(rd);
		if (r < 0)
			return r;
	}
	rd->manifest->state = !rd->experiments ? MANIFEST_NO_EXPERIMENTS :
			      !rd->manifest->latest_hash ? MANIFEST_NO_LATEST : MANIFEST_WHOLE;
	return r;
}

static int compare(const void *a, const void *b, void *entries)
{
	const struct manifest_entry *e = entries;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int c = strcmp(e[i].hash, e[j].hash);

	return c ? c : i < j ? -1 : i > j;
}

/* Of entries with one hash the first takes the place of all, with what the last
 * one says; the hash of the others is taken from them. */
static bool merge_equal(struct manifest *m)
{
	bool any = false;

	for (size_t i = m->count; i-- > 1;) {
		struct manifest_entry *first = &m->entries[m->by_hash[i - 1]], *last = &m->entries[m->by_hash[i]];

		if (strcmp(first->hash, last->hash) != 0)
			continue;
		clear_entry(first);
		*first = *last;
		*last = (struct manifest_entry){ 0 };
		any = true;
	}
	return any;
}

static int sort_entries(struct manifest *m)
{
	size_t count = 0;

	free(m->by_hash);
	m->by_hash = calloc(m->count + 1, sizeof(*m->by_hash));
	if (!m->by_hash)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++)
		m->by_hash[i] = i;
	if (m->count)
		qsort_r(m->by_hash, m->count, sizeof(*m->by_hash), compare, m->entries);
	if (!merge_equal(m))
		return 0;
	for (size_t i = 0; i < m->count; i++)
		if (m->entries[i].hash)
			m->entries[count++] = m->entries[i];
	m->count = count;
	return sort_entries(m); /* once more, now without equal ones */
}

int manifest_parse(const char *text, size_t len, struct manifest **ret)
{
	_cleanup_(cleanup_manifest) struct manifest *m = calloc(1, sizeof(*m));
	struct reader rd = { .manifest = m };
	int r;

	if (!m)
		return -ENOMEM;
	m->state = MANIFEST_EMPTY;
	if (len > MANIFEST_SIZE_MAX)
		r = reason_set(&m->why, 0, "larger than %u MiB", MANIFEST_SIZE_MAX >> 20);
	else
		r = yaml_walk(text, len, YAML_WALK_UNSAFE_TAGS, read_top, &rd, &m->why);
	if (r == -EINVAL) {
		clear_entries(m);
		free(steal(&m->latest_hash));
		free(steal(&m->last_updated));
		m->state = MANIFEST_BROKEN;
		r = 0;
	}
	if (r == 0)
		r = sort_entries(m);
	if (r < 0)
		return r;
	*ret = steal(&m);
	return 0;
}

const struct manifest_entry *manifest_find(const struct manifest *m, const char *hash)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct manifest_entry *e = &m->entries[m->by_hash[middle]];
		int c = strcmp(hash, e->hash);

		if (c == 0)
			return e;
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

bool manifest_lost(const struct manifest *before, const struct manifest *after)
{
	if (before->latest_hash && !after->latest_hash)
		return true;
	for (size_t i = 0; i < before->count; i++)
		if (!manifest_find(after, before->entries[i].hash))
			return true;
	return false;
}
