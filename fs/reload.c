/* A thread of its own waits for the signal, for a configuration may ask for all names to be looked at again. In the
 * foreground of a terminal the signal means that the terminal is gone, and is left to end the mount. */
#include "fs/reload.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include "exp/settings.h"
#include "util/service.h"

struct reloader {
	struct expfs *ex;
	int signals;
	int stop; /* eventfd */
	pthread_t thread;
};

static void reload(struct expfs *ex)
{
	service_reloading();
	if (settings_reload(ex) == 0)
		service_ready("the configuration was read again");
	else
		service_ready("the configuration has a mistake, that from before holds: see expfs status");
}

static void *reloader_main(void *arg)
{
	struct reloader *rl = arg;
	struct pollfd p[] = { { .fd = rl->signals, .events = POLLIN }, { .fd = rl->stop, .events = POLLIN } };

	for (;;) {
		struct signalfd_siginfo info;

		if (poll(p, ARRAY_SIZE(p), -1) < 0 && errno != EINTR)
			return NULL;
		if (p[1].revents)
			return NULL;
		if (read(rl->signals, &info, sizeof(info)) == sizeof(info))
			reload(rl->ex);
	}
}

static bool has_terminal(void)
{
	_cleanup_close_ int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	return fd >= 0;
}

static void reloader_free(struct reloader *rl)
{
	if (rl->signals >= 0)
		close(rl->signals);
	if (rl->stop >= 0)
		close(rl->stop);
	free(rl);
}

int reloader_start(struct expfs *ex, struct reloader **ret)
{
	struct reloader *rl = calloc(1, sizeof(*rl));
	sigset_t set;
	int r = 0;

	if (!rl)
		return -ENOMEM;
	sigemptyset(&set);
	if (!has_terminal())
		sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	*rl = (struct reloader){ .ex = ex, .signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), .stop = eventfd(0, EFD_CLOEXEC) };
	if (rl->signals < 0 || rl->stop < 0)
		r = -errno;
	if (r == 0)
		r = -pthread_create(&rl->thread, NULL, reloader_main, rl);
	if (r < 0)
		reloader_free(rl);
	else
		*ret = rl;
	return r;
}

void reloader_stop(struct reloader *rl)
{
	eventfd_write(rl->stop, 1);
	pthread_join(rl->thread, NULL);
	reloader_free(rl);
}
