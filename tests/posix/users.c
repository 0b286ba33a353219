/* Who may do what: two users and root on one directory. Runs as root only. */
#include "check.h"

#include <grp.h>

enum { ALICE = 54321, BOB = 54322, TEAM = 54400 };

struct user {
    uid_t uid;
    gid_t gid;
    gid_t more; /* a supplementary group, or 0 */
};

static const struct user alice = { ALICE, ALICE, TEAM }, bob = { BOB, BOB, 0 }, root = { 0, 0, 0 };

static void become(struct user u)
{
    CHECK(setgroups(u.more ? 1 : 0, &u.more) == 0);
    CHECK(setresgid(u.gid, u.gid, u.gid) == 0 && setresuid(u.uid, u.uid, u.uid) == 0);
}

struct act {
    struct user user;
    void (*act)(void);
};

static void as_user(void *arg)
{
    struct act *a = arg;

    become(a->user);
    a->act();
}

/* Runs ACT as USER in a child. */
static void as(struct user user, void (*act)(void))
{
    struct act a = { user, act };

    EXPECT(child_ok(child(as_user, &a)));
}

static void only_root(void)
{
    if (geteuid() != 0)
        check_skip("needs root, to become two users");
    CHECK(chmod(".", 0777) == 0);
}

static bool opens(const char *path, int flags)
{
    int fd = open(path, flags | O_NONBLOCK);

    if (fd < 0)
        return false;
    close(fd);
    return true;
}

static bool creates_in(const char *dir)
{
    char path[256];
    int fd;

    snprintf(path, sizeof path, "%s/attempt-%d", dir, getpid());
    fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
    if (fd < 0)
        return false;
    close(fd);
    CHECK(unlink(path) == 0);
    return true;
}

static bool runs(const char *path)
{
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        execl(path, path, NULL);
        _exit(errno == EACCES ? 1 : 0); /* an empty file that may be run gives ENOEXEC */
    }
    return child_ok(pid);
}

/* access() and the attempt give the same answer, for every mode of a file and of a directory. */
static void agree(void)
{
    char path[32];

    for (unsigned mode = 0; mode < 0777; mode += 7) {
        snprintf(path, sizeof path, "file-%03o", mode);
        EXPECT((access(path, R_OK) == 0) == opens(path, O_RDONLY));
        EXPECT((access(path, W_OK) == 0) == opens(path, O_WRONLY));
        EXPECT((access(path, X_OK) == 0) == runs(path));
        snprintf(path, sizeof path, "dir-%03o", mode);
        EXPECT((access(path, R_OK) == 0) == opens(path, O_RDONLY | O_DIRECTORY));
        EXPECT((access(path, W_OK | X_OK) == 0) == creates_in(path));
    }
}

static void access_agrees(void)
{
    char path[32];

    only_root();
    umask(0);
    for (unsigned mode = 0; mode < 0777; mode += 7) {
        snprintf(path, sizeof path, "file-%03o", mode);
        put_text(path, "");
        CHECK(chown(path, ALICE, TEAM) == 0 && chmod(path, mode) == 0);
        snprintf(path, sizeof path, "dir-%03o", mode);
        CHECK(mkdir(path, 0700) == 0 && chown(path, ALICE, TEAM) == 0 && chmod(path, mode) == 0);
    }
    as(alice, agree);
    as((struct user){ BOB, BOB, TEAM }, agree);
    as(bob, agree);
    as(root, agree);
}

static void alice_makes(void)
{
    umask(077);
    put_text("hers", "alice");
    CHECK(mkdir("her-dir", 0777) == 0 && symlink("hers", "her-link") == 0);
    EXPECT(xstat("hers").st_uid == ALICE && xstat("hers").st_gid == ALICE);
    EXPECT(xstat("her-dir").st_uid == ALICE && (xstat("her-dir").st_mode & 07777) == 0700);
    EXPECT(xstat("her-link").st_uid == ALICE && (xstat("hers").st_mode & 07777) == 0600);
    EXPECT_ERRNO(chown("hers", BOB, -1), EPERM);
    EXPECT_ERRNO(chown("hers", -1, BOB), EPERM);
    EXPECT(chown("hers", -1, TEAM) == 0 && xstat("hers").st_gid == TEAM);
}

static void bob_may_not(void)
{
    struct timespec t[2] = { { 1, 1 }, { 1, 1 } };

    EXPECT_ERRNO(open("hers", O_RDONLY), EACCES);
    EXPECT_ERRNO(open("hers", O_WRONLY | O_TRUNC), EACCES);
    EXPECT_ERRNO(truncate("hers", 0), EACCES);
    EXPECT_ERRNO(chmod("hers", 0777), EPERM);
    EXPECT_ERRNO(utimensat(AT_FDCWD, "hers", t, 0), EPERM);
    EXPECT_ERRNO(utimensat(AT_FDCWD, "hers", NULL, 0), EACCES);
    EXPECT_ERRNO(open("her-dir/x", O_CREAT | O_WRONLY, 0644), EACCES);
    EXPECT_ERRNO(open("her-dir", O_RDONLY), EACCES);
    EXPECT_ERRNO(chown("hers", BOB, -1), EPERM);
}

