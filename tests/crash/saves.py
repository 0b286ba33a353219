"""What programs do that save, log and tidy up: random calls on a directory of their own, each logged.

A line of a log is ["begin", time, call] or ["end", time]; the last may be ["error", time, text]. What each
call does to the model is in states.py. One process keeps two SQLite databases instead.
"""
import ctypes
import json
import os
import random
import sqlite3
import time

import states

NAMES = ("latest.pt", "last.ckpt", "best.pt", "model_7.safetensors", "metrics.jsonl", "trainer_state.json", "notes.txt",
         "config.yaml", "table.db", "values.bin")
SIZES = (0, 90, 3000, 4096, 50000, 150000, 400000)
FLAGS = {"new": os.O_CREAT | os.O_EXCL | os.O_WRONLY, "trunc": os.O_CREAT | os.O_TRUNC | os.O_WRONLY,
         "edit": os.O_RDWR, "append": os.O_CREAT | os.O_APPEND | os.O_WRONLY, "read": os.O_RDONLY}
RENAME_EXCHANGE = 2
HELD, ONE, OTHER = 0, 1, 2  # descriptors
ROWS, KEPT = 3, 200         # of a transaction; transactions
libc = ctypes.CDLL(None, use_errno=True)


class Log:
    def __init__(self, path):
        self.fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)

    def say(self, what, *more):
        os.write(self.fd, json.dumps([what, time.monotonic(), *more]).encode() + b"\n")


def read_log(path):
    """The calls, and the error that ended the process: (time, text) or None."""
    calls, error = [], None
    with open(path) as f:
        for line in f:
            if not line.endswith("\n"):
                break  # being written just now
            what, at, *more = json.loads(line)
            if what == "begin":
                calls.append(states.Call(more[0], at))
            elif what == "end":
                calls[-1].ended = at
            else:
                error = (at, more[0])
    return calls, error


# --- calls on a disk ---

def exchange(a, b):
    if libc.renameat2(-100, os.fsencode(a), -100, os.fsencode(b), RENAME_EXCHANGE) != 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))


def write_all(fd, data, offset):
    if (os.write(fd, data) if offset is None else os.pwrite(fd, data, offset)) != len(data):
        raise OSError("short write")


def copy(path, fd):
    source = os.open(path, os.O_RDONLY)
    while os.copy_file_range(source, fd, 1 << 24):
        pass
    os.close(source)


