/* The store's config.yaml (spec section 11), as far as this version has use for
 * it: patterns of runs, patterns of roles, what makes an experiment, and
 * what the best checkpoint is.
 *
 *   runs: ["/runs/[*]", "/exp/[*]/run[*]"]      (without the brackets)
 *   roles:
 *     WEIGHTS: ["*.ckpt2"]
 *     none: ["scratch/"]
 *   commit: immediate
 *   hash:
 *     ignore: [root_log_dir]
 *   best:
 *     metric: [val_loss, eval_loss, loss]      (or one name)
 *     mode: min                                (or max)
 *
 * Keys that are not known are left alone, for later versions have more, and told. */
#ifndef EXPFS_CONFIG_H
#define EXPFS_CONFIG_H

#include "format/role.h"

#define CONFIG_UNKNOWN_MAX 16

struct config {
	char **runs; /* patterns of absolute paths in the mount, NULL-terminated; the default is the first */
	struct role_rules *rules;
	bool commit_immediate; /* an edit is an experiment when the file is closed */
	char **best_metric;    /* up to METRIC_CHOICES (meta/metric.h) names, at least one, NULL-terminated */
	bool best_is_max;
	char **hash_ignore;    /* keys at the top of a configuration that do not count, NULL-terminated */
	char **unknown; /* a line for each key that is not known, up to CONFIG_UNKNOWN_MAX, NULL-terminated */
	struct config *before; /* exp/settings.h; not freed with it */
};

/* The defaults. */
int config_new(struct config **ret);
void config_free(struct config *c);

/* Reads text of len bytes, hostile ones too: bounded in size, depth and number.
 * -EINVAL with *ret_error, to be freed, saying line and reason. */
int config_parse(const char *text, size_t len, struct config **ret, char **ret_error);

/* Reads config.yaml in the directory of a store; the defaults where there is none. -EINVAL with *ret_error, to be freed, where it
 * cannot be taken; -ENOMEM. */
int config_read(int dirfd, struct config **ret, char **ret_error);

/* The commented copy that init writes; every line of it is a comment or a
 * default. */
extern const char config_default_text[];

#endif
