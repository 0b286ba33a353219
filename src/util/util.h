/* Cleanup attributes and small helpers that every room uses.
 *
 * A variable declared with _cleanup_(f) is handed to f when it leaves its
 * scope; steal() takes it out of that duty. */
#ifndef EXPFS_UTIL_H
#define EXPFS_UTIL_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _printf_(a, b) __attribute__((format(printf, a, b)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}
#define _cleanup_free_ _cleanup_(cleanup_free)

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define _cleanup_close_ _cleanup_(cleanup_close)

/* The pointer in *pp, which is NULL afterwards. */
#define steal(pp)                          \
	({                                 \
		__typeof__(*(pp)) p_ = *(pp); \
		*(pp) = NULL;              \
		p_;                        \
	})

static inline void cleanup_unlock(pthread_mutex_t **m)
{
	if (*m)
		pthread_mutex_unlock(*m);
}

/* Holds a mutex until the end of the scope; one in a scope. */
#define scoped_lock(m)                                                \
	_cleanup_(cleanup_unlock) pthread_mutex_t *scoped_lock_ = (m); \
	pthread_mutex_lock(scoped_lock_)

/* Saturates at the years 1677 and 2262, where 64 bits of ns end. */
static inline int64_t timespec_ns(const struct timespec *ts)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)ts->tv_sec, (int64_t)1000000000, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)ts->tv_nsec, &ns))
		return ts->tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static inline struct timespec ns_timespec(int64_t ns)
{
	struct timespec ts = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	if (ts.tv_nsec < 0) {
		ts.tv_sec--;
		ts.tv_nsec += 1000000000;
	}
	return ts;
}

/* Wall clock in ns, of the same coarse kind that a disk's file system stamps
 * its files with, so that our stamps and the backing files' compare. */
static inline int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME_COARSE, &ts);
	return timespec_ns(&ts);
}

static inline int64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return timespec_ns(&ts);
}

#endif