static void owners(void)
{
    only_root();
    as(alice, alice_makes);
    as(bob, bob_may_not);
    EXPECT(holds_text("hers", "alice"));
    CHECK(chown("hers", BOB, BOB) == 0);
    EXPECT(xstat("hers").st_uid == BOB);
    EXPECT(lchown("her-link", BOB, BOB) == 0 && xstat("her-link").st_uid == BOB);
}

static void bob_in_sticky(void)
{
    EXPECT_ERRNO(unlink("sticky/hers"), EPERM);
    EXPECT_ERRNO(rename("sticky/hers", "sticky/his"), EPERM);
    put_text("sticky/his-own", "");
    EXPECT_ERRNO(rename("sticky/his-own", "sticky/hers"), EPERM);
    EXPECT_ERRNO(rmdir("sticky/dir"), EPERM);
    EXPECT(unlink("sticky/his-own") == 0);
}

static void alice_in_sticky(void)
{
    put_text("sticky/hers", "");
    CHECK(mkdir("sticky/dir", 0777) == 0);
}

static void sticky(void)
{
    only_root();
    CHECK(mkdir("sticky", 0777) == 0 && chmod("sticky", 01777) == 0);
    as(alice, alice_in_sticky);
    as(bob, bob_in_sticky);
    EXPECT(exists("sticky/hers") && unlink("sticky/hers") == 0);
}

static void alice_in_setgid(void)
{
    put_text("shared/f", "");
    CHECK(mkdir("shared/d", 0755) == 0);
    EXPECT(xstat("shared/f").st_gid == TEAM + 1 && xstat("shared/d").st_gid == TEAM + 1);
    EXPECT(xstat("shared/d").st_mode & S_ISGID && !(xstat("shared/f").st_mode & S_ISGID));
    EXPECT(mkdir("shared/d/e", 0755) == 0 && xstat("shared/d/e").st_gid == TEAM + 1);
}

static void setgid_directory(void)
{
    only_root();
    CHECK(mkdir("shared", 0777) == 0 && chown("shared", 0, TEAM + 1) == 0 && chmod("shared", 02777) == 0);
    as(alice, alice_in_setgid);
}

static void alice_writes_suid(void)
{
    int fd = xopen("suid", O_WRONLY, 0);

    CHECK(write(fd, "x", 1) == 1 && close(fd) == 0);
}

static void alice_truncates_suid(void)
{
    CHECK(truncate("suid", 0) == 0);
}

static void alice_chowns_suid(void)
{
    CHECK(chown("suid", -1, TEAM) == 0);
}

/* A program that runs as somebody else loses that when its content or owner changes. */
static void suid_goes(void)
{
    void (*acts[])(void) = { alice_writes_suid, alice_truncates_suid, alice_chowns_suid };

    only_root();
    for (unsigned i = 0; i < 3; i++) {
        put_text("suid", "program");
        CHECK(chown("suid", ALICE, ALICE) == 0 && chmod("suid", 06777) == 0);
        EXPECT((xstat("suid").st_mode & 07777) == 06777);
        as(alice, acts[i]);
        EXPECT((xstat("suid").st_mode & 07777) == 0777);
    }
    CHECK(chmod("suid", 06777) == 0 && chown("suid", BOB, BOB) == 0);
    EXPECT((xstat("suid").st_mode & 07777) == 0777);
    CHECK(chmod("suid", 02767) == 0 && chown("suid", ALICE, BOB) == 0);
    EXPECT((xstat("suid").st_mode & 07777) == 02767); /* no group execute: the bit means locking */
}

static void alice_sets_setgid(void)
{
    EXPECT(chmod("hers", 02755) == 0 && !(xstat("hers").st_mode & S_ISGID));
}

static void setgid_of_strangers(void)
{
    only_root();
    put_text("hers", "");
    CHECK(chown("hers", ALICE, BOB) == 0);
    as(alice, alice_sets_setgid); /* she is not in BOB's group */
}

/* Files of root and of others, cleaned up by the owner of the directory. */
static void alice_cleans(void)
{
    EXPECT(opens("run/of-root", O_RDONLY) && unlink("run/of-root") == 0);
    EXPECT(rename("run/of-bob", "run/x") == 0 && unlink("run/x") == 0);
    EXPECT(rmdir("run/dir-of-root") == 0 && rmdir("run") == 0);
}

static void bob_saves(void)
{
    put_text("run/of-bob", "");
}

static void cleaning(void)
{
    only_root();
    CHECK(mkdir("run", 0777) == 0 && chmod("run", 0777) == 0 && chown("run", ALICE, ALICE) == 0);
    put_text("run/of-root", "");
    CHECK(mkdir("run/dir-of-root", 0755) == 0);
    as(bob, bob_saves);
    as(alice, alice_cleans);
    EXPECT(!exists("run"));
}

static const struct check checks[] = {
    { "access_agrees", access_agrees },
    { "owners", owners },
    { "sticky", sticky },
    { "setgid_directory", setgid_directory },
    { "suid_goes", suid_goes },
    { "setgid_of_strangers", setgid_of_strangers },
    { "cleaning", cleaning },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
