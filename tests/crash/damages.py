"""Proof that the checks of cutter.py see each kind of loss, and let pass what may be."""
import math
import os
import sqlite3
import subprocess

import killer
import runs
import saves
import states

SIZE = 20000


def save(path, key, how="new", sync=False):
    yield "open", 1, path, how
    yield "write", 1, key, 0, SIZE, None
    if sync:
        yield "fsync", 1
    yield "close", 1


def append(fd, key, sync):
    yield "write", fd, key, 0, 500, None
    if sync:
        yield "fsync", fd


def script():
    """Calls of which it is known what may be lost: all names since count was 2."""
    yield from save("w/synced", "synced", sync=True)
    yield from save("w/gone", "gone", sync=True)
    yield "unlink", "w/gone"
    for name in ("twice", "thrice", "over", "replaced"):
        yield from save("w/" + name, name + "-1", sync=True)
    yield "link", "w/synced", "w/second"
    yield "open", 0, "w/log", "append"
    yield from append(0, "line-1", True)
    yield from save("w/patched", "patched", sync=True)
    yield "open", 1, "w/patched", "edit"
    yield "write", 1, "patch-1", 0, 4096, 4096
    yield "fsync", 1
    yield "write", 1, "patch-2", 0, 4096, 12288
    yield "close", 1
    yield from save("w/replaced", "replaced-2", "trunc", sync=True)
    yield from save("w/dir-synced", "dir-synced")
    yield "symlink", "1", "w/count"
    yield "syncdir", "w"
    yield "symlink", "2", "w/.count"
    yield "rename", "w/.count", "w/count"
    yield from save("w/twice", "twice-2", "trunc")
    for key in ("thrice-2", "thrice-3"):
        yield from save("w/thrice", key, "trunc")
    yield from save("w/over.tmp", "over-2")
    yield "rename", "w/over.tmp", "w/over"
    yield from save("w/new", "new")
    yield from append(0, "line-2", False)
    yield "mkdir", "w/directory"
    yield "symlink", "3", "w/.count"
    yield "rename", "w/.count", "w/count"


