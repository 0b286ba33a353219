#include "cmd/mounted.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "cmd/paint.h"
#include "cmd/place.h"
#include "op/reply.h"
#include "util/advice.h"
#include "util/io.h"
#include "util/log.h"

#define PATIENCE_MS 2000 /* for a daemon that does not answer */
#define END_MS 100	 /* for who looked, once killed */

/* When a process began, in ns since 1970; 0: not known. In /proc/PID/stat that is the 20th word behind the
 * name, which is in brackets and may hold anything. */
static int64_t process_start(pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	unsigned long long ticks;
	struct timespec boot;
	const char *s;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	if (io_read_file(AT_FDCWD, path, 4096, &text, NULL) < 0 || !(s = strrchr(text, ')')))
		return 0;
	for (int i = 0; i < 20 && s; i++)
		s = strchr(s + 1, ' ');
	if (!s || sscanf(s, "%llu", &ticks) != 1 || clock_gettime(CLOCK_BOOTTIME, &boot) < 0)
		return 0;
	return now_ns() - timespec_ns(&boot) + (int64_t)(ticks * (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK)));
}

static _Noreturn void look(const char *point)
{
	struct place *place;
	int r = place_open(point, &place);

	_exit(r == 0 && place_is_dead(place) ? ENOTCONN : r == 0 && access(point, X_OK) < 0 ? errno : -r);
}

/* Ends it; one that a daemon holds fast stays until that lets go, and is not waited for. */
static void end(pid_t pid, int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	kill(pid, SIGKILL);
	poll(&p, 1, END_MS);
	waitpid(pid, NULL, WNOHANG);
}

/* Looks in a process of its own, for the daemon may hang. */
static const char *ask_state(const char *point)
{
	pid_t pid = fork();
	_cleanup_close_ int fd = pid > 0 ? pidfd_open(pid, 0) : -1;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int status, n;

	if (pid == 0)
		look(point);
	if (pid < 0)
		return "unknown";
	n = fd < 0 ? -1 : poll(&p, 1, PATIENCE_MS);
	if (n <= 0) {
		end(pid, fd);
		return n < 0 ? "unknown" : "hangs";
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return "unknown";
	return WEXITSTATUS(status) == 0 ? "healthy" : WEXITSTATUS(status) == EACCES ? "closed" : "dead";
}

static int add(void *arg, const struct place *p)
{
	_cleanup_close_ int sock = client_connect(p->source);
	pid_t pid = sock >= 0 ? client_daemon(sock) : 0;
	int64_t since = pid ? process_start(pid) : 0;
	json_t *j = json_pack("{s:o, s:o, s:s, s:s, s:o, s:o}", "mount", reply_text(p->point), "store", reply_text(p->source), "options",
			      p->options, "state", ask_state(p->point), "pid", pid ? json_integer(pid) : json_null(), "since",
			      since ? reply_time(since) : json_null());

	return json_array_append_new(arg, j) < 0 ? -ENOMEM : 0;
}

static void print_state(const json_t *mount)
{
	const char *state = cmd_string(mount, "state");

	if (!strcmp(state, "healthy"))
		paint_printf(PAINT_GREEN, "healthy");
	else if (!strcmp(state, "dead"))
		paint_printf(PAINT_RED, "dead");
	else if (!strcmp(state, "hangs"))
		paint_printf(PAINT_RED, "does not answer");
	else if (!strcmp(state, "closed"))
		printf("another user's");
	else
		printf("not known, for no process could be started that looks");
	if (!strcmp(state, "dead")) {
		printf("; clear it away: expfs umount ");
		cmd_print_text(cmd_string(mount, "mount"));
	}
}

static void print_text(const json_t *mounts)
{
	const json_t *j;
	size_t i;

	json_array_foreach (mounts, i, j) {
		char since[REPLY_TIME_TEXT];

		fputs(paint(PAINT_BOLD), stdout);
		cmd_print_text(cmd_string(j, "mount"));
		printf("%s: ", paint(PAINT_NONE));
		print_state(j);
		printf("\n  store    ");
		cmd_print_text(cmd_string(j, "store"));
		printf("\n  options  %s\n", cmd_string(j, "options"));
		reply_time_text(cmd_string(j, "since"), since);
		if (cmd_number(j, "pid"))
			printf("  since    %s, process %" JSON_INTEGER_FORMAT "\n", since, cmd_number(j, "pid"));
	}
}

enum op_exit mounted_print(bool json)
{
	_cleanup_json_ json_t *answer = json_pack("{s:[]}", "mounts");
	json_t *mounts = json_object_get(answer, "mounts");
	int r = mounts ? place_each(add, mounts) : -ENOMEM;

	if (r < 0) {
		log_msg("mount: /proc/self/mountinfo: %s", advice(r));
		return OP_FAILED;
	}
	if (json_array_size(mounts) == 0 && !json) {
		log_msg("mount: no store is mounted; mount one: expfs mount STORE MNT");
		return OP_NO;
	}
	if (json)
		cmd_print_json(answer);
	else
		print_text(mounts);
	return json_array_size(mounts) == 0 ? OP_NO : OP_DONE;
}
