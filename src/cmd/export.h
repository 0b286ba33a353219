/* What the files of `expfs export` share: cmd/export.c runs a pass, cmd/export_store.c gets at the store, cmd/export_pair.c and others
 * say what a layout wants in the folder, cmd/export_watch.c runs pass after pass. What goes wrong was told by who says it. */
#ifndef EXPFS_CMD_EXPORT_H
#define EXPFS_CMD_EXPORT_H

#include "cmd/ask.h"
#include "cmd/operand.h"
#include "sync/export.h"

struct export_job;

struct export_layout {
	const char *name;
	/* Adds what it wants to e. *ret_together: so many of the first units are to appear together. */
	enum op_exit (*fill)(struct export_job *j, struct export *e, size_t *ret_together);
	export_keep_fn keep; /* or NULL; its arg is the job */
	int (*after)(struct export_job *j, struct export *e); /* or NULL: looks at what is in the folder then */
};
extern const struct export_layout export_layout_pair, export_layout_plain, export_layout_weightslab;

struct export_job {
	struct ask a;
	const char *dest, *layout_name, *files, *every, *every_steps;
	char *files_before; /* files, as the last export to the folder had them */
	bool watch;
	bool by_branch; /* the branch was named, and no directory */
	const struct export_layout *layout;

	struct supply source;
	char *point, *root; /* of the mount that the source is */
	struct folder folder;
	struct memory *memory;

	json_t *answer; /* of the operation export, for this pass */
	json_t *report; /* what is printed with --json */
	bool quiet;     /* a failure of the folder is not told again */
	json_t *told;   /* what is said once, by the names that it is about */
	bool partial;   /* something is not as it was asked for, and was told; the rest is there */
};

/* Gets at the store that j->a.target names: through its mount, or by opening it here. */
enum op_exit export_store_open(struct export_job *j);
int export_store_close(struct export_job *j, enum op_exit *exit);
bool export_store_is_there(const struct export_job *j); /* the mount, still */

/* Runs an operation there. */
enum op_exit export_ask(struct export_job *j, const char *op, const json_t *args, json_t **ret);

/* What is exported, for messages: its branch as of j->answer, or its path. */
const char *export_subject(const struct export_job *j);

/* Asks what is to be exported, into j->answer. */
enum op_exit export_ask_answer(struct export_job *j);

/* One pass; stop as of struct export. *ret_errno: why it failed, 0: not of the folder's file system. */
enum op_exit export_pass(struct export_job *j, bool (*stop)(void), int *ret_errno);

/* Is the folder this run's, in this layout, or free? Then it is from now on. Why not is told. */
enum op_exit export_claim(struct export_job *j);

/* Adds a name that is not wanted to what is told with --json. Is it told for the first time? */
int export_report_file(struct export_job *j, const char *name, const char *action);
bool export_tell_once(struct export_job *j, const char *name);

/* Prints what a pass did; of a watch only if it did something. */
void export_print(const struct export_job *j);

/* How many signals came that end an export: with the first a pass ends, leaving what was there; of a watch with the second. */
int export_signals(void);

/* Pass after pass. */
enum op_exit export_watch(struct export_job *j, json_int_t every_s, json_int_t every_steps);

/* A file of a unit (NULL: memory is short) under a name below it, with size, mtime, mode, digest and object of an answer of the daemon.
 * from and stamp are taken over. */
int export_file_add(struct export_unit *u, const char *name, struct supply_ref from, const json_t *facts, char *stamp);
char *export_version_stamp(const json_t *facts);

/* What stands at a path of the store now, of an entry of the operation list, under a name in the folder, which is taken over. */
int export_add_entry(struct export *e, const json_t *entry, char *name, enum export_kind kind);

/* Relative paths, in an order as of portable_map_paths(), get names in the folder, to be freed also after an error; ret, of zeros
 * before, is NULL where there is none. What is mapped goes into the report, and is told once. */
int export_map(struct export_job *j, const char *const *paths, size_t n, char **ret);

/* Adds files of the run beside the checkpoints, by the roles in j->files. */
enum op_exit export_fill_beside(struct export_job *j, struct export *e);
bool export_files_are_known(const char *files);

/* The complete versions of a path of the store, as of the operation versions; NULL: none is known. */
json_t *export_versions(struct export_job *j, const char *path);

/* Adds one of them, or a text that is taken over, as a file; the name is taken over. Opens one, or reads it, with a NUL behind it, to
 * be freed; -EFBIG: there is more than max. */
int export_version_add(struct export *e, const char *path, const json_t *version, char *name);
int export_version_open(const struct export_job *j, const char *path, const json_t *version);
int export_version_read(const struct export_job *j, const char *path, const json_t *version, size_t max, char **ret);
int export_text_add(struct export *e, char *text, int64_t mtime, char *name);

/* A directory with all that is in it, for layouts: export_tree_read(), export_tree_add(), export_tree_clear(). */
struct export_tree {
	struct export_job *j;
	const struct export_choice *choice; /* or NULL: all as it is */
	void *arg;  /* of these */
	size_t top; /* bytes of the directory's path in the store, with the slash */
	struct export_tree_entry {
		char *path; /* below the directory */
		json_t *entry;
	} *v;
	size_t n;
	json_t *mapped; /* {path below the directory: name in the folder}, where that is another */
};

/* What a layout has otherwise. */
struct export_choice {
	/* Is it to be there, and what is in it? path is below the directory. */
	bool (*takes)(struct export_tree *t, const json_t *entry, const char *path);
	/* When: 0 as it is, before all others; up to turns by add, which takes the name over. */
	unsigned (*turn)(struct export_tree *t, const json_t *entry, const char *path);
	unsigned turns;
	int (*add)(struct export_tree *t, struct export *e, const json_t *entry, char *name);
};

enum op_exit export_tree_read(struct export_tree *t);
enum op_exit export_tree_add(struct export_tree *t, struct export *e);
void export_tree_clear(struct export_tree *t);
#define _cleanup_export_tree_ _cleanup_(export_tree_clear)

/* Walks the directories below one: fn is called for the entries of each. Ends early with what it returns other than 0. OP_NO, not told:
 * the one is not there, as after its run was removed. */
typedef int (*export_entry_fn)(void *arg, const json_t *entry, const char *path, bool *ret_enter);
enum op_exit export_walk(struct export_job *j, const char *dir, export_entry_fn fn, void *arg);

/* Says that there is no checkpoint, and which file could be meant as one. */
void export_say_none(struct export_job *j);

#endif
