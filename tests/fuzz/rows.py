#!/usr/bin/env python3
"""rows.py [--seconds N] [--seed N] [CASE...]: stores whose database holds what no expfs writes.

Each case changes rows of a copy of one store, then runs fsck, mounts it, walks through everything, asks for views and
status, writes, unmounts, repairs, and runs fsck again. Whatever the rows say: nothing may crash, hang, or grow.
Without --seconds it runs the listed cases; with it, cases made by chance until the time is over. TAP on standard output.
"""

import argparse, contextlib, json, os, random, shutil, signal, sqlite3, stat, subprocess, sys, tempfile, time

EXPFS = os.environ["EXPFS"]
PATIENCE = 20  # seconds for one command, on a slow machine with sanitizers
MEMORY = 600 << 10  # KiB that a daemon may have had; with sanitizers a small one has a third of it
ENTRIES = 200  # of a walk

N = -(2**63)
P = 2**63 - 1
LOOP = "INSERT INTO dirent VALUES({}, {}, '{}', {}, 4, 0, 0)"

# name: statements; {a}: the inode of runs/a, {f}: of a file that shares its content, {o}: that content, {l}: of a live
# file, {c}: of a directory checkpoint, {s}: of a symbolic link, {x}: of a file with attributes.
CASES = {
    "nothing-wrong": [],
    "numbers-negative": ["UPDATE inode SET size=-1, blocks=-1, nlink=-1, uid=-1, gid=-1, rdev=-1 WHERE ino>1"],
    "numbers-largest": [f"UPDATE inode SET size={P}, blocks={P}, atime={P}, mtime={P}, ctime={P}, btime={P}"],
    "numbers-least": [f"UPDATE inode SET size={N}, blocks={N}, atime={N}, mtime={N}, ctime={N}, btime={N}"],
    "numbers-text": ["UPDATE inode SET size='x', mode='y', nlink='z', atime='t' WHERE ino={f}"],
    "numbers-real": ["UPDATE inode SET size=1e300, mtime=-1e300, mode=33188.5 WHERE ino={f}"],
    "orders-largest": [f'UPDATE inode SET "order"={P}', f'UPDATE dirent SET "order"={P}'],
    "orders-negative": ['UPDATE inode SET "order"=-1', 'UPDATE dirent SET "order"=-2'],
    "everything-null": ["UPDATE inode SET size=NULL, blocks=NULL, nlink=NULL, flags=NULL, mode=NULL, mtime=NULL WHERE ino={f}",
                        "UPDATE dirent SET name=NULL, type=NULL, class=NULL WHERE ino={f}",
                        "UPDATE xattr SET value=NULL", "UPDATE object SET state=NULL, size=NULL, seal=NULL, synced=NULL"],
    "modes-of-no-kind": ["UPDATE inode SET mode=0 WHERE ino={f}", "UPDATE inode SET mode=-1 WHERE ino={l}"],
    "file-is-directory": ["UPDATE inode SET mode=16877 WHERE ino={f}"],
    "directory-is-file": ["UPDATE inode SET mode=33188 WHERE ino={a}"],
    "directory-is-link": ["UPDATE inode SET mode=41471 WHERE ino={c}"],
    "top-is-file": ["UPDATE inode SET mode=33188 WHERE ino=1"],
    "top-is-gone": ["DELETE FROM inode WHERE ino=1"],
    "all-are-directories": ["UPDATE inode SET mode=16877", "UPDATE dirent SET type=4, class=127"],
    "all-have-roles": ["UPDATE dirent SET class=-1"],
    "types-of-no-kind": ["UPDATE dirent SET type=-1", "UPDATE dirent SET type=200 WHERE ino={a}"],
    "directory-in-itself": [LOOP.format("{a}", 900, "me", "{a}")],
    "directories-in-a-circle": [LOOP.format("{c}", 900, "up", "{a}"), LOOP.format("{a}", 901, "top", 1)],
    "circle-apart": ["UPDATE dirent SET parent={c}, name='up' WHERE ino={a}"],
    "circle-of-two-names": [LOOP.format("{a}", 900, "x", "{a}"), LOOP.format("{a}", 901, "y", "{a}"), LOOP.format("{a}", 902, "z", "{a}")],
    "top-in-a-run": [LOOP.format("{a}", 900, "x", 1), LOOP.format("{a}", 901, "y", 1)],
    "checkpoint-in-itself": [LOOP.format("{c}", 900, "x", "{c}"), LOOP.format("{c}", 901, "y", "{c}")],
    "names-with-slash": ["UPDATE dirent SET name=X'612F62' WHERE ino={f}"],
    "names-with-nul": ["UPDATE dirent SET name=X'6100622E7074' WHERE ino={f}"],
    "names-empty": ["UPDATE dirent SET name=X'' WHERE ino={f}"],
    "names-too-long": ["UPDATE dirent SET name=CAST(printf('%.*c', 300, 'n') AS BLOB) WHERE ino={f}"],
    "names-huge": ["UPDATE dirent SET name=zeroblob(500000) WHERE ino={f}"],
    "names-are-dots": ["UPDATE dirent SET name=X'2E2E' WHERE ino={f}", "UPDATE dirent SET name=X'2E' WHERE ino={a}"],
    "names-are-ours": ["UPDATE dirent SET name=CAST('.expfs' AS BLOB) WHERE ino={a}"],
    "names-text": ["UPDATE dirent SET name=CAST(name AS TEXT)"],
    "names-number": ["UPDATE dirent SET name=12345 WHERE ino={a}"],
    "names-bad-and-new-rules": ["UPDATE dirent SET name=X'2F' WHERE ino={f}", "UPDATE store SET value=1 WHERE key='rules'"],
    "entries-negative": ["UPDATE dirent SET id=-id WHERE parent={a}", "UPDATE dirent SET ino=-ino WHERE parent=1"],
    "entries-largest": [f"UPDATE dirent SET id={P} WHERE ino={{f}}", f"UPDATE dirent SET id={P}-1 WHERE ino={{a}}"],
    "entries-of-nobody": ["INSERT INTO dirent VALUES({a}, 900, 'x.pt', 123456, 8, 16, 0)", "INSERT INTO dirent VALUES(777, 901, 'y', {f}, 8, 0, 0)"],
    "inode-of-view": [f"INSERT INTO inode SELECT {2**62} + 5, mode, nlink, uid, gid, rdev, size, blocks, atime, mtime, ctime, btime, NULL, 0, 0, NULL, 0 FROM inode WHERE ino={{a}}",
                      f"INSERT INTO dirent VALUES(1, 900, 'v', {2**62} + 5, 4, 0, 0)"],
    "inode-negative": ["INSERT INTO inode SELECT -7, mode, nlink, uid, gid, rdev, size, blocks, atime, mtime, ctime, btime, NULL, 0, 0, NULL, 0 FROM inode WHERE ino={a}",
                       "INSERT INTO dirent VALUES(1, 900, 'v', -7, 4, 0, 0)"],
    "inode-zero": ["INSERT INTO inode SELECT 0, mode, nlink, uid, gid, rdev, size, blocks, atime, mtime, ctime, btime, NULL, 0, 0, NULL, 0 FROM inode WHERE ino={a}",
                   "INSERT INTO dirent VALUES(1, 900, 'v', 0, 4, 0, 0)"],
    "contents-gone": ["DELETE FROM object"],
    "contents-live": ["UPDATE object SET state=0", "UPDATE inode SET flags=flags|4"],
    "contents-shared-live": ["UPDATE inode SET object={o} WHERE object IS NOT NULL", "UPDATE object SET state=0 WHERE id={o}"],
    "contents-of-directories": ["UPDATE inode SET object={o}, flags=4"],
    "contents-live-and-none": ["UPDATE inode SET object=NULL WHERE ino={l}"],
    "contents-live-and-zero": ["UPDATE inode SET object=zeroblob(3) WHERE object IS NOT NULL"],
    "contents-swapped": ["UPDATE inode SET object=(SELECT max(id) FROM object) WHERE ino={f}"],
    "contents-of-no-state": ["UPDATE object SET state=-3, synced=-9, verdict=-5, seal=-1"],
    "contents-verdict": [f"UPDATE object SET verdict={P}", f"UPDATE object SET verdict={N} WHERE id={{o}}"],
    "contents-long": [f"UPDATE object SET size={P}", f"UPDATE inode SET size={P} WHERE object IS NOT NULL"],
    "contents-negative": ["UPDATE object SET size=-1", "UPDATE inode SET size=-1 WHERE object IS NOT NULL"],
    "contents-id-negative": ["UPDATE object SET id=-id", "UPDATE inode SET object=-object"],
    "digests-wrong": ["UPDATE object SET digest=X'00' WHERE id={o}", "UPDATE object SET digest=zeroblob(1000000) WHERE id<>{o}"],
    "digests-equal": ["UPDATE object SET size=7, digest=zeroblob(16)"],
    "undo-of-everything": ["DELETE FROM undo", "INSERT INTO undo SELECT ino, {o} FROM inode", "UPDATE object SET synced=0"],
    "undo-of-nothing": ["DELETE FROM undo", "INSERT INTO undo VALUES(12345, 67890), (-1, -1), (0, 0)", "UPDATE object SET synced=0"],
    "undo-of-itself": ["DELETE FROM undo", "INSERT INTO undo SELECT ino, object FROM inode WHERE object IS NOT NULL", "UPDATE object SET synced=0"],
    "undo-of-text": ["DELETE FROM undo", "INSERT INTO undo SELECT ino, 'x' FROM inode", "UPDATE object SET synced=0"],
    "cut-and-undo": ["UPDATE store SET value=0 WHERE key IN ('clean', 'session')", "DELETE FROM undo",
                     "INSERT INTO undo SELECT ino, {o} FROM inode", "UPDATE object SET synced=0"],
    "cut-in-a-circle": ["UPDATE store SET value=0 WHERE key IN ('clean', 'session')", "UPDATE object SET synced=0",
                        LOOP.format("{c}", 900, "up", "{a}"), "UPDATE object SET size=size+1"],
    "cut-and-live": ["UPDATE store SET value=0 WHERE key IN ('clean', 'session')", "UPDATE object SET synced=0, state=0", "UPDATE inode SET flags=4"],
    "cut-and-names": ["UPDATE store SET value=0 WHERE key IN ('clean', 'session')", "UPDATE object SET synced=0, size=size+1",
                      "UPDATE dirent SET name=X'2F' WHERE ino={f}"],
    "cut-and-parents": ["UPDATE store SET value=0 WHERE key IN ('clean', 'session')", "UPDATE object SET synced=0, size=size+1",
                        "UPDATE dirent SET parent=X''"],
    "all-unlinked": ["UPDATE inode SET nlink=0"],
    "links-without-target": ["UPDATE inode SET target=NULL"],
    "links-huge": ["UPDATE inode SET target=CAST(printf('%.*c', 300000, 't') AS BLOB) WHERE ino={s}"],
    "links-with-nul": ["UPDATE inode SET target=X'610062' WHERE ino={s}"],
    "links-empty": ["UPDATE inode SET target=X'' WHERE ino={s}"],
    "attributes-huge": ["INSERT INTO xattr VALUES({x}, CAST('user.big' AS BLOB), zeroblob(2000000))"],
    "attributes-empty": ["INSERT INTO xattr VALUES({x}, X'', X'')"],
    "attributes-many": ["INSERT INTO xattr WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<20000) SELECT {x}, CAST('user.' || i AS BLOB), '' FROM n"],
    "attributes-with-nul": ["INSERT INTO xattr VALUES({x}, X'7573657200612E', X'00')", "INSERT INTO xattr VALUES({x}, 5, 6)"],
    "sequence-least": ["UPDATE store SET value=2 WHERE key='next_id'"],
    "sequence-largest": [f"UPDATE store SET value={P} WHERE key='next_id'"],
    "sequence-negative": ["UPDATE store SET value=-1 WHERE key='next_id'"],
    "sequence-text": ["UPDATE store SET value='x' WHERE key='next_id'"],
    "values-gone": ["DELETE FROM store"],
    "branches-is-file": ["UPDATE dirent SET ino={f}, type=8 WHERE parent=1 AND name=CAST('branches' AS BLOB)"],
    "runs-is-branches": ["UPDATE dirent SET ino=(SELECT ino FROM dirent WHERE parent=1 AND name=CAST('runs' AS BLOB)) WHERE parent=1 AND name=CAST('branches' AS BLOB)"],
    "steps-largest": ["UPDATE dirent SET name=CAST('checkpoint-9223372036854775807' AS BLOB) WHERE ino={c}"],
    "triggers": ["CREATE TRIGGER t AFTER UPDATE ON inode BEGIN INSERT OR REPLACE INTO undo WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) SELECT i, i FROM n; END"],
    "views": ["DROP TABLE xattr", "CREATE VIEW xattr(ino, name, value) AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n) SELECT i, i, i FROM n"],
    "tables-gone": ["DROP TABLE undo"],
    "experiments-of-themselves": ["UPDATE experiment SET parent=id"],
    "experiments-named": ["UPDATE experiment SET hash='../../../../../../../etc' || char(10) || substr(id, 1, 1)"],
    "experiments-no-text": ["UPDATE experiment SET hash=CAST(X'FF00FE' || id AS BLOB), hp=zeroblob(100000), time='x'"],
    "experiments-gone": ["DELETE FROM experiment"],
    "lines-of-nothing": ["UPDATE line SET run=12345, experiment=67890, version=-1, at=-1"],
    "lines-of-files": ["UPDATE line SET run=(SELECT max(id) FROM tracked WHERE NOT is_dir)"],
    "paths-in-themselves": ["UPDATE tracked SET parent=id WHERE id>1"],
    "paths-in-a-circle": ["UPDATE tracked SET parent=(SELECT max(id) FROM tracked WHERE is_dir) WHERE is_dir AND id>1"],
    "paths-of-no-run": ["UPDATE tracked SET run=-5, role=3"],
}


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
    for text in ("log", "lineage.json"):
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
            command("show", mount.point + "/runs/a/config.yaml", "--json")
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


