/* Memory maps: shared and private, against read and write, and beyond the life of a name. */
#include "check.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MIB (1024u * 1024u)

static char *map(const char *path, size_t size, int prot, int flags)
{
    int fd = xopen(path, prot & PROT_WRITE && flags & MAP_SHARED ? O_RDWR : O_RDONLY, 0);
    char *p = mmap(NULL, size, prot, flags, fd, 0);

    CHECK(p != MAP_FAILED);
    close(fd); /* always before the map goes: pages come after the last close */
    return p;
}

static void size_file(const char *path, size_t size)
{
    int fd = xopen(path, O_CREAT | O_RDWR | O_TRUNC, 0644);

    CHECK(ftruncate(fd, (off_t)size) == 0 && close(fd) == 0);
}

static void shared(void)
{
    char in[8];
    int fd;
    char *p;

    size_file("f", 8192);
    p = map("f", 8192, PROT_READ | PROT_WRITE, MAP_SHARED);
    fd = xopen("f", O_RDWR, 0);
    memcpy(p + 4094, "ABCD", 4);
    EXPECT(pread(fd, in, 4, 4094) == 4 && memcmp(in, "ABCD", 4) == 0);
    EXPECT(pwrite(fd, "efgh", 4, 4092) == 4 && memcmp(p + 4092, "efghCD", 6) == 0);
    EXPECT(msync(p, 8192, MS_SYNC) == 0 && munmap(p, 8192) == 0);
    EXPECT(pread(fd, in, 6, 4092) == 6 && memcmp(in, "efghCD", 6) == 0);
    close(fd);
    EXPECT(xstat("f").st_size == 8192);
}

