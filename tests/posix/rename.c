/* Renaming: what it replaces, what it refuses, what it leaves alone. */
#include "check.h"

#include <dirent.h>
#include <signal.h>
#include <sys/time.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE 2
#define RENAME_WHITEOUT 4
#endif

static void directories(void)
{
    int fd;

    CHECK(mkdir("tmp-5", 0755) == 0);
    put_text("tmp-5/a", "a");
    put_text("tmp-5/b", "b");
    put_text("tmp-5/c", "c");
    fd = xopen("tmp-5/a", O_WRONLY | O_APPEND, 0);
    EXPECT(rename("tmp-5", "step-5") == 0 && !exists("tmp-5") && entries("step-5") == 3);
    EXPECT(write(fd, "fter", 4) == 4 && close(fd) == 0 && holds_text("step-5/a", "after"));

    CHECK(mkdir("tmp-5b", 0755) == 0);
    EXPECT_ERRNO(rename("tmp-5b", "step-5"), ENOTEMPTY);
    EXPECT(rename("step-5", "tmp-5b") == 0 && entries("tmp-5b") == 3); /* onto an empty one */
    CHECK(mkdir("tmp-5b/child", 0755) == 0);
    EXPECT_ERRNO(rename("tmp-5b", "tmp-5b/child/x"), EINVAL);
    EXPECT_ERRNO(rename("tmp-5b", "tmp-5b/x"), EINVAL);
    EXPECT_ERRNO(rename("tmp-5b/child", "tmp-5b"), ENOTEMPTY);
    put_text("file", "");
    EXPECT_ERRNO(rename("file", "tmp-5b"), EISDIR);
    EXPECT_ERRNO(rename("tmp-5b", "file"), ENOTDIR);
    EXPECT_ERRNO(rename("absent", "x"), ENOENT);
    EXPECT_ERRNO(rename("file", "absent/x"), ENOENT);
    EXPECT_ERRNO(rename("file", "file/x"), ENOTDIR);
    EXPECT_ERRNO(rename("file/", "x"), ENOTDIR);
    EXPECT(rename("file", "file") == 0 && exists("file"));
    EXPECT(entries(".") == 2);
}

static void over(void)
{
    char in[4] = "";
    struct stat st;
    int old;

    put_text("a", "new");
    put_text("b", "old");
    old = xopen("b", O_RDWR, 0);
    CHECK(rename("a", "b") == 0);
    EXPECT(!exists("a") && holds_text("b", "new"));
    EXPECT(pread(old, in, 3, 0) == 3 && memcmp(in, "old", 3) == 0);
    EXPECT(pwrite(old, "OLD", 3, 0) == 3 && holds_text("b", "new"));
    EXPECT(fstat(old, &st) == 0 && st.st_nlink == 0 && st.st_ino != xstat("b").st_ino);
    close(old);

    put_text("x", "one inode");
    CHECK(link("x", "y") == 0);
    EXPECT(rename("x", "y") == 0 && exists("x") && xstat("y").st_nlink == 2); /* as POSIX has it */

    CHECK(symlink("b", "l") == 0);
    put_text("z", "a file");
    EXPECT(rename("z", "l") == 0 && S_ISREG(xstat("l").st_mode) && holds_text("b", "new"));
    CHECK(symlink("gone", "dangling") == 0);
    EXPECT(rename("dangling", "l") == 0 && S_ISLNK(xstat("l").st_mode));
}

static void with_flags(void)
{
    put_text("a", "A");
    put_text("b", "B");
    CHECK(mkdir("d", 0755) == 0);
    put_text("d/x", "X");
    EXPECT_ERRNO(renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE), EEXIST);
    EXPECT_ERRNO(renameat2(AT_FDCWD, "a", AT_FDCWD, "a", RENAME_NOREPLACE), EEXIST);
    EXPECT(renameat2(AT_FDCWD, "a", AT_FDCWD, "c", RENAME_NOREPLACE) == 0 && holds_text("c", "A"));
    EXPECT(renameat2(AT_FDCWD, "b", AT_FDCWD, "c", RENAME_EXCHANGE) == 0);
    EXPECT(holds_text("b", "A") && holds_text("c", "B"));
    EXPECT(renameat2(AT_FDCWD, "d", AT_FDCWD, "b", RENAME_EXCHANGE) == 0);
    EXPECT(holds_text("b/x", "X") && holds_text("d", "A"));
    CHECK(mkdir("e", 0755) == 0);
    EXPECT(renameat2(AT_FDCWD, "b/x", AT_FDCWD, "e", RENAME_EXCHANGE) == 0);
    EXPECT(holds_text("e", "X") && entries("b/x") == 0 && xstat("b").st_nlink == 3);
    EXPECT_ERRNO(renameat2(AT_FDCWD, "b", AT_FDCWD, "b/x", RENAME_EXCHANGE), EINVAL);
    EXPECT_ERRNO(renameat2(AT_FDCWD, "b/x", AT_FDCWD, "b", RENAME_EXCHANGE), EINVAL);
    EXPECT_ERRNO(renameat2(AT_FDCWD, "b", AT_FDCWD, "absent", RENAME_EXCHANGE), ENOENT);
    EXPECT_ERRNO(renameat2(AT_FDCWD, "b", AT_FDCWD, "c", RENAME_EXCHANGE | RENAME_NOREPLACE), EINVAL);
}

