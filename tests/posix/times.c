/* Which times move, when, and to what exact value. */
#include "check.h"

#include <sys/mman.h>
#include <time.h>

static int64_t ns(struct timespec t)
{
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int64_t mtime(const char *path) { return ns(xstat(path).st_mtim); }
static int64_t ctime_of(const char *path) { return ns(xstat(path).st_ctim); }

static void set(const char *path, struct timespec a, struct timespec m, int flags)
{
    struct timespec t[2] = { a, m };

    CHECK(utimensat(AT_FDCWD, path, t, flags) == 0);
}

static void exact(void)
{
    struct timespec some[] = { { 1700000000, 123456789 }, { 0, 0 }, { 1, 999999999 },
                               { 4102444800, 1 } /* 2100 */, { -2145000000, 500 } /* 1902 */ };
    struct timespec omit = { 0, UTIME_OMIT }, moment = { 0, UTIME_NOW };
    struct timespec t[2] = { { 5, 6 }, { 7, 8 } };
    int64_t before;
    int fd;

    put_text("f", "x");
    CHECK(symlink("f", "l") == 0 && mkdir("d", 0755) == 0);
    for (unsigned i = 0; i < sizeof some / sizeof *some; i++) {
        struct timespec a = some[i], m = some[(i + 1) % 5];

        set("f", a, m, 0);
        EXPECT(ns(xstat("f").st_atim) == ns(a) && mtime("f") == ns(m));
        set("l", m, a, AT_SYMLINK_NOFOLLOW);
        EXPECT(ns(xstat("l").st_atim) == ns(m) && mtime("l") == ns(a) && mtime("f") == ns(m));
        set("d", a, m, 0);
        EXPECT(mtime("d") == ns(m));
    }
    set("f", (struct timespec){ 1, 2 }, (struct timespec){ 3, 4 }, 0);
    set("f", (struct timespec){ 9, 9 }, omit, 0);
    EXPECT(ns(xstat("f").st_atim) == 9000000009 && mtime("f") == 3000000004);
    set("f", omit, (struct timespec){ 8, 8 }, 0);
    EXPECT(ns(xstat("f").st_atim) == 9000000009 && mtime("f") == 8000000008);
    before = ctime_of("f");
    nap(0.02);
    set("f", omit, moment, 0);
    EXPECT(ns(xstat("f").st_atim) == 9000000009 && mtime("f") >= before && ctime_of("f") > before);
    fd = xopen("f", O_RDONLY, 0);
    EXPECT(futimens(fd, t) == 0 && mtime("f") == 7000000008);
    close(fd);
    EXPECT(mtime("f") == 7000000008);
}

/* A time that was set while the file was open for writing stays after the close. */
static void kept_over_close(void)
{
    struct timespec t[2] = { { 11, 12 }, { 13, 14 } };
    char data[4096];
    int fd;

    fill(data, sizeof data, 1);
    put("twin", data, sizeof data);
    fd = xopen("f", O_CREAT | O_WRONLY, 0644);
    CHECK(write(fd, data, sizeof data) == sizeof data);
    CHECK(futimens(fd, t) == 0 && close(fd) == 0);
    EXPECT(mtime("f") == 13000000014);
    close(xopen("f", O_RDWR, 0));
    EXPECT(mtime("f") == 13000000014);
    EXPECT(mtime("twin") != 13000000014);
}

struct moves {
    int64_t mtime, ctime;
};

static struct moves times_of(const char *path)
{
    return (struct moves){ mtime(path), ctime_of(path) };
}

/* Runs CALL and expects of PATH: mtime moved if M, ctime moved if C, else both as they were. */
#define MOVES(path, m, c, call) \
    do { \
        struct moves before_ = times_of(path); \
        nap(0.02); \
        CHECK(call); \
        EXPECT((times_of(path).mtime > before_.mtime) == (m)); \
        EXPECT((times_of(path).ctime > before_.ctime) == (c)); \
        EXPECT(times_of(path).mtime >= before_.mtime); \
    } while (0)

static bool read_it(const char *path)
{
    size_t size;

    free(get(path, &size));
    return true;
}

static bool made(const char *path)
{
    put_text(path, "");
    return true;
}

static void of_files(void)
{
    int fd = xopen("f", O_CREAT | O_RDWR, 0644);

    CHECK(write(fd, "0123456789", 10) == 10);
    MOVES("f", true, true, pwrite(fd, "x", 1, 0) == 1);
    MOVES("f", false, false, pwrite(fd, "x", 0, 0) == 0);
    MOVES("f", true, true, ftruncate(fd, 5) == 0);
    MOVES("f", false, true, fchmod(fd, 0600) == 0);
    MOVES("f", false, true, fchown(fd, getuid(), getgid()) == 0);
    MOVES("f", false, true, link("f", "g") == 0);
    MOVES("f", false, true, unlink("g") == 0);
    MOVES("f", false, true, rename("f", "h") == 0 && rename("h", "f") == 0);
    MOVES("f", true, true, fallocate(fd, 0, 0, 100) == 0);
    MOVES("f", false, false, close(fd) == 0);
    MOVES("f", false, false, read_it("f"));
    MOVES("f", true, true, made("f")); /* O_TRUNC of a file that is not empty */
    MOVES("f", false, false, close(xopen("f", O_RDWR, 0)) == 0);
}

static void of_directories(void)
{
    int fd;

    CHECK(mkdir("d", 0755) == 0 && mkdir("e", 0755) == 0);
    MOVES("d", true, true, made("d/f"));
    MOVES("d", false, false, made("d/f"));
    fd = xopen("d/f", O_WRONLY, 0);
    MOVES("d", false, false, write(fd, "x", 1) == 1 && close(fd) == 0);
    MOVES("d", false, false, chmod("d/f", 0600) == 0 && entries("d") == 1);
    MOVES("d", true, true, link("d/f", "d/g") == 0);
    MOVES("d", true, true, unlink("d/g") == 0);
    MOVES("d", true, true, symlink("f", "d/l") == 0);
    MOVES("d", true, true, mkdir("d/s", 0755) == 0);
    MOVES("d", true, true, rmdir("d/s") == 0);
    MOVES("d", true, true, rename("d/l", "d/m") == 0);
    MOVES("e", true, true, rename("d/m", "e/m") == 0);
    MOVES("d", true, true, rename("e/m", "d/m") == 0);
    MOVES("e", false, true, rename("e", "E") == 0 && rename("E", "e") == 0);
    MOVES("d", false, false, mtime("d/f") > 0 && entries("d") == 2);
}

static void by_map(void)
{
    int64_t before;
    char *p;
    int fd = xopen("f", O_CREAT | O_RDWR, 0644);

    CHECK(ftruncate(fd, 4096) == 0);
    before = mtime("f");
    nap(0.02);
    p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(p != MAP_FAILED);
    p[0] = 'x';
    CHECK(msync(p, 4096, MS_SYNC) == 0 && munmap(p, 4096) == 0 && close(fd) == 0);
    EXPECT(mtime("f") > before);
}

static int64_t clock_now(void)
{
    struct timespec t;

    CHECK(clock_gettime(CLOCK_REALTIME, &t) == 0);
    return ns(t);
}

/* What is made has the time of its making, in all its times. */
static void born(void)
{
    const char *made_now[] = { "file", "empty", "dir", "link", "fifo" };
    int64_t second = 1000000000, before = clock_now(), after;

    put_text("file", "bytes");
    close(xopen("empty", O_CREAT | O_RDONLY, 0644));
    CHECK(mkdir("dir", 0755) == 0 && symlink("file", "link") == 0 && mkfifo("fifo", 0644) == 0);
    after = clock_now();
    for (unsigned i = 0; i < 5; i++) {
        struct stat st = xstat(made_now[i]);

        EXPECT(ns(st.st_atim) > before - second && ns(st.st_atim) < after + second);
        EXPECT(ns(st.st_mtim) > before - second && ns(st.st_mtim) < after + second);
        EXPECT(ns(st.st_ctim) > before - second && ns(st.st_ctim) < after + second);
    }
}

/* checkpoint-1000, -2000, -3000: their order by time is the order in which they were made. */
static void order(void)
{
    char dir[32], path[64];
    int64_t was[4];

    for (unsigned i = 1; i <= 3; i++) {
        snprintf(dir, sizeof dir, "checkpoint-%u000", i);
        snprintf(path, sizeof path, "%s/model", dir);
        CHECK(mkdir(dir, 0755) == 0);
        put_text(path, dir);
        was[i] = mtime(dir);
        nap(0.05);
    }
    EXPECT(was[1] < was[2] && was[2] < was[3]);
    EXPECT(was[1] % 1000000000 || was[2] % 1000000000 || was[3] % 1000000000);
    for (unsigned i = 1; i <= 3; i++) {
        snprintf(dir, sizeof dir, "checkpoint-%u000", i);
        snprintf(path, sizeof path, "%s/model", dir);
        EXPECT(holds_text(path, dir) && entries(dir) == 1);
        EXPECT(mtime(dir) == was[i]);
    }
}

static const struct check checks[] = {
    { "exact", exact },
    { "kept_over_close", kept_over_close },
    { "of_files", of_files },
    { "of_directories", of_directories },
    { "by_map", by_map },
    { "born", born },
    { "order", order },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
