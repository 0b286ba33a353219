/* SIGHUP: config.yaml is read again. */
#ifndef EXPFS_RELOAD_H
#define EXPFS_RELOAD_H

#include "exp/expfs.h"

struct reloader;

/* Before the process has other threads, for the signal is kept from all of them. */
int reloader_start(struct expfs *ex, struct reloader **ret);
void reloader_stop(struct reloader *rl);

#endif
