/* The table of roles, and the order in which it is looked at: configured
 * patterns before defaults; within each none, MANIFEST, DATA, HP, MODEL,
 * SIGNALS, WEIGHTS.
 *
 * Beyond the names that tools write, the defaults take roles away from what
 * they have not finished or put aside: staging directories, backups. The names
 * of weights stand in two tables: suffixes give the role, forms give the step;
 * .bin is a suffix of weights only together with a form, because other files
 * have it too. */
#include "format/role.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/pattern.h"
#include "util/util.h"

struct rule {
	enum role role;
	struct pattern pattern;
};

static const char hdf5_files[] = "*.h5*"; /* but *.weights.h5: is_exempt() */

static const struct {
	enum role role;
	const char *pattern;
} default_rules[] = {
	{ ROLE_NONE, "*.duckdb*" },
	{ ROLE_NONE, hdf5_files },
	{ ROLE_NONE, "*.db*" },
	{ ROLE_NONE, "*.sqlite*" },
	{ ROLE_NONE, "*.log" },
	{ ROLE_NONE, "*.lock" },
	{ ROLE_NONE, "*.tmp" },
	{ ROLE_NONE, "*.part" },
	{ ROLE_NONE, "*~" },
	{ ROLE_NONE, "events.out.tfevents.*" },
	{ ROLE_NONE, "projection/" },
	{ ROLE_NONE, ".ipynb_checkpoints/" },
	{ ROLE_NONE, "*.sync-conflict-*" },
	{ ROLE_NONE, "*conflicted copy*" },
	{ ROLE_NONE, "* ([0-9]).*" },
	{ ROLE_NONE, "*_backup.*" },
	{ ROLE_NONE, "*.incomplete/" },
	{ ROLE_NONE, "*.orbax-checkpoint-tmp*/" },
	{ ROLE_NONE, "tmp[-_]<n>/" },
	{ ROLE_NONE, "tmp[-_]*checkpoint*<n>/" },
	{ ROLE_NONE, "tmp[-_]*step*<n>/" },

	{ ROLE_MANIFEST, "checkpoints/manifest.yaml" },
	{ ROLE_MANIFEST, ".checkpoint_manager_state.json" },

	{ ROLE_DATA, "*_data_snapshot.json" },
	{ ROLE_DATA, "*_data_snapshot.parquet" },
	{ ROLE_DATA, "/data/**" },
	{ ROLE_DATA, "/checkpoints/data/**" },
	{ ROLE_DATA, "/split*.json" },

	{ ROLE_HP, "/config.yaml" },
	{ ROLE_HP, "/config.yml" },
	{ ROLE_HP, "/hyperparameters.yaml" },
	{ ROLE_HP, "/hparams.yaml" },
	{ ROLE_HP, "/params.yaml" },
	{ ROLE_HP, "/args.json" },
	{ ROLE_HP, "/.hydra/config.yaml" },
	{ ROLE_HP, "/checkpoints/HP/**" },
	{ ROLE_HP, "/lightning_logs/version_<n>/hparams.yaml" },

	{ ROLE_MODEL, "/architecture.*" },
	{ ROLE_MODEL, "*_architecture.pkl" },
	{ ROLE_MODEL, "*_architecture.txt" },

	{ ROLE_SIGNALS, "metrics.jsonl" },
	{ ROLE_SIGNALS, "metrics.csv" },
	{ ROLE_SIGNALS, "trainer_state.json" },
};

static const char *const weights_suffixes[] = {
	".pt", ".pth", ".ckpt", ".safetensors", ".bin", ".keras", ".weights.h5", ".npz",
};

/* FILE forms need a suffix of weights as well. */
enum form_of { FILE_STEP, DIR_STEP, DIR_EPOCH };

