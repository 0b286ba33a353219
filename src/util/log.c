#include "util/log.h"

#include <stdarg.h>
#include <stdio.h>

/* The one state that is global: where a message goes is a matter of the
 * process, as standard error is. */
static int log_fd = STDERR_FILENO;
static bool log_dated;

void log_open(int fd, bool dated)
{
	log_fd = fd;
	log_dated = dated;
}

void log_msg(const char *fmt, ...)
{
	char line[1024];
	size_t n = 0;
	va_list ap;
	int len;

	if (log_dated) {
		time_t t = time(NULL);
		struct tm tm;

		n = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S ", gmtime_r(&t, &tm));
	} else {
		n = (size_t)snprintf(line, sizeof(line), "expfs: ");
	}
	va_start(ap, fmt);
	len = vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	n += MIN((size_t)len, sizeof(line) - n - 2);
	for (size_t i = 0; i < n; i++) /* names may hold line breaks */
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[n++] = '\n';
	if (write(log_fd, line, n) < 0)
		return; /* nobody is left to tell */
}
