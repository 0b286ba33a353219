/* config.yaml, read from libyaml's events: what is not known is skipped as it
 * comes, so that nothing is built from it, and aliases, which could make much
 * out of little, are refused. */
#include "exp/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define MAX_SIZE (1u << 20)
#define MAX_DEPTH 16
#define MAX_RUNS 1000
#define NAME_MAX_LEN 16 /* of a key, and of what may be meant to be one */
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
	"# work as in .gitignore, from the top of the run; <n> stands for a number. The\n"
	"# roles: WEIGHTS, HP, MODEL, DATA, SIGNALS, MANIFEST; none takes roles away.\n"
	"# roles:\n"
	"#   WEIGHTS: [\"*.ckpt2\", \"state_<n>/\"]\n"
	"#   none: [\"scratch/\"]\n";

struct reader {
	yaml_parser_t parser;
	yaml_event_t event; /* the one looked at */
	unsigned depth;
	struct config *config;
	size_t runs, unknown;
	char **error;
};

static void cleanup_config(struct config **c)
{
	if (*c)
		config_free(*c);
}

void config_free(struct config *c)
{
	for (char **p = c->runs; p && *p; p++)
		free(*p);
	free(c->runs);
	for (char **p = c->unknown; p && *p; p++)
		free(*p);
	free(c->unknown);
	if (c->rules)
		role_rules_free(c->rules);
	free(c);
}

int config_new(struct config **ret)
{
	_cleanup_(cleanup_config) struct config *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->runs = calloc(MAX_RUNS + 1, sizeof(*c->runs));
	c->unknown = calloc(CONFIG_UNKNOWN_MAX + 1, sizeof(*c->unknown));
	if (!c->runs || !c->unknown)
		return -ENOMEM;
	c->runs[0] = strdup(FIRST_RUN);
	if (!c->runs[0])
		return -ENOMEM;
	r = role_rules_new(&c->rules);
	if (r < 0)
		return r;
	*ret = steal(&c);
	return 0;
}

static _printf_(3, 4) int fail_at(struct reader *rd, const yaml_mark_t *mark, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (asprintf(rd->error, "line %zu: %s", mark->line + 1, text) < 0)
		return -ENOMEM;
	return -EINVAL;
}

#define fail(rd, ...) fail_at(rd, &(rd)->event.start_mark, __VA_ARGS__)

/* Goes on to the next event. */
static int next(struct reader *rd)
{
	yaml_event_delete(&rd->event);
	if (!yaml_parser_parse(&rd->parser, &rd->event)) {
		if (rd->parser.error == YAML_MEMORY_ERROR)
			return -ENOMEM;
		return fail_at(rd, &rd->parser.problem_mark, "%s",
			       rd->parser.problem ? rd->parser.problem : "not to be read");
	}
	switch (rd->event.type) {
	case YAML_ALIAS_EVENT:
		return fail(rd, "aliases are not taken here; write it out");
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return ++rd->depth > MAX_DEPTH ? fail(rd, "nested too deep") : 0;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		rd->depth--;
		return 0;
	default:
		return 0;
	}
}

/* From a node's first event to its last. */
static int skip(struct reader *rd)
{
	unsigned outside = rd->depth - 1;
	int r = 0;

	if (rd->event.type == YAML_SCALAR_EVENT)
		return 0;
	while (r == 0 && rd->depth > outside)
		r = next(rd);
	return r;
}

static const char *scalar(const struct reader *rd)
{
	return (const char *)rd->event.data.scalar.value;
}

static bool is_null(const struct reader *rd)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };

	if (rd->event.type != YAML_SCALAR_EVENT || rd->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(nulls); i++)
		if (!strcmp(scalar(rd), nulls[i]))
			return true;
	return false;
}

typedef int (*pattern_fn)(struct reader *rd, int role);

/* Matched with fnmatch() (exp/path.c), which knows no faulty patterns. */
static int add_run(struct reader *rd, int role)
{
	const char *text = scalar(rd);
	size_t n = strlen(text);

	n -= n > 0 && text[n - 1] == '/';
	if (n < 2 || text[0] != '/')
		return fail(rd, "runs: %.200s: a path from the top of the mount is wanted, as /exp/*", text);
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
	int r = role_rules_add(rd->config->rules, (enum role)role, scalar(rd));

	if (r == -EINVAL)
		return fail(rd, "roles.%s: %.200s: no pattern", role_name((enum role)role), scalar(rd));
	if (r == -E2BIG)
		return fail(rd, "roles: more than %d patterns", ROLE_RULES_MAX);
	return r;
}

