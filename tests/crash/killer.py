#!/usr/bin/python3
"""Kills the daemon at random moments under load and checks that every operation that returned is there.

usage: killer.py --expfs PROGRAM --dir DIR [--rounds N] [--seed N] [--workers N]
       killer.py --self-test --dir DIR

DIR is an empty directory on a disk of its own kind: the store, the mount point and the logs of the
load are made in it. In each round several processes run random operations on the mount (load.py), and one
a training (runs.py), each logging what it begins and what has returned; the daemon is killed; after a remount
the tree must be what the log says, where of the one operation under way in each process any stage is right,
and each checkpoint must belong to the experiment of what lay in its run when it was begun.
Then the store is unmounted, checked with fsck and mounted again.

--self-test runs the load on DIR itself and breaks what it made in every way that the check is to see.

Exit status: 0 all as promised, 1 not (each difference is printed), 2 wrong usage.
"""
import argparse
import errno
import json
import os
import random
import stat
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import load
import processes
import runs
import saves
import tree as trees
from mounted import Mount

# What a call gives when the daemon dies; EIO comes from the kernel where the daemon was about to take the request.
DEATH = (errno.ENOTCONN, errno.ECONNABORTED, errno.EIO)


def part(mine):
    """Which paths belong to the process of this name."""
    return lambda path: path == mine or path.startswith(mine + "/") or path.startswith("common/%s-" % mine)


def scan(top, mine):
    belongs = part(mine)
    return trees.scan(top, wanted=lambda path: path == "common" or belongs(path))


def without_common(tree):
    return {path: node for path, node in tree.items() if path != "common"}


def start_worker(log_path, f, *args):
    def tell(e):
        with open(log_path, "a") as f:
            f.write(json.dumps(["error", e.errno, time.monotonic()]) + "\n")

    return processes.start(f, *args, ends=OSError, tell=tell)


def replay(base, log_path):
    """The trees that may be found, and how many operations had returned."""
    tree, op, steps, count = trees.copy(base), None, 0, 0
    with open(log_path) as f:
        for line in f:
            what, *args = json.loads(line)
            if what == "begin":
                op, steps = args[0], 0
            elif what == "step":
                steps += 1
            elif what == "end":
                load.apply(tree, op)
                op, count = None, count + 1
    return ([tree] if op is None else load.states(tree, op, steps)), op, count


def ended_by_kill(log_path, sent):
    """Did the process meet an error, none but that of a dying daemon, and not before the kill was sent?"""
    with open(log_path) as f:
        what, *args = json.loads(f.readlines()[-1])
    if what == "error" and args[0] in DEATH and args[1] >= sent:
        return True
    print("%s: ended by %s, the kill was sent at %f" % (log_path, [what, *args], sent))
    return False


def check(base, log_path, found):
    """Differences between what may be there and what was found; the fewest, if several states may."""
    candidates, op, count = replay(base, log_path)
    lines = min((trees.differences(c, found) for c in candidates), key=len)
    if lines and op:
        lines.append("(under way was: %s)" % json.dumps(op))
    return lines, count


def one_round(mount, rnd, names, logs, number):
    bases = {mine: without_common(scan(mount.point, mine)) for mine in names}
    paths = {mine: os.path.join(logs, "%d-%s" % (number, mine)) for mine in names}
    pids = [start_worker(paths[mine], load.run, mount.point, trees.copy(bases[mine]), mine, rnd.random(), paths[mine])
            for mine in names]
    base, paths["run"] = runs.Found(mount.program, mount.point), os.path.join(logs, "%d-run" % number)
    pids.append(start_worker(paths["run"], runs.run, mount.point, number + 1, rnd.random(), paths["run"], "/nonexistent"))
    time.sleep(rnd.choice((0.05, 0.3, 1.0)) * rnd.random() + 0.02)
    sent = time.monotonic()
    mount.kill()
    good = all([processes.wait(pid) == 0 for pid in pids])
    good = all([ended_by_kill(path, sent) for path in paths.values()]) and good

    while rnd.random() < 0.25:
        mount.killed_mount(rnd.random() * 0.05)
    mount.mount()
    total, found = 0, {}
    for mine in names:
        found[mine] = without_common(scan(mount.point, mine))
        lines, count = check(bases[mine], paths[mine], found[mine])
        total += count
        for line in lines:
            good = False
            print("round %d, %s: %s" % (number, mine, line))
    calls = saves.read_log(paths["run"])[0]
    for line in runs.check(base, calls, runs.Found(mount.program, mount.point)):
        good = False
        print("round %d: %s" % (number, line))

    mount.unmount_and_check()
    mount.mount()
    for mine in names:
        for line in trees.differences(found[mine], without_common(scan(mount.point, mine))):
            good = False
            print("round %d, %s, after a clean remount: %s" % (number, mine, line))
    if good:
        for path in paths.values():
            os.unlink(path)
    return good, total


