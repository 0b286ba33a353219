/* What the files of sync/export.h share. */
#ifndef EXPFS_SYNC_EXPORT_PART_H
#define EXPFS_SYNC_EXPORT_PART_H

#include "sync/export.h"

/* Where a file of a unit lies in the folder, and the name by which it is remembered, of which a place's ends in a slash; to be freed. */
char *export_path(const struct export_unit *u, const struct export_file *f);
char *export_key(const struct export_unit *u, const struct export_file *f);

/* Puts in order what an export that was killed left. */
int export_mend(struct export *e);

/* Writes a unit under its part's name. */
int export_write(struct export *e, struct export_unit *u);

/* What is known of a file that stands there, with its digest; *ret_ours: an export left it so, and memory_find() finds it, and no other
 * of that name, from now on. */
int export_digest_there(const struct export *e, const char *path, const struct stat *st, struct memory_file *ret, bool *ret_ours);

/* -EBUSY: in the directory that a set stands in for is what export_check() did not see, which would go with it. */
int export_set_is_as_seen(struct export *e, struct export_unit *u);

/* What is remembered and not wanted any more goes. */
int export_tidy(struct export *e);

/* Mode and time of an open file or directory; a folder need not know them. */
int export_set_attributes(int fd, mode_t mode, int64_t mtime);

/* Notes what a failure was about; r. */
int export_failed(struct export *e, const char *name, int r);

#endif