static const struct {
	enum form_of of;
	const char *glob;
} forms[] = {
	{ FILE_STEP, "step<n>.*" },
	{ FILE_STEP, "step[-_]<n>.*" },
	{ FILE_STEP, "*_step<n>.*" },
	{ FILE_STEP, "*[-_]step[-_]<n>.*" }, /* WeightsLab's are among these */
	{ FILE_STEP, "*-step<n>*" },
	{ FILE_STEP, "step=<n>*" },
	{ FILE_STEP, "*[-_]step=<n>*" }, /* and Lightning's here, with -v<k> */
	{ FILE_STEP, "iter_<n>.*" },
	{ FILE_STEP, "iter-<n>*" },
	{ FILE_STEP, "ckpt[-_]<n>.*" },
	{ FILE_STEP, "checkpoint[-_]<n>.*" },
	{ FILE_STEP, "model_<n>.*" },
	{ DIR_STEP, "step<n>" },
	{ DIR_STEP, "step[-_]<n>" },
	{ DIR_STEP, "global_step<n>" },
	{ DIR_STEP, "*epoch*_step<n>" },
	{ DIR_STEP, "iter[-_]<n>" },
	{ DIR_STEP, "ckpt[-_]<n>" },
	{ DIR_STEP, "checkpoint[-_]<n>" },
	{ DIR_EPOCH, "epoch[-_]<n>" },
};

struct role_rules {
	struct rule added[ROLE_RULES_MAX];
	char *texts[ROLE_RULES_MAX];
	size_t n_added;
	struct rule defaults[ARRAY_SIZE(default_rules)];
};

const char *role_name(enum role role)
{
	static const char *const names[] = {
		[ROLE_NONE] = "none",       [ROLE_HP] = "HP",           [ROLE_MODEL] = "MODEL",       [ROLE_DATA] = "DATA",
		[ROLE_WEIGHTS] = "WEIGHTS", [ROLE_SIGNALS] = "SIGNALS", [ROLE_MANIFEST] = "MANIFEST",
	};

	return names[role];
}

int role_rules_new(struct role_rules **ret)
{
	_cleanup_role_rules_ struct role_rules *rules = calloc(1, sizeof(*rules));

	if (!rules)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(default_rules); i++) {
		int r = pattern_parse(default_rules[i].pattern, &rules->defaults[i].pattern);

		if (r < 0)
			return r;
		rules->defaults[i].role = default_rules[i].role;
	}
	*ret = steal(&rules);
	return 0;
}

void role_rules_free(struct role_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->n_added; i++)
		free(rules->texts[i]);
	free(rules);
}

int role_rules_add(struct role_rules *rules, enum role role, const char *pattern)
{
	struct rule *rule = &rules->added[rules->n_added];
	_cleanup_free_ char *text = NULL;
	int r;

	if (rules->n_added == ROLE_RULES_MAX)
		return -E2BIG;
	text = strndup(pattern, PATTERN_MAX + 1);
	if (!text)
		return -ENOMEM;
	r = pattern_parse(text, &rule->pattern);
	if (r < 0)
		return r;
	rule->role = role;
	rules->texts[rules->n_added++] = steal(&text);
	return 0;
}

/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), over pattern and role. */
static uint64_t hash_rule(uint64_t h, const char *pattern, enum role role)
{
	for (const char *p = pattern; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3u;
	return (h ^ (0x100u + (unsigned)role)) * 0x100000001b3u;
}

uint64_t role_rules_id(const struct role_rules *rules)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < rules->n_added; i++)
		h = hash_rule(h, rules->texts[i], rules->added[i].role);
	for (size_t i = 0; i < ARRAY_SIZE(default_rules); i++)
		h = hash_rule(h, default_rules[i].pattern, default_rules[i].role);
	return h >> 1; /* it fits a signed column */
}

static bool has_suffix(const char *name, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len >= n && memcmp(name + len - n, suffix, n) == 0;
}

bool role_weights_suffix(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(weights_suffixes); i++)
		if (has_suffix(name, len, weights_suffixes[i]))
			return true;
	return false;
}

/* Lightning makes epoch=…ckpt a directory when it saves in shards. */
static bool is_ckpt_dir(const char *name, size_t len)
{
	return len > strlen(".ckpt") && has_suffix(name, len, ".ckpt");
}

