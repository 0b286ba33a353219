/* config.yaml: what is not known is skipped as it comes, so that nothing is built
 * from it, and aliases, which could make much out of little, are refused. */
#include "exp/config.h"

#include <stdio.h>
#include <string.h>

#include "format/hp.h"
#include "format/yaml_walk.h"
#include "meta/metric.h"
#include "util/edit_distance.h"

#define MAX_SIZE (1u << 20)
#define MAX_RUNS 1000
#define MAX_IGNORED 1000
#define FIRST_RUN "/runs/*"

const char config_default_text[] =
	"# Configuration of an expfs store. Every key is optional. It is read when the\n"
	"# store is mounted; a file with a mistake in it is not taken, and\n"
	"# `expfs status` says so.\n"
	"\n"
	"# The directories that are runs, beside the top of the mount: each makes a\n"
	"# branch. Patterns are added to this one, which always holds.\n"
	"runs: [\"" FIRST_RUN "\"]\n"
	"\n"
	"# More names for roles, looked at before those that expfs knows by itself. They\n"
	"# work as in .gitignore, from the top of the run; <n> stands for a number, but\n"
	"# gives no step yet. The roles: WEIGHTS, HP, MODEL, DATA, SIGNALS, MANIFEST;\n"
	"# none takes roles away.\n"
	"# roles:\n"
	"#   WEIGHTS: [\"*.ckpt2\", \"state_<n>/\"]\n"
	"#   none: [\"scratch/\"]\n"
	"\n"
	"# When edits of configuration, model and data files become an experiment: when the\n"
	"# next checkpoint completes, or at once (immediate). `expfs commit` always does it.\n"
	"commit: on-checkpoint\n"
	"\n"
	"# Keys at the top of a configuration that do not count for the hash of an experiment.\n"
	"hash:\n"
	"  ignore: [root_log_dir, is_training, pause_at_step, experiment_name]\n"
	"\n"
	"# Which checkpoint is the best: that with the lowest (min) or highest (max) value\n"
	"# of the first of these metrics that any checkpoint of a branch has.\n"
	"best:\n"
	"  metric: [val_loss, eval_loss, loss]\n"
	"  mode: min\n";

struct reader {
	struct yaml_walk *walk;
	struct config *config;
	size_t runs, ignored, unknown, metrics;
};

static void cleanup_config(struct config **c)
{
	if (*c)
		config_free(*c);
}

static void free_list(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}

void config_free(struct config *c)
{
	free_list(c->runs);
	free_list(c->hash_ignore);
	free_list(c->unknown);
	free_list(c->best_metric);
	if (c->rules)
		role_rules_free(c->rules);
	free(c);
}

static int ignore_default(struct config *c)
{
	for (size_t i = 0; hp_ignore_default[i]; i++) {
		c->hash_ignore[i] = strdup(hp_ignore_default[i]);
		if (!c->hash_ignore[i])
			return -ENOMEM;
	}
	return 0;
}

static int best_default(struct config *c)
{
	static const char *const names[] = { "val_loss", "eval_loss", "loss" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		c->best_metric[i] = strdup(names[i]);
		if (!c->best_metric[i])
			return -ENOMEM;
	}
	return 0;
}

int config_new(struct config **ret)
{
	_cleanup_(cleanup_config) struct config *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->runs = calloc(MAX_RUNS + 1, sizeof(*c->runs));
	c->hash_ignore = calloc(MAX_IGNORED + 1, sizeof(*c->hash_ignore));
	c->unknown = calloc(CONFIG_UNKNOWN_MAX + 1, sizeof(*c->unknown));
	c->best_metric = calloc(METRIC_CHOICES + 1, sizeof(*c->best_metric));
	if (!c->runs || !c->hash_ignore || !c->unknown || !c->best_metric)
		return -ENOMEM;
	c->runs[0] = strdup(FIRST_RUN);
	if (!c->runs[0])
		return -ENOMEM;
	r = ignore_default(c);
	if (r == 0)
		r = best_default(c);
	if (r == 0)
		r = role_rules_new(&c->rules);
	if (r < 0)
		return r;
	*ret = steal(&c);
	return 0;
}

