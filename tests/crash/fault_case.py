"""One run of an operation of which a call to the disk fails, and what must hold after it (faulter.py)."""
import contextlib
import errno
import json
import mmap
import os
import random
import shutil
import struct
import subprocess
import threading
import time

import processes
import tree as trees

STORE, DATABASE, SYNC = 1, 2, 4
SECONDS = 300  # after which something hangs


def data(seed, size):
    return random.Random(seed).randbytes(size)


OLD, NEW, OTHER, LARGE = data(1, 65536), data(2, 98304), data(3, 40960), data(4, 1 << 20)
KEPT = [data(10 + i, 60000 + 10000 * i) for i in range(4)]


class Plan:
    """struct fault_plan of src/util/fault.h"""

    FIELDS, SIZE = struct.Struct("=iiiiii104s"), 128

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as f:
            f.write(bytes(self.SIZE))
        with open(path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), self.SIZE)

    def arm(self, number, forever, countdown):
        full = forever and number in (errno.ENOSPC, errno.EDQUOT)
        self.FIELDS.pack_into(self.map, 0, 0, number, forever, countdown, 0, 0, b"")
        self.map[0:4] = struct.pack("=i", STORE | DATABASE | (0 if full else SYNC))

    def disarm(self):
        self.map[0:4] = bytes(4)

    def read(self):
        """The countdown, the hits, the classes of these, where the first was."""
        _, _, _, countdown, hits, classes, where = self.FIELDS.unpack_from(self.map, 0)
        return countdown, hits, classes, where.rstrip(b"\0").decode()


class Bad(Exception):
    """What a case finds wrong."""


class Refused(Exception):
    """A command did not do what it was asked for."""

    def __init__(self, args, status, text):
        self.status, self.text = status, text
        Exception.__init__(self, "%s: exit %d: %s" % (" ".join(args), status, text.strip()))


class Prefix:
    """A file with any first part of some bytes, after those that it had."""

    def __init__(self, chunk, base=b"", least=0):
        self.chunk, self.base, self.least = chunk, base, least

    def accepts(self, found):
        return len(found) >= len(self.base) + self.least and (self.base + self.chunk).startswith(found)


def accepts(wanted, found):
    return wanted.accepts(found) if hasattr(wanted, "accepts") and isinstance(found, bytes) else wanted == found


def is_state(state, found):
    return state.keys() == found.keys() and all(accepts(state[path], found[path]) for path in state)


def describe(state):
    def one(value):
        if isinstance(value, bytes):
            known = {OLD: "OLD", NEW: "NEW", OTHER: "OTHER", LARGE: "LARGE", OLD + NEW: "OLD+NEW"}
            return known.get(value) or ("%d bytes" % len(value) if len(value) > 20 else repr(value))
        return str(value)
    return "{%s}" % ", ".join("%s: %s" % (path, one(state[path])) for path in sorted(state))


def put(path, content, sync=False):
    with open(path, "wb", buffering=0) as f:
        write(f.fileno(), content)
        if sync:
            os.fsync(f.fileno())


def write(fd, content):
    done = 0
    while done < len(content):
        n = os.write(fd, content[done:])
        if n == 0:
            raise Bad("a write of %d bytes wrote none and gave no error" % (len(content) - done))
        done += n


def get(path):
    with open(path, "rb", buffering=0) as f:
        return f.readall()


