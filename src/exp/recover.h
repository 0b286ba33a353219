/* Bringing contents in order after a power cut (exp/undo.h says what that is).
 *
 * To be called once, before anything else uses the store. It may be interrupted
 * and begun again: what it has done is not found again. */
#ifndef EXPFS_RECOVER_H
#define EXPFS_RECOVER_H

#include "exp/expfs.h"

/* Reads all contents that were not synced; each file that it changes is named in
 * the log. ret: how many. */
int recover_after_cut(struct expfs *ex, struct recovered *ret);

#endif