def rounds(args, seed):
    rnd = random.Random(seed)
    names = ["w%d" % i for i in range(args.workers)]
    logs = os.path.join(args.dir, "logs")
    os.mkdir(logs)
    mount = Mount(args.expfs, args.dir)
    good, total = True, 0
    try:
        mount.mount()
        for name in names + ["common"]:
            os.mkdir(os.path.join(mount.point, name))
        runs.make(mount.point)
        for number in range(args.rounds):
            this, count = one_round(mount, rnd, names, logs, number)
            good, total = good and this, total + count
        mount.unmount_and_check()
    finally:
        mount.clean_up()
    print("%d rounds, %d operations returned: %s" % (args.rounds, total, "all there" if good else "NOT all there"))
    return good


def damages(top, model):
    """Pairs of a description and a function that breaks the tree below top in that way."""
    files = sorted(p for p, n in model.items() if n.kind == "f" and len(n.data) > 10)
    links = sorted(p for p, n in model.items() if n.kind == "l")
    path = os.path.join(top, files[0])

    def rewrite(change):
        st = os.stat(path)
        with open(path, "rb") as f:
            data = f.read()
        with open(path, "wb") as f:
            f.write(change(data))
        os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))

    def relink():
        target = os.path.join(top, links[0])
        os.unlink(target)
        os.symlink("elsewhere", target)

    def as_two():
        os.rename(path, path + ".old")
        subprocess.run(["cp", "-a", path + ".old", path], check=True)

    yield "a byte changed", lambda: rewrite(lambda d: d[:5] + bytes([d[5] ^ 1]) + d[6:])
    yield "a byte lost at the end", lambda: rewrite(lambda d: d[:-1])
    yield "a byte more", lambda: rewrite(lambda d: d + b"\0")
    yield "an empty file", lambda: rewrite(lambda d: b"")
    yield "a name lost", lambda: os.unlink(path)
    yield "a name more", lambda: open(path + ".more", "w").close()
    yield "a link more", lambda: os.link(path, path + ".link")
    yield "another mode", lambda: os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) ^ 1)
    yield "another time", lambda: os.utime(path, ns=(1, 1))
    yield "an attribute more", lambda: os.setxattr(path, "user.more", b"1")
    yield "another target", relink
    yield "another inode under the name", as_two


