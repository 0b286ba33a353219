/* umount: takes the mount away, then waits for the daemon, which first ends
 * what it has under way. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "cmd/place.h"
#include "cmd/unmount.h"
#include "util/advice.h"
#include "util/io.h"
#include "util/log.h"

#define LOOK_MS 20
#define SAY_AFTER_NS 1000000000ll

/* The daemon of a mount: its process where that can be had, and the lock of its
 * store, which it holds to the end. */
struct daemon {
	pid_t pid;
	int pidfd;
	int lock;
};

static void find_daemon(const char *store, struct daemon *ret)
{
	_cleanup_close_ int sock = client_connect(store);
	_cleanup_free_ char *lock = NULL;

	*ret = (struct daemon){ .pid = sock >= 0 ? client_daemon(sock) : 0, .pidfd = -1, .lock = -1 };
	if (ret->pid > 0)
		ret->pidfd = pidfd_open(ret->pid, 0);
	if (asprintf(&lock, "%s/lock", store) >= 0)
		ret->lock = open(lock, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Has it ended? Looks for a moment. */
static bool has_ended(const struct daemon *d)
{
	struct pollfd p = { .fd = d->pidfd, .events = POLLIN };

	if (poll(&p, 1, LOOK_MS) > 0) /* a negative descriptor just takes the time */
		return true;
	if (d->pidfd >= 0)
		return false;
	if (flock(d->lock, LOCK_SH | LOCK_NB) < 0)
		return errno != EWOULDBLOCK;
	flock(d->lock, LOCK_UN);
	return true;
}

/* A process for which the file system is mounted still, in another namespace than ours, or
 * 0. Only who may look into a process is told of its mounts. */
static long find_holder(const char *device)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	long holder = 0;

	while (proc && holder == 0 && (e = readdir(proc)) != NULL) {
		struct mounts m = { 0 };
		char table[300];

		snprintf(table, sizeof(table), "/proc/%s/mountinfo", e->d_name);
		if (strspn(e->d_name, "0123456789") == strlen(e->d_name) && mounts_of(table, device, &m) == 0 && m.n > 0)
			holder = atol(e->d_name);
	}
	if (proc)
		closedir(proc);
	return holder;
}

static void tell_of_wait(const struct daemon *d, const struct place *p)
{
	struct mounts here = { 0 };
	long holder = mounts_of("/proc/self/mountinfo", p->device, &here) == 0 && here.n > 0 ? 0 : find_holder(p->device);
	_cleanup_free_ char *name = NULL;
	char path[64];

	if (here.n > 0) {
		log_msg("%s: is unmounted, but mounted in another place too; waiting; unmount it there: findmnt -S %s", p->point,
			p->source);
	} else if (holder) {
		snprintf(path, sizeof(path), "/proc/%ld/comm", holder);
		if (io_read_file(AT_FDCWD, path, 64, &name, NULL) == 0)
			for (char *s = name; *s; s++)
				*s = *s == '\n' ? 0 : isprint((unsigned char)*s) ? *s : '?';
		log_msg("%s: is unmounted here, but not for process %ld (%s), which has mounts of its own; waiting; end that, or:"
			" nsenter -t %ld -m umount %s", p->point, holder, name ? name : "?", holder, p->point);
	} else if (d->pid) {
		log_msg("%s: is unmounted; waiting for the daemon, process %ld, to end", p->point, (long)d->pid);
	} else {
		log_msg("%s: is unmounted; waiting for the daemon to end", p->point);
	}
}

static void wait_for_daemon(const struct daemon *d, const struct place *p)
{
	int64_t start = monotonic_ns();
	bool said = false;

	while (!has_ended(d))
		if (!said && monotonic_ns() - start >= SAY_AFTER_NS) {
			tell_of_wait(d, p);
			said = true;
		}
}

static void close_daemon(struct daemon *d)
{
	cleanup_close(&d->pidfd);
	cleanup_close(&d->lock);
}

static int fail(const char *point, int r, const char *reason)
{
	if (r == -EBUSY)
		log_msg("%s: is in use; end what uses it (fuser -vm %s shows it), or detach it: expfs umount -z %s", point, point, point);
	else
		log_msg("%s: cannot be unmounted: %s; detach it: expfs umount -z %s", point, reason ? reason : strerror(-r), point);
	return OP_FAILED;
}

static int umount_place(struct place *p, bool lazy)
{
	bool dead = !lazy && place_is_dead(p);
	_cleanup_free_ char *reason = NULL;
	_cleanup_(close_daemon) struct daemon daemon = { .pidfd = -1, .lock = -1 };
	int r;

	if (!lazy && !dead)
		find_daemon(p->source, &daemon);
	place_let_go(p);
	r = unmount(p->point, lazy || dead, &reason);
	if (r < 0)
		return fail(p->point, r, reason);
	if (!lazy && !dead)
		wait_for_daemon(&daemon, p);
	return OP_DONE;
}

static int run(int argc, char **argv)
{
	_cleanup_place_ struct place *p = NULL;
	const struct option none = { 0 };
	bool lazy = false;
	int c, r;

	while ((c = getopt_long(argc, argv, ":z", &none, NULL)) >= 0) {
		if (c != 'z')
			return cmd_bad_option(argc, argv, c, &none);
		lazy = true;
	}
	if (argc - optind != 1)
		return cmd_bad_operands(&cmd_umount);
	r = place_open(argv[optind], &p);
	if (r < 0) {
		log_msg("%s: %s", argv[optind], advice(r));
		return OP_NO;
	}
	if (!place_is_mount(p)) {
		if (place_is_inside(p))
			log_msg("%s: is no mount; it lies in this one: expfs umount %s", p->path, p->point);
		else
			log_msg("%s: is no expfs mount; these are shown by: expfs mount", p->path);
		return OP_NO;
	}
	return umount_place(p, lazy);
}

const struct command cmd_umount = {
	.name = "umount",
	.run = run,
	.usage = "MNT [-z]",
	.summary = "unmount in good order",
	.help = "Unmounts the expfs mount on MNT and waits until its daemon has ended in good\n"
		"order. While files are open in the mount, or somebody's working directory is\n"
		"there, it fails and changes nothing. A mount whose daemon died is cleared away.\n"
		"\n"
		"  -z  detach it at once, without waiting: MNT is free, what is open goes on\n"
		"      until it is closed, and only then the daemon ends\n",
};