def sync_dir(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class Case:
    """One run of an operation on a store of its own, a copy of the base.

    An operation (below) prepares, runs what is to fail within faults(), and says with expect() what then may be there.
    self / name is a path in the operation's own directory of the mount."""

    def __init__(self, bench, kind, number, forever, countdown):
        self.bench, self.kind, self.number, self.forever, self.countdown = bench, kind, number, forever, countdown
        self.plan, self.store, self.point = bench.plan, bench.store, bench.point
        self.error = None      # what the operation ended with: an OSError, a Refused, or None
        self.read_only = False
        self.left = self.hits = self.classes = 0
        self.where = ""
        self.done, self.failed, self.cut = [], [], []
        self.closing = []

    def __truediv__(self, name):
        return os.path.join(self.point, "op", name)

    # --- the program ---

    def command(self, *args, may_fail=False):
        p = subprocess.Popen([self.bench.program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env={**os.environ, "EXPFS_FAULTS": self.plan.path})
        try:
            out, err = p.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            p.kill()
            self.abort()
            raise Bad("%s hangs" % args[0])
        if p.returncode != 0 and not may_fail:
            raise Refused(args, p.returncode, err or out)
        return p.returncode, out, err

    def mount(self):
        self.command("mount", self.store, self.point)

    def unmount(self):
        end = time.monotonic() + SECONDS
        while True:  # something that looks at all mounts, as df does, can be in this one for a moment
            status = self.command("umount", self.point, may_fail=True)
            if not self.is_mounted() or time.monotonic() > end:
                break
            time.sleep(0.1)
        while self.daemons():
            if time.monotonic() > end:
                raise Bad("the daemon does not end; umount: exit %d: %s" % (status[0], status[2]))
            time.sleep(0.002)
        return status

    def daemons(self):
        return processes.daemons(self.bench.program, self.store)

    def kill(self):
        processes.kill_daemons(self.bench.program, self.store)
        subprocess.run(["fusermount3", "-uz", self.point], check=False, stderr=subprocess.DEVNULL)

    def is_mounted(self):
        with open("/proc/self/mountinfo") as f:
            return any(line.split()[4] == self.point for line in f)

    def abort(self):
        """Ends a mount that does not answer."""
        with open("/proc/self/mountinfo") as f:
            for line in f:
                if line.split()[4] == self.point:
                    with open("/sys/fs/fuse/connections/%s/abort" % line.split()[2].split(":")[1], "w") as a:
                        a.write("1")

    # --- for operations ---

    @contextlib.contextmanager
    def faults(self, syncs=False):
        """syncs: success says that something is on the disk."""
        timer = threading.Timer(SECONDS, self.abort)
        timer.start()
        self.plan.arm(self.number, self.forever, self.countdown)
        try:
            yield
        except (OSError, Refused) as e:
            self.error = e
        finally:
            self.plan.disarm()
            timer.cancel()
            self.left, self.hits, self.classes, self.where = self.plan.read()
        if isinstance(self.error, OSError) and self.error.errno in (errno.ENOTCONN, errno.ECONNABORTED):
            raise Bad("the daemon died, or hung")
        if syncs and not self.error and self.classes & SYNC:
            raise Bad("claims a sync that failed")

    def settle(self):
        """What is there now is on the disk."""
        for path, content in self.state().items():
            if isinstance(content, bytes) and "@" not in path:
                fd = os.open(self / path, os.O_RDONLY)
                os.fsync(fd)
                os.close(fd)
        sync_dir(self / "")

    def open(self, name, flags):
        """A descriptor that is closed before the state is looked at."""
        fd = os.open(self / name, flags, 0o644)
        self.closing.append(fd)
        return fd

    def close(self, fd):
        self.closing.remove(fd)
        os.close(fd)

    def expect(self, done, *failed, cut=(), also=()):
        """States (path: content) after success, after an error, what else a power cut could leave, and success too."""
        self.done, self.failed, self.cut = [done, *also], list(failed), list(cut)

    def states(self):
        return self.done if self.error is None else self.done + self.failed

    def state(self, directory="op"):
        found = {}
        for path, node in trees.scan(os.path.join(self.point, directory)).items():
            found[path] = {"f": node.data, "d": "directory", "l": node.target}.get(node.kind, node.kind)
            for name, value in node.xattrs.items():
                found["%s@%s" % (path, name)] = value
        return found

    # --- what must hold ---

    def check_error(self):
        e = self.error
        if self.hits == 0:
            if e:
                raise Bad("failed without a fault: %s" % e)
            return
        allowed = {self.number or errno.ENOSPC}
        if self.classes & SYNC or self.has_turned_read_only():
            allowed |= {errno.EIO, errno.EROFS}
        if isinstance(e, OSError) and e.errno not in allowed:
            raise Bad("ended with %s" % errno.errorcode.get(e.errno, e.errno))
        if isinstance(e, Refused):
            lines = e.text.splitlines()  # what the database says goes before
            if e.status != 3 or not lines or not all(line.startswith("expfs: ") for line in lines):
                raise Bad("exit %d, with: %s" % (e.status, e.text))
            said = [os.strerror(n) for n in allowed] + ["disk is full"] * (errno.ENOSPC in allowed)
            if not any(s in e.text for s in [*said, "disk I/O error"]):
                raise Bad("the message does not say the reason: %s" % e.text.strip())

    def check_state(self, found, candidates, what):
        if not any(is_state(c, found) for c in candidates):
            raise Bad("%s, found %s, expected %s" % (what, describe(found), " or ".join(map(describe, candidates))))

    def check_kept(self, what):
        lines = trees.differences(self.bench.kept, trees.scan(self.point, below="kept"))
        if lines:
            raise Bad("%s: %s" % (what, "; ".join(lines)))

    def has_turned_read_only(self):
        with contextlib.suppress(FileNotFoundError), open(os.path.join(self.store, "log")) as f:
            return "read-only from now on" in f.read()
        return False

    def status(self):
        return json.loads(self.command("status", self.point, "--json")[1])

    def check_serving(self):
        status = self.status()
        self.read_only = status["read_only"]
        if self.read_only and not self.classes & SYNC and not self.forever:
            raise Bad("is read-only, but no sync failed: %s" % status.get("read_only_reason"))
        if self.read_only:
            return self.check_read_only(status)
        if self.classes & SYNC:
            raise Bad("a sync failed, and the mount is not read-only")
        put(self / "probe", OTHER, sync=True)
        os.rename(self / "probe", self / "probe2")
        if get(self / "probe2") != OTHER:
            raise Bad("afterwards, a file that is written reads otherwise")
        os.unlink(self / "probe2")
        sync_dir(self / "")
        return None

    def check_read_only(self, status):
        if "sync" not in status.get("read_only_reason", ""):
            raise Bad("status does not say why it is read-only")
        if not self.has_turned_read_only():
            raise Bad("the log does not say that it is read-only")
        fd = os.open(os.path.join(self.point, "kept", "a"), os.O_RDONLY)
        for path, sync in (("a file", lambda: os.fsync(fd)), ("a directory", lambda: sync_dir(self / ""))):
            try:
                sync()
            except OSError:
                continue
            raise Bad("a sync of %s succeeds after one that failed" % path)
        os.close(fd)
        try:
            put(self / "probe", OTHER)
        except OSError as e:
            if e.errno == errno.EROFS:
                return
            raise Bad("is read-only, and making a file gives %s" % errno.errorcode[e.errno])
        raise Bad("is read-only, and a file can be made")

    def check_mounted(self):
        """Afterwards, on the mount on which it was."""
        for fd in list(self.closing):
            with contextlib.suppress(OSError):
                self.close(fd)
        found = self.state()
        self.check_state(found, self.states(), "afterwards")
        self.check_kept("afterwards")
        self.check_serving()
        return found

    def check_again(self, seen):
        """Afterwards, on a new mount; seen: what was there before, or None."""
        self.read_only |= self.has_turned_read_only()
        if self.read_only or self.classes & SYNC:
            after = self.done + self.failed + self.cut
        else:
            after = self.states() if seen is None else [seen]
        self.mount()
        self.check_state(self.state(), after, "after a remount")
        self.check_kept("after a remount")
        if self.status()["read_only"]:
            raise Bad("a new mount is read-only")
        status = self.unmount()
        if status[0] != 0:
            raise Bad("umount: exit %d: %s" % (status[0], status[2]))
        status = self.command("fsck", self.store, may_fail=True)
        if status[0] != 0:
            raise Bad("fsck: exit %d: %s" % (status[0], (status[1] + status[2]).strip()))

    def run(self, operation):
        self.bench.new_store()
        try:
            if not operation.offline:
                self.mount()
            operation.function(self)
            self.check_error()
            seen = None
            if self.is_mounted():
                seen = self.check_mounted()
                self.unmount()
            if self.daemons():
                raise Bad("a process is left")
            self.check_again(seen)
        except (OSError, Refused, ValueError) as e:
            raise Bad("afterwards: %s: %s" % (type(e).__name__, e))
        finally:
            for fd in self.closing:
                with contextlib.suppress(OSError):
                    os.close(fd)
            if self.daemons() or self.is_mounted():
                self.kill()


class Bench:
    """What all cases share: the directory, the plan, the base of all stores."""

    def __init__(self, program, directory):
        self.program = program
        self.store, self.point = os.path.join(directory, "store"), os.path.join(directory, "mnt")
        self.base, self.kept_copy = os.path.join(directory, "base"), os.path.join(directory, "kept")
        self.plan = Plan(os.path.join(directory, "plan"))
        os.mkdir(self.point)
        self.make_base()

    def make_base(self):
        c = Case(self, "", 0, False, 0)
        c.command("init", self.store)
        c.mount()
        os.mkdir(c / "")
        top = os.path.join(self.point, "kept")
        os.makedirs(os.path.join(top, "runs", "checkpoint-1"))
        for name, content in (("a", KEPT[0]), ("twin", KEPT[0]), ("b", KEPT[1]), ("empty", b""),
                              ("runs/checkpoint-1/model.pt", KEPT[2]), ("b.log", KEPT[3])):
            put(os.path.join(top, name), content)
        with open(os.path.join(top, "b.log"), "ab") as f:  # changed in place
            f.write(KEPT[2])
        os.symlink("a", os.path.join(top, "symlink"))
        os.setxattr(os.path.join(top, "a"), "user.note", b"kept")
        self.copy_links(top)
        self.kept = trees.scan(self.point, below="kept")
        subprocess.run(["cp", "-a", top, self.kept_copy], check=True)
        c.unmount()
        os.rename(self.store, self.base)

    @staticmethod
    def copy_links(top):
        path = os.path.join(top, "link")
        if os.path.exists(path):
            os.unlink(path)
        os.link(os.path.join(top, "b"), path)

    def new_store(self):
        shutil.rmtree(self.store, ignore_errors=True)
        subprocess.run(["cp", "-a", self.base, self.store], check=True)
