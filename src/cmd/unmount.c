#include "cmd/unmount.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "util/io.h"

#define FUSERMOUNT "fusermount3"
#define USUAL_PATH "/usr/local/bin:/usr/bin:/bin"

extern char **environ;

char *find_fusermount(void)
{
	const char *path = getenv("PATH");
	_cleanup_free_ char *dirs = NULL;
	char *save = NULL;

	if (asprintf(&dirs, "%s:" USUAL_PATH, path ? path : "") < 0)
		return NULL;
	for (char *dir = strtok_r(dirs, ":", &save); dir; dir = strtok_r(NULL, ":", &save)) {
		char *file;

		if (asprintf(&file, "%s/" FUSERMOUNT, dir) < 0)
			return NULL;
		if (access(file, X_OK) == 0)
			return file;
		free(file);
	}
	return NULL;
}

/* Runs it with its messages going to out; its exit status, or -errno. */
static int run_fusermount(const char *point, bool lazy, int out)
{
	_cleanup_free_ char *file = find_fusermount();
	char *copy = strdup(point);
	char *argv[] = { (char[]){ FUSERMOUNT }, lazy ? (char[]){ "-uz" } : (char[]){ "-u" }, copy, NULL };
	posix_spawn_file_actions_t actions;
	int status = 0, r;
	pid_t pid;

	if (!file || !copy) {
		free(copy);
		return file ? -ENOMEM : -ENOENT;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
	r = -posix_spawn(&pid, file, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	free(copy);
	if (r < 0)
		return r;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -EINTR;
}

static int unmount_by_helper(const char *point, bool lazy, char **ret_reason)
{
	_cleanup_close_ int out = memfd_create("messages", MFD_CLOEXEC);
	char text[512];
	ssize_t n;
	int r;

	if (out < 0)
		return -errno;
	r = run_fusermount(point, lazy, out);
	if (r == -ENOENT)
		*ret_reason = strdup(FUSERMOUNT " is not installed; install the package fuse3");
	if (r <= 0)
		return r;
	n = io_pread(out, text, sizeof(text) - 1, 0);
	text[MAX(n, 0)] = 0;
	text[strcspn(text, "\n")] = 0;
	if (strstr(text, strerror(EBUSY)))
		return -EBUSY;
	*ret_reason = strdup(text);
	return -EIO;
}

int unmount(const char *point, bool lazy, char **ret_reason)
{
	if (umount2(point, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) == 0)
		return 0;
	return errno == EPERM ? unmount_by_helper(point, lazy, ret_reason) : -errno;
}
