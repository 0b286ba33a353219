/* BSD and POSIX locks: exclusion, who holds, waiting, waking, and what a death leaves. */
#include "check.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

static int lockf_range(int fd, int cmd, short type, off_t start, off_t length)
{
    struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length };

    return fcntl(fd, cmd, &l);
}

/* A child that takes a lock with TAKE, says so through a pipe, and waits to be killed. */
static pid_t holder(void (*take)(void))
{
    int p[2];
    char byte;
    pid_t pid;

    CHECK(pipe(p) == 0);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        take();
        CHECK(write(p[1], "x", 1) == 1);
        for (;;)
            pause();
    }
    CHECK(read(p[0], &byte, 1) == 1);
    close(p[0]);
    close(p[1]);
    return pid;
}

static void end(pid_t pid)
{
    int status;

    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
}

static void take_flock(void)
{
    CHECK(flock(xopen("l", O_RDWR | O_CREAT, 0644), LOCK_EX) == 0);
}

static void take_posix_write(void)
{
    CHECK(lockf_range(xopen("l", O_RDWR | O_CREAT, 0644), F_SETLK, F_WRLCK, 0, 0) == 0);
}

static void take_posix_read(void)
{
    CHECK(lockf_range(xopen("l", O_RDONLY, 0), F_SETLK, F_RDLCK, 0, 0) == 0);
}

static void take_ofd(void)
{
    CHECK(lockf_range(xopen("l", O_RDWR | O_CREAT, 0644), F_OFD_SETLK, F_WRLCK, 0, 0) == 0);
}

static void exclusive(void)
{
    int a = xopen("l", O_RDWR | O_CREAT, 0644), b = xopen("l", O_RDONLY, 0);

    EXPECT(flock(a, LOCK_EX) == 0);
    EXPECT_ERRNO(flock(b, LOCK_EX | LOCK_NB), EAGAIN);
    EXPECT_ERRNO(flock(b, LOCK_SH | LOCK_NB), EAGAIN);
    EXPECT(flock(a, LOCK_SH) == 0 && flock(b, LOCK_SH | LOCK_NB) == 0);
    EXPECT_ERRNO(flock(a, LOCK_EX | LOCK_NB), EAGAIN);
    EXPECT(flock(b, LOCK_UN) == 0 && flock(a, LOCK_EX | LOCK_NB) == 0);
    close(a);
    EXPECT(flock(b, LOCK_EX | LOCK_NB) == 0);
}

/* As DuckDB does it: the whole file, and F_GETLK must name the process that holds it. */
static void posix(void)
{
    struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int fd;
    pid_t pid;

    put_text("l", "database");
    pid = holder(take_posix_write);
    fd = xopen("l", O_RDWR, 0);
    EXPECT_ERRNO(lockf_range(fd, F_SETLK, F_RDLCK, 0, 0), EAGAIN);
    EXPECT_ERRNO(lockf_range(fd, F_SETLK, F_WRLCK, 3, 2), EAGAIN);
    EXPECT(fcntl(fd, F_GETLK, &l) == 0 && l.l_type == F_WRLCK && l.l_pid == pid);
    end(pid);
    EXPECT(lockf_range(fd, F_SETLK, F_WRLCK, 0, 0) == 0);
    EXPECT(lockf_range(fd, F_SETLK, F_UNLCK, 0, 0) == 0);

    pid = holder(take_posix_read);
    EXPECT(lockf_range(fd, F_SETLK, F_RDLCK, 0, 0) == 0);
    EXPECT_ERRNO(lockf_range(fd, F_SETLK, F_WRLCK, 0, 0), EAGAIN);
    l.l_type = F_WRLCK;
    l.l_start = l.l_len = 0;
    EXPECT(fcntl(fd, F_GETLK, &l) == 0 && l.l_type == F_RDLCK && l.l_pid == pid);
    end(pid);
}

static void close_drops(void *arg)
{
    int fd = xopen("l", O_RDWR, 0);

    EXPECT(lockf_range(fd, F_SETLK, *(bool *)arg ? F_WRLCK : F_RDLCK, 10, 10) == 0);
}

static void ranges(void)
{
    int a = xopen("l", O_RDWR | O_CREAT, 0644);
    bool write = true;

    EXPECT(lockf_range(a, F_SETLK, F_WRLCK, 0, 10) == 0 && lockf_range(a, F_SETLK, F_WRLCK, 20, 5) == 0);
    EXPECT(child_ok(child(close_drops, &write)));
    EXPECT(lockf_range(a, F_SETLK, F_RDLCK, 5, 10) == 0);
    write = false;
    EXPECT(child_ok(child(close_drops, &write)));
    close(xopen("l", O_RDONLY, 0)); /* POSIX: closing any descriptor of the file drops them all */
    write = true;
    EXPECT(child_ok(child(close_drops, &write)));
}