def self_test(args, seed):
    """The check must accept what the load did, and must see each damage and each operation that is missing."""
    names = ["w0", "w1"]
    rnd = random.Random(seed)
    good = True
    top = os.path.join(args.dir, "tree")
    os.mkdir(top)
    for name in names + ["common"]:
        os.mkdir(os.path.join(top, name))
    bases = {mine: without_common(scan(top, mine)) for mine in names}
    logs = {mine: os.path.join(args.dir, mine + ".log") for mine in names}
    for pid in [start_worker(logs[m], load.run, top, trees.copy(bases[m]), m, rnd.random(), logs[m], 1500) for m in names]:
        good = processes.wait(pid) == 0 and good
    for mine in names:
        with open(logs[mine]) as f:
            if "error" in f.read():
                good = False
                print("%s: an operation failed on a plain disk" % logs[mine])
        for line in check(bases[mine], logs[mine], without_common(scan(top, mine)))[0]:
            good = False
            print("what the load did on a plain disk is not accepted: %s" % line)

    model = replay(bases["w0"], logs["w0"])[0][0]
    for node in model.values():
        node.mtime = None
    for path, node in without_common(scan(top, "w0")).items():
        model[path].mtime = node.mtime
    for what, damage in damages(top, model):
        subprocess.run(["cp", "-a", top, top + ".kept"], check=True)
        damage()
        if not trees.differences(model, without_common(scan(top, "w0"))):
            good = False
            print("not seen: %s" % what)
        subprocess.run(["rm", "-rf", top], check=True)
        os.rename(top + ".kept", top)

    good = logs_count(bases["w0"], logs["w0"], without_common(scan(top, "w0"))) and good
    good = every_operation_counts(bases["w0"], logs["w0"]) and good
    print("self-test: %s" % ("good" if good else "FAILED"))
    return good


def logs_count(base, log_path, found):
    """Of an operation that the log says returned, its effect must be there; of one under way it may."""
    path = "w0/never-made"
    begin, step, end = '["begin", ["%s", "%s"%s]]\n', '["step"]\n', '["end"]\n'
    write = begin % ("write", path, ', "new", [[0, 0, 100, null]], false')
    cases = (
        (True, begin % ("mkdir", path, ""), "a mkdir under way"),
        (False, begin % ("mkdir", path, "") + end, "a mkdir that returned and is lost"),
        (True, write, "an open under way"),
        (False, write + step, "an open that returned and is lost"),
        (False, write + step + step + end, "a write that returned and is lost"),
    )
    good = True
    with open(log_path) as f:
        text = f.read()
    for accepted, more, what in cases:
        with open(log_path + ".changed", "w") as f:
            f.write(text + more)
        if (not check(base, log_path + ".changed", found)[0]) != accepted:
            good = False
            print("%s: %s" % ("not accepted" if accepted else "not seen", what))
    partial = trees.Partial(b"0123456789", 4, b"abc")
    for data, accepted in ((b"0123456789", True), (b"0123a56789", True), (b"0123abc789", True), (b"0123xbc789", False),
                           (b"0123456c89", False), (b"012345678", False), (b"0123abc", False)):
        if partial.accepts(data) != accepted:
            good = False
            print("a write that was under way: wrong answer for %r" % data)
    return good


def every_operation_counts(base, log_path):
    """The trees before and after an operation must differ, else its loss would go unseen."""
    tree, op, unseen, count = trees.copy(base), None, 0, 0
    with open(log_path) as f:
        for line in f:
            what, *args = json.loads(line)
            if what == "begin":
                op = args[0]
            elif what == "end":
                before = trees.copy(tree)
                load.apply(tree, op)
                count += 1
                unseen += op[0] not in ("fsync", "chmod") and same(before, tree)
    # writes of nothing, cuts to the same size and the like change nothing: a few of a hundred
    if unseen * 10 > count:
        print("%d of %d operations leave no trace in the model" % (unseen, count))
        return False
    return True


def same(a, b):
    def plain(tree):
        return {p: (n.kind, n.mode, n.data, n.target, n.mtime, n.xattrs) for p, n in tree.items()}
    return plain(a) == plain(b)


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--expfs")
    p.add_argument("--dir", required=True)
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--workers", type=int, default=4)
    p.add_argument("--seed", type=int, default=None)
    p.add_argument("--self-test", action="store_true")
    args = p.parse_args()
    if not args.self_test and not args.expfs:
        p.error("--expfs is needed")
    args.dir = os.path.realpath(args.dir)
    seed = args.seed if args.seed is not None else random.SystemRandom().randrange(10**9)
    print("seed %d" % seed, flush=True)
    sys.exit(0 if (self_test if args.self_test else rounds)(args, seed) else 1)


if __name__ == "__main__":
    main()
