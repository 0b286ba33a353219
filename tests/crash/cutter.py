#!/usr/bin/python3
"""Lets the power fail at random moments under load and checks that what was promised is there.

usage: cutter.py --expfs PROGRAM --dir DIR [--rounds N] [--kind shutdown|snapshot|both] [--fs ext4|xfs|both]
                 [--seed N] [--workers N]
       cutter.py --self-test --dir DIR

DIR is an empty directory. A disk with the store is an image file, mounted by a loop device. Several processes
save and log on the mount (saves.py, runs.py), each logging what it begins and what has returned. The power fails N times:

  shutdown   the disk's file system drops all that was not synced; the daemon is killed, the disk mounted again
  snapshot   the image is copied in one moment, with what the disk happened to have then; the copy is a disk

After each the store is mounted, unmounted, checked with fsck and mounted again, and must hold what states.py
and runs.py say. Of a failure the logs and the image, as the power cut left it, are kept: the image in DIR/host.img.

--self-test runs the load on DIR itself and breaks what it made in every way that the check is to see.

Exit status: 0 all as promised, 1 not (each difference is printed), 2 wrong usage.
"""
import argparse
import fcntl
import json
import math
import os
import random
import re
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import damages
import killer
import processes
import runs
import saves
import states
from mounted import Mount

DISK_MIB, HOST_MIB = 1500, 16000
SESSION_SECONDS = 40  # the keeper takes what is open for a minute for a log


GOINGDOWN, NO_LOG_FLUSH = 0x8004587d, 2  # of XFS, and of ext4 by the same number


def run(*args, check=True):
    r = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if check and r.returncode != 0:
        raise SystemExit("%s: exit %d: %s" % (" ".join(args), r.returncode, r.stdout))
    return r.returncode == 0


def is_mounted(point):
    """os.path.ismount() does not know it of a file system that was shut down."""
    with open("/proc/self/mountinfo") as f:
        return any(line.split()[4] == point for line in f)


