/* The control socket: how commands ask the daemon of a mounted store. */
#ifndef EXPFS_FS_CONTROL_H
#define EXPFS_FS_CONTROL_H

#include "exp/expfs.h"

struct control;

/* Makes the socket, in place of one that a dead daemon left, and serves it from
 * threads of its own. The caller holds the store's lock. */
int control_start(struct expfs *ex, struct control **ret);

/* Ends it: no request is taken any more, those under way are told to give up and
 * waited for. */
void control_stop(struct control *c);

#endif
