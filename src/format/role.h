/* Roles and steps: what a name says about a file.
 *
 * A path stands relative to the top of its run or experiment root, NUL-ended,
 * in any encoding, without a slash at either end. Nothing here looks at a disk:
 * only regular files and directories are to be asked about.
 *
 * Two things a name does not tell, so that the caller has to look:
 * - A directory whose name is all digits (Orbax, torch DCP) has ROLE_NONE here.
 *   It is a checkpoint if it stands beside others such and holds
 *   _CHECKPOINT_METADATA or .metadata (role_digit_dir(), role_is_marker()); then
 *   what lies in it is no WEIGHTS of its own, whatever role_of() says.
 * - Of several lightning_logs/version_<n>/hparams.yaml, each ROLE_HP here, only
 *   the one with the highest n counts (role_hp_version()). */
#ifndef EXPFS_FORMAT_ROLE_H
#define EXPFS_FORMAT_ROLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/util.h"

enum role { ROLE_NONE = 0, ROLE_HP, ROLE_MODEL, ROLE_DATA, ROLE_WEIGHTS, ROLE_SIGNALS, ROLE_MANIFEST };
#define ROLE_COUNT 7

/* "none", "HP", "MODEL" … */
const char *role_name(enum role role);

/* The rules of a store: its configured patterns, then the defaults. After the
 * last role_rules_add() they may be read by several threads at once. */
struct role_rules;
int role_rules_new(struct role_rules **ret);
void role_rules_free(struct role_rules *rules);

static inline void role_rules_freep(struct role_rules **rules)
{
	role_rules_free(*rules);
}
#define _cleanup_role_rules_ _cleanup_(role_rules_freep)

/* A number that is another for other rules, defaults or configured ones: what
 * was stored of role_class() is good for one number only. */
uint64_t role_rules_id(const struct role_rules *rules);

/* Adds a configured pattern (format/pattern.h); ROLE_NONE takes roles away.
 * All configured patterns are looked at before all defaults, whatever the order
 * they were added in. A pattern that is for a directory holds for what lies
 * below it too, except for WEIGHTS: there a pattern with a slash at its end
 * makes a directory a checkpoint, and one without is for files.
 * -EINVAL: no pattern. -E2BIG: there are ROLE_RULES_MAX. -ENOMEM. */
#define ROLE_RULES_MAX 256
int role_rules_add(struct role_rules *rules, enum role role, const char *pattern);

/* The role of a path. A directory is ROLE_WEIGHTS (a checkpoint) or ROLE_NONE;
 * a file below a checkpoint directory is never ROLE_WEIGHTS. */
enum role role_of(const struct role_rules *rules, const char *path, bool is_dir);

/* The roles, as bits 1u << role, that a path with this last component could
 * have wherever it stands; 0 for most names. Left out are roles that come from
 * a directory above: by default DATA below data and checkpoints/data and HP
 * below checkpoints/HP; and by configured patterns that end in ** or are for a
 * directory. */
unsigned role_class(const struct role_rules *rules, const char *name, size_t len, bool is_dir);

/* The step in the name (last component) of a default WEIGHTS file or checkpoint
 * directory; false where it has none, or one beyond 2^63-1. Where a name has an
 * epoch too, the step is what follows "step": model_epoch2_step7.pt is 7,
 * epoch10_step3 is 3, although later; an epoch alone (epoch_3/) is no step.
 * Names tell steps, not an order: the order of checkpoints is that of commits. */
bool step_of_name(const char *name, bool is_dir, uint64_t *ret_step);

/* Whether a name is all digits; its value is the step if it is a checkpoint. */
bool role_digit_dir(const char *name);

/* Whether a path is lightning_logs/version_<n>/hparams.yaml, and that n. */
bool role_hp_version(const char *path, uint64_t *ret_version);

/* Whether a name ends like a file of weights (.pt, .safetensors …). */
bool role_weights_suffix(const char *name, size_t len);

/* Whether a file of this name in a checkpoint directory says that it is
 * complete. */
bool role_is_marker(const char *name);

/* Whether a file of this name can name a checkpoint beside it: */
bool role_is_tracker(const char *name);

/* Whether the content of a tracker file (latest,
 * latest_checkpointed_iteration.txt) names the directory dirname beside it:
 * by its name, or by a number that is the step in its name. */
bool tracker_names(const char *bytes, size_t len, const char *dirname);

#endif
