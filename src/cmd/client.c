/* The way of a request is described in fs/control.c. */
#include "cmd/client.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "cmd/place.h"
#include "op/reply.h"
#include "util/advice.h"
#include "util/log.h"
#include "util/progress.h"

#define ANSWER_MAX (64u << 20)
#define SILENCE_NS 5000000000ll /* until it is said that the daemon does not answer */
#define PATIENCE_NS 3000000000ll /* for a daemon that starts or ends */
#define PAUSE_US 50000

int client_connect(const char *store)
{
	_cleanup_close_ int dir = open(store, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int sock = -1;
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd;

	if (dir < 0)
		return -errno;
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/control", dir);
	if (connect(sock, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return -errno;
	fd = sock;
	sock = -1;
	return fd;
}

pid_t client_daemon(int sock)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	return getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 ? peer.pid : 0;
}

static int send_request(int sock, const char *op, const json_t *args)
{
	_cleanup_json_ json_t *request = json_pack("{s:s, s:O?}", "op", op, "args", args);
	_cleanup_free_ char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	_cleanup_free_ char *line = NULL;
	int len;

	if (!text || (len = asprintf(&line, "%s\n", text)) < 0)
		return -ENOMEM;
	return send(sock, line, (size_t)len, MSG_NOSIGNAL) == len ? 0 : -ECONNRESET;
}

/* Reads the answer, in one line, until the daemon closes. */
static int read_answer(int sock, const char *op, json_t **ret)
{
	_cleanup_free_ char *buf = NULL, *what = NULL;
	size_t len = 0, room = 0;
	int64_t late = monotonic_ns() + SILENCE_NS;
	struct progress progress;
	ssize_t n = 1;

	if (asprintf(&what, "expfs: %s: waiting for the daemon", op) < 0)
		return -ENOMEM;
	progress_start(&progress, what, 0);
	while (n > 0 && len < ANSWER_MAX) {
		struct pollfd p = { .fd = sock, .events = POLLIN };

		if (len == room) {
			char *more = realloc(buf, room = room ? room * 2 : 65536);

			if (!more)
				return -ENOMEM;
			buf = more;
		}
		progress_add(&progress, 0);
		if (late && monotonic_ns() > late && !progress.shown) {
			log_msg("%s: the daemon has not answered yet; it is at work, or hangs; the log in the store tells more", op);
			late = 0;
		}
		if (poll(&p, 1, 1000) <= 0)
			continue;
		n = recv(sock, buf + len, room - len, 0);
		len += n > 0 ? (size_t)n : 0;
	}
	progress_end(&progress);
	if (len == 0)
		return -ECONNRESET;
	*ret = json_loadb(buf, len, 0, NULL);
	return *ret ? 0 : -EPROTO;
}

/* -ENOENT, -ECONNREFUSED, -ECONNRESET: no daemon answers. */
static int ask_daemon(const char *store, const char *op, const json_t *args, enum op_exit *ret_exit, json_t **ret)
{
	_cleanup_json_ json_t *answer = NULL;
	_cleanup_close_ int sock = client_connect(store);
	json_t *result;
	int exit, r;

	if (sock < 0)
		return sock;
	r = send_request(sock, op, args);
	if (r == 0)
		r = read_answer(sock, op, &answer);
	if (r < 0)
		return r;
	if (json_unpack(answer, "{s:i, s:O}", "exit", &exit, "result", &result) < 0)
		return -EPROTO;
	*ret_exit = (enum op_exit)exit;
	*ret = result;
	return 0;
}

/* An operation asks now and then whether its answer is still wanted. */
static bool show_progress(void *arg)
{
	progress_add(arg, 0);
	return false;
}

static enum op_exit run_op(struct expfs *ex, const char *op, const json_t *args, json_t **ret)
{
	_cleanup_free_ char *what = NULL;
	struct progress progress;
	struct op_caller caller = { .has_gone = show_progress, .arg = &progress, .uid = geteuid(), .gid = getegid() };
	enum op_exit exit;

	if (asprintf(&what, "expfs: %s: at work", op) < 0)
		return reply_error(ret, OP_FAILED, "%s: %s", op, advice(-ENOMEM));
	progress_start(&progress, what, 0);
	exit = op_run(ex, &caller, op, args, ret);
	progress_end(&progress);
	return exit;
}

/* -EWOULDBLOCK: somebody else has the store. *ret_error as from expfs_open(). */
static int run_here(const char *store, const char *op, const json_t *args, enum op_exit *ret_exit, json_t **ret,
		    char **ret_error)
{
	_cleanup_free_ char *who = NULL;
	struct expfs *ex;
	int r;

	if (asprintf(&who, "running expfs %s", op) < 0)
		return -ENOMEM;
	r = expfs_open(store, who, &ex, ret_error);
	if (r == -EUCLEAN && !strcmp(op, "fsck")) {
		*ret_exit = op_fsck_damaged(store, who, args, ret);
		return 0;
	}
	if (r < 0)
		return r;
	*ret_exit = run_op(ex, op, args, ret);
	r = expfs_close(ex);
	if (r < 0) {
		json_decref(*ret);
		if (asprintf(ret_error, "%s: closing the store: %s", store, strerror(-r)) < 0)
			*ret_error = NULL;
	}
	return r;
}

static bool no_daemon(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ECONNREFUSED || r == -ECONNRESET;
}

/* What is no store may be where one is mounted. */
static bool say_mounted(const char *store)
{
	_cleanup_place_ struct place *p = NULL;

	if (place_open(store, &p) < 0 || !place_is_inside(p))
		return false;
	log_msg("%s: is in the mount %s of a store; name the store: %s", store, p->point, p->source);
	return true;
}

enum op_exit client_run(const char *store, const char *op, const json_t *args, json_t **ret)
{
	int64_t until = monotonic_ns() + PATIENCE_NS;
	_cleanup_json_ json_t *result = NULL;
	enum op_exit exit = OP_FAILED;
	const char *error;

	progress_enable();
	for (;;) {
		_cleanup_free_ char *text = NULL;
		int r = ask_daemon(store, op, args, &exit, &result);

		if (no_daemon(r))
			r = run_here(store, op, args, &exit, &result, &text);
		if (r == 0)
			break;
		if (r == -EWOULDBLOCK && monotonic_ns() < until) {
			usleep(PAUSE_US);
			continue;
		}
		if (r == -EMEDIUMTYPE && say_mounted(store))
			return OP_FAILED;
		if (text)
			log_msg("%s", text);
		else
			log_msg("%s: %s: %s", store, op, advice(r));
		return OP_FAILED;
	}
	if (exit == OP_DONE || exit == OP_NO) {
		*ret = steal(&result);
		return exit;
	}
	error = json_string_value(json_object_get(result, "error"));
	log_msg("%s", error ? error : "memory is short");
	return exit;
}