static void across(void)
{
    struct stat file, dir;
    char path[64];

    CHECK(mkdir("a", 0755) == 0 && mkdir("b", 0755) == 0 && mkdir("a/d", 0755) == 0);
    put_text("a/d/f", "bytes");
    file = xstat("a/d/f");
    dir = xstat("a/d");
    CHECK(rename("a/d", "b/e") == 0);
    EXPECT(xstat("b/e").st_ino == dir.st_ino && xstat("b/e/f").st_ino == file.st_ino);
    EXPECT(xstat("b/e/..").st_ino == xstat("b").st_ino);
    EXPECT(xstat("a").st_nlink == 2 && xstat("b").st_nlink == 3 && entries("a") == 0);
    for (unsigned i = 0; i < 100; i++) {
        snprintf(path, sizeof path, "a/name-%u", i);
        CHECK(rename(i % 2 ? "b/e" : "b/e/f", path) == 0 && rename(path, i % 2 ? "b/e" : "b/e/f") == 0);
    }
    EXPECT(holds_text("b/e/f", "bytes"));
}

static bool listed(const char *dir, const char *name)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    bool found = false;

    CHECK(d);
    while ((e = readdir(d)))
        found |= strcmp(e->d_name, name) == 0;
    closedir(d);
    return found;
}

/* Looks from outside: the directory is always under one of its two names, with all entries. */
static void watches(void *arg)
{
    unsigned want = *(unsigned *)arg;

    while (!exists("done")) {
        int fd = open("step", O_RDONLY | O_DIRECTORY);

        if (fd < 0)
            fd = open("step.incomplete", O_RDONLY | O_DIRECTORY);
        if (fd < 0)
            fd = open("step", O_RDONLY | O_DIRECTORY);
        CHECK(fd >= 0);
        CHECK(fchdir(fd) == 0 && entries(".") == want && chdir("..") == 0);
        close(fd);
    }
}

/* The rename goes one way per round, so three tries in this order cannot miss it. */
static void committing(void)
{
    unsigned files = check_long() ? 2000 : 500;
    pid_t pids[2];
    char path[64];

    CHECK(mkdir("step.incomplete", 0755) == 0);
    for (unsigned i = 0; i < files; i++) {
        snprintf(path, sizeof path, "step.incomplete/shard-%u", i);
        put(path, path, sizeof path);
    }
    pids[0] = child(watches, &files);
    pids[1] = child(watches, &files);
    nap(0.05);
    CHECK(rename("step.incomplete", "step") == 0);
    EXPECT(listed(".", "step") && !listed(".", "step.incomplete"));
    EXPECT_ERRNO(open("step.incomplete/shard-0", O_RDONLY), ENOENT);
    nap(0.05);
    put_text("done", "");
    EXPECT(child_ok(pids[0]) && child_ok(pids[1]));
    EXPECT(entries("step") == files);
}

/* An existing name that is replaced is never missing for a reader, and always whole. */
static void reads_whole(void *arg)
{
    (void)arg;
    while (!exists("done")) {
        size_t size;
        char *text = get("k", &size);

        CHECK(size == 50000);
        for (size_t i = 1; i < size; i++)
            CHECK(text[i] == text[0]);
        free(text);
    }
}

static void replacing(void)
{
    char data[50000];
    pid_t pid;

    memset(data, '0', sizeof data);
    put("k", data, sizeof data);
    pid = child(reads_whole, NULL);
    for (unsigned i = 0; i < 500; i++) {
        memset(data, '0' + (int)(i % 10), sizeof data);
        put("k.tmp", data, sizeof data);
        CHECK(rename("k.tmp", "k") == 0);
    }
    put_text("done", "");
    EXPECT(child_ok(pid));
}

static void on_alarm(int sig)
{
    (void)sig;
}

/* Calls that a signal interrupts either did their work or did nothing: a retry sees which. */
static void replaces_under_alarm(void *arg)
{
    unsigned rounds = check_long() ? 5000 : 1000, id = *(unsigned *)arg;
    struct sigaction a = { .sa_handler = on_alarm };
    struct itimerval t = { { 0, 1000 }, { 0, 1000 } };
    char tmp[64], data[1000];

    snprintf(tmp, sizeof tmp, "k.__lock-%u", id);
    memset(data, 'A' + (int)id, sizeof data);
    CHECK(sigaction(SIGALRM, &a, NULL) == 0 && setitimer(ITIMER_REAL, &t, NULL) == 0);
    for (unsigned i = 0; i < rounds; i++) {
        int fd;

        while ((fd = open(tmp, O_CREAT | O_EXCL | O_WRONLY, 0644)) < 0 && errno == EINTR)
            ;
        CHECK(fd >= 0);
        CHECK(write(fd, data, sizeof data) == sizeof data);
        close(fd);
        while (rename(tmp, "k") < 0)
            CHECK(errno == EINTR);
    }
    memset(&t, 0, sizeof t);
    setitimer(ITIMER_REAL, &t, NULL);
}

static void interrupted(void)
{
    unsigned ids[4] = { 0, 1, 2, 3 };
    pid_t pids[4];
    size_t size;
    char *text;

    for (unsigned i = 0; i < 4; i++)
        pids[i] = child(replaces_under_alarm, &ids[i]);
    for (unsigned i = 0; i < 4; i++)
        EXPECT(child_ok(pids[i]));
    EXPECT(entries(".") == 1);
    text = get("k", &size);
    EXPECT(size == 1000 && text[0] >= 'A' && text[0] <= 'D' && text[999] == text[0]);
}

static const struct check checks[] = {
    { "directories", directories },
    { "over", over },
    { "with_flags", with_flags },
    { "across", across },
    { "committing", committing },
    { "replacing", replacing },
    { "interrupted", interrupted },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
