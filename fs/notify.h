/* Telling the kernel of names that lead to something else now, though it did not ask for that.
 *
 * It takes the locks of directories for it, and holds them while it waits for our answers to other requests. So this
 * has a thread of its own, and who waits for that holds no lock and is one of a few. */
#ifndef EXPFS_NOTIFY_H
#define EXPFS_NOTIFY_H

#include "fs.h"

struct notifier;

int notifier_start(struct fs *fs, struct notifier **ret);

/* When the kernel has nothing to do with the session any more. false: it hangs in the kernel, and the session must
 * not be destroyed. */
bool notifier_stop(struct notifier *n);

/* Returns when the kernel knows, or does not take it for ten seconds: it is told on, then, and what it does not know
 * is counted (untold of struct expfs). */
void notifier_tell(struct notifier *n, const struct expfs_change *v, size_t count);

#endif