#define fail(rd, ...) yaml_walk_bad((rd)->walk, __VA_ARGS__)
#define next(rd) yaml_walk_next((rd)->walk)

typedef int (*pattern_fn)(struct reader *rd, int role);

/* Matched with fnmatch() (exp/path.c), which knows no faulty patterns. */
static int add_run(struct reader *rd, int role)
{
	const char *text = yaml_walk_text(rd->walk);
	size_t n = strlen(text);

	n -= n > 0 && text[n - 1] == '/';
	if (n < 2 || text[0] != '/')
		return fail(rd, "runs: %.100s: a path from the top of the mount is wanted, as /exp/*", text);
	for (size_t i = 0; i < rd->runs; i++)
		if (strlen(rd->config->runs[i]) == n && !memcmp(rd->config->runs[i], text, n))
			return 0;
	if (rd->runs == MAX_RUNS)
		return fail(rd, "runs: more than %d patterns", MAX_RUNS);
	rd->config->runs[rd->runs] = strndup(text, n);
	return rd->config->runs[rd->runs++] ? 0 : -ENOMEM;
}

static int add_role(struct reader *rd, int role)
{
	int r = role_rules_add(rd->config->rules, (enum role)role, yaml_walk_text(rd->walk));

	if (r == -EINVAL)
		return fail(rd, "roles.%s: %.100s: no pattern", role_name((enum role)role), yaml_walk_text(rd->walk));
	if (r == -E2BIG)
		return fail(rd, "roles: more than %d patterns", ROLE_RULES_MAX);
	return r;
}

static int add_ignored(struct reader *rd, int role)
{
	char **p = &rd->config->hash_ignore[rd->ignored];

	if (rd->ignored == MAX_IGNORED)
		return fail(rd, "hash.ignore: more than %d keys", MAX_IGNORED);
	*p = strdup(yaml_walk_text(rd->walk));
	return *p ? (rd->ignored++, 0) : -ENOMEM;
}

/* The first one takes the place of the defaults. */
static int add_metric(struct reader *rd, int role)
{
	const char *text = yaml_walk_text(rd->walk);
	size_t n = text ? strlen(text) : 0;
	char **p = rd->config->best_metric;

	if (n == 0 || n > METRIC_NAME_MAX || n != rd->walk->event.data.scalar.length)
		return fail(rd, "best.metric: the name of a metric is wanted here, or a list of such");
	if (rd->metrics == METRIC_CHOICES)
		return fail(rd, "best.metric: more than %d names", METRIC_CHOICES);
	for (size_t i = rd->metrics; p[i]; i++)
		free(steal(&p[i]));
	p[rd->metrics] = strdup(text);
	return p[rd->metrics] ? (rd->metrics++, 0) : -ENOMEM;
}

/* A list of texts, or nothing, each given to f. */
static int read_list(struct reader *rd, const char *key, pattern_fn f, int role)
{
	int r;

	if (yaml_walk_is_null(rd->walk))
		return 0;
	if (rd->walk->event.type != YAML_SEQUENCE_START_EVENT)
		return fail(rd, "%s: a list is wanted here, as [\"a\", \"b\"]", key);
	for (r = next(rd); r == 0 && rd->walk->event.type != YAML_SEQUENCE_END_EVENT; r = next(rd)) {
		const char *text = yaml_walk_text(rd->walk);

		if (!text || strlen(text) != rd->walk->event.data.scalar.length)
			return fail(rd, "%s: a text is wanted here", key);
		r = f(rd, role);
		if (r < 0)
			return r;
	}
	return r;
}

/* The number of a key in names, count where it is not among them. The event is
 * then that of the key's value. Each may be there once. */
