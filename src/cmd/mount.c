/* mount: what can be refused is refused before anything happens; then the
 * daemon goes to the background.
 *
 * Until the mount is usable the daemon's standard error is a pipe to the
 * command: what comes through it is for the user, a NUL says that it is done,
 * an end without one that it failed. Afterwards messages go to STORE/log. */
#include "cmd/mount.h"

#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cmd/mounted.h"
#include "cmd/place.h"
#include "cmd/unmount.h"
#include "fs/session.h"
#include "store/store.h"
#include "util/advice.h"
#include "util/io.h"
#include "util/log.h"
#include "util/service.h"

#define LOG_MAX (1 << 20)
#define END_WAIT_NS 10000000000ll
#define DEAD_MAX 16 /* dead mounts, one over the other */

struct mount {
	const char *store;
	const char *point; /* absolute */
	const char *options;
	bool foreground;
	bool ready;
	int log; /* where messages go once it is usable */
};

#define refuse(...) (log_msg(__VA_ARGS__), OP_FAILED)

/* Opens the mount point, from which dead mounts of ours were cleared away. */
static enum op_exit open_point(const char *point, struct place **ret)
{
	for (int i = 0; i < DEAD_MAX; i++) {
		_cleanup_place_ struct place *p = NULL;
		_cleanup_free_ char *reason = NULL;
		int r = place_open(point, &p);

		if (r == -ENOENT)
			return refuse("%s: no such directory; make it first", point);
		if (r < 0)
			return refuse("%s: %s", point, advice(r));
		if (!place_is_dead(p)) {
			*ret = steal(&p);
			return OP_DONE;
		}
		if (!place_is_mount(p))
			return refuse("%s: lies in a dead mount (%s); unmount that first", point, p->type);
		place_let_go(p);
		r = unmount(p->point, true, &reason);
		if (r < 0)
			return refuse("%s: a dead mount is there and cannot be cleared: %s; as root: umount -l %s", point,
				      reason ? reason : strerror(-r), point);
	}
	return refuse("%s: too many dead mounts are there; unmount them first", point);
}

