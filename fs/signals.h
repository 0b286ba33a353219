/* SIGTERM and SIGINT end the session, and SIGHUP of its terminal; any other SIGHUP has config.yaml read again. */
#ifndef EXPFS_SIGNALS_H
#define EXPFS_SIGNALS_H

#include "exp/expfs.h"

struct fuse_session;
struct signals;

/* Both from the thread that runs the session's loop: before the process has others, for the signals are kept from all of them;
 * and when the loop has ended. */
int signals_start(struct expfs *ex, struct fuse_session *session, struct signals **ret);
void signals_stop(struct signals *s);

#endif
