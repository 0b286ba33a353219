"""HDF5 by h5py: growing data sets, rewriting in place, locks, a reader beside the writer (SWMR)."""

import os
import shutil
import time

import h5py
import numpy

from client import after_remount, fresh, kill, main, start, test


def block(seed, shape=(1000, 64)):
    return numpy.random.default_rng(seed).standard_normal(shape).astype("f4")


def assert_holds(path, *seeds):
    with h5py.File(path, "r") as file:
        assert numpy.array_equal(file["samples"], numpy.concatenate([block(seed) for seed in seeds]))


def hold(path, say):
    with h5py.File(path, "r+"):
        say("open")
        time.sleep(600)


def append_swmr(path, say):
    with h5py.File(path, "w", libver="latest") as file:
        samples = file.create_dataset("samples", (0, 64), "f4", maxshape=(None, 64), chunks=(100, 64))
        file.swmr_mode = True
        say(0)
        for seed in range(20):
            samples.resize(len(samples) + 1000, axis=0)
            samples[-1000:] = block(seed)
            samples.flush()
            say(seed + 1)


@test("a data set grown in 20 sessions reads back equal in a new process")
def grown(top):
    path = top / "data.h5"
    for seed in range(20):
        with h5py.File(path, "a") as file:
            samples = file.require_dataset("samples", (1000 * seed, 64), "f4", maxshape=(None, 64),
                                           chunks=(100, 64), compression="gzip")
            samples.resize(1000 * (seed + 1), axis=0)
            samples[-1000:] = block(seed)
    fresh(assert_holds, path, *range(20))


@test("rows rewritten in place read back equal")
def in_place(top):
    path = top / "plain.h5"
    with h5py.File(path, "w") as file:
        file["samples"] = numpy.concatenate([block(seed) for seed in range(4)])
    size = path.stat().st_size
    for seed in 7, 8:
        with h5py.File(path, "r+") as file:
            file["samples"][1000:2000] = block(seed)
            file.flush()
            os.fsync(file.id.get_vfd_handle())
    assert path.stat().st_size == size
    fresh(assert_holds, path, 0, 8, 2, 3)


@test("a second process is refused while one has it open for writing")
def locked(top):
    path = top / "plain.h5"
    holder, hear = start(hold, path)
    hear()
    try:
        fresh(assert_holds, path, 0)
    except BlockingIOError as error:
        assert "unable to lock file" in str(error), error
    else:
        raise AssertionError("two processes opened it")
    finally:
        kill(holder)


@test("it is copied aside, rewritten and copied back as a data frame store does")
def backup(top):
    path, copy = top / "data.h5", top / "data.h5.backup"
    shutil.copy2(path, copy)
    assert copy.stat().st_mtime_ns == path.stat().st_mtime_ns
    with h5py.File(path, "w") as file:
        file["samples"] = block(99)
    assert_holds(path, 99)
    shutil.copy2(copy, path)
    os.unlink(copy)
    assert_holds(path, *range(20))


@test("a reader sees what another process appends and flushes")
def swmr(top):
    path = top / "swmr.h5"
    writer, hear = start(append_swmr, path)
    hear()
    with h5py.File(path, "r", libver="latest", swmr=True) as file:
        for _ in range(20):
            flushed = hear()
            file["samples"].refresh()
            found = file["samples"][: 1000 * flushed]
            assert numpy.array_equal(found, numpy.concatenate([block(seed) for seed in range(flushed)]))
    writer.join()
    assert_holds(path, *range(20))


@after_remount("every file still reads back equal")
def remounted(top):
    assert_holds(top / "data.h5", *range(20))
    assert_holds(top / "plain.h5", 0, 8, 2, 3)
    assert_holds(top / "swmr.h5", *range(20))


if __name__ == "__main__":
    main()
