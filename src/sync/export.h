/* One pass of an export: a folder gets what it is to hold, in units that are each replaced in one step.
 *
 * Order of calls: export_unit() and export_file() for all that is wanted; export_check(), which finds out
 * what is to be written and what of another is in the way; export_run(); export_free(). Nothing is written before export_run(), but what
 * a killed export left is put in order; and nothing is removed before what takes its place is whole, not even where a file becomes a
 * directory or the other way round. Functions return 0 or -errno. */
#ifndef EXPFS_SYNC_EXPORT_H
#define EXPFS_SYNC_EXPORT_H

#include <jansson.h>

#include "sync/folder.h"
#include "sync/memory.h"
#include "sync/supply.h"

enum export_action {
	EXPORT_UNCHANGED,
	EXPORT_TOUCHED, /* its time alone */
	EXPORT_WRITTEN,
	EXPORT_REFUSED, /* a file of another stands there */
};

enum export_kind {
	EXPORT_FILE,
	EXPORT_SET,   /* a directory that is replaced as a whole, with all that is in it */
	EXPORT_PLACE, /* a directory that is only there, with a mode and a time */
	EXPORT_LINK,  /* a symbolic link; where there are none, its file is copied, if it has one */
	EXPORT_TWIN,  /* another name of a file before; likewise */
};

struct export_file {
	char *name; /* below the unit, as the folder takes it; "" where the unit is a file */
	struct supply_ref from;
	uint64_t size;
	int64_t mtime;
	mode_t mode;
	bool has_digest;
	uint8_t digest[DIGEST_SIZE];
	char *stamp; /* as of struct memory_file */

	struct stat left; /* as it was written */
};

struct export_unit {
	char *name; /* in the folder, as it takes it */
	enum export_kind kind;
	struct export_file *files; /* of a place one without content */
	size_t n;
	char *target; /* of a link */
	size_t twin;  /* which unit it is another name of */

	enum export_action action;
	struct stat seen; /* what stood there at export_check(); st_ino 0: nothing */
	char **carried;   /* files, and empty directories, of others in it, which the new one gets, too */
	size_t n_carried;
	char *part;       /* under which it was written */
};

/* Does the store have that content? */
typedef bool (*export_known_fn)(void *arg, uint64_t size, const uint8_t digest[DIGEST_SIZE]);

/* Does what an export put there stay, though it is not wanted any more? */
typedef bool (*export_keep_fn)(void *arg, const char *name);

struct export {
	const struct supply *source;
	const struct folder *folder;
	struct memory *memory; /* or NULL */
	export_known_fn known;
	export_keep_fn keep; /* or NULL */
	void *arg;           /* of both */
	bool (*stop)(void); /* whether to give up; may be NULL */

	struct export_unit *units;
	size_t n;
	uint64_t needed;    /* bytes that are to be written */
	uint64_t written;
	size_t refused;
	json_t *removed;    /* names of what was there and is not wanted any more */
	char *at;           /* what a failure was about, or NULL */
};

/* A unit, to which files are added; NULL: memory is short. name is taken over. */
struct export_unit *export_unit(struct export *e, char *name, enum export_kind kind);
struct export_file *export_file(struct export_unit *u);
void export_drop_last(struct export *e); /* unit */
void export_free(struct export *e);

int export_check(struct export *e);

/* Is what stands there, a file, a link or a directory with all that is in it, as an export left it? -ENOENT: nothing stands there. */
int export_is_ours(struct export *e, const char *name, bool *ret);

/* The first so many units are written before the first of them is put in place, the others one by one; when all is there, what an export
 * put there goes, if it is not wanted any more and nobody changed it. -ECANCELED: as stop says. */
int export_run(struct export *e, size_t together);

#endif
