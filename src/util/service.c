/* One datagram of lines KEY=VALUE to the socket. Its path begins with @ where it is an abstract one. What cannot be sent
 * is lost: the service manager has its own patience. */
#include "util/service.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static void _printf_(1, 2) tell(const char *fmt, ...)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t n = path ? strlen(path) : 0;
	_cleanup_close_ int fd = -1;
	char text[1200];
	va_list ap;
	int len;

	if (n < 2 || n >= sizeof(addr.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(addr.sun_path, path, n);
	if (*path == '@')
		addr.sun_path[0] = 0;
	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || len < 0)
		return;
	sendto(fd, text, MIN((size_t)len, sizeof(text) - 1), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&addr,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
}

void service_ready(const char *status)
{
	tell("READY=1\nSTATUS=%s", status);
}

void service_reloading(void)
{
	tell("RELOADING=1\nMONOTONIC_USEC=%lld", (long long)(monotonic_ns() / 1000));
}

void service_stopping(void)
{
	tell("STOPPING=1\nSTATUS=unmounting");
}
