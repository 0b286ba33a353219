"""Random operations of one process on its own part of a tree, and what each of them does to the model.

An operation is a tuple of its name and arguments, so that it can stand in a log as one line of JSON.
"write" consists of steps (the open, each chunk); after each step that returned, the log says so.
"""
import ctypes
import json
import os
import random

from tree import Node, Partial, copy, overlay

BLOB_SIZE = 600000
BLOBS = [random.Random(seed).randbytes(BLOB_SIZE) for seed in range(6)]  # few, so that equal files come up
SIZES = (0, 1, 100, 4096, 5000, 65536, 131072, 200000)
RENAME_EXCHANGE = 2
libc = ctypes.CDLL(None, use_errno=True)


def chunk_data(chunk):
    seed, at, length, _ = chunk
    return BLOBS[seed][at:at + length]


def exchange(a, b):
    if libc.renameat2(-100, os.fsencode(a), -100, os.fsencode(b), RENAME_EXCHANGE) != 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))


# --- what operations do to a model ---

def move(tree, a, b):
    for path in [p for p in tree if p == b or p.startswith(b + "/")]:
        del tree[path]
    for path in [p for p in tree if p == a or p.startswith(a + "/")]:
        tree[b + path[len(a):]] = tree.pop(path)


def open_for_write(tree, path, how):
    if path not in tree:
        tree[path] = Node("f", 0o644)
    elif how == "trunc":
        tree[path].data = b""
        tree[path].mtime = None


def write_chunk(node, chunk):
    offset = len(node.data) if chunk[3] is None else chunk[3]
    node.data = overlay(node.data, offset, chunk_data(chunk))
    node.mtime = None


def apply(tree, op):
    name, path, *args = op
    if name == "write":
        open_for_write(tree, path, args[0])
        for chunk in args[1]:
            write_chunk(tree[path], chunk)
    elif name == "truncate":
        node, size = tree[path], args[0]
        node.data = node.data[:size] + bytes(max(0, size - len(node.data)))
        node.mtime = None
    elif name == "rename":
        move(tree, path, args[0])
    elif name == "exchange":
        move(tree, path, "\0")
        move(tree, args[0], path)
        move(tree, "\0", args[0])
    elif name in ("unlink", "rmdir"):
        del tree[path]
    elif name == "mkdir":
        tree[path] = Node("d", 0o755)
    elif name == "mkfifo":
        tree[path] = Node("p", 0o600)
    elif name == "link":
        tree[args[0]] = tree[path]
    elif name == "symlink":
        tree[path] = Node("l", target=args[0])
    elif name == "chmod":
        tree[path].mode = args[0]
    elif name == "utime":
        tree[path].mtime = args[0]
    elif name == "setxattr":
        tree[path].xattrs[args[0]] = args[1].encode()


def states(tree, op, steps):
    """The trees that may be found after OP was under way and STEPS of its steps had returned."""
    if op[0] != "write":
        after = copy(tree)
        apply(after, op)
        return [tree, after]

    _, path, how, chunks, _ = op
    before = copy(tree)
    if steps == 0:
        opened = copy(tree)
        open_for_write(opened, path, how)
        return [before, opened]
    open_for_write(before, path, how)
    node = before[path]
    for chunk in chunks[:steps - 1]:
        write_chunk(node, chunk)
    if steps <= len(chunks):
        chunk = chunks[steps - 1]
        node.data = Partial(node.data, len(node.data) if chunk[3] is None else chunk[3], chunk_data(chunk))
        node.mtime = None
    return [before]


# --- what they do on a disk ---

FLAGS = {"new": os.O_CREAT | os.O_EXCL, "trunc": os.O_CREAT | os.O_TRUNC, "append": os.O_APPEND, "patch": 0}


def write_all(fd, data, offset):
    """Only a daemon that dies may cut a write short; then the rest gives an error."""
    n = os.write(fd, data) if offset is None else os.pwrite(fd, data, offset)
    if n != len(data):
        os.write(fd, data[n:]) if offset is None else os.pwrite(fd, data[n:], offset + n)
        raise AssertionError("short write: %d of %d" % (n, len(data)))


def perform(op, returned):
    """Runs OP in the working directory; returned() is called after each of its steps."""
    name, path, *args = op
    if name == "write":
        how, chunks, sync = args
        fd = os.open(path, os.O_WRONLY | FLAGS[how], 0o644)
        returned()
        for chunk in chunks:
            write_all(fd, chunk_data(chunk), chunk[3])
            returned()
        if sync:
            os.fsync(fd)
        os.close(fd)
    elif name == "mkfifo":
        os.mkfifo(path, 0o600)
    elif name == "mkdir":
        os.mkdir(path, 0o755)
    elif name == "symlink":
        os.symlink(args[0], path)
    elif name == "utime":
        os.utime(path, ns=(args[0], args[0]))
    elif name == "setxattr":
        os.setxattr(path, args[0], args[1].encode())
    elif name == "exchange":
        exchange(path, args[0])
    elif name == "fsync":
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)
    else:
        {"truncate": os.truncate, "rename": os.rename, "unlink": os.unlink, "rmdir": os.rmdir,
         "link": os.link, "chmod": os.chmod}[name](path, *args)


# --- which comes next ---

