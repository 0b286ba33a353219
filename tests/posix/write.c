/* Bytes that are written, over each other, at the end, from several processes, and copied. */
#include "check.h"

#include <limits.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#define MIB (1024u * 1024u)

/* Writes of odd sizes through write() (PLAIN) or pwrite(): no short count, and the offset is the sum. */
static void odd_writes(const char *path, bool plain)
{
    enum { BLOCK = 3 * 1024 * 1024 };
    unsigned count = check_long() ? 10000 : 300;
    char *data = xmalloc(BLOCK), *in = xmalloc(BLOCK);
    int fd = xopen(path, O_CREAT | O_TRUNC | O_RDWR, 0644);
    off_t sum = 0, at = 0;
    unsigned seed = 7;

    fill(data, BLOCK, 7);
    for (unsigned i = 0; i < count; i++) {
        size_t size = 1 + (seed = seed * 1103515245 + 12345) / 8 % (i % 8 == 0 ? BLOCK : 9999);

        CHECK((plain ? write(fd, data, size) : pwrite(fd, data, size, sum)) == (ssize_t)size);
        sum += (off_t)size;
        CHECK(!plain || lseek(fd, 0, SEEK_CUR) == sum);
    }
    CHECK(lseek(fd, 0, SEEK_END) == sum);
    seed = 7;
    for (unsigned i = 0; i < count; i++) {
        size_t size = 1 + (seed = seed * 1103515245 + 12345) / 8 % (i % 8 == 0 ? BLOCK : 9999);

        CHECK(pread(fd, in, size, at) == (ssize_t)size && memcmp(in, data, size) == 0);
        at += (off_t)size;
    }
    close(fd);
}

static void counts(void)
{
    odd_writes("written", true);
    odd_writes("pwritten", false);
}

static void odd_writer(void *arg)
{
    odd_writes(arg, true);
}

static void counts_together(void)
{
    char names[4][2] = { "a", "b", "c", "d" };
    pid_t pids[4];

    for (unsigned i = 0; i < 4; i++)
        pids[i] = child(odd_writer, names[i]);
    for (unsigned i = 0; i < 4; i++)
        EXPECT(child_ok(pids[i]));
}

static void vectors(void)
{
    char a[100], b[5000], c[1], all[5101], in[5101];
    struct iovec out[3] = { { a, sizeof a }, { b, sizeof b }, { c, sizeof c } };
    int fd = xopen("v", O_CREAT | O_RDWR, 0644);

    fill(all, sizeof all, 9);
    memcpy(a, all, sizeof a);
    memcpy(b, all + sizeof a, sizeof b);
    memcpy(c, all + sizeof a + sizeof b, sizeof c);
    EXPECT(writev(fd, out, 3) == sizeof all);
    EXPECT(pwritev(fd, out, 3, sizeof all) == sizeof all);
    EXPECT(pread(fd, in, sizeof in, sizeof all) == sizeof in && memcmp(in, all, sizeof in) == 0);
    close(fd);
}

/* One write() of more than INT_MAX bytes, as torch makes it, under a name with umlauts. */
static void huge(void)
{
    const char *path = "größe-模型.pt";
    size_t size = check_long() ? 5ull << 30 : (2ull << 30) + 3 * MIB;
    size_t at[] = { 0, (2ull << 30) - 1, 2ull << 30, (4ull << 30) - 1, 4ull << 30, 0 };
    char *data, *in = xmalloc(MIB);
    size_t done = 0;
    int fd;

    data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
        check_skip("not enough memory for the array to be written");
    at[5] = size - MIB;
    for (unsigned i = 0; i < 6; i++)
        if (at[i] + MIB <= size)
            fill(data + at[i], MIB, i + 1);
    fd = xopen(path, O_CREAT | O_WRONLY, 0644);
    while (done < size) {
        ssize_t n = write(fd, data + done, size - done);

        CHECK(n > 0 && (n == (ssize_t)(size - done) || n == 2147479552));
        done += (size_t)n;
    }
    CHECK(close(fd) == 0);
    EXPECT(xstat(path).st_size == (off_t)size);
    fd = xopen(path, O_RDONLY, 0);
    for (unsigned i = 0; i < 6; i++)
        if (at[i] + MIB <= size)
            EXPECT(pread(fd, in, MIB, (off_t)at[i]) == MIB && memcmp(in, data + at[i], MIB) == 0);
    close(fd);
}

