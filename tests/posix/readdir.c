/* Reading directories: nothing missed, nothing twice, whatever changes meanwhile. */
#include "check.h"

#include <dirent.h>
#include <stdio.h>

static void make(const char *dir, unsigned count)
{
    char path[64];

    CHECK(mkdir(dir, 0755) == 0);
    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/file-%06u", dir, i);
        close(xopen(path, O_CREAT | O_EXCL | O_WRONLY, 0644));
    }
}

/* Counts how often each file-N is listed; STEP(d, name) is called after each of them. */
static void list(DIR *d, unsigned char *seen, unsigned count, void (*step)(DIR *, const char *))
{
    struct dirent *e;
    unsigned i;

    while ((e = readdir(d))) {
        if (e->d_name[0] == '.')
            continue;
        CHECK(sscanf(e->d_name, "file-%u", &i) == 1 && i < count);
        CHECK(++seen[i] == 1);
        if (step)
            step(d, e->d_name);
    }
}

static void all_seen(const unsigned char *seen, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        CHECK(seen[i] == 1);
}

static void unlink_it(DIR *d, const char *name)
{
    CHECK(unlinkat(dirfd(d), name, 0) == 0);
}

static void removing(void)
{
    unsigned count = 5000;
    unsigned char *seen = calloc(count, 1);
    DIR *d;

    make("many", count);
    d = opendir("many");
    CHECK(d && seen);
    list(d, seen, count, unlink_it);
    all_seen(seen, count);
    EXPECT(entries("many") == 0);
    EXPECT(rmdir("many") == 0);
}

static void add_beside(DIR *d, const char *name)
{
    char other[64];
    int fd;

    snprintf(other, sizeof other, ".added-%s", name);
    fd = openat(dirfd(d), other, O_CREAT | O_WRONLY, 0644);
    CHECK(fd >= 0);
    close(fd);
}

static void adding(void)
{
    unsigned count = 2000;
    unsigned char *seen = calloc(count, 1);
    DIR *d;

    make("many", count);
    d = opendir("many");
    CHECK(d && seen);
    list(d, seen, count, add_beside);
    all_seen(seen, count);
    EXPECT(entries("many") == 2 * count);
}

static void rename_others(DIR *d, const char *name)
{
    static unsigned n;
    char to[64];

    if (++n % 7 == 0) {
        snprintf(to, sizeof to, ".moved-%s", name);
        CHECK(renameat(dirfd(d), name, dirfd(d), to) == 0);
    }
}

static void renaming(void)
{
    unsigned count = 2000;
    unsigned char *seen = calloc(count, 1);
    DIR *d;

    make("many", count);
    d = opendir("many");
    CHECK(d && seen);
    list(d, seen, count, rename_others);
    all_seen(seen, count);
    EXPECT(entries("many") == count);
}

static void positions(void)
{
    enum { COUNT = 500 };
    long at[COUNT + 2];
    char name[COUNT + 2][256];
    struct dirent *e;
    bool found = false;
    unsigned n;
    DIR *d;

    make("some", COUNT);
    d = opendir("some");
    CHECK(d);
    for (n = 0; n < COUNT + 2; n++) {
        at[n] = telldir(d);
        e = readdir(d);
        CHECK(e);
        snprintf(name[n], sizeof name[n], "%s", e->d_name);
    }
    CHECK(!readdir(d));
    for (unsigned i = 0; i < n; i += 37) {
        seekdir(d, at[i]);
        e = readdir(d);
        CHECK(e && strcmp(e->d_name, name[i]) == 0);
    }
    put_text("some/new", "");
    rewinddir(d);
    for (n = 0; (e = readdir(d)); n++)
        found |= strcmp(e->d_name, "new") == 0;
    EXPECT(n == COUNT + 3 && found);
    closedir(d);
}

static void types(void)
{
    DIR *d;
    struct dirent *e;

    put_text("file", "");
    CHECK(mkdir("dir", 0755) == 0 && symlink("file", "link") == 0 && mkfifo("fifo", 0644) == 0);
    d = opendir(".");
    CHECK(d);
    while ((e = readdir(d))) {
        struct stat st = xstat(e->d_name);

        EXPECT(e->d_type == DT_UNKNOWN || e->d_type == (st.st_mode & S_IFMT) >> 12);
        if (strcmp(e->d_name, "..") != 0) /* of the top this is the parent file system's */
            EXPECT(e->d_ino == st.st_ino);
    }
    closedir(d);
}

static void link_counts(void)
{
    CHECK(mkdir("d", 0755) == 0);
    EXPECT(xstat("d").st_nlink == 2);
    CHECK(mkdir("d/a", 0755) == 0 && mkdir("d/b", 0755) == 0);
    put_text("d/file", "");
    EXPECT(xstat("d").st_nlink == 4);
    CHECK(rename("d/a", "a") == 0);
    EXPECT(xstat("d").st_nlink == 3);
    CHECK(rmdir("d/b") == 0);
    EXPECT(xstat("d").st_nlink == 2);
}

/* Two descriptors in one directory do not share a position. */
static void two_readers(void)
{
    DIR *a, *b;
    unsigned n = 0;

    make("many", 300);
    a = opendir("many");
    b = opendir("many");
    CHECK(a && b);
    while (readdir(a)) {
        EXPECT(readdir(b));
        n++;
    }
    EXPECT(!readdir(b));
    EXPECT(n == 302);
}

static const struct check checks[] = {
    { "removing", removing },
    { "adding", adding },
    { "renaming", renaming },
    { "positions", positions },
    { "types", types },
    { "link_counts", link_counts },
    { "two_readers", two_readers },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
