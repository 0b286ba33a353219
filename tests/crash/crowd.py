#!/usr/bin/python3
"""Many processes at once, each with random operations on files of its own, and what they read, map, lock and list
beside; at the end everything must be what was written.

usage: crowd.py --expfs PROGRAM --dir DIR [--seconds N] [--processes N] [--seed N]

DIR is an empty directory: store, mount point and logs are made in it. Three of four processes run the load of
load.py and are compared with their logs afterwards; the others map, lock and list until the end. Then the store is unmounted, checked by
fsck, mounted and compared again. The daemon's memory and descriptors must not be much more in the second half of the time.

Exit status: 0 all is well, 1 not (each difference is printed), 2 wrong usage.
"""
import argparse
import fcntl
import mmap
import os
import random
import sys
import time

sys.dont_write_bytecode = True
import killer
import load
import processes
import tree as trees
from mounted import Mount

BUFFERS_MIB = 64  # of libfuse, a buffer of 1 MiB for each of its threads, and their stacks


class Late(Exception):
    """The time is up."""


def run_load(top, mine, seed, log_path, end):
    perform = load.perform

    def until_late(op, returned):
        if time.monotonic() > end:
            raise Late
        perform(op, returned)

    load.perform = until_late
    load.run(top, killer.without_common(killer.scan(top, mine)), mine, seed, log_path)


def run_mapper(top, mine, seed, end):
    """Writes by a map and reads by calls, and the other way round."""
    rnd, path = random.Random(seed), "%s/%s/mapped" % (top, mine)
    with open(path, "w+b") as f:
        f.truncate(1 << 20)
        with mmap.mmap(f.fileno(), 1 << 20) as m:
            model = bytearray(1 << 20)
            while time.monotonic() < end:
                at, data = rnd.randrange((1 << 20) - 5000), rnd.randbytes(rnd.randrange(1, 5000))
                model[at:at + len(data)] = data
                if rnd.random() < 0.5:
                    m[at:at + len(data)] = data
                    if rnd.random() < 0.1:
                        m.flush()
                else:
                    os.pwrite(f.fileno(), data, at)
                assert os.pread(f.fileno(), len(data), at) == data, "what was mapped is not read"
                assert m[at:at + len(data)] == data, "what was written is not mapped"
            assert m[:] == bytes(model)


def run_locker(top, mine, seed, end):
    """Counts in one file, by turns with all others that do."""
    fd = os.open(top + "/common/count", os.O_RDWR | os.O_CREAT, 0o600)
    n = 0
    while time.monotonic() < end:
        fcntl.lockf(fd, fcntl.LOCK_EX)
        value = int(os.pread(fd, 20, 0) or b"0")
        os.pwrite(fd, b"%020d" % (value + 1), 0)
        fcntl.lockf(fd, fcntl.LOCK_UN)
        n += 1
    with open("%s/%s/counted" % (top, mine), "w") as f:
        f.write(str(n))


def run_lister(top, mine, seed, end):
    """Walks through everything while it changes; its own names are in each listing."""
    own = {"own-%d" % i for i in range(300)}
    for name in own:
        open("%s/%s/%s" % (top, mine, name), "w").close()
    while time.monotonic() < end:
        assert own <= set(os.listdir("%s/%s" % (top, mine))), "a name is missing in a listing"
        for _ in os.walk(top):
            if time.monotonic() > end:
                break


OTHERS = (run_mapper, run_locker, run_lister)


def usage(pid):
    """Anonymous memory in MiB, open descriptors."""
    with open("/proc/%d/status" % pid) as f:
        kib = [int(line.split()[1]) for line in f if line.startswith("RssAnon:")][0]
    return kib / 1024, len(os.listdir("/proc/%d/fd" % pid))


def watch(mount, end):
    """The highest usage in the first half of the time, and in the second."""
    (pid,) = mount.daemons()
    begin, halves = time.monotonic(), ([], [])
    while time.monotonic() < end:
        halves[time.monotonic() > (begin + end) / 2].append(usage(pid))
        time.sleep(min(0.5, max(0.0, end - time.monotonic())))
    return [tuple(map(max, zip(*half))) for half in halves]


def compare(mount, names, logs, when):
    lines, count = [], 0
    for name in names:
        base = {name: trees.Node("d", 0o755)}
        found = killer.without_common(killer.scan(mount.point, name))
        differences, n = killer.check(base, logs[name], found)
        lines += ["%s, %s: %s" % (when, name, line) for line in differences]
        count += n
    return lines, count


def counted(top, names):
    total = 0
    for name in names:
        path = "%s/%s/counted" % (top, name)
        if os.path.exists(path):
            with open(path) as f:
                total += int(f.read())
    with open(top + "/common/count") as f:
        value = int(f.read())
    return [] if value == total else ["%d counts under a lock gave %d" % (total, value)]


def crowd(args, seed):
    rnd = random.Random(seed)
    mount = Mount(args.expfs, args.dir)
    names = ["p%d" % i for i in range(args.processes)]
    loaders, others = [n for i, n in enumerate(names) if i % 4], [n for i, n in enumerate(names) if i % 4 == 0]
    logs = {name: os.path.join(args.dir, name + ".log") for name in loaders}
    lines = []
    try:
        mount.mount()
        for name in names + ["common"]:
            os.mkdir(os.path.join(mount.point, name))
        end = time.monotonic() + args.seconds
        pids = [processes.start(run_load, mount.point, n, rnd.random(), logs[n], end, ends=Late) for n in loaders]
        pids += [processes.start(OTHERS[i % 3], mount.point, n, rnd.random(), end) for i, n in enumerate(others)]
        early, late = watch(mount, end)
        lines += ["a process failed" for pid in pids if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0]
        lines += counted(mount.point, others)
        if late[0] > early[0] * 1.5 + BUFFERS_MIB or late[1] > early[1] * 1.5 + 300:
            lines.append("memory (MiB) and descriptors grew from %s to %s" % (early, late))
        before, count = compare(mount, loaders, logs, "at the end")
        mount.unmount_and_check()
        mount.mount()
        lines += before + compare(mount, loaders, logs, "after a remount")[0]
        mount.unmount_and_check()
    finally:
        mount.clean_up()
    for line in lines:
        print(line)
    print("%d processes, %d s, %d operations compared, at most %.0f MiB and %d descriptors: %s" %
          (args.processes, args.seconds, count, max(early[0], late[0]), max(early[1], late[1]),
           "all is well" if not lines else "NOT well"))
    return not lines


def main():
    p = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    p.add_argument("--expfs", required=True)
    p.add_argument("--dir", required=True)
    p.add_argument("--seconds", type=int, default=10)
    p.add_argument("--processes", type=int, default=64)
    p.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    args = p.parse_args()
    args.dir = os.path.realpath(args.dir)
    print("seed %d" % args.seed, flush=True)
    sys.exit(0 if crowd(args, args.seed) else 1)


if __name__ == "__main__":
    main()
