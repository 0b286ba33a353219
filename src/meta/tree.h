/* Directories make a tree: each has one name, and on these the top is reached. In a
 * damaged database they may not. For the files of this room. */
#ifndef EXPFS_META_TREE_H
#define EXPFS_META_TREE_H

#include "meta/lost_found.h"

/* The directories to which names lead from the top, as a subquery. */
#define TREE_REACHED                                                       \
	"(WITH RECURSIVE t(ino) AS (VALUES(1) UNION"                       \
	" SELECT d.ino FROM dirent d JOIN t ON d.parent=t.ino WHERE d.type=4)" \
	" SELECT ino FROM t)"

/* In one transaction, when each directory but the top has a name, and the top has
 * none. Of several names a directory keeps the first one by which it is reached; one
 * directory of a circle that is not reached comes to /lost+found. */
int tree_mend(struct db *db, struct lost_found *l);

#endif