/* A list of patterns, or nothing, each given to f. */
static int read_patterns(struct reader *rd, const char *key, pattern_fn f, int role)
{
	int r;

	if (is_null(rd))
		return 0;
	if (rd->event.type != YAML_SEQUENCE_START_EVENT)
		return fail(rd, "%s: a list is wanted here, as [\"a\", \"b\"]", key);
	for (r = next(rd); r == 0 && rd->event.type != YAML_SEQUENCE_END_EVENT; r = next(rd)) {
		if (rd->event.type != YAML_SCALAR_EVENT || strlen(scalar(rd)) != rd->event.data.scalar.length)
			return fail(rd, "%s: a pattern is wanted here", key);
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
	size_t i = count;

	if (rd->event.type == YAML_SCALAR_EVENT)
		for (i = 0; i < count && strcmp(scalar(rd), names[i]) != 0;)
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

	if (is_null(rd))
		return 0;
	if (rd->event.type != YAML_MAPPING_START_EVENT)
		return fail(rd, "roles: roles with their patterns are wanted here");
	for (int i = 0; i < ROLE_COUNT; i++)
		names[i] = role_name((enum role)i);
	for (r = next(rd); r == 0 && rd->event.type != YAML_MAPPING_END_EVENT; r = next(rd)) {
		size_t role = 0;

		r = read_key(rd, names, ROLE_COUNT, &seen, &role);
		if (r == 0 && role == ROLE_COUNT)
			r = fail(rd, "roles: %.200s: no such role",
				 rd->event.type == YAML_SCALAR_EVENT ? scalar(rd) : "?");
		if (r == 0)
			r = next(rd);
		if (r == 0)
			r = read_patterns(rd, "roles", add_role, (int)role);
		if (r < 0)
			return r;
	}
	return r;
}

/* How many letters are to be changed, put in or left out to make one of the other. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_LEN + 1], n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t before = row[0]++;

		for (size_t j = 1; j <= n; j++) {
			size_t other = before + (a[i - 1] != b[j - 1]);

			before = row[j];
			row[j] = MIN(other, 1 + MIN(row[j], row[j - 1]));
		}
	}
	return row[n];
}

/* The key that may be meant, or NULL. */
static const char *nearest(const char *key, const char *const *names, size_t count)
{
	const char *found = NULL;
	size_t least = 3;

	for (size_t i = 0; i < count && strlen(key) <= NAME_MAX_LEN; i++) {
		size_t d = distance(key, names[i]);

		if (d < least) {
			least = d;
			found = names[i];
		}
	}
	return found;
}

static int note_unknown(struct reader *rd, const char *const *names, size_t count)
{
	const char *key = rd->event.type == YAML_SCALAR_EVENT ? scalar(rd) : "?";
	const char *meant = nearest(key, names, count);
	char **p = &rd->config->unknown[rd->unknown];

	if (rd->unknown == CONFIG_UNKNOWN_MAX)
		return 0;
	if (asprintf(p, "line %zu: %.200s: no key of this version%s%s%s", rd->event.start_mark.line + 1, key,
		     meant ? "; perhaps " : "", meant ? meant : "", meant ? " is meant" : "") < 0) {
		*p = NULL;
		return -ENOMEM;
	}
	rd->unknown++;
	return 0;
}

static int read_top(struct reader *rd)
{
	static const char *const names[] = { "runs", "roles" };
	unsigned seen = 0;
	int r;

	if (is_null(rd))
		return 0;
	if (rd->event.type != YAML_MAPPING_START_EVENT)
		return fail(rd, "keys with values are wanted here, as in: runs: [\"/runs/*\"]");
	for (r = next(rd); r == 0 && rd->event.type != YAML_MAPPING_END_EVENT; r = next(rd)) {
		size_t key = 0;

		r = read_key(rd, names, ARRAY_SIZE(names), &seen, &key);
		if (r == 0 && key == ARRAY_SIZE(names))
			r = note_unknown(rd, names, ARRAY_SIZE(names));
		if (r == 0 && key == ARRAY_SIZE(names))
			r = skip(rd);
		if (r == 0)
			r = next(rd);
		if (r == 0)
			r = key == 0 ? read_patterns(rd, "runs", add_run, 0) : key == 1 ? read_roles(rd) : skip(rd);
		if (r < 0)
			return r;
	}
	return r;
}

static int read_stream(struct reader *rd)
{
	int r = next(rd); /* the stream's start */

	if (r == 0)
		r = next(rd);
	if (r < 0 || rd->event.type == YAML_STREAM_END_EVENT)
		return r;
	r = next(rd);
	if (r == 0)
		r = read_top(rd);
	if (r == 0)
		r = next(rd); /* the document's end */
	if (r == 0)
		r = next(rd);
	if (r == 0 && rd->event.type != YAML_STREAM_END_EVENT)
		r = fail(rd, "a second document");
	return r;
}

int config_parse(const char *text, size_t len, struct config **ret, char **ret_error)
{
	_cleanup_(cleanup_config) struct config *c = NULL;
	struct reader rd = { .runs = 1, .error = ret_error };
	int r;

	if (len > MAX_SIZE) {
		*ret_error = strdup("larger than 1 MiB");
		return *ret_error ? -EINVAL : -ENOMEM;
	}
	r = config_new(&c);
	if (r < 0)
		return r;
	rd.config = c;
	if (!yaml_parser_initialize(&rd.parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&rd.parser, (const unsigned char *)text, len);
	r = read_stream(&rd);
	yaml_event_delete(&rd.event);
	yaml_parser_delete(&rd.parser);
	if (r < 0)
		return r;
	*ret = steal(&c);
	return 0;
}
