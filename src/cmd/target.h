/* What a command is asked about: a store, and a path in it (spec section 8). */
#ifndef EXPFS_CMD_TARGET_H
#define EXPFS_CMD_TARGET_H

#include "op/op.h"

struct target {
	char *store;
	char *path;  /* in the store, of bytes, without a slash in front; NULL: none was given */
	char *point; /* the mount in which the path was given, or NULL */
	char *below; /* the path below that point */
};

/* Where the path may lie. */
enum target_where {
	TARGET_THERE,   /* it is there, in a mount */
	TARGET_GONE,    /* it need not be there any more, and counts from the top of the store where one is named */
	TARGET_MOUNTED, /* it need not be there any more, in a mount */
};

/* The store is that of the mount in which path lies (if one is given), or what store or EXPFS_STORE
 * name. Without both it is the mount in which the working directory lies. What is wrong was told. */
enum op_exit target_open(const char *command, const char *path, const char *store, enum target_where where,
			 struct target *ret);
void target_free(struct target *t);
#define _cleanup_target_ _cleanup_(target_free)

/* Is such an operand a path, which has a slash in it or is . or ..? */
bool target_is_path(const char *operand);

/* What is meant where no path is given: the working directory or, where a store is named, NULL, all of that. */
const char *target_here(const char *store);

/* The same for an operand BRANCH|PATH, or NULL: target_here(). The view of a branch stands for that. What it names is put into the
 * arguments of the operation, as "branch" or "path". */
enum op_exit target_open_branch(const char *command, const char *operand, const char *store, json_t *args,
				struct target *ret);

/* Takes PATH@N apart; *ret_n is 0 where there is no @N. A path that itself ends in @ and digits, or
 * in @, is written with one more @ behind it; another @ with nothing behind it is an error. The path is
 * to be freed. What is wrong was told. */
enum op_exit target_split(const char *command, const char *arg, char **ret_path, uint64_t *ret_n);

/* Another path of the store becomes the target's; -ENOENT: it is not below the mount in which the first one was given. */
int target_set_path(struct target *t, const char *path);

/* Says why nothing is known of the path, to which no number was given: the reason of the answer or, where
 * what is in front of an @ in its last name is known, what is wrong with the rest. */
enum op_exit target_say_unknown(const char *command, const struct target *t, const json_t *answer);

#endif
