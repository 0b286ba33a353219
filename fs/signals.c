/* A thread of its own waits for the signals, for a configuration may ask for all names to be looked at again, and since libfuse's
 * loop may be about to wait when a handler tells it to end, and then waits for good: it is woken until it has ended. In the
 * foreground of a terminal SIGHUP means that the terminal is gone. */
#include "fs/signals.h"

#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include "exp/settings.h"
#include "util/service.h"

#define WAKE SIGUSR1
#define WAKE_MS 10

struct signals {
	struct expfs *ex;
	struct fuse_session *session;
	bool has_terminal;
	int fd;
	int stop; /* eventfd */
	pthread_t loop, thread;
};

static sigset_t awaited(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	return set;
}

static void reload(struct expfs *ex)
{
	service_reloading();
	if (settings_reload(ex) == 0)
		service_ready("the configuration was read again");
	else
		service_ready("the configuration has a mistake, that from before holds: see expfs status");
}

static void end_session(const struct signals *s)
{
	struct pollfd p = { .fd = s->stop, .events = POLLIN };

	fuse_session_exit(s->session);
	do
		pthread_kill(s->loop, WAKE);
	while (poll(&p, 1, WAKE_MS) <= 0);
}

static void *signals_main(void *arg)
{
	struct signals *s = arg;
	struct pollfd p[] = { { .fd = s->fd, .events = POLLIN }, { .fd = s->stop, .events = POLLIN } };

	for (;;) {
		struct signalfd_siginfo info;

		if (poll(p, ARRAY_SIZE(p), -1) < 0 && errno != EINTR)
			return NULL;
		if (p[1].revents)
			return NULL;
		if (read(s->fd, &info, sizeof(info)) != sizeof(info))
			continue;
		if (info.ssi_signo == SIGHUP && !s->has_terminal)
			reload(s->ex);
		else
			end_session(s);
	}
}

static bool has_terminal(void)
{
	_cleanup_close_ int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	return fd >= 0;
}

static void signals_free(struct signals *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->stop >= 0)
		close(s->stop);
	free(s);
}

static void wake(int signo)
{
}

int signals_start(struct expfs *ex, struct fuse_session *session, struct signals **ret)
{
	const struct sigaction action = { .sa_handler = wake };
	struct signals *s = calloc(1, sizeof(*s));
	sigset_t set = awaited();
	int r = 0;

	if (!s)
		return -ENOMEM;
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	*s = (struct signals){ .ex = ex, .session = session, .has_terminal = has_terminal(), .loop = pthread_self(),
			       .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), .stop = eventfd(0, EFD_CLOEXEC) };
	if (s->fd < 0 || s->stop < 0 || sigaction(WAKE, &action, NULL) < 0)
		r = -errno;
	if (r == 0)
		r = -pthread_create(&s->thread, NULL, signals_main, s);
	if (r < 0)
		signals_free(s);
	else
		*ret = s;
	return r;
}

void signals_stop(struct signals *s)
{
	sigset_t set = awaited();

	eventfd_write(s->stop, 1);
	pthread_join(s->thread, NULL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	signals_free(s);
}
