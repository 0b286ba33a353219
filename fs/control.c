/* A unix stream socket STORE/control, mode 0600. One connection is one request:
 *
 *   {"op": "status", "args": {}}\n      at most REQUEST_MAX bytes
 *   {"exit": 0, "result": {…}}\n        the answer, then the daemon closes
 *
 * The peer must be root or the daemon's own user, by the kernel's word. Each
 * connection has a thread, since one request may take long; at most
 * CONNECTIONS_MAX are served, others wait in the socket's queue. A peer that is
 * slow to send or to take is dropped after PATIENCE_NS, and whoever waits for
 * one is woken by the end of the mount through an eventfd.
 *
 * The path of a store may be longer than an address takes, so the socket is
 * named through the descriptor of the directory. */
#include "fs/control.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "op/request.h"
#include "util/log.h"

#define NAME "control"
#define REQUEST_MAX 65536
#define CONNECTIONS_MAX 16
#define PATIENCE_NS 10000000000ll

struct control {
	struct expfs *ex;
	int sock;
	int stop; /* eventfd, readable from control_stop() on */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t done;
	unsigned connections; /* under lock */
};

struct connection {
	struct control *control;
	int fd;
};

/* Waits until fd is ready; false when time is over or the mount ends. */
static bool wait_for(const struct control *c, int fd, short events, int64_t until)
{
	for (;;) {
		struct pollfd p[] = { { .fd = fd, .events = events }, { .fd = c->stop, .events = POLLIN } };
		int64_t left = until == INT64_MAX ? -1 : MAX(until - monotonic_ns(), 0) / 1000000 + 1;
		int n = poll(p, ARRAY_SIZE(p), (int)left);

		if (n > 0)
			return p[1].revents == 0;
		if (n == 0 || errno != EINTR)
			return false;
	}
}

static bool is_allowed(int fd, struct ucred *ret_peer)
{
	socklen_t len = sizeof(*ret_peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret_peer, &len) < 0)
		return false;
	return ret_peer->uid == 0 || ret_peer->uid == geteuid();
}

/* The length of the request line, 0 where there is none. */
static size_t read_request(const struct connection *conn, char buf[static REQUEST_MAX])
{
	int64_t until = monotonic_ns() + PATIENCE_NS;
	size_t len = 0;

	while (len < REQUEST_MAX && wait_for(conn->control, conn->fd, POLLIN, until)) {
		ssize_t n = recv(conn->fd, buf + len, REQUEST_MAX - len, 0);
		const char *end;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return 0;
		end = memchr(buf + len, '\n', (size_t)n);
		if (end)
			return (size_t)(end - buf);
		len += (size_t)n;
	}
	return 0;
}

static void write_answer(const struct connection *conn, const char *text, size_t len)
{
	int64_t until = monotonic_ns() + PATIENCE_NS;

	while (len > 0) {
		ssize_t n = send(conn->fd, text, len, MSG_NOSIGNAL);

		if (n >= 0) {
			text += n;
			len -= (size_t)n;
		} else if (errno != EAGAIN || !wait_for(conn->control, conn->fd, POLLOUT, until)) {
			return;
		}
	}
}

/* Has the peer closed, or does the mount end? */
static bool has_gone(void *arg)
{
	const struct connection *conn = arg;
	struct pollfd p[] = { { .fd = conn->fd }, { .fd = conn->control->stop, .events = POLLIN } };

	return poll(p, ARRAY_SIZE(p), 0) > 0;
}

static void serve(struct connection *conn)
{
	struct op_caller caller = { .has_gone = has_gone, .arg = conn };
	_cleanup_free_ char *request = malloc(REQUEST_MAX);
	_cleanup_free_ char *text = NULL;
	struct ucred peer;
	size_t len;

	if (!is_allowed(conn->fd, &peer) || !request)
		return;
	caller.uid = peer.uid;
	caller.gid = peer.gid;
	len = read_request(conn, request);
	if (len == 0)
		return;
	text = request_answer(conn->control->ex, &caller, request, len, &len);
	if (text)
		write_answer(conn, text, len);
}

static void *connection_main(void *arg)
{
	struct connection *conn = arg;
	struct control *c = conn->control;

	serve(conn);
	close(conn->fd);
	free(conn);
	scoped_lock(&c->lock);
	c->connections--;
	pthread_cond_signal(&c->done);
	return NULL;
}

static void start_connection(struct control *c, int fd)
{
	struct connection *conn = malloc(sizeof(*conn));
	pthread_t thread;

	pthread_mutex_lock(&c->lock);
	while (c->connections == CONNECTIONS_MAX)
		pthread_cond_wait(&c->done, &c->lock);
	c->connections++;
	pthread_mutex_unlock(&c->lock);
	if (conn) {
		*conn = (struct connection){ .control = c, .fd = fd };
		if (pthread_create(&thread, NULL, connection_main, conn) == 0) {
			pthread_detach(thread);
			return;
		}
	}
	free(conn);
	close(fd);
	pthread_mutex_lock(&c->lock);
	c->connections--;
	pthread_mutex_unlock(&c->lock);
}

static void *control_main(void *arg)
{
	struct control *c = arg;

	while (wait_for(c, c->sock, POLLIN, INT64_MAX)) {
		int fd = accept4(c->sock, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0)
			start_connection(c, fd);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			usleep(100000); /* the peer is still in the queue */
	}
	return NULL;
}

/* Nobody can connect before listen(), so the mode is right from the beginning. */
static int make_socket(struct expfs *ex)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int dir = store_dirfd(ex->store);
	_cleanup_close_ int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int fd;

	if (sock < 0)
		return -errno;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/" NAME, dir);
	if (unlinkat(dir, NAME, 0) < 0 && errno != ENOENT)
		return -errno;
	if (bind(sock, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return -errno;
	if (fchmodat(dir, NAME, 0600, 0) < 0 || listen(sock, SOMAXCONN) < 0)
		return -errno;
	fd = sock;
	sock = -1;
	return fd;
}

/* Signals are for the thread that serves the kernel. */
static int start_thread(struct control *c)
{
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	r = pthread_create(&c->thread, NULL, control_main, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -r;
}

static void control_free(struct control *c)
{
	if (c->sock >= 0) {
		unlinkat(store_dirfd(c->ex->store), NAME, 0);
		close(c->sock);
	}
	if (c->stop >= 0)
		close(c->stop);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->done);
	free(c);
}

int control_start(struct expfs *ex, struct control **ret)
{
	struct control *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->ex = ex;
	c->sock = -1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->done, NULL);
	c->stop = eventfd(0, EFD_CLOEXEC);
	r = c->stop < 0 ? -errno : make_socket(ex);
	if (r >= 0) {
		c->sock = r;
		r = start_thread(c);
	}
	if (r < 0) {
		control_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

void control_stop(struct control *c)
{
	eventfd_write(c->stop, 1);
	pthread_join(c->thread, NULL);
	pthread_mutex_lock(&c->lock);
	while (c->connections > 0)
		pthread_cond_wait(&c->done, &c->lock);
	pthread_mutex_unlock(&c->lock);
	control_free(c);
}
