/* What a service manager wants to know of a daemon that it started in the foreground: sd_notify(3). Where the environment
 * variable NOTIFY_SOCKET names no socket nobody wants to know, and nothing is done; a daemon that leaves its starter
 * unsets it first. */
#ifndef EXPFS_SERVICE_H
#define EXPFS_SERVICE_H

#include "util/util.h"

/* It is usable, or usable again. */
void service_ready(const char *status);

/* It reads its configuration, until service_ready(). */
void service_reloading(void);

/* It is about to end. */
void service_stopping(void);

#endif