/* 1, 0 or -errno. */
static int is_empty(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int n = 0;

	if (!d)
		return -errno;
	while (n < 3 && (e = readdir(d)) != NULL)
		n++;
	closedir(d);
	return n < 3; /* . and .. */
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is the directory inner the directory outer or anywhere in it? */
static bool is_in(int inner, int outer)
{
	_cleanup_close_ int fd = openat(inner, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat here, top, up;

	if (fd < 0 || fstat(fd, &here) < 0 || fstat(outer, &top) < 0)
		return false;
	while (!is_same(&here, &top)) {
		int parent = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

		if (parent < 0)
			return false;
		close(fd);
		fd = parent;
		if (fstat(fd, &up) < 0 || is_same(&up, &here))
			return false;
		here = up;
	}
	return true;
}

static enum op_exit check_point(const struct place *p, const char *point, const char *store)
{
	_cleanup_close_ int storefd = open(store, O_PATH | O_DIRECTORY | O_CLOEXEC); /* if not, later says why */
	struct stat st;
	int r;

	if (place_is_mount(p))
		return refuse("%s: the store %s is mounted there; unmount it first: expfs umount %s", point, p->source,
			      point);
	if (fstat(p->fd, &st) < 0)
		return refuse("%s: %s", point, advice(-errno));
	if (!S_ISDIR(st.st_mode))
		return refuse("%s: is not a directory; give a directory to mount on", point);
	if (store_is(point))
		return store_is(store) ? refuse("%s: is a store; choose an empty directory to mount on", point) :
					 refuse("%s: is a store; did you mean: expfs mount %s %s", point, point, store);
	if (storefd >= 0 && is_in(p->fd, storefd))
		return refuse("%s: lies in the store; choose a directory outside of it", point);
	if (storefd >= 0 && is_in(storefd, p->fd))
		return refuse("%s: holds the store; choose another directory", point);
	r = is_empty(p->fd);
	if (r < 0)
		return refuse("%s: %s", point, advice(r));
	return r ? OP_DONE : refuse("%s: is not empty; choose an empty directory, or move away what was written there while nothing was mounted", point);
}

static enum op_exit check_fuse(void)
{
	_cleanup_close_ int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	_cleanup_free_ char *helper = NULL;

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return refuse("/dev/fuse: %s; mount as root, or get the right to use it", strerror(errno));
	if (fd < 0)
		return refuse("/dev/fuse: %s; load the module (modprobe fuse) or give the container the device",
			      strerror(errno));
	helper = find_fusermount();
	if (geteuid() != 0 && !helper)
		return refuse("fusermount3: is not installed; install the package fuse3, or mount as root");
	return OP_DONE;
}

static int open_log(const struct expfs *ex)
{
	int dir = store_dirfd(ex->store), fd;
	struct stat st;

	if (fstatat(dir, "log", &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > LOG_MAX)
		renameat(dir, "log", dir, "log.1");
	fd = openat(dir, "log", O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		log_msg("%s/log: %s; messages will be lost", store_path(ex->store), strerror(errno));
	return fd;
}

static void tell_ready(const struct mount *m)
{
	_cleanup_free_ char *status = NULL;

	service_ready(asprintf(&status, "%s is mounted on %s", m->store, m->point) < 0 ? "mounted" : status);
}

static void on_ready(void *arg)
{
	struct mount *m = arg;
	_cleanup_close_ int null = -1;

	m->ready = true;
	if (m->foreground) {
		tell_ready(m);
		return;
	}
	log_open(m->log, true);
	log_msg("mounted on %s by process %ld", m->point, (long)getpid());
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (io_write_all(STDERR_FILENO, "", 1) == 0 && null >= 0)
		dup2(null, STDERR_FILENO);
}

/* Opens the store. One that is not mounted and in use all the same is that of a daemon
 * that is about to end, mostly: it is waited for. */
static int open_store(const struct mount *m, const char *who, struct expfs **ret, char **ret_error)
{
	_cleanup_free_ char *path = realpath(m->store, NULL);
	int64_t until = monotonic_ns() + END_WAIT_NS;
	int r;

	while ((r = expfs_open(m->store, who, ret, ret_error)) == -EWOULDBLOCK && path && !place_has_mount_of(path) &&
	       monotonic_ns() < until) {
		free(steal(ret_error));
		usleep(50000);
	}
	return r;
}

/* The daemon. */
static enum op_exit serve(struct mount *m)
{
	const struct session_options o = {
		.mountpoint = m->point, .options = m->options, .ready = on_ready, .ready_arg = m,
	};
	_cleanup_free_ char *who = NULL, *error = NULL;
	_cleanup_close_ int log = -1;
	struct expfs *ex;
	int r, r2;

	if (asprintf(&who, "mounted on %s", m->point) < 0)
		return refuse("memory is short");
	if (open_store(m, who, &ex, &error) < 0)
		return refuse("%s", error ? error : "memory is short");
	m->log = log = m->foreground ? -1 : open_log(ex);
	if (chdir("/") < 0)
		return refuse("/: %s", strerror(errno));
	r = session_run(ex, &o);
	r2 = expfs_close(ex);
	if (r == 0 && r2 < 0)
		log_msg("%s: closing the store: %s", m->store, advice(r2));
	if (m->ready && !m->foreground)
		log_msg("ended");
	log_open(STDERR_FILENO, false);
	return r < 0 || r2 < 0 ? OP_FAILED : OP_DONE;
}

static _Noreturn void become_daemon(struct mount *m, int messages)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(messages, STDERR_FILENO) < 0)
		_exit(OP_FAILED);
	closefrom(STDERR_FILENO + 1); /* what the starter had open is none of ours */
	setsid();
	unsetenv("NOTIFY_SOCKET");
	signal(SIGPIPE, SIG_IGN); /* the starter may go away */
	exit(serve(m));
}

/* Everything up to a NUL or to the end, as far as it fits; whether the NUL came. */
static bool read_messages(int fd, char *buf, size_t size)
{
	size_t len = 0;

	for (;;) {
		char piece[512];
		ssize_t n = read(fd, piece, sizeof(piece));
		size_t keep = n > 0 ? strnlen(piece, (size_t)n) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		memcpy(buf + len, piece, MIN(keep, size - 1 - len));
		len += MIN(keep, size - 1 - len);
		buf[len] = 0;
		if (n <= 0 || keep < (size_t)n)
			return n > 0;
	}
}

/* One line: our message, with what libfuse and fusermount3 said in brackets. */
static void tell_failure(char *messages)
{
	char *save = NULL, *ours = NULL;
	char others[512] = "";
	size_t len = 0;

	for (char *line = strtok_r(messages, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "expfs: ", 7))
			ours = line + 7;
		else if (len < sizeof(others))
			len += (size_t)snprintf(others + len, sizeof(others) - len, "%s%s", len ? "; " : "", line);
	}
	if (ours && len)
		log_msg("%s (%s)", ours, others);
	else if (ours || len)
		log_msg("%s", ours ? ours : others);
	else
		log_msg("the daemon ended without a word; see the log in the store, and dmesg");
}

static enum op_exit start_daemon(struct mount *m)
{
	char messages[8192];
	int fd[2], status;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return refuse("%s: cannot start the daemon: %s", m->store, advice(-errno));
	if (pid == 0)
		become_daemon(m, fd[1]);
	close(fd[1]);
	if (read_messages(fd[0], messages, sizeof(messages))) {
		fputs(messages, stderr);
		close(fd[0]);
		return OP_DONE;
	}
	close(fd[0]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return OP_FAILED;
	if (WIFSIGNALED(status))
		return refuse("%s: the daemon died of signal %d; see %s/log", m->store, WTERMSIG(status), m->store);
	tell_failure(messages);
	return OP_FAILED;
}

enum op_exit mount_store(const char *store, const char *point, const char *options, bool foreground)
{
	struct mount m = { .store = store, .options = options, .foreground = foreground, .log = -1 };
	_cleanup_place_ struct place *p = NULL;
	_cleanup_free_ char *bad = NULL;
	enum op_exit exit;

	if (session_check_options(options, &bad) < 0) {
		log_msg("mount: -o %s: no such option; see: expfs help mount", bad ? bad : options);
		return OP_USAGE;
	}
	exit = check_fuse();
	if (exit == OP_DONE)
		exit = open_point(point, &p);
	if (exit == OP_DONE)
		exit = check_point(p, point, store);
	if (exit != OP_DONE)
		return exit;
	m.point = p->path;
	place_let_go(p);
	return foreground ? serve(&m) : start_daemon(&m);
}

static int run(int argc, char **argv)
{
	_cleanup_free_ char *options = NULL;
	const struct option long_options[] = { { "json", no_argument, NULL, 'j' }, { 0 } };
	bool foreground = false, json = false;
	int c;

	while ((c = getopt_long(argc, argv, ":fo:", long_options, NULL)) >= 0) {
		_cleanup_free_ char *before = NULL;

		if (c == 'f') {
			foreground = true;
		} else if (c == 'j') {
			json = true;
		} else if (c == 'o') {
			before = steal(&options);
			if (asprintf(&options, "%s%s%s", before ? before : "", before ? "," : "", optarg) < 0)
				return refuse("memory is short");
		} else {
			return cmd_bad_option(argc, argv, c, long_options);
		}
	}
	if (argc == optind && !foreground && !options)
		return mounted_print(json);
	if (argc - optind != 2 || json)
		return cmd_bad_operands(&cmd_mount);
	return (int)mount_store(argv[optind], argv[optind + 1], options, foreground);
}

const struct command cmd_mount = {
	.name = "mount",
	.run = run,
	.usage = "[STORE MNT [-f] [-o OPTIONS]] [--json]",
	.summary = "mount a store; show mounts",
	.help = "Mounts the store STORE on the empty directory MNT and goes to the background.\n"
		"A mount on MNT whose daemon died is cleared away first. Messages of the daemon\n"
		"go to STORE/log. End it with: expfs umount MNT. A SIGHUP has it read\n"
		"STORE/config.yaml again.\n"
		"\n"
		"Without STORE and MNT it shows what is mounted: where, of which store, with\n"
		"which options, by which process since when, and whether that answers. Exit\n"
		"status 1: nothing is.\n"
		"\n"
		"  -f          stay in the foreground; messages go to standard error, and what\n"
		"              sd_notify(3) tells to NOTIFY_SOCKET\n"
		"  -o OPTIONS  those of mount(8) for any file system (ro, noexec, nosuid, nodev,\n"
		"              noatime …), separated by commas, and\n"
		"              allow_other   other users may use the mount too\n"
		"              allow_root    root may\n"
		"              auto_unmount  unmount when the daemon dies\n"
		"  --json      the mounts as JSON\n"
		"\n"
		"In /etc/fstab:  /srv/store  /mnt/exp  expfs  allow_other,nofail  0  0\n",
};
