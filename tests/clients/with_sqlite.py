"""SQLite: four processes writing in WAL mode beside two readers, a writer killed, other journals."""

import sqlite3
import time

from client import after_remount, fresh, kill, main, start, test

WRITERS, INSERTS = 4, 500


def connect(path):
    return sqlite3.connect(path, timeout=60, isolation_level=None)


def insert(path, writer, count, say):
    base = connect(path)
    for number in range(count):
        base.execute("insert into log values (?, ?, ?)", (writer, number, "x" * 200))
        say(number)


def read(path, say):
    """Counts until all is there; what it sees never shrinks and has no gap."""
    base, seen = connect(path), 0
    while seen < WRITERS * INSERTS:
        counts = base.execute("select count(*), max(number) + 1 from log group by writer").fetchall()
        assert all(count == end for count, end in counts), counts
        now = sum(count for count, _ in counts)
        assert now >= seen, (now, seen)
        seen = now
    say("all seen")


def leave_hot_journal(path, say):
    base = connect(path)
    base.execute("pragma cache_size=1")  # so that pages reach the file before the commit
    base.execute("begin")
    base.execute("update log set text = 'torn'")
    say("pages written")
    time.sleep(600)


def integrity(path):
    return connect(path).execute("pragma integrity_check").fetchall()


def finished(process, hear, last):
    while hear() != last:
        pass
    process.join()
    assert process.exitcode == 0, process.exitcode


def write_by_all(path, mode):
    base = connect(path)
    assert base.execute(f"pragma journal_mode={mode}").fetchone() == (mode,)
    base.execute("create table log (writer integer, number integer, text text)")
    base.close()
    writers = [start(insert, path, writer, INSERTS) for writer in range(WRITERS)]
    readers = [start(read, path) for _ in range(2)]
    for process, hear in writers:
        finished(process, hear, INSERTS - 1)
    for process, hear in readers:
        finished(process, hear, "all seen")
    assert fresh(integrity, path) == [("ok",)]


@test("four writers and two readers in WAL mode lose no row and see no gap")
def wal(top):
    write_by_all(top / "wal.db", "wal")


@test("a writer killed in WAL mode keeps what it had committed, and others go on")
def killed(top):
    path = top / "wal.db"
    victim, hear = start(insert, path, 10, 100_000)
    other, hear_other = start(insert, path, 11, INSERTS)
    while (told := hear()) < 200:
        pass
    kill(victim)
    finished(other, hear_other, INSERTS - 1)
    base = connect(path)
    counts = dict(base.execute("select writer, count(*) from log group by writer"))
    assert counts[10] > told and counts[11] == INSERTS, counts
    assert fresh(integrity, path) == [("ok",)]


@test("four writers and two readers with a rollback journal lose no row")
def rollback(top):
    write_by_all(top / "delete.db", "delete")


@test("a transaction cut off by a kill is rolled back from its journal")
def hot_journal(top):
    path = top / "delete.db"
    victim, hear = start(leave_hot_journal, path)
    hear()
    kill(victim)
    assert (top / "delete.db-journal").stat().st_size > 0
    assert connect(path).execute("select count(*) from log where text = 'torn'").fetchone() == (0,)
    assert fresh(integrity, path) == [("ok",)]


@test("a memory-mapped database reads what was written")
def mapped(top):
    base = connect(top / "delete.db")
    base.execute("pragma mmap_size=268435456")
    assert base.execute("select count(*), sum(length(text)) from log").fetchone() == (2000, 400_000)
    base.execute("vacuum")
    assert base.execute("select count(*), sum(length(text)) from log").fetchone() == (2000, 400_000)


@after_remount("every database is whole")
def remounted(top):
    for name in "wal.db", "delete.db":
        assert integrity(top / name) == [("ok",)]
        count, = connect(top / name).execute("select count(*) from log where writer < 10").fetchone()
        assert count == WRITERS * INSERTS, (name, count)


if __name__ == "__main__":
    main()
