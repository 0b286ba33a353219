/* A branch's log as a manifest in WeightsLab's schema (format/manifest.h). */
#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "format/manifest.h"
#include "op/experiments.h"
#include "op/reply.h"

#define TIME_TEXT (REPLY_TIME_TEXT + 8)

static const char *get(const json_t *j, const char *key)
{
	return json_string_value(json_object_get(j, key));
}

/* An entry, and the texts that are made for it. */
struct made {
	char segment[SEGMENTS][SEGMENT_LEN + 1];
	char created[TIME_TEXT], used[TIME_TEXT];
	char *checkpoint;
};

/* Local time with microseconds, as datetime.isoformat() gives it. */
static void iso_text(const char *text, char ret[static TIME_TEXT])
{
	char when[REPLY_TIME_TEXT], *space;
	const char *fraction = text ? strchr(text, '.') : NULL;

	*ret = 0;
	if (!fraction)
		return;
	reply_time_text(text, when);
	space = strchr(when, ' ');
	if (space)
		snprintf(ret, TIME_TEXT, "%.*sT%.8s%.7s", (int)(space - when), when, space + 1, fraction);
}

/* The name of the checkpoint, to be freed, of which history names the directory that its versions are in. */
static char *checkpoint_name(const char *path)
{
	static const char history[] = "/.expfs/history/";
	_cleanup_free_ char *copy = strdup(path);

	if (copy && !strncmp(copy, history, strlen(history)))
		*strrchr(copy, '/') = 0;
	return copy ? strdup(path_last(copy)) : NULL;
}

static int make_entry(const json_t *j, const char *name, struct made *m, struct manifest_entry *ret)
{
	const json_t *latest = json_object_get(j, "latest"), *step = json_object_get(latest, "step");
	const char *hash = get(j, "hash"), *path = get(latest, "path");

	if (!hash || strlen(hash) != EXPERIMENT_HASH)
		return -EUCLEAN;
	for (int i = 0; i < SEGMENTS; i++)
		snprintf(m->segment[i], sizeof(m->segment[i]), "%.8s", hash + i * SEGMENT_LEN);
	iso_text(get(j, "time"), m->created);
	iso_text(get(path ? latest : j, "time"), m->used);
	m->checkpoint = path ? checkpoint_name(path) : NULL;
	if (path && !m->checkpoint)
		return -ENOMEM;
	*ret = (struct manifest_entry){
		.hash = (char *)(uintptr_t)hash,
		.hp_hash = m->segment[SEGMENT_HP],
		.model_hash = m->segment[SEGMENT_MODEL],
		.data_hash = m->segment[SEGMENT_DATA],
		.created = m->created,
		.last_used = strcmp(m->used, m->created) > 0 ? m->used : m->created,
		.latest_weight_checkpoint = m->checkpoint,
		.latest_weight_step = json_is_integer(step) ? json_integer_value(step) : -1,
		.experiment_name = (char *)(uintptr_t)name,
	};
	return 0;
}

static int write_manifest(const json_t *list, const json_t *branch, struct made *made, struct manifest *m, char **ret,
			  size_t *ret_len)
{
	const char *head = get(branch, "head");
	int r = 0;

	for (size_t i = 0; i < m->count && r == 0; i++) { /* the first one first */
		struct manifest_entry *e = &m->entries[i];

		r = make_entry(json_array_get(list, m->count - 1 - i), get(branch, "name"), &made[i], e);
		if (r == 0 && (!m->last_updated || strcmp(e->last_used, m->last_updated) > 0))
			m->last_updated = e->last_used;
	}
	m->latest_hash = (char *)(uintptr_t)head;
	return r < 0 ? r : manifest_write(m, ret, ret_len);
}

int experiments_manifest(const json_t *log, char **ret, size_t *ret_len)
{
	const json_t *list = json_object_get(log, "experiments");
	struct manifest m = { .count = json_array_size(list) };
	struct made *made = calloc(m.count + 1, sizeof(*made));
	int r = made ? 0 : -ENOMEM;

	m.entries = calloc(m.count + 1, sizeof(*m.entries));
	if (r == 0)
		r = m.entries ? write_manifest(list, json_array_get(json_object_get(log, "branches"), 0), made, &m, ret,
					       ret_len) :
				-ENOMEM;
	for (size_t i = 0; made && i < m.count; i++)
		free(made[i].checkpoint);
	free(made);
	free(m.entries);
	return r;
}
