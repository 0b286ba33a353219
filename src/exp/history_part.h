/* What history.c and history_forget.c share. */
#ifndef EXPFS_HISTORY_PART_H
#define EXPFS_HISTORY_PART_H

#include "exp/history.h"

/* The checkpoint of an experiment that a load of it into its run takes, found out once for versions that follow each other. */
struct last_checkpoint {
	uint64_t experiment, version;
};

/* Does an experiment need the version? Of a run that is gone none needs any. */
int history_is_on_line(struct db *db, const struct tracked_row *t, const struct version_row *v, struct last_checkpoint *last);

#endif
