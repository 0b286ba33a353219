/* What is refused, and with which errno: the values that Linux gives on a local disk. */
#include "check.h"

#include <dirent.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/un.h>

static void tree(void)
{
    put_text("file", "bytes");
    CHECK(mkdir("dir", 0755) == 0);
    CHECK(mkdir("full", 0755) == 0);
    CHECK(mkdir("full/sub", 0755) == 0);
    CHECK(symlink("file", "link") == 0);
    CHECK(symlink("gone", "dangling") == 0);
    CHECK(symlink("loop", "loop") == 0);
    CHECK(symlink("dir", "dirlink") == 0);
}

static void opening(void)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "socket" };
    int s = socket(AF_UNIX, SOCK_STREAM, 0);

    tree();
    CHECK(s >= 0 && bind(s, (struct sockaddr *)&a, sizeof a) == 0);
    CHECK(mkfifo("fifo", 0644) == 0);
    EXPECT_ERRNO(open("absent", O_RDONLY), ENOENT);
    EXPECT_ERRNO(open("absent/x", O_CREAT | O_WRONLY, 0644), ENOENT);
    EXPECT_ERRNO(open("", O_RDONLY), ENOENT);
    EXPECT_ERRNO(open("file/x", O_RDONLY), ENOTDIR);
    EXPECT_ERRNO(open("file/x", O_CREAT | O_WRONLY, 0644), ENOTDIR);
    EXPECT_ERRNO(open("file/", O_RDONLY), ENOTDIR);
    EXPECT_ERRNO(open("file", O_RDONLY | O_DIRECTORY), ENOTDIR);
    EXPECT_ERRNO(open("dir", O_WRONLY), EISDIR);
    EXPECT_ERRNO(open("dir", O_RDWR), EISDIR);
    EXPECT_ERRNO(open("dir", O_RDWR | O_CREAT, 0644), EISDIR);
    EXPECT_ERRNO(open("dir", O_WRONLY | O_TRUNC), EISDIR);
    EXPECT_ERRNO(open("new/", O_CREAT | O_WRONLY, 0644), EISDIR);
    EXPECT_ERRNO(open("file", O_CREAT | O_EXCL | O_WRONLY, 0644), EEXIST);
    EXPECT_ERRNO(open("dir", O_CREAT | O_EXCL | O_WRONLY, 0644), EEXIST);
    EXPECT_ERRNO(open("dangling", O_CREAT | O_EXCL | O_WRONLY, 0644), EEXIST);
    EXPECT_ERRNO(open("dangling", O_RDONLY), ENOENT);
    EXPECT_ERRNO(open("link", O_RDONLY | O_NOFOLLOW), ELOOP);
    EXPECT_ERRNO(open("loop", O_RDONLY), ELOOP);
    EXPECT_ERRNO(open("socket", O_RDWR), ENXIO);
    EXPECT_ERRNO(open("fifo", O_WRONLY | O_NONBLOCK), ENXIO);
    EXPECT(!exists("gone") && !exists("new"));
}

static void directories(void)
{
    char byte;
    int d;

    tree();
    EXPECT_ERRNO(mkdir("dir", 0755), EEXIST);
    EXPECT_ERRNO(mkdir("file", 0755), EEXIST);
    EXPECT_ERRNO(mkdir("dangling", 0755), EEXIST);
    EXPECT_ERRNO(mkdir("absent/dir", 0755), ENOENT);
    EXPECT_ERRNO(mkdir("file/dir", 0755), ENOTDIR);
    EXPECT_ERRNO(rmdir("full"), ENOTEMPTY);
    EXPECT_ERRNO(rmdir("full/sub/.."), ENOTEMPTY);
    EXPECT_ERRNO(rmdir("dir/."), EINVAL);
    EXPECT_ERRNO(rmdir("file"), ENOTDIR);
    EXPECT_ERRNO(rmdir("dirlink"), ENOTDIR);
    EXPECT_ERRNO(rmdir("absent"), ENOENT);
    EXPECT_ERRNO(unlink("dir"), EISDIR);
    EXPECT_ERRNO(unlink("file/"), ENOTDIR);
    EXPECT_ERRNO(unlink("absent"), ENOENT);
    EXPECT(!opendir("absent") && errno == ENOENT);
    EXPECT(!opendir("file") && errno == ENOTDIR);

    d = xopen("dir", O_RDONLY | O_DIRECTORY, 0);
    EXPECT_ERRNO(read(d, &byte, 1), EISDIR);
    EXPECT(rmdir("dir") == 0);
    EXPECT_ERRNO(openat(d, "late", O_CREAT | O_WRONLY, 0644), ENOENT);
    EXPECT_ERRNO(mkdirat(d, "late", 0755), ENOENT);
    EXPECT_ERRNO(renameat(AT_FDCWD, "file", d, "late"), ENOENT);
    EXPECT_ERRNO(linkat(AT_FDCWD, "file", d, "late", 0), ENOENT);
    EXPECT_ERRNO(symlinkat("file", d, "late"), ENOENT);
    EXPECT(exists("file") && xstat("file").st_nlink == 1);
}

