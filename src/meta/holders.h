/* Which rows hold a content, for those who add up space. */
#ifndef EXPFS_META_HOLDERS_H
#define EXPFS_META_HOLDERS_H

#include "meta/meta.h"

/* Calls f for each content that the versions of a tracked path hold, themselves or in their files; or those of the
 * files directly in it, a directory, each with its tracked path; of nothing that is empty. Ends early with what it returns
 * other than 0. */
typedef int (*held_fn)(void *arg, uint64_t tracked, uint64_t object, uint64_t size);
int held_by_path(struct db *db, uint64_t tracked, held_fn f, void *arg);
int held_by_files_in(struct db *db, uint64_t tracked, held_fn f, void *arg);

/* Adds the tracked directories in a directory to a struct id_list. */
int held_dirs_in(struct db *db, uint64_t tracked, void *id_list);

struct holders {
	uint64_t inodes;
	uint64_t all;    /* with versions, and files of versions */
	uint64_t blocks; /* the most that an inode counts */
};
int holders_of(struct db *db, uint64_t object, struct holders *ret);

#endif