def sync_directory(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(fd)
    os.close(fd)


def perform(call, fds):
    name, *args = call
    if name == "open":
        fds[args[0]] = os.open(args[1], FLAGS[args[2]], 0o644)
    elif name == "write":
        fd, key, at, length, offset = args
        write_all(fds[fd], states.stream(key, at, length), offset)
    elif name == "copy":
        copy(args[0], fds[args[1]])
    elif name == "close":
        os.close(fds.pop(args[0]))
    elif name == "fsync":
        os.fsync(fds[args[0]])
    else:
        {"syncdir": sync_directory, "exchange": exchange, "truncate": lambda path: os.truncate(path, 0),
         "rename": os.rename, "link": os.link, "unlink": os.unlink, "mkdir": os.mkdir, "rmdir": os.rmdir,
         "symlink": os.symlink}[name](*args)


# --- what programs do ---

class Program:
    """Each method yields the calls of one thing that a program does, while the model follows them."""

    def __init__(self, rnd, model, mine, session):
        self.rnd, self.model, self.mine, self.session, self.count = rnd, model, mine, session, 0

    def chance(self, p):
        return self.rnd.random() < p

    def files(self):
        held = self.model.fds.get(HELD)
        return sorted(p for p, n in self.model.nodes.items() if isinstance(n, states.Name) and n.file is not held)

    def some(self):
        files = self.files()
        return self.rnd.choice(files) if files else None

    def is_one_file(self, a, b):
        return b in self.model.nodes and self.model.nodes[a].file is self.model.nodes[b].file

    def key(self):
        self.count += 1
        return "%s.%d.%d" % (self.mine, self.session, self.count)

    def directory(self):
        return self.rnd.choice(sorted(p for p, n in self.model.nodes.items() if n == "/"))

    def fresh(self):
        path = "%s/%s" % (self.directory(), self.rnd.choice(NAMES))
        return path if path not in self.model.nodes else "%s/%s" % (self.directory(), self.key())

    def write(self, key, sync):
        """From empty to its end, in some writes."""
        size, at = self.rnd.choice(SIZES) if self.chance(0.97) else 3000000, 0
        parts = self.rnd.randrange(1, 4)
        while at < size:
            length = min(size - at, size // parts + 1)
            yield "write", ONE, key, at, length, None
            at += length
            if self.chance(0.02):
                yield "fsync", ONE
        if sync:
            yield "fsync", ONE

    def create(self):
        path = self.fresh()
        yield "open", ONE, path, "new"
        yield from self.write(self.key(), self.chance(0.2))
        yield "close", ONE

    def twins(self):
        """Files of one content, perhaps of a content that was there."""
        key, seed = self.key(), self.rnd.random()
        for _ in range(self.rnd.randrange(2, 4)):
            yield "open", ONE, self.fresh(), "new"
            rnd, self.rnd = self.rnd, random.Random(seed)
            yield from self.write(key, False)
            self.rnd = rnd
            if self.chance(0.2):
                yield "fsync", ONE
            yield "close", ONE

    def rewrite(self):
        path = self.some() or self.fresh()
        yield "open", ONE, path, "trunc"
        yield from self.write(self.key(), self.chance(0.2))
        yield "close", ONE

    def save_over(self):
        path = self.some() or self.fresh()
        tmp = path + ".tmp"
        late = self.chance(0.1)
        yield "open", ONE, tmp, "trunc"
        yield from self.write(self.key(), self.chance(0.25))
        if not late:
            yield "close", ONE
        yield "rename", tmp, path
        if late:
            yield "close", ONE
        if self.chance(0.15):
            yield "syncdir", os.path.dirname(path)

    def rotate(self):
        """The one there is the one before, and a new one takes its place."""
        path = self.some()
        if path and not path.endswith(".old") and not self.is_one_file(path, path + ".old"):
            yield "rename", path, path + ".old"
            yield "open", ONE, path, "new"
            yield from self.write(self.key(), self.chance(0.2))
            yield "close", ONE

    def log_more(self):
        for _ in range(self.rnd.randrange(1, 4)):
            yield "write", HELD, self.key(), 0, self.rnd.randrange(50, 3000), None
        if self.chance(0.5):
            yield "fsync", HELD

    def append(self):
        path = self.some() or self.fresh()
        yield "open", ONE, path, "append"
        yield "write", ONE, self.key(), 0, self.rnd.randrange(50, 9000), None
        if self.chance(0.4):
            yield "fsync", ONE
        yield "close", ONE

    def patch(self):
        path = self.some()
        size = path and self.model.nodes[path].file.content and len(self.model.nodes[path].file.content.now)
        if size:
            yield "open", ONE, path, "edit"
            for _ in range(self.rnd.randrange(1, 5)):
                yield "write", ONE, self.key(), 0, self.rnd.choice((10, 512, 4096)), self.rnd.randrange(size)
                if self.chance(0.2):
                    yield "fsync", ONE
            yield "close", ONE

    def copy(self):
        path, to = self.some(), self.fresh()
        if path:
            yield "open", ONE, to, "new"
            yield "copy", path, ONE
            yield "close", ONE

    def sync(self):
        path = self.some()
        if path:
            yield "open", OTHER, path, "read"
            yield "fsync", OTHER
            yield "close", OTHER

    def sync_directory(self):
        yield "syncdir", self.directory()

    def move(self):
        path, to = self.some(), self.fresh() if self.chance(0.4) else self.some()
        if path and not self.is_one_file(path, to):
            yield "rename", path, to

    def swap(self):
        a, b = self.some(), self.some()
        if a and not self.is_one_file(a, b):
            yield "exchange", a, b

    def link(self):
        path = self.some()
        if path:
            yield "link", path, self.fresh()

    def empty(self):
        path = self.some()
        if path:
            yield "truncate", path

    def remove(self):
        path = self.some()
        if path:
            yield "unlink", path

    def checkpoint(self):
        """A directory that gets its name when all is in it; the oldest goes."""
        tmp = "%s/tmp-%s" % (self.mine, self.key())
        path = "%s/checkpoint-%d" % (self.mine, self.session * 1000 + self.count)
        sync = self.chance(0.3)
        yield "mkdir", tmp
        for name in NAMES[:self.rnd.randrange(1, 5)]:
            yield "open", ONE, "%s/%s" % (tmp, name), "new"
            yield from self.write(self.key(), sync)
            yield "close", ONE
        if self.chance(0.3):
            yield "syncdir", tmp
        yield "rename", tmp, path
        if sync:
            yield "syncdir", self.mine
        there = [p for p, n in self.model.nodes.items() if n == "/" and p != self.mine]
        if len(there) > 3:
            yield from self.remove_tree(self.rnd.choice(there))

    def remove_tree(self, path):
        for p in sorted(self.model.below(path), reverse=True):
            yield ("rmdir" if self.model.nodes[p] == "/" else "unlink"), p

    def move_directory(self):
        path = self.directory()
        if path != self.mine:
            yield "rename", path, "%s/moved-%s" % (self.mine, self.key())

    def some_thing(self):
        if len(self.model.nodes) > 35 and self.chance(0.5):
            return self.remove()
        return self.rnd.choice((self.create, self.create, self.twins, self.rewrite, self.rewrite, self.rewrite,
                                self.save_over, self.save_over, self.save_over, self.rotate, self.log_more, self.log_more,
                                self.append, self.append, self.patch, self.patch, self.copy, self.sync,
                                self.sync_directory, self.move, self.move, self.swap, self.link, self.empty, self.remove,
                                self.checkpoint, self.move_directory))()

    def tally(self, number):
        """A name that tells how far it all got."""
        if self.mine + "/.count" in self.model.nodes:
            yield "unlink", self.mine + "/.count"
        yield "symlink", "%d-%d" % (self.session, number), self.mine + "/.count"
        yield "rename", self.mine + "/.count", self.mine + "/count"


def run(top, base, mine, session, seed, log_path, stop, limit=None):
    """Does one thing after another below top, until one fails, there is a file stop, or limit are done. Names and
    contents are those of no other session."""
    os.chdir(top)
    rnd, log, fds = random.Random(seed), Log(log_path), {}
    program = Program(rnd, states.Model(base), mine, session)

    def do(calls):
        for call in calls:
            log.say("begin", call)
            perform(call, fds)
            log.say("end")
            program.model.apply(call, True)

    held = mine + "/train.log"
    if held in base and rnd.random() < 0.3:
        do([("rename", held, program.fresh())])
    do([("open", HELD, held, "append")])
    number = 0
    while number != limit and not os.path.exists(stop):
        number += 1
        do(program.some_thing())
        do(program.tally(number))
        time.sleep(rnd.choice((0, 0, 0.003, 0.02)))


# --- databases ---

DATABASES = {"wal.db": ("wal", "full"), "del.db": ("delete", "extra")}


def row(name, n, k):
    return states.stream("%s-%d-%d" % (name, n, k), 0, 100 + (n * 7919 + k * 997) % 3000)


def newest(db):
    return db.execute("select coalesce(max(n), 0) from t").fetchone()[0]


def run_database(top, seed, log_path, stop, limit=None):
    os.chdir(top)
    rnd, log, dbs = random.Random(seed), Log(log_path), {}
    for name, (journal, synchronous) in DATABASES.items():
        db = dbs[name] = sqlite3.connect("sql/" + name, isolation_level=None)
        for pragma in ("journal_mode=" + journal, "synchronous=" + synchronous, "wal_autocheckpoint=30"):
            db.execute("pragma " + pragma).fetchall()
        db.execute("create table if not exists t(n integer, k integer, data blob)")
        log.say("begin", ("there", name, newest(db)))
        log.say("end")
    number = 0
    while number != limit and not os.path.exists(stop):
        number += 1
        name = rnd.choice(sorted(dbs))
        db = dbs[name]
        n = newest(db) + 1
        log.say("begin", ("commit", name, n))
        db.execute("begin")
        db.executemany("insert into t values(?, ?, ?)", [(n, k, row(name, n, k)) for k in range(ROWS)])
        db.execute("delete from t where n <= ?", (n - KEPT,))
        db.execute("commit")
        log.say("end")
        time.sleep(rnd.choice((0, 0.01, 0.03)))
    for db in dbs.values():
        db.close()


def check_database(path, name, calls, cut):
    """Lines that say what is wrong with a database after a power cut."""
    mine = [c for c in calls if c.call[1] == name]
    committed = max((c.call[2] for c in mine if c.ended and c.ended < cut), default=0)
    if not os.path.exists(path):
        return ["%s: is missing, with %d transactions" % (path, committed)] if committed else []
    db = sqlite3.connect(path)
    try:
        result = db.execute("pragma integrity_check").fetchone()[0]
        if result != "ok":
            return ["%s: %s" % (path, result)]
        rows = db.execute("select n, k, data from t order by n, k").fetchall() if db.execute(
            "select 1 from sqlite_master").fetchone() else []
    except sqlite3.DatabaseError as e:
        return ["%s: %s" % (path, e)]
    finally:
        db.close()
    last = rows[-1][0] if rows else 0
    wanted = [(n, k) for n in range(max(1, last - KEPT + 1), last + 1) for k in range(ROWS)]
    lines = []
    if [r[:2] for r in rows] != wanted:
        lines.append("%s: not the rows of whole transactions up to %d" % (path, last))
    lines += ["%s: row %d, %d has other data" % (path, n, k) for n, k, data in rows if data != row(name, n, k)]
    if last < committed:
        lines.append("%s: transaction %d is the last, %d was committed" % (path, last, committed))
    if mine and last > mine[-1].call[2]:
        lines.append("%s: transaction %d was never begun" % (path, last))
    return lines
