/* Whole files; a network or FUSE file system may report a failed write as late as close, so that is checked too. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void die(const char *format, ...)
{
	va_list args;

	fputs("charlm: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		die("out of memory");
	return memory;
}

char *path_join(const char *directory, const char *name)
{
	size_t size = strlen(directory) + 1 + strlen(name) + 1;
	char *path = allocate(size, 1);

	snprintf(path, size, "%s/%s", directory, name);
	return path;
}

void directory_make(const char *path)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		die("%s: cannot create: %s", path, strerror(errno));
}

char *file_get(const char *path, size_t *ret_size)
{
	struct stat st;
	size_t done = 0;
	char *data;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		die("%s: cannot read: %s", path, strerror(errno));
	data = allocate((size_t)st.st_size + 1, 1);
	while (done < (size_t)st.st_size) {
		ssize_t n = read(fd, data + done, (size_t)st.st_size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die("%s: cannot read: %s", path, strerror(errno));
		if (n == 0)
			die("%s: became shorter while it was read", path);
		done += (size_t)n;
	}
	close(fd);
	*ret_size = done;
	return data;
}

void file_put(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0)
		die("%s: cannot create: %s", path, strerror(errno));
	file_write(fd, path, data, size);
	file_close(fd, path);
}

int file_append_open(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	if (fd < 0)
		die("%s: cannot open: %s", path, strerror(errno));
	return fd;
}

void file_write(int fd, const char *path, const void *data, size_t size)
{
	const char *rest = data;

	while (size > 0) {
		ssize_t n = write(fd, rest, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			die("%s: cannot write: %s", path, strerror(errno));
		rest += n;
		size -= (size_t)n;
	}
}

void file_close(int fd, const char *path)
{
	if (close(fd) < 0)
		die("%s: cannot close: %s", path, strerror(errno));
}
