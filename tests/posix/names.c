/* Names are bytes: kept, found, listed and removed exactly as given. */
#include "check.h"

#include <dirent.h>

static bool listed(const char *name)
{
    DIR *d = opendir(".");
    struct dirent *e;
    unsigned n = 0;

    CHECK(d);
    while ((e = readdir(d)))
        n += strcmp(e->d_name, name) == 0;
    closedir(d);
    CHECK(n <= 1);
    return n == 1;
}

static void keep(const char *name)
{
    char other[260];

    EXPECT(!exists(name));
    put(name, name, strlen(name));
    EXPECT(listed(name) && holds(name, name, strlen(name)));
    snprintf(other, sizeof other, "%.254s", name);
    other[strlen(other) - 1] = (char)0xfe;
    if (strcmp(other, name) != 0) {
        EXPECT(rename(name, other) == 0 && !listed(name) && listed(other));
        EXPECT(rename(other, name) == 0);
    }
    EXPECT(listed(name) && holds(name, name, strlen(name)));
}

static void bytes(void)
{
    char every[256];
    const char *names[] = {
        "mod\xc3\xa8le.pt", "mode\xcc\x80le.pt",  /* composed and decomposed: two names */
        "m\xff.pt", "\x80", "\xed\xa0\x80",       /* no UTF-8 */
        "loss=0.31, val.ckpt", "epoch=3:val.pt", "100%", "-rf", "--", " ", "x ", "x.", "a?.pt", "*",
        "new\nline", "tab\t", "\\", "'", "\"", "$HOME", "CON.txt", "Best.pt", "best.pt", "BEST.PT",
        "...", "..x", ".x", "\x7f", "größe-模型.pt", "🙂",
    };

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        keep(names[i]);
    EXPECT(entries(".") == sizeof names / sizeof *names);

    for (unsigned i = 0; i < 255; i++)
        every[i] = (char)(i + 1);
    every['/' - 1] = '_';
    every[255] = 0;
    keep(every);
    EXPECT(entries(".") == sizeof names / sizeof *names + 1);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        EXPECT(unlink(names[i]) == 0 && !listed(names[i]));
    EXPECT(unlink(every) == 0 && entries(".") == 0);
}

static void longest(void)
{
    char name[256], other[256];

    for (unsigned length = 250; length <= 255; length++) {
        memset(name, 'n', length);
        name[length] = 0;
        keep(name);
    }
    memset(other, 'd', 255);
    other[255] = 0;
    EXPECT(mkdir(other, 0755) == 0 && listed(other) && rename(name, other) == -1 && errno == EISDIR);
    EXPECT(rmdir(other) == 0 && symlink(name, other) == 0 && holds(other, name, 255));
    EXPECT(entries(".") == 7);
}

/* A metric with a slash makes directories, which go like any other. */
static void slash(void)
{
    CHECK(mkdir("epoch=3-val", 0755) == 0);
    put_text("epoch=3-val/loss=0.31.ckpt", "weights");
    EXPECT(holds_text("epoch=3-val/loss=0.31.ckpt", "weights"));
    EXPECT(unlink("epoch=3-val/loss=0.31.ckpt") == 0 && rmdir("epoch=3-val") == 0);
    EXPECT(entries(".") == 0);
}

static void dots(void)
{
    struct stat st;

    CHECK(mkdir("d", 0755) == 0);
    EXPECT_ERRNO(mkdir(".", 0755), EEXIST);
    EXPECT_ERRNO(mkdir("d/..", 0755), EEXIST);
    EXPECT_ERRNO(rmdir("."), EINVAL);
    EXPECT_ERRNO(unlink("d/."), EISDIR);
    EXPECT_ERRNO(rename("d", "."), EBUSY);
    EXPECT_ERRNO(rename("d/.", "x"), EBUSY);
    EXPECT(stat("d/./../d//", &st) == 0 && st.st_ino == xstat("d").st_ino);
}

static const struct check checks[] = {
    { "bytes", bytes },
    { "longest", longest },
    { "slash", slash },
    { "dots", dots },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
