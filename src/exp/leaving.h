/* A checkpoint that is taken away, or saved over in part, before anybody judged it, as within a second of its save. While it is
 * there it can be told whether it is complete, and of which experiment; a directory without its first file has no version for ever. So
 * it is judged before. But of a directory from which file after file is taken that is done only once, and not for a
 * file that is no part of what was saved: one left from the version before, or one that only came last, as a lock. */
#ifndef EXPFS_LEAVING_H
#define EXPFS_LEAVING_H

#include "exp/expfs.h"
#include "meta/tracked.h"

/* Before the name is taken from the directory, or another put in its place, and after that. Not to be called with a lock
 * or a reader of the database, nor in a transaction; a failure is of no concern. checkpoint: what leaving_judge() gave, a
 * tracked path or 0. */
uint64_t leaving_judge(struct expfs *ex, uint64_t dir, const char *name);
void leaving_taken(struct expfs *ex, uint64_t checkpoint);

/* Before a file is opened to write, or truncated: the directory of which it is a part is judged. So that a save over another one,
 * file after file, costs one look, none is taken at what the last complete version has, nor at what is being written. Likewise
 * before by takes the place of name in the directory, or they are exchanged; what was made since by was is of the next save. */
void leaving_judge_written(struct expfs *ex, uint64_t ino);
void leaving_judge_replaced(struct expfs *ex, uint64_t dir, const char *name, const char *by);

/* Before the name of a directory becomes another in the same directory: only what is a checkpoint itself is judged. */
void leaving_judge_dir(struct expfs *ex, uint64_t dir, const char *name);

#endif