static void shorter(void)
{
    char *big = xmalloc(20 * MIB), *small = xmalloc(3 * MIB), *tiny = xmalloc(MIB);
    int fd;

    fill(big, 20 * MIB, 1);
    fill(small, 3 * MIB, 2);
    fill(tiny, MIB, 3);
    put("last.pt", big, 20 * MIB);
    put("last.pt", small, 3 * MIB);
    EXPECT(xstat("last.pt").st_size == 3 * MIB && holds("last.pt", small, 3 * MIB));
    fd = xopen("last.pt", O_RDWR, 0);
    EXPECT(write(fd, tiny, MIB) == MIB && ftruncate(fd, MIB) == 0);
    EXPECT(close(fd) == 0);
    EXPECT(xstat("last.pt").st_size == MIB && holds("last.pt", tiny, MIB));
    EXPECT(truncate("last.pt", 2 * MIB) == 0);
    memcpy(small, tiny, MIB);
    memset(small + MIB, 0, MIB);
    EXPECT(holds("last.pt", small, 2 * MIB));
}

static const char long_text[] = "step: 1000000\n", short_text[] = "step: 7\n";

/* Between truncation and close a reader may see both texts' bytes, on a disk too, but none of another origin. */
static void reads_status(void *arg)
{
    double end = now() + 30;

    (void)arg;
    while (!exists("done") && now() < end) {
        size_t size;
        char *text = get("s", &size);

        CHECK(size < sizeof long_text);
        for (size_t i = 0; i < size; i++)
            CHECK(text[i] == long_text[i] || (i < sizeof short_text && text[i] == short_text[i]));
        free(text);
    }
}

static void status_file(void)
{
    pid_t pid;

    put_text("s", short_text);
    pid = child(reads_status, NULL);
    for (unsigned i = 0; i < 1000; i++) {
        put_text("s", long_text);
        CHECK(holds_text("s", long_text) && xstat("s").st_size == sizeof long_text - 1);
        put_text("s", short_text);
        CHECK(holds_text("s", short_text) && xstat("s").st_size == sizeof short_text - 1);
    }
    put_text("done", "");
    EXPECT(child_ok(pid));
}

static void append_lines(void *arg)
{
    int fd = xopen("log", O_CREAT | O_WRONLY | O_APPEND, 0644);
    char line[64];

    memset(line, *(char *)arg, sizeof line);
    line[63] = '\n';
    for (unsigned i = 0; i < 1000; i++)
        CHECK(write(fd, line, sizeof line) == sizeof line);
    close(fd);
}

static void appenders(void)
{
    char who[] = "abcd", *text;
    unsigned lines[4] = { 0 };
    pid_t pids[4];
    size_t size;

    for (unsigned i = 0; i < 4; i++)
        pids[i] = child(append_lines, who + i);
    for (unsigned i = 0; i < 4; i++)
        EXPECT(child_ok(pids[i]));
    text = get("log", &size);
    CHECK(size == 4000 * 64);
    for (size_t at = 0; at < size; at += 64) {
        for (unsigned i = 0; i < 63; i++)
            CHECK(text[at + i] == text[at]);
        CHECK(text[at + 63] == '\n' && text[at] >= 'a' && text[at] <= 'd');
        lines[text[at] - 'a']++;
    }
    EXPECT(lines[0] == 1000 && lines[1] == 1000 && lines[2] == 1000 && lines[3] == 1000);
}