static bool match_form(const char *name, size_t len, enum form_of of, struct digits *ret_n)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (forms[i].of == of && glob_match(forms[i].glob, strlen(forms[i].glob), name, len, ret_n))
			return true;
	return false;
}

static bool name_has_step(const char *name, size_t len, bool is_dir, struct digits *ret_n)
{
	if (is_dir && match_form(name, len, DIR_STEP, ret_n))
		return true;
	if (!(is_dir ? is_ckpt_dir(name, len) : role_weights_suffix(name, len)))
		return false;
	return match_form(name, len, FILE_STEP, ret_n);
}

static bool is_default_weights(const char *name, size_t len, bool is_dir)
{
	struct digits n;

	if (is_dir)
		return is_ckpt_dir(name, len) || match_form(name, len, DIR_STEP, &n) ||
		       match_form(name, len, DIR_EPOCH, &n);
	if (!role_weights_suffix(name, len))
		return false;
	return !has_suffix(name, len, ".bin") || match_form(name, len, FILE_STEP, &n) ||
	       (len == strlen("pytorch_model.bin") && memcmp(name, "pytorch_model.bin", len) == 0);
}

static size_t name_at(const char *path, size_t len)
{
	while (len > 0 && path[len - 1] != '/')
		len--;
	return len;
}

static bool is_exempt(const struct rule *rule, const char *path, size_t len)
{
	return rule->pattern.text == hdf5_files && has_suffix(path, len, ".weights.h5");
}

static bool match_rule(const struct rule *rule, const char *path, size_t len, bool is_dir)
{
	if (rule->role == ROLE_WEIGHTS)
		return rule->pattern.dir_only == is_dir && pattern_match(&rule->pattern, path, len, is_dir);
	return pattern_match(&rule->pattern, path, len, is_dir) && !is_exempt(rule, path, len);
}

/* Whether a rule is for this path or, unless it gives WEIGHTS, for a directory
 * above it. */
static bool covers(const struct rule *rule, const char *path, size_t len, bool is_dir)
{
	if (match_rule(rule, path, len, is_dir))
		return true;
	if (rule->role == ROLE_WEIGHTS)
		return false;
	for (size_t at = name_at(path, len); at > 0; at = name_at(path, at - 1))
		if (match_rule(rule, path, at - 1, true))
			return true;
	return false;
}

/* The places of the roles in the order of looking. */
static const unsigned place[ROLE_COUNT] = {
	[ROLE_NONE] = 0, [ROLE_MANIFEST] = 1, [ROLE_DATA] = 2,    [ROLE_HP] = 3,
	[ROLE_MODEL] = 4, [ROLE_SIGNALS] = 5, [ROLE_WEIGHTS] = 6,
};

/* The first role in that order that a set of rules gives; false for none. */
static bool look_up(const struct rule *rules, size_t n, const char *path, size_t len, bool is_dir, bool weights,
		    enum role *ret)
{
	bool found = false;
	enum role role = ROLE_NONE;

	for (size_t i = 0; i < n; i++) {
		if (rules[i].role == ROLE_WEIGHTS && !weights)
			continue;
		if (found && place[rules[i].role] >= place[role])
			continue;
		if (covers(&rules[i], path, len, is_dir)) {
			role = rules[i].role;
			found = true;
		}
	}
	if (found)
		*ret = role;
	return found;
}

static enum role find_role(const struct role_rules *rules, const char *path, size_t len, bool is_dir, bool weights)
{
	size_t at = name_at(path, len);
	enum role role;

	if (look_up(rules->added, rules->n_added, path, len, is_dir, weights, &role) ||
	    look_up(rules->defaults, ARRAY_SIZE(rules->defaults), path, len, is_dir, weights, &role))
		return role;
	return weights && is_default_weights(path + at, len - at, is_dir) ? ROLE_WEIGHTS : ROLE_NONE;
}

/* Whether a directory would be a checkpoint, were there no other rules. */
static bool looks_like_checkpoint(const struct role_rules *rules, const char *path, size_t len)
{
	size_t at = name_at(path, len);

	for (size_t i = 0; i < rules->n_added; i++)
		if (rules->added[i].role == ROLE_WEIGHTS && match_rule(&rules->added[i], path, len, true))
			return true;
	return is_default_weights(path + at, len - at, true);
}