static int read_key(struct reader *rd, const char *const *names, size_t count, unsigned *seen, size_t *ret)
{
	const char *text = yaml_walk_text(rd->walk);
	size_t i = text ? 0 : count;

	while (i < count && strcmp(text, names[i]) != 0)
		i++;
	if (i < count && *seen & 1u << i)
		return fail(rd, "%s: stands here a second time", names[i]);
	*ret = i;
	*seen |= i < count ? 1u << i : 0;
	return 0;
}

static int read_roles(struct reader *rd)
{
	const char *names[ROLE_COUNT];
	unsigned seen = 0;
	int r;

	if (yaml_walk_is_null(rd->walk))
		return 0;
	if (rd->walk->event.type != YAML_MAPPING_START_EVENT)
		return fail(rd, "roles: roles with their patterns are wanted here");
	for (int i = 0; i < ROLE_COUNT; i++)
		names[i] = role_name((enum role)i);
	for (r = next(rd); r == 0 && rd->walk->event.type != YAML_MAPPING_END_EVENT; r = next(rd)) {
		size_t role = 0;

		r = read_key(rd, names, ROLE_COUNT, &seen, &role);
		if (r == 0 && role == ROLE_COUNT)
			r = fail(rd, "roles: %.100s: no such role",
				 yaml_walk_text(rd->walk) ? yaml_walk_text(rd->walk) : "?");
		if (r == 0)
			r = next(rd);
		if (r == 0)
			r = read_list(rd, "roles", add_role, (int)role);
		if (r < 0)
			return r;
	}
	return r;
}

/* The key that may be meant, or NULL. */
static const char *nearest(const char *key, const char *const *names, size_t count)
{
	const char *found = NULL;
	size_t least = 3;

	for (size_t i = 0; i < count; i++) {
		size_t d = edit_distance(key, names[i]);

		if (d < least) {
			least = d;
			found = names[i];
		}
	}
	return found;
}

static int note_unknown(struct reader *rd, const char *const *names, size_t count)
{
	const char *key = yaml_walk_text(rd->walk) ? yaml_walk_text(rd->walk) : "?";
	const char *meant = nearest(key, names, count);
	char **p = &rd->config->unknown[rd->unknown];

	if (rd->unknown == CONFIG_UNKNOWN_MAX)
		return 0;
	if (asprintf(p, "line %zu: %.200s: no key of this version%s%s%s", rd->walk->event.start_mark.line + 1, key,
		     meant ? "; perhaps " : "", meant ? meant : "", meant ? " is meant" : "") < 0) {
		*p = NULL;
		return -ENOMEM;
	}
	rd->unknown++;
	return 0;
}

/* From a key, which is told where it is not known, to its value. */
static int take_key(struct reader *rd, const char *const *names, size_t count, size_t key)
{
	int r = 0;

	if (key == count)
		r = note_unknown(rd, names, count);
	if (r == 0 && key == count)
		r = yaml_walk_skip(rd->walk);
	return r < 0 ? r : next(rd);
}

/* Those of the defaults do not count beside a list. */
static int read_ignored(struct reader *rd)
{
	if (yaml_walk_is_null(rd->walk))
		return 0;
	for (char **p = rd->config->hash_ignore; *p; p++)
		free(steal(p));
	return read_list(rd, "hash.ignore", add_ignored, 0);
}

static int read_hash(struct reader *rd)
{
	static const char *const names[] = { "ignore" };
	unsigned seen = 0;
	int r;

	if (yaml_walk_is_null(rd->walk))
		return 0;
	if (rd->walk->event.type != YAML_MAPPING_START_EVENT)
		return fail(rd, "hash: a key with a value is wanted here, as in: {ignore: [a, b]}");
	for (r = next(rd); r == 0 && rd->walk->event.type != YAML_MAPPING_END_EVENT; r = next(rd)) {
		size_t key = 0;

		r = read_key(rd, names, ARRAY_SIZE(names), &seen, &key);
		if (r == 0)
			r = take_key(rd, names, ARRAY_SIZE(names), key);
		if (r == 0)
			r = key == 0 ? read_ignored(rd) : yaml_walk_skip(rd->walk);
		if (r < 0)
			return r;
	}
	return r;
}

