/* Open flags, names that go while open, links, nodes, directories, xattrs. */
#include "check.h"

#include <dirent.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/socket.h>

static void flags(void)
{
    struct stat st;
    int fd;

    umask(027);
    fd = xopen("a", O_CREAT | O_EXCL | O_RDWR, 0777);
    CHECK(fstat(fd, &st) == 0);
    EXPECT((st.st_mode & 07777) == 0750 && st.st_size == 0 && st.st_nlink == 1);
    EXPECT(write(fd, "0123456789", 10) == 10);
    close(fd);

    fd = xopen("a", O_WRONLY | O_APPEND, 0);
    EXPECT(pwrite(fd, "AB", 2, 0) == 2); /* Linux: O_APPEND wins over the offset */
    EXPECT(lseek(fd, 0, SEEK_SET) == 0 && write(fd, "C", 1) == 1);
    close(fd);
    EXPECT(holds_text("a", "0123456789ABC"));

    fd = xopen("a", O_WRONLY | O_TRUNC, 0);
    EXPECT(fstat(fd, &st) == 0 && st.st_size == 0);
    close(fd);
    EXPECT(holds_text("a", ""));

    CHECK(symlink("made", "dangling") == 0);
    close(xopen("dangling", O_CREAT | O_WRONLY, 0644));
    EXPECT(exists("made"));
    fd = xopen("made", O_PATH, 0);
    EXPECT(fstat(fd, &st) == 0 && S_ISREG(st.st_mode));
    close(fd);
}

static void direct(void)
{
    size_t size = 65536;
    char *out = aligned_alloc(4096, size), *in = aligned_alloc(4096, size);
    int fd;

    CHECK(out && in);
    fill(out, size, 1);
    fd = xopen("d", O_CREAT | O_RDWR | O_DIRECT, 0644);
    EXPECT(write(fd, out, size) == (ssize_t)size);
    EXPECT(pwrite(fd, out, 4096, 8192) == 4096);
    memcpy(out + 8192, out, 4096);
    EXPECT(pread(fd, in, size, 0) == (ssize_t)size && memcmp(in, out, size) == 0);
    close(fd);
    EXPECT(holds("d", out, size));
}

static void unlinked_open(void)
{
    struct stat st;
    char in[8] = "";
    int fd;

    CHECK(mkdir("d", 0755) == 0);
    fd = xopen("d/log", O_CREAT | O_RDWR, 0644);
    EXPECT(write(fd, "one", 3) == 3);
    EXPECT(unlink("d/log") == 0);
    EXPECT(entries("d") == 0);
    EXPECT(rmdir("d") == 0);
    EXPECT(entries(".") == 0);
    EXPECT(write(fd, "two", 3) == 3);
    EXPECT(fstat(fd, &st) == 0 && st.st_nlink == 0 && st.st_size == 6);
    EXPECT(pread(fd, in, 6, 0) == 6 && memcmp(in, "onetwo", 6) == 0);
    EXPECT(fchmod(fd, 0600) == 0 && ftruncate(fd, 2) == 0 && fsync(fd) == 0);
    EXPECT(fstat(fd, &st) == 0 && st.st_size == 2 && (st.st_mode & 07777) == 0600);
    EXPECT(close(fd) == 0);
    EXPECT(entries(".") == 0);
}

static void recreated(void)
{
    char a[4096], b[4096], in[4096];
    unsigned rounds = check_long() ? 1000 : 200;

    for (unsigned i = 0; i < rounds; i++) {
        struct stat old, new;
        int fd;

        fill(a, sizeof a, 2 * i);
        fill(b, sizeof b, 2 * i + 1);
        put("same", a, sizeof a);
        fd = xopen("same", O_RDONLY, 0);
        CHECK(unlink("same") == 0);
        put("same", b, sizeof b);
        CHECK(fstat(fd, &old) == 0);
        new = xstat("same");
        CHECK(old.st_ino != new.st_ino);
        CHECK(pread(fd, in, sizeof in, 0) == sizeof in && memcmp(in, a, sizeof a) == 0);
        CHECK(holds("same", b, sizeof b));
        close(fd);
        CHECK(unlink("same") == 0);
    }
}

