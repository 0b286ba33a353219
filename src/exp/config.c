/* config.yaml: what is not known is skipped as it comes, so that nothing is built
 * from it, and aliases, which could make much out of little, are refused. */
#include "exp/config.h"

#include <stdio.h>
#include <string.h>

#include "format/hp.h"
#include "format/yaml_walk.h"
#include "meta/metric.h"
#include "util/edit_distance.h"
#include "util/io.h"

#define MAX_SIZE (1u << 20)
#define MAX_RUNS 1000
#define MAX_IGNORED 1000
#define FIRST_RUN "/runs/*"

const char config_default_text[] =
	"# Configuration of an expfs store. Every key is optional. It is read when the\n"
	"# store is mounted, and again when the daemon gets a SIGHUP; a file with a mistake\n"
	"# in it is not taken, and `expfs status` says so.\n"
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

static const char *const first_run[] = { FIRST_RUN, NULL };
static const char *const best_metric_default[] = { "val_loss", "eval_loss", "loss", NULL };

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

static void clear_list(char **list)
{
	for (; list && *list; list++)
		free(steal(list));
}

static void free_list(char **list)
{
	clear_list(list);
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

static int copy_list(char **to, const char *const *from)
{
	for (; *from; from++) {
		*to = strdup(*from);
		if (!*to++)
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
	r = copy_list(c->runs, first_run);
	if (r == 0)
		r = copy_list(c->hash_ignore, hp_ignore_default);
	if (r == 0)
		r = copy_list(c->best_metric, best_metric_default);
	if (r == 0)
		r = role_rules_new(&c->rules);
	if (r < 0)
		return r;
	*ret = steal(&c);
	return 0;
}

#define fail(rd, ...) yaml_walk_bad((rd)->walk, __VA_ARGS__)
#define next(rd) yaml_walk_next((rd)->walk)

/* A key of a map. read is called at the first event of its value, and returns at the last. */
struct key {
	const char *name;
	int (*read)(struct reader *rd, size_t key); /* key: which one of the map it is */
};

typedef int (*item_fn)(struct reader *rd, size_t key);

/* Matched with fnmatch() (exp/path.c), which knows no faulty patterns. */
static int add_run(struct reader *rd, size_t key)
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

static int add_role(struct reader *rd, size_t key)
{
	enum role role = (enum role)key;
	int r = role_rules_add(rd->config->rules, role, yaml_walk_text(rd->walk));

	if (r == -EINVAL)
		return fail(rd, "roles.%s: %.100s: no pattern", role_name(role), yaml_walk_text(rd->walk));
	if (r == -E2BIG)
		return fail(rd, "roles: more than %d patterns", ROLE_RULES_MAX);
	return r;
}

static int add_ignored(struct reader *rd, size_t key)
{
	char **p = &rd->config->hash_ignore[rd->ignored];

	if (rd->ignored == MAX_IGNORED)
		return fail(rd, "hash.ignore: more than %d keys", MAX_IGNORED);
	*p = strdup(yaml_walk_text(rd->walk));
	return *p ? (rd->ignored++, 0) : -ENOMEM;
}

/* The first one takes the place of the defaults. */
static int add_metric(struct reader *rd, size_t key)
{
	const char *text = yaml_walk_text(rd->walk);
	size_t n = text ? strlen(text) : 0;
	char **p = rd->config->best_metric;

	if (n == 0 || n > METRIC_NAME_MAX || n != rd->walk->event.data.scalar.length)
		return fail(rd, "best.metric: the name of a metric is wanted here, or a list of such");
	if (rd->metrics == METRIC_CHOICES)
		return fail(rd, "best.metric: more than %d names", METRIC_CHOICES);
	if (rd->metrics == 0)
		clear_list(p);
	p[rd->metrics] = strdup(text);
	return p[rd->metrics] ? (rd->metrics++, 0) : -ENOMEM;
}

/* A list of texts, or nothing, each given to f. */
static int read_list(struct reader *rd, const char *name, item_fn f, size_t key)
{
	int r;

	if (yaml_walk_is_null(rd->walk))
		return 0;
	if (rd->walk->event.type != YAML_SEQUENCE_START_EVENT)
		return fail(rd, "%s: a list is wanted here, as [\"a\", \"b\"]", name);
	for (r = next(rd); r == 0 && rd->walk->event.type != YAML_SEQUENCE_END_EVENT; r = next(rd)) {
		const char *text = yaml_walk_text(rd->walk);

		if (!text || strlen(text) != rd->walk->event.data.scalar.length)
			return fail(rd, "%s: a text is wanted here", name);
		r = f(rd, key);
		if (r < 0)
			return r;
	}
	return r;
}

/* The key that may be meant, or NULL. */
static const char *nearest(const char *name, const struct key *keys, size_t count)
{
	struct nearest n = { .word = name };

	for (size_t i = 0; i < count; i++)
		nearest_try(&n, keys[i].name);
	return n.name;
}

static int note_unknown(struct reader *rd, const struct key *keys, size_t count)
{
	const char *name = yaml_walk_text(rd->walk) ? yaml_walk_text(rd->walk) : "?";
	const char *meant = nearest(name, keys, count);
	char **p = &rd->config->unknown[rd->unknown];

	if (rd->unknown == CONFIG_UNKNOWN_MAX)
		return 0;
	if (asprintf(p, "line %zu: %.200s: no key of this version%s%s%s", rd->walk->event.start_mark.line + 1, name,
		     meant ? "; perhaps " : "", meant ? meant : "", meant ? " is meant" : "") < 0) {
		*p = NULL;
		return -ENOMEM;
	}
	rd->unknown++;
	return 0;
}

/* Which of the keys it is, count where it is none of them. Each may be there once. */
static int find_key(struct reader *rd, const struct key *keys, size_t count, unsigned *seen, size_t *ret)
{
	const char *text = yaml_walk_text(rd->walk);
	size_t i = text ? 0 : count;

	while (i < count && strcmp(text, keys[i].name) != 0)
		i++;
	if (i < count && *seen & 1u << i)
		return fail(rd, "%s: stands here a second time", keys[i].name);
	*ret = i;
	*seen |= i < count ? 1u << i : 0;
	return 0;
}

/* A map of these keys, or nothing. Another key is given to unknown and, if that takes it, left out with its value. */
typedef int (*unknown_fn)(struct reader *rd, const struct key *keys, size_t count);
static int read_map(struct reader *rd, const struct key *keys, size_t count, unknown_fn unknown, const char *wanted)
{
	unsigned seen = 0;
	int r;

	if (yaml_walk_is_null(rd->walk))
		return 0;
	if (rd->walk->event.type != YAML_MAPPING_START_EVENT)
		return fail(rd, "%s", wanted);
	for (r = next(rd); r == 0 && rd->walk->event.type != YAML_MAPPING_END_EVENT; r = next(rd)) {
		size_t key = 0;

		r = find_key(rd, keys, count, &seen, &key);
		if (r == 0 && key == count)
			r = unknown(rd, keys, count);
		if (r == 0 && key == count)
			r = yaml_walk_skip(rd->walk);
		if (r == 0)
			r = next(rd);
		if (r == 0)
			r = key < count ? keys[key].read(rd, key) : yaml_walk_skip(rd->walk);
		if (r < 0)
			return r;
	}
	return r;
}

static int read_runs(struct reader *rd, size_t key)
{
	return read_list(rd, "runs", add_run, key);
}

static int read_role(struct reader *rd, size_t key)
{
	return read_list(rd, "roles", add_role, key);
}

static int refuse_role(struct reader *rd, const struct key *keys, size_t count)
{
	const char *text = yaml_walk_text(rd->walk);

	return fail(rd, "roles: %.100s: no such role", text ? text : "?");
}

static int read_roles(struct reader *rd, size_t key)
{
	struct key keys[ROLE_COUNT];

	for (int i = 0; i < ROLE_COUNT; i++)
		keys[i] = (struct key){ role_name((enum role)i), read_role };
	return read_map(rd, keys, ROLE_COUNT, refuse_role, "roles: roles with their patterns are wanted here");
}

static int read_commit(struct reader *rd, size_t key)
{
	const char *text = yaml_walk_text(rd->walk);

	if (!text || (strcmp(text, "immediate") != 0 && strcmp(text, "on-checkpoint") != 0))
		return fail(rd, "commit: on-checkpoint or immediate is wanted here");
	rd->config->commit_immediate = !strcmp(text, "immediate");
	return 0;
}

/* Those of the defaults do not count beside a list. */
static int read_ignored(struct reader *rd, size_t key)
{
	if (yaml_walk_is_null(rd->walk))
		return 0;
	clear_list(rd->config->hash_ignore);
	return read_list(rd, "hash.ignore", add_ignored, key);
}

static int read_hash(struct reader *rd, size_t key)
{
	static const struct key keys[] = { { "ignore", read_ignored } };

	return read_map(rd, keys, ARRAY_SIZE(keys), note_unknown, "hash: a key with a value is wanted here, as in: {ignore: [a, b]}");
}

static int read_metrics(struct reader *rd, size_t key)
{
	if (!yaml_walk_text(rd->walk) || yaml_walk_is_null(rd->walk))
		return read_list(rd, "best.metric", add_metric, key);
	return add_metric(rd, key);
}

static int read_mode(struct reader *rd, size_t key)
{
	const char *text = yaml_walk_text(rd->walk);

	if (yaml_walk_is_null(rd->walk))
		return 0;
	if (!text || (strcmp(text, "min") != 0 && strcmp(text, "max") != 0))
		return fail(rd, "best.mode: min or max is wanted here");
	rd->config->best_is_max = !strcmp(text, "max");
	return 0;
}

static int read_best(struct reader *rd, size_t key)
{
	static const struct key keys[] = { { "metric", read_metrics }, { "mode", read_mode } };

	return read_map(rd, keys, ARRAY_SIZE(keys), note_unknown, "best: metric and mode are wanted here");
}

static int read_top(struct yaml_walk *w, void *data)
{
	static const struct key keys[] = {
		{ "runs", read_runs }, { "roles", read_roles }, { "commit", read_commit }, { "hash", read_hash }, { "best", read_best },
	};
	struct reader *rd = data;

	rd->walk = w;
	return read_map(rd, keys, ARRAY_SIZE(keys), note_unknown, "keys with values are wanted here, as in: runs: [\"/runs/*\"]");
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

int config_read(int dirfd, struct config **ret, char **ret_error)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = io_read_file(dirfd, "config.yaml", MAX_SIZE, &text, &len);

	if (r == -ENOENT)
		return config_new(ret);
	if (r == 0)
		return config_parse(text, len, ret, ret_error);
	*ret_error = strdup(r == -EINVAL ? "is no regular file; put one there" : strerror(-r));
	return *ret_error ? -EINVAL : -ENOMEM;
}