static void links(void)
{
    char buffer[PATH_MAX];

    tree();
    EXPECT_ERRNO(link("dir", "dir2"), EPERM);
    EXPECT_ERRNO(link("absent", "x"), ENOENT);
    EXPECT_ERRNO(link("file", "link"), EEXIST);
    EXPECT_ERRNO(link("file", "file"), EEXIST);
    EXPECT_ERRNO(link("file", "absent/x"), ENOENT);
    EXPECT_ERRNO(link("file", "file/x"), ENOTDIR);
    EXPECT_ERRNO(symlink("a", "file"), EEXIST);
    EXPECT_ERRNO(symlink("a", "dangling"), EEXIST);
    EXPECT_ERRNO(symlink("", "x"), ENOENT);
    EXPECT_ERRNO(readlink("file", buffer, sizeof buffer), EINVAL);
    EXPECT_ERRNO(readlink("dir", buffer, sizeof buffer), EINVAL);
    EXPECT_ERRNO(readlink("absent", buffer, sizeof buffer), ENOENT);
    EXPECT(xstat("file").st_nlink == 1);
}

static void descriptors(void)
{
    char byte = 0;
    int r, w;

    tree();
    r = xopen("file", O_RDONLY, 0);
    w = xopen("file", O_WRONLY, 0);
    EXPECT_ERRNO(write(r, &byte, 1), EBADF);
    EXPECT_ERRNO(read(w, &byte, 1), EBADF);
    EXPECT_ERRNO(ftruncate(r, 0), EINVAL);
    EXPECT_ERRNO(ftruncate(w, -1), EINVAL);
    EXPECT_ERRNO(ftruncate(w, INT64_MAX), EFBIG);
    EXPECT_ERRNO(pwrite(w, &byte, 1, INT64_MAX - 1), EFBIG);
    EXPECT_ERRNO(pread(r, &byte, 1, -1), EINVAL);
    EXPECT_ERRNO(lseek(r, -1, SEEK_SET), EINVAL);
    EXPECT_ERRNO(lseek(r, 99, SEEK_DATA), ENXIO);
    EXPECT_ERRNO(lseek(r, 5, SEEK_HOLE), ENXIO);
    EXPECT_ERRNO(fallocate(r, 0, 0, 1), EBADF);
    EXPECT_ERRNO(fallocate(w, 0, 0, 0), EINVAL);
    EXPECT_ERRNO(fallocate(w, 0, -1, 1), EINVAL);
    EXPECT_ERRNO(truncate("dir", 0), EISDIR);
    EXPECT_ERRNO(truncate("absent", 0), ENOENT);
    EXPECT_ERRNO(truncate("file", -1), EINVAL);
    EXPECT(pread(r, &byte, 1, 99) == 0);
    EXPECT(holds_text("file", "bytes"));
}

static void long_names(void)
{
    char name[257], path[2 * PATH_MAX];
    struct stat st;

    tree();
    memset(name, 'n', 256);
    name[256] = 0;
    EXPECT_ERRNO(open(name, O_CREAT | O_WRONLY, 0644), ENAMETOOLONG);
    EXPECT_ERRNO(stat(name, &st), ENAMETOOLONG);
    EXPECT_ERRNO(mkdir(name, 0755), ENAMETOOLONG);
    EXPECT_ERRNO(symlink("file", name), ENAMETOOLONG);
    EXPECT_ERRNO(link("file", name), ENAMETOOLONG);
    EXPECT_ERRNO(rename("file", name), ENAMETOOLONG);
    EXPECT_ERRNO(mkfifo(name, 0644), ENAMETOOLONG);
    EXPECT_ERRNO(unlink(name), ENAMETOOLONG);

    for (size_t i = 0; i < sizeof path - 1; i++)
        path[i] = i % 2 ? '/' : '.';
    path[sizeof path - 1] = 0;
    EXPECT_ERRNO(open(path, O_RDONLY), ENAMETOOLONG);
    EXPECT_ERRNO(symlink(path, "target"), ENAMETOOLONG);
    EXPECT(entries(".") == 7);
}

static const struct check checks[] = {
    { "opening", opening },
    { "directories", directories },
    { "links", links },
    { "descriptors", descriptors },
    { "long_names", long_names },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
