/* For derive.c: what is derived of one version, and where in its root an experiment belongs. The functions are of
 * a transaction, or of one reader; they return 0 or -errno. */
#ifndef EXPFS_DERIVE_PLACE_H
#define EXPFS_DERIVE_PLACE_H

#include "exp/root.h"
#include "format/manifest.h"
#include "format/state_file.h"

enum kind { NOTHING, MANIFEST, STATE, WEIGHTS };

struct event {
	struct expfs *ex;
	uint64_t id, root_id; /* of the version; of the root */
	struct version_row v;
	enum kind kind;
	struct manifest *m;
	struct state_file s;
	char hash[EXPERIMENT_HASH + 1]; /* of weights */
	struct root_row root;
};

/* 1: the hash is an experiment of the root; 0: it is not. */
int derive_is_known(struct db *db, const struct event *e, const char *hash);

/* The nearest experiment (0: none) at a hash, or before it by the words of state files. */
int derive_resolve(struct db *db, const struct event *e, const char *hash, uint64_t *ret);

/* The branch on which comes what comes after an experiment (0: after none). */
int derive_branch(struct db *db, const struct event *e, uint64_t after, uint64_t *ret);

/* A hash that is none yet becomes an experiment of the root, which came after another one (0: none); guess: that
 * is a guess. */
int derive_add(struct db *db, struct event *e, const char *hash, uint64_t after, bool guess, int64_t time);

/* What state files say came before a hash; 1 if they say something. */
int derive_told_before(struct db *db, const struct event *e, const char *hash, uint64_t *ret);

/* Is the last state file that was read the one that there is? */
int derive_has_state(struct db *db, const struct event *e);

/* The last experiment that came into the root; 0: none. */
int derive_last(struct db *db, const struct event *e, uint64_t *ret);

/* What came before a hash where nothing tells. */
int derive_guess_before(struct db *db, const struct event *e, const char *hash, uint64_t *ret);

#endif
