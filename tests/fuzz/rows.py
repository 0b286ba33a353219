#!/usr/bin/env python3
"""rows.py [--seconds N] [--seed N] [CASE...]: stores whose database holds what no expfs writes.

Each case changes rows of a copy of one store, then runs fsck, mounts it, walks through everything, asks for views and
status, writes, unmounts, repairs, and runs fsck again. Whatever the rows say: nothing may crash, hang, or grow.
Without --seconds it runs the listed cases; with it, cases made by chance until the time is over. TAP on standard output.
"""

import argparse, contextlib, json, os, random, shutil, signal, sqlite3, stat, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
from row_cases import CASES, by_chance

EXPFS = os.environ["EXPFS"]
PATIENCE = 60  # seconds for one command, or for all that is asked of one name, on a slow machine with sanitizers
MEMORY = 600 << 10  # KiB that a daemon may have had; with sanitizers a small one has a third of it
ENTRIES = 200  # of a walk


class Fault(Exception):
    pass


def unmount_lazily(point):
    subprocess.run(["fusermount3", "-uzq", point], stderr=subprocess.DEVNULL)


def is_mounted(point):
    with open("/proc/self/mountinfo") as f:
        return any(line.split()[4] == point for line in f)


def command(*args, codes=(0, 1, 3)):
    """Runs expfs; gives its exit status and what it answers."""
    try:
        p = subprocess.run([EXPFS, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise Fault(f"expfs {args[0]} hangs")
    text = (p.stdout + p.stderr).decode(errors="replace")
    if p.returncode not in codes or "runtime error" in text or "Sanitizer" in text:
        raise Fault(f"expfs {args[0]} ends with {p.returncode}: {text[-3000:]}")
    return p.returncode, p.stdout


class Mount:
    """A daemon in the foreground, so that its end and its words are ours."""

    def __init__(self, scratch):
        self.store, self.point, self.words = scratch + "/store", scratch + "/mnt", scratch + "/words"

    def __enter__(self):
        self.out = open(self.words, "wb")
        self.daemon = subprocess.Popen([EXPFS, "mount", "-f", self.store, self.point], stdin=subprocess.DEVNULL, stdout=self.out,
                                       stderr=self.out)
        end = time.monotonic() + PATIENCE
        while self.daemon.poll() is None and not is_mounted(self.point):
            if time.monotonic() > end:
                self.kill()
                raise Fault("expfs mount hangs: " + self.said())
            time.sleep(0.005)
        return self

    def said(self):
        with open(self.words, "rb") as f:
            return f.read()[-3000:].decode(errors="replace")

    def mounted(self):
        return self.daemon.poll() is None

    def kill(self):
        self.daemon.kill()
        self.daemon.wait()
        unmount_lazily(self.point)

    def memory(self):
        with contextlib.suppress(OSError):
            for line in open(f"/proc/{self.daemon.pid}/status"):
                if line.startswith("VmHWM"):
                    return int(line.split()[1])
        return 0

    def __exit__(self, kind, *_):
        memory = self.memory()
        if kind:
            self.kill()
        elif self.mounted():
            command("umount", self.point)
        try:
            code = self.daemon.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Fault("the daemon does not end")
        unmount_lazily(self.point)
        self.out.close()
        if not kind and (code not in (0, 3) or "runtime error" in self.said() or "Sanitizer" in self.said()):
            raise Fault(f"the daemon ends with {code}: {self.said()}")
        if memory > MEMORY:
            raise Fault(f"the daemon took {memory} KiB")


def child(work, *args):
    """work(*args) in a process of its own, which may hang in the mount."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(PATIENCE)  # ends it while it waits for an answer
        with contextlib.suppress(BaseException):
            work(*args)
        os._exit(0)
    if os.WIFSIGNALED(os.waitpid(pid, 0)[1]):
        raise Fault(f"{work.__name__}: no answer from the mount")


ok = lambda: contextlib.suppress(OSError, ValueError)


def look(path):
    """Asks for all that can be asked of one name; what it is."""
    signal.alarm(PATIENCE)  # anew: a walk asks hundreds of times
    mode = 0
    with ok():
        mode = os.lstat(path).st_mode
    with ok():
        for name in os.listxattr(path, follow_symlinks=False) + ["user.expfs.complete", "user.expfs.step", "user.expfs.role"]:
            with ok():
                os.getxattr(path, name, follow_symlinks=False)
    with ok():
        os.readlink(path)
    if stat.S_ISREG(mode):
        with ok(), open(path, "rb") as f:
            f.read(100000)
            f.seek(-10, 2)
            f.read()
    return mode


def walk(top):
    seen, todo = 0, [(top, 0)]
    while todo:
        path, depth = todo.pop(0)
        if not stat.S_ISDIR(look(path)) or depth > 4:
            continue
        for view in (".expfs/latest", ".expfs/step", ".expfs/step/3"):
            look(path + "/" + view)
        names = []
        with ok(), os.scandir(path) as entries:
            for e in entries:
                names.append(e.name)
                if len(names) > ENTRIES:
                    break
        seen += len(names)
        if seen < ENTRIES:
            todo += [(path + "/" + n, depth + 1) for n in names]
    for branch in ("main", "a", "b"):
        for view in ("", "/latest", "/run", "/step", "/step/5", "/HEAD", "/pending", "/log", "/manifest.yaml"):
            look(f"{top}/branches/{branch}{view}")
    for text in ("log", "lineage.json", "report.html", "stats.json", "metrics", "status.json"):
        look(f"{top}/.expfs/{text}")


def write(top):
    with ok(), open(top + "/runs/a/new.pt", "wb") as f:
        f.write(b"new" * 1000)
        os.fsync(f.fileno())
    for path in ("runs/a/best.pt", "runs/a/copy.pt", "log.txt", "runs/a/config.yaml", "runs/b/step_2.safetensors"):
        with ok(), open(f"{top}/{path}", "r+b") as f:
            f.write(b"x")
            f.truncate(10)
        with ok():
            os.chmod(f"{top}/{path}", 0o600)
            os.utime(f"{top}/{path}")
            os.setxattr(f"{top}/{path}", "user.a", b"b")
    with ok():
        os.rename(top + "/runs/a/new.pt", top + "/runs/a/best.pt")
    with ok():
        os.rename(top + "/runs/a", top + "/runs/c")
    for path in ("link", "runs/b/step_2.safetensors", "runs/a/best.pt", "runs/c/copy.pt"):
        with ok():
            os.unlink(f"{top}/{path}")
    for path in ("d", "d/e"):
        with ok():
            os.mkdir(f"{top}/{path}")
    with ok():
        os.rmdir(top + "/d")
    with ok():
        fd = os.open(top, os.O_RDONLY)
        os.fsync(fd)


def faults(store, *options):
    """What fsck finds and does not mend; None if it failed."""
    code, answer = command("fsck", store, "--json", *options)
    if code == 3:
        return None
    return sorted(p["text"] for p in json.loads(answer)["problems"] if not p["repaired"])


def exercise(scratch):
    mount = Mount(scratch)
    command("fsck", mount.store)
    with mount:
        if mount.mounted():
            child(walk, mount.point)
            command("status", mount.point, "--json")
            command("log", mount.point, "--json")
            command("du", mount.point, "--json", codes=range(4))
            command("show", mount.point + "/runs/a/config.yaml", "--json")
            command("show", "best", "--store", mount.store, "--json", codes=range(4))
            command("verify", "a:best", "--store", mount.store, "--json", codes=[0, 1, 2, 3, 10, 11, 12, 13])
            command("decide", "a:best", "HOLD", "--by", "x", "--store", mount.store, codes=range(4))
            command("select", mount.point + "/runs/a/best.pt", "--json", codes=range(4))
            command("fsck", mount.store)
            child(write, mount.point)
    left = faults(mount.store, "--repair")
    after = faults(mount.store)
    if left is not None and after != left:
        raise Fault(f"the repair left {left}, and afterwards there is {after}")
    return after


def populate(top):
    def put(path, data):
        os.makedirs(os.path.dirname(f"{top}/{path}"), exist_ok=True)
        with open(f"{top}/{path}", "wb") as f:
            f.write(data)

    put("runs/a/config.yaml", b"lr: 1\n")
    put("runs/a/best.pt", b"weights" * 1000)
    shutil.copyfile(top + "/runs/a/best.pt", top + "/runs/a/copy.pt")
    for step in (1, 2):
        put(f"runs/a/checkpoint-{step}/model.pt", b"%d" % step * 1000)
        put(f"runs/a/checkpoint-{step}/trainer_state.json", b"{}")
    put("runs/b/step_2.safetensors", b"\x02\0\0\0\0\0\0\0{}")
    put("runs/b/7/.metadata", b"x")
    os.link(top + "/runs/a/best.pt", top + "/hard")
    os.symlink("runs/a", top + "/link")
    os.setxattr(top + "/hard", "user.a", b"value")
    put("log.txt", b"first\n")
    with open(top + "/log.txt", "ab") as f:
        f.write(b"more\n")
    put("runs/a/best.pt", b"other" * 1000)  # leaves an undo row
    os.mkfifo(top + "/fifo")


def make_template(scratch):
    """A store whose daemon was killed while it had much to do."""
    mount = Mount(scratch)
    os.mkdir(mount.point)
    command("init", mount.store, codes=(0,))
    with mount:
        populate(mount.point)
        command("select", mount.point + "/runs/a/checkpoint-1", codes=(0,))
        command("decide", "best", "HOLD", "--by", "x", "--store", mount.store, codes=(0,))
        mount.kill()
        mount.daemon.returncode = 0
    os.truncate(mount.store + "/reserve", 0)  # copying is quicker so
    os.unlink(mount.store + "/control")  # a socket, which cannot be copied
    os.rename(mount.store, scratch + "/template")


def ids(db):
    def one(sql):
        return db.execute(sql).fetchone()[0]

    def named(name):
        return one(f"SELECT ino FROM dirent WHERE name=CAST('{name}' AS BLOB)")

    f = named("copy.pt")
    return {"a": named("a"), "f": f, "o": one(f"SELECT object FROM inode WHERE ino={f}"), "l": named("log.txt"),
            "c": named("checkpoint-1"), "s": named("link"), "x": named("hard")}


def change(store, statements):
    """Runs statements in the database, of which constraints are taken away."""
    db = sqlite3.connect(store + "/expfs.db", isolation_level=None)
    names = ids(db)
    db.execute("PRAGMA writable_schema=ON")
    db.execute("UPDATE sqlite_schema SET sql=replace(sql, ' NOT NULL', '') WHERE type='table'")
    db.execute("UPDATE sqlite_schema SET sql=replace(sql, 'UNIQUE INDEX', 'INDEX') WHERE type='index'")
    db.close()
    db = sqlite3.connect(store + "/expfs.db", isolation_level=None)
    for sql in statements:
        with contextlib.suppress(sqlite3.Error):  # what cannot be stored is no case
            db.execute(sql.format(**names))
    db.close()


def run_case(scratch, statements):
    shutil.copytree(scratch + "/template", scratch + "/store", symlinks=True)
    change(scratch + "/store", statements)
    try:
        return exercise(scratch)
    finally:
        unmount_lazily(scratch + "/mnt")
        shutil.rmtree(scratch + "/store")


def cases(options):
    if not options.seconds:
        for name in options.case or CASES:
            yield name, CASES[name]
        return
    end = time.monotonic() + options.seconds
    seed = options.seed
    while time.monotonic() < end:
        yield f"chance-{seed}", by_chance(random.Random(seed))
        seed += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--seed", type=int, default=int(time.time()) * 1000)
    parser.add_argument("case", nargs="*")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    scratch = tempfile.mkdtemp(prefix="expfs-rows.", dir=os.environ.get("EXPFS_TEST_DIR", "/dev/shm"))
    count = faults = 0
    try:
        make_template(scratch)
        for name, statements in cases(options):
            count += 1
            try:
                sound = run_case(scratch, statements)
                print(f"ok {count} - {name}" + (" (is not sound after repair)" if sound else ""), flush=True)
            except Fault as e:
                faults += 1
                print(f"not ok {count} - {name}", *[f"# {s}" for s in statements], *[f"# {line}" for line in str(e).splitlines()],
                      sep="\n", flush=True)
    finally:
        unmount_lazily(scratch + "/mnt")
        shutil.rmtree(scratch)
    print(f"1..{count}")
    return faults > 0


sys.exit(main())
