/* What branch.c, branch_removed.c and branch_root.c share. */
#ifndef EXPFS_BRANCH_PART_H
#define EXPFS_BRANCH_PART_H

#include "exp/branch.h"
#include "meta/root.h"

/* The name of the branch of the run at path, to be freed. It follows from the path alone, so
 * that it does not change when another run comes or goes. */
char *branch_run_name(const char *path);

/* The path with dots, to be freed; "main" for the top. */
char *branch_path_name(const char *path);

int branch_list_add(struct branch_list *l, struct branch *b); /* takes b over */
struct branch *branch_list_find(struct branch_list *l, const char *name); /* or NULL */

/* branch_removed.c: that of a removed run, by its tracked path; -ENOENT. All, but those whose name one in the list has.
 * By the name: that of a run in runs/, or any with a dot. */
int branch_removed_get(struct expfs *ex, struct cred *cred, uint64_t id, struct branch *ret);
int branch_removed_add(struct expfs *ex, struct cred *cred, struct branch_list *l);
int branch_removed_by_name(struct expfs *ex, struct cred *cred, const char *name, struct branch *ret);

/* branch_root.c: that of a root, by its row, which is made up for the first one; -ENOENT. All, but those whose name one in
 * the list has. By the name. */
int branch_root_get(struct expfs *ex, struct cred *cred, const struct fork_row *row, struct branch *ret);
int branch_root_add(struct expfs *ex, struct cred *cred, struct branch_list *l);
int branch_root_by_name(struct expfs *ex, struct cred *cred, const char *name, struct branch *ret);

#endif