static void hard_links(void)
{
    struct stat a, b;
    int fd;

    put_text("a", "one");
    CHECK(link("a", "b") == 0);
    a = xstat("a");
    b = xstat("b");
    EXPECT(a.st_ino == b.st_ino && a.st_nlink == 2 && b.st_nlink == 2);
    fd = xopen("b", O_WRONLY | O_APPEND, 0);
    EXPECT(write(fd, "two", 3) == 3);
    EXPECT(holds_text("a", "onetwo"));
    close(fd);
    EXPECT(xstat("a").st_size == 6);
    EXPECT(chmod("a", 0600) == 0 && (xstat("b").st_mode & 07777) == 0600);
    EXPECT(unlink("a") == 0);
    EXPECT(xstat("b").st_nlink == 1 && holds_text("b", "onetwo"));

    CHECK(mkdir("d", 0755) == 0);
    EXPECT(link("b", "d/c") == 0 && rename("d/c", "d/e") == 0);
    EXPECT(xstat("d/e").st_ino == xstat("b").st_ino && xstat("b").st_nlink == 2);
    CHECK(symlink("b", "l") == 0);
    EXPECT(link("l", "m") == 0 && S_ISLNK(xstat("m").st_mode));
    EXPECT(linkat(AT_FDCWD, "l", AT_FDCWD, "n", AT_SYMLINK_FOLLOW) == 0 &&
           xstat("n").st_ino == xstat("b").st_ino);
}

static void symbolic_links(void)
{
    char target[4096], buffer[4096];
    const char *some[] = { "epoch=10-step=100.ckpt", "../up", "/absolute/nowhere", "\xff\xfe", "." };
    size_t length;

    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        CHECK(symlink(some[i], "l") == 0);
        length = strlen(some[i]);
        EXPECT(S_ISLNK(xstat("l").st_mode) && xstat("l").st_size == (off_t)length);
        EXPECT(readlink("l", buffer, length + 1) == (ssize_t)length &&
               memcmp(buffer, some[i], length) == 0);
        CHECK(unlink("l") == 0);
    }
    for (length = 1000; length <= 4095; length += 3095) {
        memset(target, 't', length);
        target[length] = 0;
        CHECK(symlink(target, "l") == 0);
        EXPECT(xstat("l").st_size == (off_t)length);
        EXPECT(readlink("l", buffer, sizeof buffer) == (ssize_t)length &&
               memcmp(buffer, target, length) == 0);
        CHECK(unlink("l") == 0);
    }
    CHECK(symlink("l", "l") == 0);
    EXPECT_ERRNO(open("l", O_RDONLY), ELOOP);
    EXPECT(xstat("l").st_size == 1 && unlink("l") == 0);
}

static void fifo_end(void *arg)
{
    int fd = xopen(arg, O_WRONLY, 0);

    EXPECT(write(fd, "through", 7) == 7);
    close(fd);
}

static void nodes(void)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "socket" };
    int s = socket(AF_UNIX, SOCK_STREAM, 0), fd;
    char in[8];
    pid_t pid;

    CHECK(mkfifo("fifo", 0620) == 0);
    EXPECT(S_ISFIFO(xstat("fifo").st_mode) && (xstat("fifo").st_mode & 07777) == 0600);
    pid = child(fifo_end, (void *)"fifo");
    fd = xopen("fifo", O_RDONLY, 0);
    EXPECT(read(fd, in, sizeof in) == 7 && memcmp(in, "through", 7) == 0);
    EXPECT(child_ok(pid));

    CHECK(s >= 0);
    EXPECT(bind(s, (struct sockaddr *)&a, sizeof a) == 0 && S_ISSOCK(xstat("socket").st_mode));
    EXPECT(mknod("plain", S_IFREG | 0640, 0) == 0 && S_ISREG(xstat("plain").st_mode));
    EXPECT_ERRNO(mknod("plain", S_IFREG | 0640, 0), EEXIST);
    if (geteuid() == 0) {
        EXPECT(mknod("null", S_IFCHR | 0666, makedev(1, 3)) == 0);
        EXPECT(mknod("disk", S_IFBLK | 0600, makedev(259, 70000)) == 0);
        EXPECT(S_ISCHR(xstat("null").st_mode) && xstat("null").st_rdev == makedev(1, 3));
        EXPECT(S_ISBLK(xstat("disk").st_mode) && xstat("disk").st_rdev == makedev(259, 70000));
    }
}

static void held_directory(void)
{
    int d, log;

    CHECK(mkdir("a", 0755) == 0 && mkdir("a/b", 0755) == 0);
    log = xopen("a/b/log", O_CREAT | O_WRONLY | O_APPEND, 0644);
    d = xopen("a/b", O_RDONLY | O_DIRECTORY, 0);
    EXPECT(write(log, "old ", 4) == 4);
    CHECK(rename("a", "a2") == 0);
    CHECK(mkdir("a", 0755) == 0 && mkdir("a/b", 0755) == 0);
    put_text("a/b/log", "");
    EXPECT(write(log, "still", 5) == 5);
    CHECK(fchdir(d) == 0);
    put_text("relative", "r");
    CHECK(chdir("../..") == 0);
    EXPECT(holds_text("a2/b/log", "old still"));
    EXPECT(holds_text("a/b/log", ""));
    EXPECT(holds_text("a2/b/relative", "r") && !exists("a/b/relative"));
}

