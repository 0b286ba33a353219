#include "util/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

/* The one state that is global: where a message goes is a matter of the
 * process, as standard error is. */
static atomic_int log_fd = STDERR_FILENO;
static atomic_int copy_fd = -1;
static atomic_bool log_dated;

void log_open(int fd, bool dated)
{
	log_fd = fd;
	log_dated = dated;
}

void log_copy(int fd)
{
	copy_fd = fd;
}

static void write_line(int fd, bool dated, const char *text)
{
	char line[1200];
	size_t n;

	if (dated) {
		time_t t = time(NULL);
		struct tm tm;

		n = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S ", gmtime_r(&t, &tm));
	} else {
		n = (size_t)snprintf(line, sizeof(line), "expfs: ");
	}
	n += (size_t)snprintf(line + n, sizeof(line) - n, "%s\n", text);
	if (write(fd, line, n) < 0)
		return; /* nobody is left to tell */
}

void log_msg(const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int len, copy = copy_fd;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	for (char *p = text; *p; p++) /* names may hold line breaks */
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	write_line(log_fd, log_dated, text);
	if (copy >= 0)
		write_line(copy, true, text);
}
