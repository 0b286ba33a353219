/* What the measuring programs share. Each prints the seconds that its work took, or ends with a message and 1. */
#ifndef EXPFS_BENCH_H
#define EXPFS_BENCH_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline _Noreturn __attribute__((format(printf, 1, 2))) void die(const char *format, ...)
{
	const char *reason = strerror(errno);
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", reason);
	exit(1);
}

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void write_all(int fd, const void *buf, size_t n, const char *path)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = write(fd, (const char *)buf + done, n - done);

		if (r < 0)
			die("%s: write", path);
		done += (size_t)r;
	}
}

/* Bytes that are the same nowhere else, so that nothing is shared. */
static inline void fill_random(void *buf, size_t n, uint64_t seed)
{
	uint64_t *word = buf;

	for (size_t i = 0; i < n / sizeof(*word); i++) {
		uint64_t x = seed += 0x9e3779b97f4a7c15; /* splitmix64 */

		x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
		x = (x ^ x >> 27) * 0x94d049bb133111eb;
		word[i] = x ^ x >> 31;
	}
}

#endif
