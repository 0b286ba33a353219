/* WeightsLab's checkpoints/manifest.yaml: the experiments of a root in the order
 * in which they were first dumped.
 *
 *   experiments:
 *     <hash24>: {hp_hash, model_hash, data_hash, created, last_used,
 *                latest_weight_checkpoint, latest_weight_step, experiment_name, notes}
 *   latest_hash, last_updated
 *
 * All is read as text: 09999999 and 1e345678 are hashes, though YAML 1.2 or a
 * quick reader sees numbers. Nothing is believed: segments may be missing or
 * disagree with their key, and a key may be any text. Times are local ones, in
 * ISO form without a zone, and compare as text.
 *
 * PyYAML's safe_load is the measure of what parses: it is what WeightsLab reads
 * with. An empty manifest, or one that does not parse, makes it begin anew. */
#ifndef EXPFS_FORMAT_MANIFEST_H
#define EXPFS_FORMAT_MANIFEST_H

#include "format/reason.h"

#define MANIFEST_SIZE_MAX (8u << 20) /* bytes: some 25,000 experiments */

enum manifest_state {
	MANIFEST_WHOLE,
	MANIFEST_NO_LATEST,      /* cut: it parses, but has no latest_hash */
	MANIFEST_NO_EXPERIMENTS, /* "experiments:" with nothing, or not there: each update of it fails */
	MANIFEST_EMPTY,          /* no bytes, comments, null */
	MANIFEST_BROKEN,         /* does not parse; why says where */
};

/* NULL: missing or null. */
struct manifest_entry {
	char *hash;
	char *hp_hash, *model_hash, *data_hash;
	char *created, *last_used;
	char *latest_weight_checkpoint; /* a bare file name, by WeightsLab */
	char *experiment_name;
	char *notes;
	int64_t latest_weight_step; /* -1: missing or null */
};

struct manifest {
	enum manifest_state state;
	struct reason why; /* of MANIFEST_BROKEN */
	struct manifest_entry *entries;
	size_t count;
	char *latest_hash, *last_updated; /* NULL: missing or null */
	size_t *by_hash; /* the entries' numbers, by hash; for manifest_find() */
};

/* Any bytes give a manifest; -ENOMEM. If it is BROKEN it has no entries. Of two
 * entries of one hash the later one counts, in the place of the first. */
int manifest_parse(const char *text, size_t len, struct manifest **ret);
void manifest_free(struct manifest *m);

/* The entry of a hash, or NULL. */
const struct manifest_entry *manifest_find(const struct manifest *m, const char *hash);

/* Has the manifest that was before something that the one after it, of the same
 * path, has lost: an experiment, or its latest_hash? */
bool manifest_lost(const struct manifest *before, const struct manifest *after);

/* The text of a manifest (of m the entries, count, latest_hash and last_updated
 * are used), such that safe_load reads each field as m has it; notes of NULL are
 * written as ''. *ret is to be freed. -ENOMEM; -EINVAL: a text is not UTF-8. */
int manifest_write(const struct manifest *m, char **ret, size_t *ret_len);

#endif
