# Locks exclude, name their holder, wake their waiters, die with their process, and never block the mount.

load lib

setup() { scratch; store_init; mount_store; }
teardown() { cleanup; }

@test "every check of the program below is run" { all_checks_run locks; }

@test "flock excludes, shares, upgrades and is dropped by close" { check locks exclusive; }
@test "POSIX locks exclude and F_GETLK names the holder's process" { check locks posix; }
@test "POSIX locks of ranges split, join and go with any close" { check locks ranges; }
@test "locks of a killed process are free at once" { check locks death; }
@test "with 64 waiters the mount goes on serving and each gets the lock" { check locks many_waiters; }
@test "a signal ends the wait for a lock" { check locks interrupted; }
@test "a lock is free when the close of its holder has returned" { check locks close_then_lock; }
@test "of all who create with O_EXCL one wins" { check locks one_winner; }

@test "SQLite in WAL mode takes four writers and two readers, one of them killed" {
    python3 - "$D/db" <<'PY'
import os, signal, sqlite3, subprocess, sys, time
path = sys.argv[1]
db = sqlite3.connect(path)
assert db.execute("pragma journal_mode=wal").fetchone()[0] == "wal"
db.execute("create table t(who, n)")
db.commit()
writer = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60)
for n in range(500):
    db.execute("insert into t values(?, ?)", (sys.argv[2], n)); db.commit()
    if n == 0: print("started", flush=True)
"""
reader = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60)
last = 0
while last < 1501:
    n = db.execute("select count(*) from t").fetchone()[0]
    assert n >= last; last = n
"""
run = lambda code, *a: subprocess.Popen([sys.executable, "-c", code, path, *a], stdout=subprocess.PIPE)
writers = [run(writer, who) for who in "abcd"]
readers = [run(reader) for _ in range(2)]
writers[3].stdout.readline()
writers[3].send_signal(signal.SIGKILL)
assert [w.wait() for w in writers[:3]] == [0, 0, 0]
db.execute("insert into t values('end', 0)"); db.commit()
assert [r.wait() for r in readers] == [0, 0]
assert db.execute("pragma integrity_check").fetchone()[0] == "ok"
assert db.execute("select count(*) from t where who in ('a', 'b', 'c')").fetchone()[0] == 1500
PY
    remount
    equal "$(python3 -c 'import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("pragma integrity_check").fetchone()[0])' "$D/db")" ok
}

@test "SQLite with a rollback journal works" {
    python3 - "$D/db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
assert db.execute("pragma journal_mode=delete").fetchone()[0] == "delete"
db.execute("create table t(x)")
for i in range(200):
    db.execute("insert into t values(?)", (i,)); db.commit()
db.execute("insert into t values('no')"); db.rollback()
assert db.execute("select count(*), sum(x) from t").fetchone() == (200, 19900)
assert db.execute("pragma integrity_check").fetchone()[0] == "ok"
PY
    [[ ! -e $D/db-journal ]]
}

@test "DuckDB refuses a second process by naming the first and opens read-only twice" {
    python3 -c 'import duckdb' 2>/dev/null || skip "no duckdb package"
    python3 - "$D/l.duckdb" <<'PY'
import duckdb, os, subprocess, sys
path = sys.argv[1]
db = duckdb.connect(path)
db.execute("create table t(x integer)"); db.execute("insert into t select * from range(1000)")
second = subprocess.run([sys.executable, "-c", "import duckdb, sys; duckdb.connect(sys.argv[1])", path], stderr=subprocess.PIPE)
assert second.returncode != 0 and b"%d" % os.getpid() in second.stderr, second.stderr
db.close()
a = duckdb.connect(path, read_only=True)
assert subprocess.run([sys.executable, "-c",
    "import duckdb, sys; assert duckdb.connect(sys.argv[1], read_only=True).execute('select sum(x) from t').fetchone()[0] == 499500", path]).returncode == 0
PY
}

@test "a read lock can be taken on a file of a read-only mount" {
    echo x >"$D/l"
    remount -o ro
    python3 -c 'import fcntl, sys; f = open(sys.argv[1]); fcntl.lockf(f, fcntl.LOCK_SH | fcntl.LOCK_NB); fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)' "$D/l"
}
