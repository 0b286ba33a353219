/* Holes: where they are, what they cost, how they are made and filled. */
#include "check.h"

#include <linux/falloc.h>

#define MIB (1024u * 1024u)
#define GIB (1024ull * MIB)

static bool zero(int fd, off_t at, size_t size)
{
    char *p = xmalloc(size);
    bool yes = pread(fd, p, size, at) == (ssize_t)size;

    for (size_t i = 0; yes && i < size; i++)
        yes = p[i] == 0;
    free(p);
    return yes;
}

static void far_byte(void)
{
    off_t at;
    int fd;

    put_text("f", "");
    CHECK(truncate("f", 5 * (off_t)GIB) == 0);
    fd = xopen("f", O_RDWR, 0);
    EXPECT(pwrite(fd, "E", 1, 4 * (off_t)GIB) == 1);
    EXPECT(xstat("f").st_size == 5 * (off_t)GIB && xstat("f").st_blocks * 512 < (blkcnt_t)MIB);
    EXPECT(zero(fd, 3 * (off_t)GIB, 4096) && zero(fd, 4 * (off_t)GIB + 1, 4096) && zero(fd, 0, 4096));
    at = lseek(fd, 0, SEEK_DATA); /* exact, or all data; never behind the data or ENXIO */
    EXPECT(at >= 0 && at <= 4 * (off_t)GIB);
    EXPECT(lseek(fd, 4 * (off_t)GIB, SEEK_DATA) == 4 * (off_t)GIB);
    at = lseek(fd, 4 * (off_t)GIB, SEEK_HOLE);
    EXPECT(at > 4 * (off_t)GIB && at <= 5 * (off_t)GIB);
    EXPECT(close(fd) == 0);
    EXPECT(xstat("f").st_size == 5 * (off_t)GIB && xstat("f").st_blocks * 512 < (blkcnt_t)MIB);
    EXPECT(xstat("f").st_blocks > 0);
}

static void blocks(void)
{
    char *data = xmalloc(MIB);
    int fd;

    fill(data, MIB, 1);
    fd = xopen("f", O_CREAT | O_RDWR, 0644);
    CHECK(pwrite(fd, data, MIB, 0) == MIB && pwrite(fd, data, MIB, 8 * MIB) == MIB);
    CHECK(fsync(fd) == 0);
    EXPECT(xstat("f").st_blocks * 512 >= 2 * MIB && xstat("f").st_blocks * 512 < 4 * MIB);
    close(fd);
    put("g", data, MIB);
    fd = xopen("g", O_RDONLY, 0);
    CHECK(fsync(fd) == 0);
    EXPECT(xstat("g").st_blocks * 512 >= MIB && xstat("g").st_blocks * 512 < 2 * MIB);
    EXPECT(xstat("f").st_blksize >= 512);
}

/* Calls fallocate; a file system without this mode ends the check there. */
static void allocate(int fd, int mode, off_t at, off_t length)
{
    int r = fallocate(fd, mode, at, length);

    if (r < 0 && errno == EOPNOTSUPP && mode != 0)
        check_skip("the store's file system has no such fallocate mode");
    CHECK(r == 0);
}

static void preallocate(void)
{
    int fd = xopen("f", O_CREAT | O_RDWR, 0644);

    CHECK(write(fd, "start", 5) == 5);
    allocate(fd, 0, 0, MIB);
    EXPECT(xstat("f").st_size == MIB && zero(fd, 5, MIB - 5));
    EXPECT(xstat("f").st_blocks * 512 >= MIB);
    allocate(fd, FALLOC_FL_KEEP_SIZE, 0, 2 * MIB);
    EXPECT(xstat("f").st_size == MIB);
    EXPECT(posix_fallocate(fd, MIB, MIB) == 0 && xstat("f").st_size == 2 * MIB);
    close(fd);
}

static void punch(void)
{
    char *data = xmalloc(4 * MIB);
    int fd = xopen("f", O_CREAT | O_RDWR, 0644);
    blkcnt_t full;

    fill(data, 4 * MIB, 2);
    CHECK(write(fd, data, 4 * MIB) == 4 * MIB && fsync(fd) == 0);
    full = xstat("f").st_blocks;
    allocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, MIB + 100, 2 * MIB);
    memset(data + MIB + 100, 0, 2 * MIB);
    EXPECT(xstat("f").st_size == 4 * MIB && xstat("f").st_blocks < full);
    EXPECT(holds("f", data, 4 * MIB));
    allocate(fd, FALLOC_FL_ZERO_RANGE, 10, 5000);
    memset(data + 10, 0, 5000);
    EXPECT(holds("f", data, 4 * MIB));
    allocate(fd, FALLOC_FL_ZERO_RANGE, 4 * MIB - 10, 20);
    EXPECT(xstat("f").st_size == 4 * MIB + 10 && zero(fd, 4 * MIB - 10, 20));
    EXPECT(close(fd) == 0);
}

/* What is cut off and grown again is zeros, to the byte. */
static void grown(void)
{
    char *data = xmalloc(MIB);
    int fd;

    fill(data, MIB, 3);
    put("f", data, MIB);
    CHECK(truncate("f", 5000) == 0 && truncate("f", MIB) == 0);
    memset(data + 5000, 0, MIB - 5000);
    EXPECT(holds("f", data, MIB));
    fd = xopen("f", O_RDWR, 0);
    EXPECT(pwrite(fd, "end", 3, MIB + 70000) == 3);
    EXPECT(zero(fd, MIB, 70000) && xstat("f").st_size == MIB + 70003);
    EXPECT(ftruncate(fd, 0) == 0 && pwrite(fd, "x", 1, 10) == 1 && zero(fd, 0, 10));
    close(fd);
    EXPECT(holds("f", "\0\0\0\0\0\0\0\0\0\0x", 11));
}

static void segments(void)
{
    int fd = xopen("f", O_CREAT | O_RDWR, 0644);
    char *data = xmalloc(MIB);
    off_t at = 0, hole, sum = 0;

    memset(data, 'd', MIB);
    for (unsigned i = 0; i < 4; i++)
        CHECK(pwrite(fd, data, MIB, (off_t)i * 16 * MIB) == MIB);
    CHECK(ftruncate(fd, 100 * MIB) == 0);
    while ((at = lseek(fd, at, SEEK_DATA)) >= 0) {
        hole = lseek(fd, at, SEEK_HOLE);
        CHECK(hole > at);
        sum += hole - at;
        at = hole;
    }
    EXPECT(errno == ENXIO);
    EXPECT(sum >= 4 * MIB && sum <= 100 * MIB);
    EXPECT(lseek(fd, 0, SEEK_END) == 100 * MIB && lseek(fd, 0, SEEK_CUR) == 100 * MIB);
    close(fd);
}

static const struct check checks[] = {
    { "far_byte", far_byte },
    { "blocks", blocks },
    { "preallocate", preallocate },
    { "punch", punch },
    { "grown", grown },
    { "segments", segments },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
