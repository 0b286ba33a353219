/* Small programs that check one thing on a file system.
 *
 *   PROGRAM DIR CHECK    runs the check in the directory DIR, which must be there and empty
 *   PROGRAM              lists its checks
 *
 * Exit status: 0 all expectations held, 1 at least one did not (each is named on standard
 * error), 2 wrong usage, 77 the machine or the caller cannot do this (the reason on standard error).
 *
 * CHECK() ends the program at once and is for what later lines rest on; EXPECT() counts and goes on.
 * Everything here ends the program on failure, so that a check is a list of statements.
 */
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

struct check {
    const char *name;
    void (*run)(void);
};

/* The main() of a program; CHECKS ends with a row of NULL. */
int check_main(int argc, char **argv, const struct check *checks);

void check_failed(const char *file, int line, const char *what, int error, bool fatal);
_Noreturn void check_skip(const char *reason);

/* true if EXPFS_TEST_LONG=1: the long form of a check is wanted */
bool check_long(void);

#define CHECK(cond) \
    do { \
        if (!(cond)) \
            check_failed(__FILE__, __LINE__, #cond, errno, true); \
    } while (0)

#define EXPECT(cond) \
    do { \
        if (!(cond)) \
            check_failed(__FILE__, __LINE__, #cond, errno, false); \
    } while (0)

/* EXPR must be -1 with this errno. */
#define EXPECT_ERRNO(expr, wanted) \
    do { \
        errno = 0; \
        if ((expr) != -1 || errno != (wanted)) \
            check_failed(__FILE__, __LINE__, #expr " gives " #wanted, errno, false); \
    } while (0)

/* Writes a file anew (O_CREAT|O_TRUNC) and closes it. */
void put(const char *path, const void *data, size_t size);
void put_text(const char *path, const char *text);

/* Reads a whole file into memory that the caller frees; a NUL follows the content. */
char *get(const char *path, size_t *ret_size);

bool holds(const char *path, const void *data, size_t size);
bool holds_text(const char *path, const char *text);

/* Fills memory with bytes that depend on seed and offset alone. */
void fill(void *data, size_t size, unsigned seed);

void *xmalloc(size_t size);
int xopen(const char *path, int flags, mode_t mode);
struct stat xstat(const char *path);
bool exists(const char *path);
unsigned entries(const char *dir);

/* Runs FN(ARG) in a child, which exits 0, or 1 if an expectation failed; child_ok waits for it. */
pid_t child(void (*fn)(void *), void *arg);
bool child_ok(pid_t pid);

/* Monotonic seconds, for giving up; never for judging speed. */
double now(void);
void nap(double seconds);

#endif
