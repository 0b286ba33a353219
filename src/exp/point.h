/* A state of a run, and where on the run's line it stands (spec section 5).
 *
 *   point_look()     reads what makes the state: the slow part, without a lock
 *   point_settle()   has the files that it consists of on the disk, before anything says so
 *   point_hash()     gives the hash
 *   tx_point_put()   makes it a point of the line if it is a new one, and gives the checkpoint its experiment
 *   point_free()
 *
 * The caller sets ex, run, checkpoint, due and at; and back, with which there is no new point. Functions return 0 or -errno. */
#ifndef EXPFS_POINT_H
#define EXPFS_POINT_H

#include "exp/state.h"
#include "meta/line.h"

struct point {
	struct expfs *ex;
	struct tracked_row run;
	const struct version_row *checkpoint; /* of which the state is asked; NULL: none */
	uint64_t due; /* version whose row of due goes with it; 0: none */
	uint64_t at;  /* number of the commit up to which changes count */
	struct state state;
	bool keeps_model; /* that of before: there is no file to tell another */
	bool as_loaded;   /* before is a load, and nothing was edited since */
	struct line_row before; /* the point of the line after which it comes; id 0: none */
	struct experiment_row before_experiment;
	uint64_t back; /* the experiment to which the checkpoint belongs already, as it has come back; 0: none */
	char hash[EXPERIMENT_HASH + 1]; /* "": the state is no experiment, or is the loaded one */
};
void point_free(struct point *p);
#define _cleanup_point_ _cleanup_(point_free)

int point_look(struct point *p);
int point_settle(struct point *p);

/* Sets p->hash. insert: its segments are given out now, in a transaction. */
int point_hash(struct db *db, struct point *p, bool insert);

/* For a transaction, with a struct point. -EAGAIN: the line is not as it was looked at. */
int tx_point_put(struct db *db, void *point);

/* A version of a checkpoint that was saved again as it was is the version before, if it belongs where that does and
 * made no point of a line. For a transaction. */
int tx_point_join(struct expfs *ex, struct db *db, uint64_t version);

/* Have two hashes that segment in common? */
bool point_same_segment(const char *a, const char *b, enum segment which);

#endif
