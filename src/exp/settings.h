/* The store's config.yaml in force: which is ex->config.
 *
 * It may be read again at any time. Whoever asks for a value takes ex->config once for what belongs together; one that is
 * not in force any more stays until the store is closed. What is kept by it in the database, and in the memory of the
 * writer, changes in the same transaction, so in a transaction it stays the same. */
#ifndef EXPFS_SETTINGS_H
#define EXPFS_SETTINGS_H

#include "exp/expfs.h"

/* While the store is opened: reads it, then brings the database in line with it. One with a mistake in it is not taken; the
 * defaults are in force then. */
int settings_load(struct expfs *ex);
int settings_follow(struct expfs *ex);
void settings_free(struct expfs *ex);

/* Reads it again; a message is logged. One that cannot be taken leaves what was in force: -errno. Not to be called with a
 * lock; by one at a time. */
int settings_reload(struct expfs *ex);

/* What is the matter with it, as text that continues "config.yaml: "; *ret is NULL if nothing is. To be freed. */
int settings_fault(struct expfs *ex, char **ret);

#endif
