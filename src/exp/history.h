/* The versions of one path, and letting them go (spec sections 6 and 8).
 *
 * A path is one of the room exp (exp/path.h) and may be gone. Functions return 0 or -errno. */
#ifndef EXPFS_HISTORY_H
#define EXPFS_HISTORY_H

#include "exp/expfs.h"
#include "meta/content.h"
#include "meta/tracked.h"
#include "meta/version.h"

struct history_version {
	struct version_row row; /* complete is 0 or 1; size of a directory: that of its files */
	bool held;              /* it is what the path holds now, and nobody writes it */
	bool on_line;           /* an experiment of its run, which is there, consists of it, or has it as its last checkpoint */
	char *selected;         /* which selection needs it, as text (history_need()), or NULL */
	bool has_digest;        /* not of a directory, nor of what is empty or not sealed */
	uint8_t digest[CONTENT_DIGEST];
};

struct history {
	struct tracked_row tracked;
	char *name; /* the last component */
	struct history_version *v; /* oldest first */
	size_t n;
	uint64_t best; /* id of the version that is the best of the run (exp/best.h), 0: none has a metric */
};

/* -ENOENT: nothing is known of the path; -ENODATA: its run does not record what it holds (exp/kept.h); -EISDIR: it is a
 * directory that never was a checkpoint. */
int history_load(struct expfs *ex, const char *path, struct history *ret);
void history_free(struct history *h);
#define _cleanup_history_ _cleanup_(history_free)

/* For a path of which nothing is known, *ret_path to be freed; -ENOENT: there is none.
 * history_find_displaced(): the path that has the versions of what was there before a directory above it,
 * or itself, was removed and its name taken again.
 * history_find_above(): the checkpoint directory in which it lies. */
int history_find_displaced(struct expfs *ex, const char *path, char **ret_path);
int history_find_above(struct expfs *ex, const char *path, char **ret_path);

/* Size and time of a version whose content may still be changed in place, as metrics are, are those of its
 * file now. */
void history_stat_live(struct expfs *ex, struct version_row *v);

/* What needs a version, as text that continues "version N: ", or NULL: it may go. */
const char *history_need(const struct history *h, const struct history_version *v);

/* Forgets those versions that are marked, one flag for each of h->v, and what nothing needs any
 * more; the path too if it is gone and nothing is left of it. -EAGAIN: it is not as it was
 * loaded. *ret_freed: bytes of contents. */
int history_forget(struct expfs *ex, const struct history *h, const bool *marked, uint64_t *ret_freed);

#endif