static int read_mode(struct reader *rd)
{
	const char *text = yaml_walk_text(rd->walk);

	if (yaml_walk_is_null(rd->walk))
		return 0;
	if (!text || (strcmp(text, "min") != 0 && strcmp(text, "max") != 0))
		return fail(rd, "best.mode: min or max is wanted here");
	rd->config->best_is_max = !strcmp(text, "max");
	return 0;
}

static int read_metrics(struct reader *rd)
{
	if (!yaml_walk_text(rd->walk) || yaml_walk_is_null(rd->walk))
		return read_list(rd, "best.metric", add_metric, 0);
	return add_metric(rd, 0);
}

static int read_best(struct reader *rd)
{
	static const char *const names[] = { "metric", "mode" };
	unsigned seen = 0;
	int r;

	if (yaml_walk_is_null(rd->walk))
		return 0;
	if (rd->walk->event.type != YAML_MAPPING_START_EVENT)
		return fail(rd, "best: metric and mode are wanted here");
	for (r = next(rd); r == 0 && rd->walk->event.type != YAML_MAPPING_END_EVENT; r = next(rd)) {
		size_t key = 0;

		r = read_key(rd, names, ARRAY_SIZE(names), &seen, &key);
		if (r == 0)
			r = take_key(rd, names, ARRAY_SIZE(names), key);
		if (r == 0)
			r = key == 0 ? read_metrics(rd) : key == 1 ? read_mode(rd) : yaml_walk_skip(rd->walk);
		if (r < 0)
			return r;
	}
	return r;
}

static int read_commit(struct reader *rd)
{
	const char *text = yaml_walk_text(rd->walk);

	if (!text || (strcmp(text, "immediate") != 0 && strcmp(text, "on-checkpoint") != 0))
		return fail(rd, "commit: on-checkpoint or immediate is wanted here");
	rd->config->commit_immediate = !strcmp(text, "immediate");
	return 0;
}

static int read_top(struct yaml_walk *w, void *data)
{
	static const char *const names[] = { "runs", "roles", "commit", "hash", "best" };
	struct reader *rd = data;
	unsigned seen = 0;
	int r;

	rd->walk = w;
	if (yaml_walk_is_null(w))
		return 0;
	if (w->event.type != YAML_MAPPING_START_EVENT)
		return fail(rd, "keys with values are wanted here, as in: runs: [\"/runs/*\"]");
	for (r = next(rd); r == 0 && rd->walk->event.type != YAML_MAPPING_END_EVENT; r = next(rd)) {
		size_t key = 0;

		r = read_key(rd, names, ARRAY_SIZE(names), &seen, &key);
		if (r == 0)
			r = take_key(rd, names, ARRAY_SIZE(names), key);
		if (r == 0)
			r = key == 0 ? read_list(rd, "runs", add_run, 0) :
			    key == 1 ? read_roles(rd) :
			    key == 2 ? read_commit(rd) :
			    key == 3 ? read_hash(rd) :
			    key == 4 ? read_best(rd) : yaml_walk_skip(rd->walk);
		if (r < 0)
			return r;
	}
	return r;
}

int config_parse(const char *text, size_t len, struct config **ret, char **ret_error)
{
	_cleanup_(cleanup_config) struct config *c = NULL;
	struct reader rd = { .runs = 1 };
	struct reason why;
	int r = config_new(&c);

	if (r < 0)
		return r;
	rd.config = c;
	if (len > MAX_SIZE)
		r = reason_set(&why, 0, "larger than 1 MiB");
	else
		r = yaml_walk(text, len, YAML_WALK_ALIASES, read_top, &rd, &why);
	if (r == -EINVAL) {
		*ret_error = strdup(why.text);
		return *ret_error ? -EINVAL : -ENOMEM;
	}
	if (r < 0)
		return r;
	*ret = steal(&c);
	return 0;
}