static bool in_checkpoint(const struct role_rules *rules, const char *path, size_t len)
{
	for (size_t at = name_at(path, len); at > 0; at = name_at(path, at - 1))
		if (looks_like_checkpoint(rules, path, at - 1) &&
		    find_role(rules, path, at - 1, true, true) == ROLE_WEIGHTS)
			return true;
	return false;
}

enum role role_of(const struct role_rules *rules, const char *path, bool is_dir)
{
	size_t len = strlen(path);
	enum role role = find_role(rules, path, len, is_dir, true);

	if (role == ROLE_WEIGHTS && in_checkpoint(rules, path, len))
		role = find_role(rules, path, len, is_dir, false);
	if (is_dir && role != ROLE_WEIGHTS)
		return ROLE_NONE;
	return role;
}

/* Adds the roles that rules could give by this name. False: a rule takes the
 * role from every path of this name. */
static bool add_class(const struct rule *rules, size_t n, const char *name, size_t len, bool is_dir, unsigned *mask)
{
	unsigned more = 0;

	for (size_t i = 0; i < n; i++) {
		const struct rule *rule = &rules[i];

		if (!pattern_match_name(&rule->pattern, name, len, is_dir))
			continue;
		if (rule->role != ROLE_NONE)
			more |= 1u << rule->role;
		else if (match_rule(rule, name, len, is_dir) && !rule->pattern.from_top)
			return false;
	}
	*mask |= more;
	return true;
}

unsigned role_class(const struct role_rules *rules, const char *name, size_t len, bool is_dir)
{
	unsigned mask = 0;

	if (add_class(rules->added, rules->n_added, name, len, is_dir, &mask) &&
	    add_class(rules->defaults, ARRAY_SIZE(rules->defaults), name, len, is_dir, &mask) &&
	    is_default_weights(name, len, is_dir))
		mask |= 1u << ROLE_WEIGHTS;
	return is_dir ? mask & (1u << ROLE_WEIGHTS) : mask;
}

bool step_of_name(const char *name, bool is_dir, uint64_t *ret_step)
{
	struct digits n;

	return name_has_step(name, strlen(name), is_dir, &n) && digits_value(&n, ret_step);
}

bool role_digit_dir(const char *name)
{
	return *name && name[strspn(name, "0123456789")] == '\0';
}

bool role_hp_version(const char *path, uint64_t *ret_version)
{
	static const char head[] = "lightning_logs/", tail[] = "/hparams.yaml", glob[] = "version_<n>";
	size_t len = strlen(path), outside = strlen(head) + strlen(tail);
	struct digits n;

	if (len < outside || strncmp(path, head, strlen(head)) != 0 || !has_suffix(path, len, tail))
		return false;
	return glob_match(glob, strlen(glob), path + strlen(head), len - outside, &n) && digits_value(&n, ret_version);
}

bool role_is_marker(const char *name)
{
	return strcmp(name, "trainer_state.json") == 0 || strcmp(name, "_CHECKPOINT_METADATA") == 0 ||
	       strcmp(name, ".metadata") == 0;
}

bool role_is_tracker(const char *name)
{
	return strcmp(name, "latest") == 0 || strcmp(name, "latest_checkpointed_iteration.txt") == 0;
}

bool tracker_names(const char *bytes, size_t len, const char *dirname)
{
	struct digits number = { bytes, 0 };
	uint64_t wanted, step;

	while (len > 0 && memchr(" \t\r\n", bytes[len - 1], 4))
		len--;
	if (len == 0)
		return false;
	if (strlen(dirname) == len && memcmp(bytes, dirname, len) == 0)
		return true;
	while (number.len < len && bytes[number.len] >= '0' && bytes[number.len] <= '9')
		number.len++;
	return number.len == len && digits_value(&number, &wanted) && step_of_name(dirname, true, &step) &&
	       step == wanted;
}