static void private(void)
{
    char *p;

    put_text("f", "of the file");
    p = map("f", 11, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    memcpy(p, "IN", 2);
    EXPECT(msync(p, 11, MS_SYNC) == 0 && munmap(p, 11) == 0);
    EXPECT(holds_text("f", "of the file"));
}

static void writes_map(void *arg)
{
    size_t size = *(size_t *)arg;
    char *p = map("array", size, PROT_READ | PROT_WRITE, MAP_SHARED);

    fill(p, size, 5);
    munmap(p, size);
}

static void killed_with_map(void *arg)
{
    size_t size = *(size_t *)arg;
    char *p = map("array", size, PROT_READ | PROT_WRITE, MAP_SHARED);

    fill(p, size, 6);
    kill(getpid(), SIGKILL);
}

/* np.memmap: no flush, the descriptor closed first; once unmapped or dead, all of it is in the file. */
static void after_close(void)
{
    size_t size = (check_long() ? 64 : 16) * MIB;
    char *data = xmalloc(size);

    size_file("array", size);
    fill(data, size, 5);
    EXPECT(child_ok(child(writes_map, &size)));
    EXPECT(holds("array", data, size));
    fill(data, size, 6);
    EXPECT(!child_ok(child(killed_with_map, &size)));
    EXPECT(holds("array", data, size));
}

/* A file of this content lies there already, so that closing shares it; later stores must not. */
static void stores_into_shared(void)
{
    char *data = xmalloc(MIB), *p;

    fill(data, MIB, 7);
    put("first", data, MIB);
    put("second", data, MIB);
    p = map("second", MIB, PROT_READ | PROT_WRITE, MAP_SHARED);
    memcpy(p + 5000, "changed", 7);
    EXPECT(holds("first", data, MIB));
    EXPECT(munmap(p, MIB) == 0);
    EXPECT(holds("first", data, MIB));
    memcpy(data + 5000, "changed", 7);
    EXPECT(holds("second", data, MIB));
}

static void outlives_name(void)
{
    char a[8192], b[8192], *one, *two;

    fill(a, sizeof a, 1);
    fill(b, sizeof b, 2);
    put("f", a, sizeof a);
    put("g", b, sizeof b);
    one = map("f", sizeof a, PROT_READ, MAP_SHARED);
    CHECK(rename("g", "f") == 0);
    EXPECT(memcmp(one, a, sizeof a) == 0 && holds("f", b, sizeof b));

    CHECK(mkdir("d", 0755) == 0);
    put("d/w", a, sizeof a);
    two = map("d/w", sizeof a, PROT_READ | PROT_WRITE, MAP_SHARED);
    CHECK(unlink("d/w") == 0);
    EXPECT(entries("d") == 0 && rmdir("d") == 0);
    memcpy(two, b, sizeof b);
    EXPECT(msync(two, sizeof b, MS_SYNC) == 0 && memcmp(two, b, sizeof b) == 0);
    put("d", b, sizeof b);
    EXPECT(munmap(two, sizeof b) == 0 && munmap(one, sizeof a) == 0);
    EXPECT(entries(".") == 2);
}

static sigjmp_buf out;

static void on_bus(int sig)
{
    siglongjmp(out, sig);
}

static void shrinks(void)
{
    volatile char *p;
    char byte;

    size_file("f", 3 * 4096);
    p = map("f", 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED);
    p[9000] = 'x';
    CHECK(truncate("f", 4096 + 100) == 0);
    signal(SIGBUS, on_bus);
    if (sigsetjmp(out, 1) == 0) {
        byte = p[9000];
        fprintf(stderr, "read %d behind the end\n", byte);
        EXPECT(!"a read behind the end of the file gives SIGBUS");
    }
    p[4096 + 99] = 'y';
    CHECK(truncate("f", 3 * 4096) == 0);
    EXPECT(p[9000] == 0 && p[4096 + 99] == 'y' && p[4096 + 100] == 0);
}

/* Loading lazily and saving to the same path: what every local file system gives (zeros where the
 * file was truncated first, EFAULT for the map of an emptied file), and no crash of anything. */
static void saved_over_itself(void)
{
    enum { SIZE = 1 << 20 };
    char *data = xmalloc(SIZE), *zeros = calloc(SIZE, 1), *p;
    int fd;

    CHECK(zeros);
    memset(data, 0xab, SIZE);
    put("w", data, SIZE);
    p = map("w", SIZE, PROT_READ, MAP_SHARED);
    fd = xopen("w", O_WRONLY | O_TRUNC, 0);
    EXPECT_ERRNO(write(fd, p, SIZE), EFAULT);
    close(fd);
    EXPECT(xstat("w").st_size == 0);
    munmap(p, SIZE);

    put("w", data, SIZE);
    p = map("w", SIZE, PROT_READ, MAP_SHARED);
    fd = xopen("w", O_WRONLY | O_TRUNC, 0);
    EXPECT(ftruncate(fd, SIZE) == 0 && write(fd, p, SIZE) == SIZE && close(fd) == 0);
    EXPECT(holds("w", zeros, SIZE));
    munmap(p, SIZE);

    put("w", data, SIZE);
    p = map("w", SIZE, PROT_READ, MAP_SHARED);
    put("w.tmp", p, SIZE);
    EXPECT(rename("w.tmp", "w") == 0 && holds("w", data, SIZE));
    munmap(p, SIZE);
}

/* A writes 4 KiB through a descriptor (the second half with O_DIRECT), B sees them in its map at once. */
static void coherent(void)
{
    unsigned rounds = check_long() ? 10000 : 2000;
    size_t size = 64 * 4096;
    char *data = aligned_alloc(4096, 4096), *p;
    int fd[2];

    CHECK(data);
    size_file("f", size);
    p = map("f", size, PROT_READ, MAP_SHARED);
    fd[0] = xopen("f", O_RDWR, 0);
    fd[1] = xopen("f", O_RDWR | O_DIRECT, 0);
    for (unsigned i = 0; i < rounds; i++) {
        off_t at = (off_t)(i % 64) * 4096;

        fill(data, 4096, i);
        CHECK(pwrite(fd[i >= rounds / 2], data, 4096, at) == 4096);
        CHECK(memcmp(p + at, data, 4096) == 0);
    }
}

static void executes(void)
{
    char *self, path[4096];
    size_t size;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    pid_t pid;
    int status;

    CHECK(n > 0);
    path[n] = 0;
    self = get(path, &size);
    put("program", self, size);
    CHECK(chmod("program", 0755) == 0);
    pid = fork();
    if (pid == 0) {
        fclose(stdout);
        execl("./program", "program", NULL);
        _exit(99);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static const struct check checks[] = {
    { "shared", shared },
    { "private", private },
    { "after_close", after_close },
    { "stores_into_shared", stores_into_shared },
    { "outlives_name", outlives_name },
    { "shrinks", shrinks },
    { "saved_over_itself", saved_over_itself },
    { "coherent", coherent },
    { "executes", executes },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
