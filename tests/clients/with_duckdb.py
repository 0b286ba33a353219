"""DuckDB: write-ahead log and checkpoints, whole-file locks, a writer killed."""

import time

import duckdb

from client import after_remount, fresh, kill, main, start, test


def rows(path):
    with duckdb.connect(path, read_only=True) as base:
        return base.sql("select count(*), coalesce(sum(step), 0) from signals").fetchone()


def expect(count):
    return count, count * (count - 1) // 2


def hold(path, say):
    with duckdb.connect(path) as base:
        base.sql("select count(*) from signals").fetchone()
        say("open")
        time.sleep(600)


def hold_read_only(path, say):
    with duckdb.connect(path, read_only=True) as base:
        say(base.sql("select count(*) from signals").fetchone()[0])
        time.sleep(600)


def insert_for_ever(path, say):
    base = duckdb.connect(path)
    step = rows_before = base.sql("select count(*) from signals").fetchone()[0]
    while True:
        base.execute("insert into signals values (?, 'loss', ?)", [step, 1 / (step + 1)])
        step += 1
        say(step)
        if step == rows_before + 50:
            time.sleep(600)


@test("rows are there after each of 20 rounds of insert and checkpoint")
def checkpoints(top):
    path = str(top / "loggers.duckdb")
    with duckdb.connect(path) as base:
        base.sql("create table signals (step bigint, name varchar, value double)")
        for round in range(20):
            base.execute("insert into signals select i, 'loss', 1.0 / (i + 1) from range(?, ?) t(i)",
                         [round * 5000, (round + 1) * 5000])
            base.sql("checkpoint")
    assert rows(path) == expect(100_000)


@test("the write-ahead log is gone after a clean close")
def no_wal(top):
    assert not (top / "loggers.duckdb.wal").exists()


@test("a second process that opens it for writing is refused with the holder's pid")
def refused(top):
    path = str(top / "loggers.duckdb")
    holder, hear = start(hold, path)
    hear()
    try:
        fresh(rows, path)
    except duckdb.IOException as error:
        assert f"(PID {holder.pid})" in str(error), error
    else:
        raise AssertionError("two processes opened it")
    finally:
        kill(holder)


@test("a killed holder's lock is gone at once")
def released(top):
    assert fresh(rows, str(top / "loggers.duckdb")) == expect(100_000)


@test("two processes read it at one time, and a writer is refused meanwhile")
def readers(top):
    path = str(top / "loggers.duckdb")
    readers = [start(hold_read_only, path) for _ in range(2)]
    try:
        assert [hear() for _, hear in readers] == [100_000, 100_000]
        try:
            duckdb.connect(path).close()
        except duckdb.IOException:
            pass
        else:
            raise AssertionError("opened for writing under two readers")
    finally:
        for reader, _ in readers:
            kill(reader)


@test("what a killed writer had committed is replayed from the write-ahead log")
def replay(top):
    path = top / "loggers.duckdb"
    writer, hear = start(insert_for_ever, str(path))
    while hear() < 100_050:
        pass
    kill(writer)
    assert (top / "loggers.duckdb.wal").stat().st_size > 0
    with duckdb.connect(str(path)) as base:
        assert base.sql("select count(*) from signals").fetchone()[0] == 100_050
    assert rows(str(path)) == expect(100_050)


@test("a writer killed again leaves a write-ahead log behind")
def killed_again(top):
    writer, hear = start(insert_for_ever, str(top / "loggers.duckdb"))
    while hear() < 100_100:
        pass
    kill(writer)


@after_remount("the log that was left is replayed")
def replay_again(top):
    with duckdb.connect(str(top / "loggers.duckdb")) as base:
        assert base.sql("select count(*) from signals").fetchone()[0] == 100_100
    assert rows(str(top / "loggers.duckdb")) == expect(100_100)


if __name__ == "__main__":
    main()
