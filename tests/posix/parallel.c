/* Several processes at once, as the ranks of one job: saving, committing, rotating. */
#include "check.h"

#include <dirent.h>
#include <sys/mman.h>

/* A barrier of processes in shared memory. */
struct barrier {
    unsigned arrived;
};

static struct barrier *barriers;

static void make_barriers(void)
{
    barriers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(barriers != MAP_FAILED);
}

static void meet(unsigned which, unsigned count)
{
    double give_up = now() + 60;

    __atomic_add_fetch(&barriers[which].arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&barriers[which].arrived, __ATOMIC_SEQ_CST) < count) {
        CHECK(now() < give_up);
        nap(0.001);
    }
}

enum { RANKS = 16, SHARDS = 8 };

static size_t shard_size(void)
{
    return check_long() ? 4u << 20 : 256u << 10;
}

static void rank(void *arg)
{
    unsigned me = *(unsigned *)arg;
    char path[64], *data = xmalloc(shard_size());

    for (unsigned s = 0; s < SHARDS; s++) {
        int fd;

        snprintf(path, sizeof path, "step_7.incomplete/__%u_%u.distcp", me, s);
        fill(data, shard_size(), me * SHARDS + s);
        fd = xopen(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
        CHECK(write(fd, data, shard_size()) == (ssize_t)shard_size());
        CHECK(fsync(fd) == 0 && close(fd) == 0);
    }
    meet(0, RANKS);
    if (me == 0) {
        put_text("step_7.incomplete/.metadata", "all of them");
        CHECK(rename("step_7.incomplete", "step_7") == 0);
    }
    meet(1, RANKS);
    EXPECT(holds_text("step_7/.metadata", "all of them"));
    EXPECT_ERRNO(open("step_7.incomplete", O_RDONLY), ENOENT);
    for (unsigned s = 0; s < SHARDS; s++) {
        unsigned other = (me + 5) % RANKS;

        snprintf(path, sizeof path, "step_7/__%u_%u.distcp", other, s);
        fill(data, shard_size(), other * SHARDS + s);
        EXPECT(holds(path, data, shard_size()));
    }
}

static void sharded_save(void)
{
    unsigned ids[RANKS];
    pid_t pids[RANKS];

    make_barriers();
    CHECK(mkdir("step_7.incomplete", 0755) == 0);
    for (unsigned i = 0; i < RANKS; i++) {
        ids[i] = i;
        pids[i] = child(rank, &ids[i]);
    }
    for (unsigned i = 0; i < RANKS; i++)
        EXPECT(child_ok(pids[i]));
    EXPECT(entries("step_7") == RANKS * SHARDS + 1);
}

/* shutil.rmtree that lets ENOENT pass: list, unlink, rmdir. */
static void removes(void *arg)
{
    unsigned round = *(unsigned *)arg;
    struct dirent *e;
    DIR *d;

    meet(round % 512, 8);
    d = opendir("step_10");
    if (!d) {
        CHECK(errno == ENOENT);
        return;
    }
    for (;;) {
        errno = 0;
        e = readdir(d);
        if (!e)
            break;
        if (e->d_name[0] != '.')
            CHECK(unlinkat(dirfd(d), e->d_name, 0) == 0 || errno == ENOENT);
    }
    CHECK(errno == 0 || errno == ENOENT);
    closedir(d);
    CHECK(rmdir("step_10") == 0 || errno == ENOENT); /* listed and removed by all: nothing is left */
}

static void lists(void *arg)
{
    (void)arg;
    while (!exists("done"))
        CHECK(entries(".") >= 1);
}

static void rotation(void)
{
    unsigned rounds = check_long() ? 50 : 10;
    pid_t lister, pids[8];
    char path[64];

    make_barriers();
    CHECK(mkdir("step_20", 0755) == 0);
    put_text("step_20/model", "untouched");
    lister = child(lists, NULL);
    for (unsigned round = 0; round < rounds; round++) {
        CHECK(mkdir("step_10", 0755) == 0);
        for (unsigned i = 0; i < 200; i++) {
            snprintf(path, sizeof path, "step_10/file-%u", i);
            put(path, path, sizeof path);
        }
        for (unsigned i = 0; i < 8; i++)
            pids[i] = child(removes, &round);
        for (unsigned i = 0; i < 8; i++)
            EXPECT(child_ok(pids[i]));
        CHECK(!exists("step_10"));
    }
    put_text("done", "");
    EXPECT(child_ok(lister));
    EXPECT(holds_text("step_20/model", "untouched") && entries(".") == 2);
}

static void makes_path(void *arg)
{
    const char *parts[] = { "", "/a", "/a/b", "/a/b/step-10" };
    unsigned k = *(unsigned *)arg;
    char path[64];

    meet(k, 12);
    for (unsigned i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "mk%u%s", k, parts[i]);
        CHECK(mkdir(path, 0755) == 0 || errno == EEXIST);
    }
}

static void same_path(void)
{
    pid_t pids[12];

    make_barriers();
    for (unsigned k = 0; k < 10; k++) {
        for (unsigned i = 0; i < 12; i++)
            pids[i] = child(makes_path, &k);
        for (unsigned i = 0; i < 12; i++)
            EXPECT(child_ok(pids[i]));
    }
    EXPECT(entries("mk9/a/b/step-10") == 0 && xstat("mk9").st_nlink == 3);
}

/* Random small operations of several processes in one directory end without a wrong errno. */
static void jostles(void *arg)
{
    unsigned seed = *(unsigned *)arg, n = check_long() ? 20000 : 2000;
    char a[16], b[16];

    for (unsigned i = 0; i < n; i++) {
        int fd, r = 0;

        seed = seed * 1103515245 + 12345;
        snprintf(a, sizeof a, "n%u", seed / 65536 % 8);
        snprintf(b, sizeof b, "n%u", seed / 1048576 % 8);
        switch (seed / 8192 % 8) {
        case 0: case 1:
            fd = open(a, O_CREAT | O_WRONLY | O_TRUNC, 0644);
            r = fd < 0 ? -1 : write(fd, a, sizeof a) == sizeof a ? close(fd) : -1;
            break;
        case 2: r = rename(a, b); break;
        case 3: r = unlink(a); break;
        case 4: r = link(a, b); break;
        case 5: r = mkdir(a, 0755); break;
        case 6: r = rmdir(a); break;
        case 7: r = truncate(a, seed / 64 % 5000); break;
        }
        CHECK(r == 0 || errno == ENOENT || errno == EEXIST || errno == ENOTDIR || errno == EISDIR ||
              errno == EPERM || errno == ENOTEMPTY);
    }
}

static void crowd(void)
{
    unsigned seeds[6] = { 11, 22, 33, 44, 55, 66 };
    pid_t pids[6];

    for (unsigned i = 0; i < 6; i++)
        pids[i] = child(jostles, &seeds[i]);
    for (unsigned i = 0; i < 6; i++)
        EXPECT(child_ok(pids[i]));
    EXPECT(entries(".") <= 8);
}

static const struct check checks[] = {
    { "sharded_save", sharded_save },
    { "rotation", rotation },
    { "same_path", same_path },
    { "crowd", crowd },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