static void working_directory(void)
{
    char path[4096];

    CHECK(mkdir("cwd", 0755) == 0 && chdir("cwd") == 0);
    put_text("x", "here");
    CHECK(rename("../cwd", "../moved") == 0);
    EXPECT(holds_text("x", "here") && holds_text("../moved/x", "here"));
    EXPECT(getcwd(path, sizeof path) && strcmp(strrchr(path, '/'), "/moved") == 0);
    CHECK(unlink("x") == 0 && rmdir("../moved") == 0);
    EXPECT_ERRNO(open("y", O_CREAT | O_WRONLY, 0644), ENOENT);
    EXPECT(!getcwd(path, sizeof path) && errno == ENOENT);
}

static void deep_tree(void)
{
    unsigned depth = 0;

    for (; depth < 300; depth++)
        CHECK(mkdir("a-directory-of-the-tree", 0755) == 0 && chdir("a-directory-of-the-tree") == 0);
    put_text("bottom", "deep");
    EXPECT(holds_text("bottom", "deep"));
    CHECK(unlink("bottom") == 0);
    for (; depth > 0; depth--)
        CHECK(chdir("..") == 0 && rmdir("a-directory-of-the-tree") == 0);
    EXPECT(entries(".") == 0);
}

static void dup_close(void)
{
    int a = xopen("f", O_CREAT | O_WRONLY, 0644), b = dup(a);

    CHECK(b >= 0);
    EXPECT(write(a, "1", 1) == 1 && close(a) == 0);
    EXPECT(write(b, "2", 1) == 1 && close(b) == 0);
    EXPECT(holds_text("f", "12"));
}

static void exits_at_once(void *arg)
{
    (void)arg;
}

/* close() in a forked child sends FLUSH for the parent's file too; it must end nothing. */
static void forked_close(void)
{
    int fd = xopen("f", O_CREAT | O_WRONLY | O_TRUNC, 0644);

    for (unsigned i = 0; i < 8; i++) {
        EXPECT(write(fd, "0123456", 7) == 7);
        CHECK(child_ok(child(exits_at_once, NULL)));
    }
    EXPECT(xstat("f").st_size == 56);
    close(fd);
    EXPECT(xstat("f").st_size == 56);
}

static void two_writers(void)
{
    int a = xopen("f", O_CREAT | O_WRONLY | O_TRUNC, 0644), b = xopen("f", O_WRONLY | O_TRUNC, 0644);

    EXPECT(write(b, "the second handle writes", 24) == 24);
    EXPECT(close(b) == 0);
    EXPECT(holds_text("f", "the second handle writes"));
    EXPECT(pwrite(a, "The", 3, 0) == 3);
    EXPECT(close(a) == 0);
    EXPECT(holds_text("f", "The second handle writes"));
}

static void space_numbers(void)
{
    struct statvfs v;
    int fd;

    CHECK(statvfs(".", &v) == 0);
    EXPECT(v.f_frsize > 0 && v.f_bsize > 0);
    EXPECT(v.f_blocks >= v.f_bfree && v.f_bfree >= v.f_bavail && v.f_bavail > 0);
    EXPECT(v.f_files > 0 && v.f_ffree > 0 && v.f_files >= v.f_ffree);
    EXPECT(v.f_namemax == 255);
    CHECK(mkdir("sub", 0755) == 0);
    fd = xopen("sub/file", O_CREAT | O_WRONLY, 0644);
    EXPECT(fstatvfs(fd, &v) == 0 && v.f_bavail > 0);
}

static unsigned long long events_of(int in, unsigned want)
{
    char buffer[4096] __attribute__((aligned(8)));
    struct pollfd p = { .fd = in, .events = POLLIN };
    unsigned long long seen = 0;

    while ((seen & want) != want && poll(&p, 1, 5000) == 1) {
        ssize_t n = read(in, buffer, sizeof buffer);

        for (ssize_t i = 0; i < n;) {
            struct inotify_event *e = (struct inotify_event *)(void *)(buffer + i);

            seen |= e->mask;
            i += (ssize_t)(sizeof *e + e->len);
        }
    }
    return seen;
}

static void watched(void)
{
    unsigned want = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE;
    int in = inotify_init1(IN_CLOEXEC);

    CHECK(in >= 0 && inotify_add_watch(in, ".", want) >= 0);
    put_text("x.tmp", "bytes");
    CHECK(rename("x.tmp", "x") == 0 && unlink("x") == 0);
    EXPECT((events_of(in, want) & want) == want);
}

static const struct check checks[] = {
    { "flags", flags },
    { "direct", direct },
    { "unlinked_open", unlinked_open },
    { "recreated", recreated },
    { "hard_links", hard_links },
    { "symbolic_links", symbolic_links },
    { "nodes", nodes },
    { "held_directory", held_directory },
    { "working_directory", working_directory },
    { "deep_tree", deep_tree },
    { "dup_close", dup_close },
    { "forked_close", forked_close },
    { "two_writers", two_writers },
    { "space_numbers", space_numbers },
    { "watched", watched },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