/* Locks of a process that was killed are gone within a second. */
static void death(void)
{
    void (*takes[])(void) = { take_flock, take_posix_write, take_ofd };

    for (unsigned i = 0; i < 3; i++) {
        pid_t pid = holder(takes[i]);
        int fd = xopen("l", O_RDWR, 0), r;
        double give_up;

        EXPECT_ERRNO(i == 0 ? flock(fd, LOCK_EX | LOCK_NB) : lockf_range(fd, F_OFD_SETLK, F_WRLCK, 0, 0),
                     EAGAIN);
        end(pid);
        give_up = now() + 1;
        do {
            r = i == 0 ? flock(fd, LOCK_EX | LOCK_NB) : lockf_range(fd, F_OFD_SETLK, F_WRLCK, 0, 0);
        } while (r < 0 && now() < give_up);
        EXPECT(r == 0);
        close(fd);
    }
}

static void waits_flock(void *arg)
{
    (void)arg;
    CHECK(flock(xopen("l", O_RDWR, 0), LOCK_EX) == 0);
}

static void waits_posix(void *arg)
{
    (void)arg;
    CHECK(lockf_range(xopen("l", O_RDWR, 0), F_SETLKW, F_WRLCK, 0, 0) == 0);
}

/* While many wait, the mount goes on serving, and each waiter gets the lock in the end. */
static void waiting(void (*wait)(void *), bool posix_lock)
{
    enum { WAITERS = 64 };
    int fd = xopen("l", O_RDWR | O_CREAT, 0644);
    char *data = xmalloc(1 << 20);
    pid_t pids[WAITERS];

    CHECK((posix_lock ? lockf_range(fd, F_SETLK, F_WRLCK, 0, 0) : flock(fd, LOCK_EX)) == 0);
    for (unsigned i = 0; i < WAITERS; i++)
        pids[i] = child(wait, NULL);
    nap(0.3);
    fill(data, 1 << 20, 1);
    put("other", data, 1 << 20);
    EXPECT(entries(".") == 2 && holds("other", data, 1 << 20));
    CHECK((posix_lock ? lockf_range(fd, F_SETLK, F_UNLCK, 0, 0) : flock(fd, LOCK_UN)) == 0);
    for (unsigned i = 0; i < WAITERS; i++)
        EXPECT(child_ok(pids[i]));
    EXPECT(unlink("l") == 0 && unlink("other") == 0);
    close(fd);
}

static void many_waiters(void)
{
    waiting(waits_flock, false);
    waiting(waits_posix, true);
}

static void on_alarm(int sig)
{
    (void)sig;
}

static void interrupted(void)
{
    struct sigaction a = { .sa_handler = on_alarm };
    pid_t pid = holder(take_flock);
    int fd = xopen("l", O_RDWR, 0);

    CHECK(sigaction(SIGALRM, &a, NULL) == 0);
    alarm(1);
    EXPECT_ERRNO(flock(fd, LOCK_EX), EINTR);
    end(pid);
    pid = holder(take_posix_write);
    alarm(1);
    EXPECT_ERRNO(lockf_range(fd, F_SETLKW, F_WRLCK, 0, 0), EINTR);
    end(pid);
}

/* A closes its locked file; B's try right after close() returned must not be refused. */
static void close_then_lock(void)
{
    unsigned rounds = check_long() ? 3000 : 500;
    int a, b = xopen("l", O_RDWR | O_CREAT, 0644);

    for (unsigned i = 0; i < rounds; i++) {
        a = xopen("l", O_RDWR, 0);
        CHECK(flock(a, LOCK_EX) == 0 && write(a, "x", 1) == 1 && close(a) == 0);
        CHECK(flock(b, LOCK_EX | LOCK_NB) == 0 && flock(b, LOCK_UN) == 0);
    }
}

/* The one who gets O_EXCL is alone, whatever the crowd. */
static void one_winner_child(void *arg)
{
    char path[32];

    (void)arg;
    for (unsigned i = 0; i < 200; i++) {
        int fd;

        snprintf(path, sizeof path, "lock-%u", i);
        fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
        CHECK(fd >= 0 || errno == EEXIST);
        if (fd >= 0) {
            int log = xopen("winners", O_WRONLY | O_APPEND, 0);

            CHECK(dprintf(log, "%03u\n", i) == 4 && close(log) == 0 && close(fd) == 0);
        }
    }
}

static void one_winner(void)
{
    pid_t pids[8];

    put_text("winners", "");
    for (unsigned i = 0; i < 8; i++)
        pids[i] = child(one_winner_child, NULL);
    for (unsigned i = 0; i < 8; i++)
        EXPECT(child_ok(pids[i]));
    EXPECT(xstat("winners").st_size == 200 * 4);
    EXPECT(entries(".") == 201);
}

static const struct check checks[] = {
    { "exclusive", exclusive },
    { "posix", posix },
    { "ranges", ranges },
    { "death", death },
    { "many_waiters", many_waiters },
    { "interrupted", interrupted },
    { "close_then_lock", close_then_lock },
    { "one_winner", one_winner },
    { NULL, NULL },
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, checks);
}
