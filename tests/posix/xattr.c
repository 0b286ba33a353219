/* Extended attributes of the user namespace. */
#include "check.h"

#include <sys/xattr.h>

static bool listed(const char *path, const char *name)
{
    char list[65536];
    ssize_t n = listxattr(path, list, sizeof list);

    CHECK(n >= 0);
    for (ssize_t i = 0; i < n; i += (ssize_t)strlen(list + i) + 1)
        if (strcmp(list + i, name) == 0)
            return true;
    return false;
}

static void values(void)
{
    char value[64], big[4000], in[4000];
    const char odd[] = "\0\xff\n";

    put_text("f", "");
    CHECK(mkdir("d", 0755) == 0);
    EXPECT_ERRNO(getxattr("f", "user.a", value, sizeof value), ENODATA);
    EXPECT(setxattr("f", "user.a", "one", 3, 0) == 0);
    EXPECT(getxattr("f", "user.a", value, sizeof value) == 3 && memcmp(value, "one", 3) == 0);
    EXPECT(setxattr("f", "user.a", odd, sizeof odd, 0) == 0);
    EXPECT(getxattr("f", "user.a", NULL, 0) == sizeof odd);
    EXPECT(getxattr("f", "user.a", value, sizeof value) == sizeof odd &&
           memcmp(value, odd, sizeof odd) == 0);
    EXPECT_ERRNO(getxattr("f", "user.a", value, 1), ERANGE);
    EXPECT(setxattr("f", "user.empty", "", 0, 0) == 0);
    EXPECT(getxattr("f", "user.empty", value, sizeof value) == 0);
    EXPECT(listed("f", "user.a") && listed("f", "user.empty"));
    EXPECT_ERRNO(listxattr("f", value, 1), ERANGE);
    EXPECT(removexattr("f", "user.a") == 0 && !listed("f", "user.a"));
    EXPECT_ERRNO(removexattr("f", "user.a"), ENODATA);

    fill(big, sizeof big, 3);
    EXPECT(setxattr("d", "user.big", big, 3000, 0) == 0);
    EXPECT(getxattr("d", "user.big", in, sizeof in) == 3000 && memcmp(in, big, 3000) == 0);
    EXPECT(setxattr("d", "user.big", "short", 5, 0) == 0);
    EXPECT(getxattr("d", "user.big", in, sizeof in) == 5);
}

static void rules(void)
{
    char name[300];

    put_text("f", "");
    CHECK(symlink("f", "l") == 0);
    EXPECT_ERRNO(setxattr("f", "user.a", "1", 1, XATTR_REPLACE), ENODATA);
    EXPECT(setxattr("f", "user.a", "1", 1, XATTR_CREATE) == 0);
    EXPECT_ERRNO(setxattr("f", "user.a", "2", 1, XATTR_CREATE), EEXIST);
    EXPECT(setxattr("f", "user.a", "2", 1, XATTR_REPLACE) == 0);
    EXPECT_ERRNO(lsetxattr("l", "user.a", "1", 1, 0), EPERM);
    EXPECT_ERRNO(setxattr("absent", "user.a", "1", 1, 0), ENOENT);
    EXPECT_ERRNO(setxattr("f", "nonsense", "1", 1, 0), EOPNOTSUPP);
    memset(name, 'n', sizeof name);
    memcpy(name, "user.", 5);
    name[255] = 0;
    EXPECT(setxattr("f", name, "1", 1, 0) == 0 && listed("f", name));
    name[255] = 'n';
    name[256] = 0;
    EXPECT_ERRNO(setxattr("f", name, "1", 1, 0), ERANGE);
}

static void travel(void)
{
    char value[8];
    struct stat before, after;

    put_text("f", "bytes");
    CHECK(setxattr("f", "user.note", "kept", 4, 0) == 0);
    CHECK(link("f", "g") == 0 && rename("f", "h") == 0);
    EXPECT(getxattr("g", "user.note", value, sizeof value) == 4);
    EXPECT(getxattr("h", "user.note", value, sizeof value) == 4);
    before = xstat("h");
    nap(0.02);
    CHECK(setxattr("h", "user.other", "1", 1, 0) == 0);
    after = xstat("h");
    EXPECT(after.st_mtim.tv_sec == before.st_mtim.tv_sec && after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
    EXPECT(after.st_ctim.tv_sec != before.st_ctim.tv_sec || after.st_ctim.tv_nsec != before.st_ctim.tv_nsec);
    put_text("i", "");
    CHECK(rename("i", "h") == 0);
    EXPECT_ERRNO(getxattr("h", "user.note", value, sizeof value), ENODATA);
    EXPECT(getxattr("g", "user.note", value, sizeof value) == 4);
}

static const struct check checks[] = {
    { "values", values },
    { "rules", rules },
    { "travel", travel },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
