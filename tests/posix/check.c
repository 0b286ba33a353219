/* What the checks share; see check.h. */
#include "check.h"

#include <dirent.h>
#include <sys/wait.h>
#include <time.h>

static unsigned failures;

int check_main(int argc, char **argv, const struct check *checks)
{
    const struct check *c;

    if (argc == 1) {
        for (c = checks; c->name; c++)
            puts(c->name);
        return 0;
    }
    if (argc != 3) {
        fprintf(stderr, "usage: %s DIR CHECK\n", argv[0]);
        return 2;
    }
    for (c = checks; c->name; c++)
        if (strcmp(c->name, argv[2]) == 0)
            break;
    if (!c->name) {
        fprintf(stderr, "%s: no check named %s\n", argv[0], argv[2]);
        return 2;
    }
    CHECK(chdir(argv[1]) == 0);
    umask(022);
    c->run();
    return failures ? 1 : 0;
}

void check_failed(const char *file, int line, const char *what, int error, bool fatal)
{
    const char *base = strrchr(file, '/');

    fprintf(stderr, "%s:%d: does not hold: %s (errno: %s)\n",
            base ? base + 1 : file, line, what, error ? strerror(error) : "none");
    failures++;
    if (fatal)
        exit(1);
}

void check_skip(const char *reason)
{
    fprintf(stderr, "%s\n", reason);
    exit(77);
}

bool check_long(void)
{
    const char *e = getenv("EXPFS_TEST_LONG");

    return e && strcmp(e, "1") == 0;
}

void put(const char *path, const void *data, size_t size)
{
    int fd = xopen(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    CHECK(write(fd, data, size) == (ssize_t)size);
    CHECK(close(fd) == 0);
}

void put_text(const char *path, const char *text)
{
    put(path, text, strlen(text));
}

char *get(const char *path, size_t *ret_size)
{
    int fd = xopen(path, O_RDONLY, 0);
    size_t have = 0, room = 65536;
    char *data = xmalloc(room + 1);
    ssize_t n;

    while ((n = read(fd, data + have, room - have)) > 0) {
        have += (size_t)n;
        if (have == room) {
            room *= 2;
            data = realloc(data, room + 1);
            CHECK(data);
        }
    }
    CHECK(n == 0);
    close(fd);
    data[have] = 0;
    *ret_size = have;
    return data;
}

bool holds(const char *path, const void *data, size_t size)
{
    size_t have;
    char *content = get(path, &have);
    bool same = have == size && memcmp(content, data, size) == 0;

    if (!same)
        fprintf(stderr, "%s: holds %zu bytes, other than the %zu expected\n", path, have, size);
    free(content);
    return same;
}

bool holds_text(const char *path, const char *text)
{
    return holds(path, text, strlen(text));
}

void fill(void *data, size_t size, unsigned seed)
{
    unsigned char *p = data;
    uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;

    for (size_t i = 0; i < size; i++) {
        if (i % 8 == 0) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        p[i] = (unsigned char)(x >> (i % 8 * 8));
    }
}

void *xmalloc(size_t size)
{
    void *p = malloc(size);

    CHECK(p);
    return p;
}

int xopen(const char *path, int flags, mode_t mode)
{
    int fd = open(path, flags, mode);

    if (fd < 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(1);
    }
    return fd;
}

struct stat xstat(const char *path)
{
    struct stat st;

    CHECK(lstat(path, &st) == 0);
    return st;
}

bool exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

unsigned entries(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    unsigned n = 0;

    CHECK(d);
    while ((e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            n++;
    closedir(d);
    return n;
}

pid_t child(void (*fn)(void *), void *arg)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        failures = 0;
        fn(arg);
        _exit(failures ? 1 : 0);
    }
    return pid;
}

bool child_ok(pid_t pid)
{
    int status;

    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void nap(double seconds)
{
    struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };

    nanosleep(&t, NULL);
}