TABLES = {
    "inode": "ino mode nlink uid gid rdev size blocks atime mtime ctime btime object order flags target begin".split(),
    "dirent": "parent id name ino type class order".split(),
    "xattr": "ino name value".split(),
    "object": "id state size digest seal synced verdict".split(),
    "undo": "inode old".split(),
    "tracked": "id parent name ino run role is_dir n head changed good step rank mode uid gid".split(),
    "version": "id tracked n is_dir object size mode uid gid mtime until gone complete step rank begin experiment".split(),
    "member": "version name object size mode uid gid mtime".split(),
    "moved": ["ino", "ino"],
    "experiment": "id hash hp model data parent time".split(),
    "line": "id run experiment version init_step at flags".split(),
    "due": "version run begin".split(),
    "fact": "object kind value".split(),
    "segment": "kind text digest".split(),
    "store": "key value".split(),
}
VALUES = ["NULL", "-1", "0", "1", "2", "4", "8", "16877", "33188", "41471", "2147483648", "4294967295", "4294967296", str(2**62), str(P), str(N),
          "1e300", "'x'", "X''", "X'2F'", "X'2E2E'", "X'61'", "X'6100'", "zeroblob(16)", "zeroblob(300)", "zeroblob(100000)"]


def by_chance(rng):
    statements = []
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        table = rng.choice(list(TABLES))
        column = '"' + rng.choice(TABLES[table]) + '"'
        other = '"' + rng.choice(TABLES[table]) + '"'
        table_of_id = rng.choice(("inode", "dirent", "object", "tracked", "version"))
        value = rng.choice(VALUES + [other, f"(SELECT {column} FROM {table} ORDER BY random() LIMIT 1)"] * 6 +
                           [f"(SELECT {TABLES[table_of_id][rng.randrange(2)]} FROM {table_of_id} LIMIT 1 OFFSET {rng.randrange(12)})"] * 6)
        key = TABLES[table][0] if table != "dirent" else "id"
        where = rng.choice((f'WHERE {key}=(SELECT {key} FROM {table} LIMIT 1 OFFSET {rng.randrange(30)})',) * 4 + ("",))
        row = ", ".join(rng.choice((f'"{c}"', rng.choice(VALUES), str(rng.randrange(1, 60)))) for c in TABLES[table])
        statements.append(rng.choice((f"UPDATE OR REPLACE {table} SET {column}={value} {where}",) * 6 +
                                     (f"DELETE FROM {table} {where}", f"INSERT OR REPLACE INTO {table} SELECT {row} FROM {table} {where} LIMIT 20")))
    if rng.random() < 0.3:
        statements.append("UPDATE store SET value=0 WHERE key IN ('clean', 'session')")
    return statements


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
