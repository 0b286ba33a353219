/* Messages of the daemon and of the commands.
 *
 * log_open() sends messages to a file descriptor (standard error at first);
 * the daemon gives the store's log. A message is one line: lower case, no full
 * stop, naming the thing and the reason. Thread-safe. */
#ifndef EXPFS_LOG_H
#define EXPFS_LOG_H

#include "util/util.h"

/* Sends later messages to fd, each with the date in front where dated is set.
 * The descriptor stays the caller's and must outlive the last message. */
void log_open(int fd, bool dated);

/* Sends later messages to fd too, dated; -1 ends it. */
void log_copy(int fd);

void log_msg(const char *fmt, ...) _printf_(1, 2);

#endif