class Chooser:
    """Chooses operations that are possible on the model. mine: the directory of this process; in the
    directory common, shared with others, it uses names that begin with its own."""

    def __init__(self, rnd, tree, mine):
        self.rnd, self.tree, self.mine, self.count = rnd, tree, mine, 0

    def some(self, kind):
        paths = sorted(p for p, n in self.tree.items() if n.kind in kind and p != self.mine)
        return self.rnd.choice(paths) if paths else None

    def fresh(self):
        directories = sorted(p for p, n in self.tree.items() if n.kind == "d") + ["common"]
        directory = self.rnd.choice(directories)
        while True:
            self.count += 1
            path = "%s/%s-%d" % (directory, self.mine, self.count)
            if path not in self.tree:
                return path

    def chunks(self, size, append):
        chunks, at, seed = [], 0, self.rnd.randrange(len(BLOBS))
        for _ in range(self.rnd.randrange(4)):
            length = self.rnd.choice(SIZES)
            if append:
                chunks.append((seed, at, length, None))
                at = (at + length) % (BLOB_SIZE - max(SIZES))
            else:
                chunks.append((seed, self.rnd.randrange(1000), length, self.rnd.randrange(size + 1)))
        return chunks

    def write(self, how):
        path = self.fresh() if how == "new" or (how == "trunc" and self.rnd.random() < 0.2) else self.some("f")
        if path is None:
            return None
        size = len(self.tree[path].data) if path in self.tree else 0
        if how == "append" and size > 1000000:
            return None
        return ("write", path, how, self.chunks(size, how != "patch"), self.rnd.random() < 0.1)

    def rename(self):
        path = self.some("flpd")
        if path is None:
            return None
        to = self.fresh() if self.rnd.random() < 0.4 else self.some("flp")
        if to is None or to.startswith(path + "/") or self.tree.get(to) is self.tree[path]:
            return None
        if self.tree[path].kind == "d" and to in self.tree:
            return None
        return ("rename", path, to)

    def swap(self):
        a, b = self.some("flpd"), self.some("flpd")
        if a is None or b is None or (a + "/").startswith(b + "/") or (b + "/").startswith(a + "/"):
            return None
        return ("exchange", a, b) if self.tree[a] is not self.tree[b] else None

    def remove(self):
        path = self.some("flpd")
        if path is None:
            return None
        if self.tree[path].kind != "d":
            return ("unlink", path)
        return ("rmdir", path) if not any(p.startswith(path + "/") for p in self.tree) else None

    def of_file(self, name):
        path = self.some("f")
        if path is None:
            return None
        return {"truncate": ("truncate", path, self.rnd.choice(SIZES)),
                "chmod": ("chmod", path, self.rnd.choice((0o600, 0o640, 0o755, 0o666))),
                "utime": ("utime", path, self.rnd.randrange(10**18, 2 * 10**18)),
                "setxattr": ("setxattr", path, "user.x%d" % self.rnd.randrange(3), "v%d" % self.count),
                "link": ("link", path, self.fresh()),
                "fsync": ("fsync", path)}[name]

    def next(self):
        full = len(self.tree) > 120
        while True:
            kind = self.rnd.choice(("new", "new", "trunc", "trunc", "append", "patch", "rename", "rename", "rename",
                                    "exchange", "remove", "remove", "mkdir", "symlink", "mkfifo", "truncate", "chmod",
                                    "utime", "setxattr", "link", "fsync"))
            if full and self.rnd.random() < 0.5:
                kind = "remove"
            if kind in ("new", "trunc", "append", "patch"):
                op = self.write(kind)
            elif kind == "mkdir":
                op = ("mkdir", self.fresh())
            elif kind == "mkfifo":
                op = ("mkfifo", self.fresh())
            elif kind == "symlink":
                op = ("symlink", self.fresh(), "target-%d" % self.count)
            else:
                op = {"rename": self.rename, "exchange": self.swap, "remove": self.remove}.get(
                    kind, lambda k=kind: self.of_file(k))()
            if op is not None:
                return op


def run(top, tree, mine, seed, log_path, limit=None):
    """Runs operations below top, logging each, until one fails or LIMIT have returned. Beside them two
    files stay open: a log that grows, and one that has no name any more."""
    os.chdir(top)
    os.umask(0o022)
    rnd = random.Random(seed)
    chooser = Chooser(rnd, tree, mine)
    log = os.open(log_path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    def say(*what):
        os.write(log, json.dumps(what).encode() + b"\n")

    def do(op, how):
        say("begin", op)
        how(op, lambda: say("step"))
        say("end")
        apply(tree, op)

    number = 0
    held_path, ghost_path = chooser.fresh(), chooser.fresh()
    do(("write", held_path, "new", [], False), perform)
    held_node, held = tree[held_path], os.open(held_path, os.O_WRONLY | os.O_APPEND)
    do(("write", ghost_path, "new", [], False), perform)
    ghost = os.open(ghost_path, os.O_RDWR)
    do(("unlink", ghost_path), perform)

    def log_more(op, returned):
        write_all(held, chunk_data(op[3][0]), None)
        returned()

    while limit is None or number < limit:
        number += 1
        held_paths = [p for p, n in tree.items() if n is held_node]
        if held_paths and number % 5 == 0 and len(held_node.data) < 300000:
            chunk = (rnd.randrange(len(BLOBS)), rnd.randrange(1000), 200, None)
            do(("write", held_paths[0], "append", [chunk], False),
               lambda op, returned: (returned(), log_more(op, returned)))
            os.pwrite(ghost, BLOBS[0][:1000], number * 100)
        else:
            do(chooser.next(), perform)