/* Two descriptors append by turns while one of them cuts the file; the model is a string. */
static void append_and_cut(void)
{
    int a = xopen("log", O_CREAT | O_RDWR | O_APPEND, 0644), b = xopen("log", O_WRONLY | O_APPEND, 0);
    char *model = xmalloc(64 * 2000);
    size_t size = 0;

    for (unsigned i = 0; i < 1000; i++) {
        size += (size_t)sprintf(model + size, "metric %u\n", i);
        CHECK(dprintf(a, "metric %u\n", i) > 0);
        size += (size_t)sprintf(model + size, "log line %u\n", i);
        CHECK(dprintf(b, "log line %u\n", i) > 0);
        if (i % 100 == 99) {
            size = size * 2 / 3;
            CHECK(ftruncate(a, (off_t)size) == 0);
        }
    }
    EXPECT(holds("log", model, size));
    close(a);
    close(b);
    EXPECT(holds("log", model, size));
}

static void copies(void)
{
    size_t size = 5 * MIB + 123;
    char *data = xmalloc(size), *model;
    off_t from = 0, to = 0;
    int in, out;
    ssize_t n;

    fill(data, size, 4);
    put("source", data, size);
    in = xopen("source", O_RDONLY, 0);
    out = xopen("copy", O_CREAT | O_RDWR, 0644);
    while ((n = copy_file_range(in, &from, out, &to, size, 0)) > 0)
        ;
    EXPECT(n == 0 && from == (off_t)size && to == (off_t)size);
    EXPECT(holds("copy", data, size));

    model = xmalloc(size);
    memcpy(model, data, size);
    memcpy(model + 1000, data + 70001, 65536);
    from = 70001;
    to = 1000;
    while (from < 70001 + 65536)
        CHECK(copy_file_range(in, &from, out, &to, (size_t)(70001 + 65536 - from), 0) > 0);
    EXPECT(holds("copy", model, size) && holds("source", data, size));
    close(out);

    out = xopen("sent", O_CREAT | O_WRONLY, 0644);
    from = 0;
    while ((n = sendfile(out, in, &from, 8 * MIB)) > 0)
        ;
    EXPECT(n == 0 && from == (off_t)size && close(out) == 0);
    EXPECT(holds("sent", data, size));
    close(in);
}

static void syncs(void)
{
    int rw = xopen("f", O_CREAT | O_RDWR, 0644), ro = xopen("f", O_RDONLY, 0);
    int dir = xopen(".", O_RDONLY | O_DIRECTORY, 0), gone = xopen("g", O_CREAT | O_RDWR, 0644);
    char *map;

    CHECK(write(rw, "0123456789", 10) == 10 && write(gone, "x", 1) == 1 && unlink("g") == 0);
    EXPECT(fsync(rw) == 0 && fdatasync(rw) == 0);
    EXPECT(fsync(ro) == 0 && fdatasync(ro) == 0);
    EXPECT(fsync(dir) == 0 && fdatasync(dir) == 0);
    EXPECT(fsync(gone) == 0 && fdatasync(gone) == 0);
    CHECK(rename("f", "h") == 0);
    EXPECT(fsync(rw) == 0);
    EXPECT(sync_file_range(rw, 0, 10, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER) == 0);
    EXPECT(syncfs(rw) == 0);
    map = mmap(NULL, 10, PROT_READ | PROT_WRITE, MAP_SHARED, rw, 0);
    CHECK(map != MAP_FAILED);
    map[0] = 'A';
    EXPECT(msync(map, 10, MS_SYNC) == 0 && msync(map, 10, MS_ASYNC) == 0);
    EXPECT(munmap(map, 10) == 0 && holds_text("h", "A123456789"));
    close(rw);
    rw = xopen("s", O_CREAT | O_WRONLY | O_SYNC, 0644);
    EXPECT(write(rw, "synced", 6) == 6 && holds_text("s", "synced"));
}

static const struct check checks[] = {
    { "counts", counts },
    { "counts_together", counts_together },
    { "vectors", vectors },
    { "huge", huge },
    { "shorter", shorter },
    { "status_file", status_file },
    { "appenders", appenders },
    { "append_and_cut", append_and_cut },
    { "copies", copies },
    { "syncs", syncs },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