class Disk:
    """A file system in an image file."""

    def __init__(self, image, point, kind):
        self.image, self.point, self.kind = image, point, kind
        os.mkdir(point)

    def make(self, mib, *options):
        run("rm", "-f", self.image)
        run("truncate", "-s", "%dM" % mib, self.image)
        run(*{"ext4": ("mkfs.ext4", "-q", "-F", "-m", "0"), "xfs": ("mkfs.xfs", "-q", *options)}[self.kind], self.image)

    def mount(self):
        run("mount", "-o", "loop,nouuid" if self.kind == "xfs" else "loop", self.image, self.point)

    def fail(self):
        fd = os.open(self.point, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, GOINGDOWN, struct.pack("I", NO_LOG_FLUSH))
        finally:
            os.close(fd)

    def unmount(self):
        end = time.monotonic() + 120
        while is_mounted(self.point) and not run("umount", self.point, check=False):
            if time.monotonic() > end:
                run("umount", "-l", self.point)
                raise SystemExit("%s cannot be unmounted" % self.point)
            time.sleep(0.05)
        while self.is_held():
            if time.monotonic() > end:
                raise SystemExit("%s is still mounted in another mount namespace" % self.point)
            time.sleep(0.05)

    def is_held(self):
        """A mount namespace that was made meanwhile has a copy of the mount: mounted again it would be the same one, with what
        failed."""
        return bool(subprocess.run(["losetup", "-j", self.image], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout)


class Store(Mount):
    def __init__(self, program, disk, point):
        self.program, self.disk, self.point = program, disk, point
        self.store = os.path.join(disk.point, "store")
        os.mkdir(point)

    def power_cut(self, delay):
        """For that time the daemon lives on with a dead disk."""
        self.disk.fail()
        self.failed = time.monotonic()
        time.sleep(delay)
        self.kill()
        run("fusermount3", "-uz", self.point, check=False)
        self.disk.unmount()

    def cut_mount(self, delay):
        """The power fails while the store recovers from a power cut."""
        p = subprocess.Popen([self.program, "mount", self.store, self.point], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        self.power_cut(0)
        p.wait()
        self.disk.mount()


class Load:
    """The processes of a session, and what they logged."""

    def __init__(self, bench, rnd, number):
        self.bench, self.bases, self.logs, self.pids = bench, {}, {}, {}
        top, self.stop = bench.store.point, os.path.join(bench.logs, "stop-%d" % number)
        for name in bench.names:
            self.bases[name] = killer.scan(top, name)
        self.bases["run"] = runs.Found(bench.store.program, top)
        for name in bench.names + ["sql", "run"]:
            self.logs[name] = os.path.join(bench.logs, "%s-%d-%s" % (bench.disk.kind, number, name))
            last = (rnd.random(), self.logs[name], self.stop)
            if name == "sql":
                self.pids[name] = start(self.logs[name], saves.run_database, top, *last)
            elif name == "run":
                self.pids[name] = start(self.logs[name], runs.run, top, number, *last)
            else:
                self.pids[name] = start(self.logs[name], saves.run, top, self.bases[name], name, number, *last)

    def calls(self, until):
        read = {name: saves.read_log(path) for name, path in self.logs.items()}
        return {name: [c for c in calls if c.begun < until] for name, (calls, _) in read.items()}

    def ends(self, since):
        """Lines for what ended otherwise than by the power cut, sent at that time (or, none: by the file stop)."""
        open(self.stop, "w").close()
        lines = []
        for name, pid in self.pids.items():
            status = processes.wait(pid)
            error = saves.read_log(self.logs[name])[1]
            if status not in (0, -signal.SIGBUS) or (error and (since is None or error[0] < since)):
                lines.append("%s: ended by %s, exit status %s; the power was cut at %s" % (name, error, status, since))
        self.pids = {}
        return lines

    def kill(self):
        for pid in self.pids.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.pids = {}


def start(log, f, *args):
    def tell(e):
        with open(log, "a") as out:
            out.write(json.dumps(["error", time.monotonic(), repr(e)]) + "\n")

    def run():
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        f(*args)

    return processes.start(run, ends=(OSError, saves.sqlite3.Error), tell=tell)


class Bench:
    """A disk with a store and its load; and a second disk, for snapshots of the first."""

    def __init__(self, args, host, kind):
        at, image = os.path.join(args.dir, kind), os.path.join(host.point, kind)
        self.host, self.logs, self.load = host, os.path.join(args.dir, "logs"), None
        self.names = ["w%d" % i for i in range(args.workers)]
        self.disk, self.copy = Disk(image + "-disk.img", at + "-disk", kind), Disk(image + "-copy.img", at + "-copy", kind)
        self.store = Store(args.expfs, self.disk, at + "-mnt")
        self.copied = Store(args.expfs, self.copy, at + "-mnt-copy")
        self.kept = image + "-cut.img"
        self.undone = [0, 0, 0]  # files that went back, that went, that were as the disk had them

    def make(self):
        self.disk.make(DISK_MIB)
        self.disk.mount()
        self.store.command("init", self.store.store)
        self.store.mount()
        for name in self.names + ["sql"]:
            os.mkdir(os.path.join(self.store.point, name))
        runs.make(self.store.point)

    def is_full(self):
        """Versions of what was saved are kept: a store takes some sessions."""
        v = os.statvfs(self.disk.point)
        return v.f_bavail < v.f_blocks / 2

    def begin(self, rnd, number):
        if self.is_full():
            self.clean_up()
            self.make()
        self.load = Load(self, rnd, number)

    def clean_up(self):
        clean_up([self.load.kill] if self.load else [])
        for store in (self.copied, self.store):
            clean_up([store.clean_up, store.disk.unmount])

    def snapshot(self):
        cut = time.monotonic()
        run("cp", "--reflink=always", self.disk.image, self.copy.image)
        calls = self.load.calls(time.monotonic())
        self.copy.mount()
        self.keep(self.copy.image)
        lines = self.examine(self.copied, calls, cut, cut)
        self.copied.clean_up()
        self.copy.unmount()
        os.unlink(self.copy.image)
        return lines

    def shutdown(self, rnd):
        cut = time.monotonic()
        self.store.power_cut(rnd.random() * 0.05)
        failed, lines = self.store.failed, self.load.ends(cut)
        self.keep(self.disk.image)
        self.disk.mount()
        while rnd.random() < 0.2:
            self.store.killed_mount(rnd.random() * 0.1)
        while rnd.random() < 0.2:
            self.store.cut_mount(rnd.random() * 0.1)
        calls = self.load.calls(math.inf)
        # A sync that the kernel is about to do when the disk dies can return 0: ext4 and XFS give that, too.
        for name in calls:
            lines += ["%s: %s succeeded on a dead disk" % (name, c.call) for c in calls[name]
                      if c.is_sync() and c.ended and c.begun > failed]
        return lines + self.examine(self.store, calls, cut, cut)

    def end(self):
        """The load stops, and the store is unmounted as it should be."""
        lines = self.load.ends(None)
        try:
            self.store.unmount_and_check()
            self.store.mount()
        except SystemExit as e:
            lines.append("after an unmount without a power cut: %s" % e)
        return lines

    def keep(self, image):
        """What the power cut left, in case that it is not as promised."""
        run("cp", "--reflink=always", image, self.kept)

    def examine(self, store, calls, begun, cut):
        """begun: when the power began to fail; cut: from when on nothing counts as acknowledged. They differ by what
        returned while the disk was dead: SQLite takes no notice if it cannot open a directory to sync it."""
        try:
            self.recover(store)
        except SystemExit as e:
            return [str(e)]
        lines, synced = [], states.last_sync(calls.values(), cut)
        for name in self.names:
            found = killer.scan(store.point, name)
            lines += states.check(self.load.bases[name], calls[name], found, cut, synced)
        for name in saves.DATABASES:
            lines += saves.check_database(os.path.join(store.point, "sql", name), name, calls["sql"], begun)
        return lines + runs.check(self.load.bases["run"], calls["run"], runs.Found(store.program, store.point))

    def recover(self, store):
        log = os.path.join(store.store, "log")
        before = os.path.getsize(log) if os.path.exists(log) else 0
        store.mount()
        with open(log) as f:
            f.seek(before)
            for m in re.finditer(r"power cut (\d+) files have .*, (\d+) that were new .*, (\d+) that", f.read()):
                self.undone = [a + int(b) for a, b in zip(self.undone, m.groups())]
        store.unmount_and_check()
        store.mount()


def clean_up(steps):
    """Every step, whatever the others give; what they say is printed."""
    for step in steps:
        try:
            step()
        except (OSError, SystemExit) as e:
            print(e, file=sys.stderr)


def pause(rnd):
    time.sleep(0.05 + rnd.choice((0.2, 1.0, 3.0)) * rnd.random())


def cut_some(bench, rnd, kind, number, most):
    """Power cuts under one load, until one is not as promised; yields the differences of each."""
    end = time.monotonic() + SESSION_SECONDS
    snapshots = {"shutdown": 0, "snapshot": 4, "both": rnd.randrange(3)}[kind]
    lines, n = [], 0
    while n < min(snapshots, most) and not lines and time.monotonic() < end:
        pause(rnd)
        lines = bench.snapshot()
        n += 1
        yield lines
    if kind != "snapshot" and n < most and not lines:
        pause(rnd)
        yield bench.shutdown(rnd)
    elif not lines:
        lines = bench.end()
        if lines:
            yield lines


def one_session(bench, rnd, kind, number, most):
    """Whether each power cut was as promised."""
    good = []
    bench.begin(rnd, number)
    for lines in cut_some(bench, rnd, kind, number, most):
        report(bench, number, len(good) + 1, lines)
        good.append(not lines)
    if all(good):
        for path in bench.load.logs.values():
            os.unlink(path)
    else:
        bench.clean_up()
        bench.make()
    return good


def report(bench, number, cut, lines):
    name = "%s-%d-%d" % (bench.disk.kind, number, cut)
    for line in lines:
        print("%s: %s" % (name, line), flush=True)
    if lines and os.path.exists(bench.kept):
        os.rename(bench.kept, os.path.join(bench.host.point, name + ".img"))


def rounds(args, seed):
    rnd = random.Random(seed)
    os.mkdir(os.path.join(args.dir, "logs"))
    host = Disk(os.path.join(args.dir, "host.img"), os.path.join(args.dir, "host"), "xfs")
    kinds = ["ext4", "xfs"] if args.fs == "both" else [args.fs]
    benches, good = [], []  # for each power cut
    try:
        host.make(HOST_MIB, "-m", "reflink=1")
        host.mount()
        for kind in kinds:
            benches.append(Bench(args, host, kind))
            benches[-1].make()
        for number in range(args.rounds):
            if len(good) < args.rounds:
                good += one_session(benches[number % len(benches)], rnd, args.kind, number, args.rounds - len(good))
    finally:
        clean_up([b.clean_up for b in benches] + [host.unmount])
    bad = good.count(False)
    print("%d power cuts; %d files had their content from before, %d new ones were gone, %d were as the disk had them: %s" %
          (len(good), *[sum(n) for n in zip(*[b.undone for b in benches])],
           "all as promised" if not bad else "%d NOT as promised" % bad))
    return not bad


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--expfs")
    p.add_argument("--dir", required=True)
    p.add_argument("--rounds", type=int, default=10)
    p.add_argument("--kind", choices=("shutdown", "snapshot", "both"), default="both")
    p.add_argument("--fs", choices=("ext4", "xfs", "both"), default="both")
    p.add_argument("--workers", type=int, default=3)
    p.add_argument("--seed", type=int, default=None)
    p.add_argument("--self-test", action="store_true")
    args = p.parse_args()
    if not args.self_test and not args.expfs:
        p.error("--expfs is needed")
    args.dir = os.path.realpath(args.dir)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    seed = args.seed if args.seed is not None else random.SystemRandom().randrange(10**9)
    print("seed %d" % seed, flush=True)
    if args.self_test:
        sys.exit(0 if damages.self_test(args.dir, seed) else 1)
    sys.exit(0 if rounds(args, seed) else 1)


if __name__ == "__main__":
    main()