class Tree:
    """What the script left, and ways to change it."""

    def __init__(self, top):
        self.top = top

    def path(self, name):
        return os.path.join(self.top, "w", name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def put(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)

    def save(self, name, key):
        self.put(name, states.stream(key, 0, SIZE))

    def splice(self, name, offset, data):
        old = self.read(name)
        self.put(name, old[:offset] + data + old[offset + len(data):])

    def cut(self, name, lost):
        self.put(name, self.read(name)[:-lost])

    def unlink(self, *names):
        for name in names:
            os.unlink(self.path(name))

    def count(self, number):
        self.unlink("count")
        os.symlink(str(number), self.path("count"))

    def back(self):
        """To the moment after the last sync."""
        self.count(2)
        os.rmdir(self.path("directory"))
        self.unlink("new")
        self.save("over", "over-1")
        self.save("twice", "twice-1")

    def as_two(self):
        data = self.read("second")
        self.unlink("second")
        self.put("second", data)


def permitted(t):
    yield "nothing lost", lambda: None
    yield "the content from before a truncation", lambda: t.save("twice", "twice-1")
    yield "one of three contents", lambda: t.save("thrice", "thrice-2")
    yield "the first of three contents", lambda: t.save("thrice", "thrice-1")
    yield "the content from before a rename", lambda: t.save("over", "over-1")
    yield "a new file that was not synced is gone", lambda: t.unlink("new")
    yield "a line that was not synced is gone", lambda: t.cut("log", 500)
    yield "a part of such a line is gone", lambda: t.cut("log", 100)
    yield "a change that was not synced is gone", lambda: t.splice("patched", 12288, states.stream("patched", 12288, 4096))
    yield "a part of it is gone", lambda: t.splice("patched", 12288, states.stream("patched", 12288, 1024))
    yield "all since the last sync is gone", t.back


def losses(t):
    yield "a byte of a synced file changed", lambda: t.splice("synced", 5000, b"\0\0")
    yield "a synced file is empty", lambda: t.put("synced", b"")
    yield "a synced file is cut", lambda: t.cut("synced", 1)
    yield "a synced file is longer", lambda: t.put("synced", t.read("synced") + b"\0")
    yield "a synced file is gone", lambda: t.unlink("synced", "second")
    yield "a name of two is gone", lambda: t.unlink("second")
    yield "two names are two files", t.as_two
    yield "a synced file has the content of another", lambda: t.save("replaced", "over-1")
    yield "a synced content is the one before it", lambda: t.save("replaced", "replaced-1")
    yield "what a synced directory names is gone", lambda: t.unlink("dir-synced")
    yield "a mixture of two contents", lambda: t.splice("twice", 0, states.stream("twice-1", 0, 4096))
    yield "an empty file in place of the one before", lambda: t.put("twice", b"")
    yield "a replaced file is gone", lambda: t.unlink("over")
    yield "a new name with a part of its content", lambda: t.cut("new", 4096)
    yield "a new name with zeros in it", lambda: t.splice("new", 4096, bytes(4096))
    yield "a new name that is empty", lambda: t.put("new", b"")
    yield "a new name with a content that it never had", lambda: t.save("new", "over-1")
    yield "a line that was synced is gone", lambda: t.cut("log", 600)
    yield "a line that was synced is broken", lambda: t.splice("log", 100, b"\0\0\0")
    yield "what no line holds", lambda: t.splice("log", 700, b"\1\2\3")
    yield "a synced change in place is gone", lambda: t.splice("patched", 4096, states.stream("patched", 4096, 4096))
    yield "a change that nobody made", lambda: t.splice("patched", 12288, states.stream("other", 0, 4096))
    yield "what was removed is there", lambda: t.save("gone", "gone")
    yield "a file that nobody made", lambda: t.save("more", "more")
    yield "a temporary name is there with its new one", lambda: t.save("over.tmp", "over-2")
    yield "a directory is gone, what came later is not", lambda: os.rmdir(t.path("directory"))
    yield "the names are of before the last sync", lambda: t.count(1)
    yield "the names are of the future", lambda: t.count(4)


def table(path, *statements):
    def change():
        db = sqlite3.connect(path)
        for s in statements:
            db.execute(s)
        db.commit()
        db.close()
    return change


def broken_page(path):
    with open(path, "r+b") as f:
        f.seek(4096)
        f.write(b"\xff" * 2048)


def database_losses(path):
    last = "(select max(n) from t)"
    yield "a row is gone", table(path, "delete from t where n = %s and k = 1" % last)
    yield "a row is another", table(path, "update t set data = x'00' where n = %s and k = 1" % last)
    yield "the last transaction is gone", table(path, "delete from t where n = " + last)
    yield "a transaction in the middle is gone", table(path, "delete from t where n = 2")
    more = ["insert into t select max(n) + %d, %d, data from t" % (k == 0, k) for k in range(saves.ROWS)]
    yield "a transaction more", table(path, *more)
    yield "a page is broken", lambda: broken_page(path)
    yield "the database is gone", lambda: os.unlink(path)


def perform(top, log_path):
    log, fds = saves.Log(log_path), {}
    os.chdir(top)
    for call in script():
        log.say("begin", call)
        saves.perform(call, fds)
        log.say("end")
    os.chdir("/")


class Proof:
    """Breaks a directory in some ways, each from the same beginning, and looks whether a check sees it."""

    def __init__(self, top):
        self.top, self.good = top, True

    def expect(self, seen, what, change, check):
        subprocess.run(["cp", "-a", self.top, self.top + ".kept"], check=True)
        change()
        lines = check()
        if bool(lines) != seen:
            self.good = False
            print("%s: %s%s" % ("not seen" if seen else "not accepted", what, "".join("\n\t" + x for x in lines)))
        subprocess.run(["rm", "-rf", self.top], check=True)
        os.rename(self.top + ".kept", self.top)


def check_tree(base, log, top, name):
    calls = saves.read_log(log)[0]
    return states.check(base, calls, killer.scan(top, name), math.inf, states.last_sync([calls], math.inf))


def prove_files(directory):
    top, log = os.path.join(directory, "script"), os.path.join(directory, "script.log")
    os.makedirs(os.path.join(top, "w"))
    base = killer.scan(top, "w")
    perform(top, log)
    proof, tree = Proof(top), Tree(top)
    for seen, changes in ((False, permitted), (True, losses)):
        for what, change in changes(tree):
            proof.expect(seen, what, change, lambda: check_tree(base, log, top, "w"))
    return proof.good


def prove_databases(directory):
    top, log = os.path.join(directory, "databases"), os.path.join(directory, "databases.log")
    os.makedirs(os.path.join(top, "sql"))
    saves.run_database(top, 1, log, log + ".stop", 30)
    os.chdir("/")
    calls, proof = saves.read_log(log)[0], Proof(top)
    for name in saves.DATABASES:
        path = os.path.join(top, "sql", name)
        proof.expect(False, name, lambda: None, lambda: saves.check_database(path, name, calls, math.inf))
        for what, change in database_losses(path):
            proof.expect(True, "%s: %s" % (name, what), change, lambda: saves.check_database(path, name, calls, math.inf))
    return proof.good


def training():
    """A training as the calls of its log, and what is there when nothing of it was lost."""
    a, b, row = '# 1\n{"lr": 1}\n', '# 2\n{"lr": 2}\n', "row\n"
    call = lambda *c: states.Call(c, 0)
    calls = [call("text", runs.DATA[0], row), call("first", "step_1.safetensors", "k1"), call("text", runs.CONFIG, b),
             call("rest", "step_1.safetensors", "k1"), call("first", "step_2.safetensors", "k2"), call("rest", "step_2.safetensors", "k2")]
    base, found = (object.__new__(runs.Found) for _ in range(2))
    base.now, base.checkpoints = {runs.CONFIG: a, runs.DATA[0]: None, runs.DATA[1]: None}, {}
    found.now = {runs.CONFIG: b, runs.DATA[0]: row, runs.DATA[1]: None}
    found.ever = {runs.CONFIG: {a, b}, runs.DATA[0]: {row}, runs.DATA[1]: set()}
    found.checkpoints, found.experiments = {}, {}
    for n, config in enumerate((a, b)):
        data = {runs.DATA[0]: row.encode()}
        of = runs.hp_segment(config) + runs.model_segment("a") + runs.data_segment(data)
        e = found.experiments[of] = object.__new__(runs.Experiment)
        e.hp, e.data, e.tensors = {runs.CONFIG: config.encode()}, data, {"a"}
        found.checkpoints["step_%d.safetensors" % (n + 1)] = ("k%d" % (n + 1), "a", of)
    found.head, found.pending = [of], []
    return base, calls, found


def experiment_losses(found):
    first, second = found.checkpoints.values()
    e = found.experiments[first[2]]
    yield "the experiment of another configuration", lambda: found.checkpoints.update({"step_1.safetensors": (*first[:2], second[2])})
    yield "the experiment of an edit that was lost", lambda: found.ever[runs.CONFIG].discard(found.now[runs.CONFIG])
    yield "a checkpoint without an experiment", lambda: found.checkpoints.update({"step_2.safetensors": (*second[:2], None)})
    yield "another model", lambda: found.checkpoints.update({"step_2.safetensors": ("k2", "b", second[2])})
    yield "a checkpoint that was never saved", lambda: found.checkpoints.update({"step_3.safetensors": ("k3", "a", first[2])})
    yield "an experiment that the log lost", lambda: found.experiments.pop(first[2])
    yield "an experiment without its configuration", e.hp.clear
    yield "an experiment with other data", lambda: e.data.update({runs.DATA[1]: b"x"})
    yield "an experiment with checkpoints of another model", lambda: e.tensors.add("b")
    yield "a head that is not what lies there", lambda: found.head.insert(0, first[2])
    yield "an edit that is not pending", lambda: found.now.update({runs.CONFIG: '# 3\n{"lr": 3}\n'})


def prove_experiments():
    good, names = True, [what for what, _ in experiment_losses(training()[2])]
    for n, what in enumerate([None] + names):
        base, calls, found = training()
        if what:
            list(experiment_losses(found))[n - 1][1]()
        if bool(runs.check(base, calls, found)) != bool(what):
            good = False
            print("%s: %s" % ("not seen" if what else "not accepted", what or runs.check(base, calls, found)))
    return good


def accept_load(directory, seed):
    """What the random load leaves on a plain disk is as it should be."""
    top, log = os.path.join(directory, "load"), os.path.join(directory, "load.log")
    os.makedirs(os.path.join(top, "w"))
    base = killer.scan(top, "w")
    saves.run(top, base, "w", 1, seed, log, log + ".stop", 600)
    os.chdir("/")
    lines = check_tree(base, log, top, "w")
    for line in lines:
        print("what the load did on a plain disk is not accepted: %s" % line)
    return not lines


def self_test(directory, seed):
    good = all([accept_load(directory, seed), prove_files(directory), prove_databases(directory), prove_experiments()])
    print("self-test: %s" % ("good" if good else "FAILED"))
    return good
