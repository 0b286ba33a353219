/* Between the files of the experiments' views. */
#ifndef EXPFS_VIEW_ORIGIN_H
#define EXPFS_VIEW_ORIGIN_H

#include "exp/origin.h"
#include "view_kind.h"

/* What a view is about, once what is due is resolved: its experiment or, of a segment, the last one that has it.
 * -ENOENT: there is none for who asks. */
int view_origin(struct view_req *q, const struct view_key *key, struct origin *ret);

/* view_files.c: the files of a segment, and the directories in which they lie below the run. Of the key of a
 * directory or file there dir is the segment and part a tracked path, or 0 for the run. */
int view_files_lookup(struct view_req *q, const struct view_key *key, const char *name, struct view_key *ret);
int view_files_list(struct view_req *q, const struct view_key *key, struct view_list *l);
int view_files_target(struct view_req *q, const struct view_key *key, char **ret);

#endif
