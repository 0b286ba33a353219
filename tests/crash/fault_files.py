"""The operations on files of which calls to the disk are made to fail (faulter.py).

Each prepares, runs what is to fail within faults(), and says with expect() what may then be there.
"""
import ctypes
import os
import time

import tree as trees
from fault_case import LARGE, NEW, OLD, Bad, Prefix, get, put, sync_dir, write
from fault_operation import operation


@operation
def create(c):
    with c.faults():
        os.close(os.open(c / "f", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    c.expect({"f": b""}, {})


@operation
def write_new(c):
    fd = c.open("f", os.O_WRONLY | os.O_CREAT)
    with c.faults():
        write(fd, LARGE)
    c.expect({"f": LARGE}, {"f": Prefix(LARGE)}, cut=[{}])


@operation
def append(c):
    put(c / "f", OLD)
    c.settle()
    with c.faults():
        fd = c.open("f", os.O_WRONLY | os.O_APPEND)
        write(fd, NEW)
        c.close(fd)
    c.expect({"f": OLD + NEW}, {"f": Prefix(NEW, OLD)})


@operation
def close_new(c):
    fd = c.open("f", os.O_WRONLY | os.O_CREAT)
    write(fd, OLD)
    with c.faults():
        c.close(fd)
    c.expect({"f": OLD}, cut=[{}])


@operation
def replace(c):
    put(c / "f", OLD)
    c.settle()
    with c.faults():
        put(c / "f.tmp", NEW)
        os.rename(c / "f.tmp", c / "f")
    c.expect({"f": NEW}, {"f": OLD}, {"f": OLD, "f.tmp": Prefix(NEW)})


@operation
def replace_durably(c):
    put(c / "f", OLD)
    c.settle()
    with c.faults(syncs=True):
        put(c / "f.tmp", NEW, sync=True)
        os.rename(c / "f.tmp", c / "f")
        sync_dir(c / "")
    c.expect({"f": NEW}, {"f": OLD}, {"f": OLD, "f.tmp": Prefix(NEW)})


@operation
def unlink(c):
    put(c / "f", OLD)
    c.settle()
    with c.faults():
        os.unlink(c / "f")
        time.sleep(0.1)  # what it held is removed by the reaper
    c.expect({}, {"f": OLD})


@operation
def rewrite(c):
    put(c / "f", OLD)
    c.settle()
    with c.faults():
        put(c / "f", NEW)
    c.expect({"f": NEW}, {"f": OLD}, {"f": Prefix(NEW)})


@operation
def truncate(c):
    put(c / "f", OLD)
    c.settle()
    with c.faults():
        os.truncate(c / "f", 5000)
    c.expect({"f": OLD[:5000]}, {"f": OLD})


@operation
def copy_up(c):
    put(c / "f", LARGE)
    put(c / "g", LARGE)
    c.settle()
    with c.faults():
        fd = c.open("g", os.O_RDWR)
        os.pwrite(fd, NEW, 7000)
        c.close(fd)
    c.expect({"f": LARGE, "g": trees.overlay(LARGE, 7000, NEW)}, {"f": LARGE, "g": trees.Partial(LARGE, 7000, NEW)})


@operation
def unseal(c):
    put(c / "f", LARGE)
    c.settle()
    with c.faults():
        fd = c.open("f", os.O_RDWR)
        os.pwrite(fd, NEW, 7000)
        c.close(fd)
    c.expect({"f": trees.overlay(LARGE, 7000, NEW)}, {"f": trees.Partial(LARGE, 7000, NEW)})


@operation
def close_equal(c):
    put(c / "f", OLD)
    fd = c.open("g", os.O_WRONLY | os.O_CREAT)
    write(fd, OLD)
    with c.faults():
        c.close(fd)
    c.expect({"f": OLD, "g": OLD}, cut=[{}, {"f": OLD}, {"g": OLD}])


@operation
def mkdir_and_rmdir(c):
    with c.faults():
        os.mkdir(c / "d")
        os.rmdir(c / "d")
    c.expect({}, {"d": "directory"})


@operation
def link_unsynced(c):
    put(c / "f", OLD)
    with c.faults():
        os.link(c / "f", c / "g")
    c.expect({"f": OLD, "g": OLD}, {"f": OLD}, cut=[{}])


@operation
def exchange(c):
    put(c / "f", OLD)
    c.settle()
    put(c / "g", NEW)
    with c.faults():
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.renameat2(-100, os.fsencode(c / "f"), -100, os.fsencode(c / "g"), 2) != 0:
            raise OSError(ctypes.get_errno(), "renameat2")
    c.expect({"f": NEW, "g": OLD}, {"f": OLD, "g": NEW}, cut=[{"f": OLD}, {"g": OLD}])


@operation
def setxattr(c):
    put(c / "f", OLD)
    c.settle()
    with c.faults():
        os.setxattr(c / "f", "user.note", b"value")
    c.expect({"f": OLD, "f@user.note": b"value"}, {"f": OLD})


@operation
def set_times_and_mode(c):
    put(c / "f", OLD)
    fd = c.open("f", os.O_WRONLY | os.O_APPEND)
    write(fd, NEW)
    with c.faults():
        os.utime(c / "f", ns=(10**18, 10**18))
        os.chmod(c / "f", 0o600)
    c.expect({"f": OLD + NEW}, {"f": OLD + NEW}, cut=[{}])


@operation
def fsync(c):
    fd = c.open("f", os.O_WRONLY | os.O_CREAT)
    write(fd, OLD)
    with c.faults(syncs=True):
        os.fsync(fd)
    c.expect({"f": OLD}, cut=[{}])


@operation
def fsync_again(c):
    fd = c.open("f", os.O_WRONLY | os.O_CREAT)
    write(fd, OLD)
    os.fsync(fd)
    write(fd, NEW)
    with c.faults(syncs=True):
        os.fsync(fd)
    c.expect({"f": OLD + NEW}, {"f": OLD + NEW})


@operation
def fsync_directory(c):
    put(c / "f", OLD)
    put(c / "g", NEW)
    with c.faults(syncs=True):
        sync_dir(c / "")
    c.expect({"f": OLD, "g": NEW}, cut=[{}, {"f": OLD}, {"g": NEW}])


@operation
def copy_whole(c):
    put(c / "f", OLD)
    c.settle()
    fd = c.open("g", os.O_WRONLY | os.O_CREAT)
    with open(c / "f", "rb") as f, c.faults():
        done = 0
        while done < len(OLD):
            done += os.copy_file_range(f.fileno(), fd, len(OLD) - done)
    c.expect({"f": OLD, "g": OLD}, {"f": OLD, "g": Prefix(OLD)}, cut=[{"f": OLD}])


@operation
def copy_part(c):
    put(c / "f", OLD)
    put(c / "g", NEW)
    c.settle()
    with open(c / "f", "rb") as f, c.faults():
        fd = c.open("g", os.O_WRONLY)
        done = 0
        while done < 20000:
            done += os.copy_file_range(f.fileno(), fd, 20000 - done, 1000 + done, 2000 + done)
        c.close(fd)
    c.expect({"f": OLD, "g": trees.overlay(NEW, 2000, OLD[1000:21000])},
             {"f": OLD, "g": trees.Partial(NEW, 2000, OLD[1000:21000])})


@operation
def punch(c):
    put(c / "f", OLD)
    c.settle()
    libc = ctypes.CDLL(None, use_errno=True)
    with c.faults():
        fd = c.open("f", os.O_RDWR)
        if libc.fallocate(fd, 3, ctypes.c_long(4096), ctypes.c_long(8192)) != 0:
            raise OSError(ctypes.get_errno(), "fallocate")
        c.close(fd)
    c.expect({"f": trees.overlay(OLD, 4096, bytes(8192))}, {"f": OLD})


@operation
def read(c):
    put(c / "f", LARGE)
    c.settle()
    c.unmount()
    c.mount()
    with c.faults():
        if get(c / "f") != LARGE:
            raise Bad("reading gives other bytes, and no error")
        if os.stat(c / "f").st_size != len(LARGE):
            raise Bad("stat gives another size, and no error")
    c.expect({"f": LARGE}, {"f": LARGE})


@operation
def list_names(c):
    for name in "fgh":
        put(c / name, OLD)
    fd = c.open("f", os.O_WRONLY | os.O_APPEND)
    write(fd, NEW)
    c.settle()
    c.close(fd)
    c.unmount()
    c.mount()
    with c.faults():
        names = sorted(os.listdir(c / ""))
        if names != ["f", "g", "h"]:
            raise Bad("a listing gives %s, and no error" % names)
        if os.stat(c / "f").st_size != len(OLD + NEW):
            raise Bad("stat gives another size, and no error")
        os.listxattr(c / "g")
    c.expect({"f": OLD + NEW, "g": OLD, "h": OLD}, {"f": OLD + NEW, "g": OLD, "h": OLD})


@operation
def look_at_a_branch(c):
    """After a change at the top, whose branches/ is looked up anew."""
    branches = os.path.join(c.point, "branches")
    with c.faults():
        os.mkdir(os.path.join(c.point, "more"))
        if "main" not in os.listdir(branches):
            raise Bad("a list of branches leaves one out")
        os.stat(os.path.join(branches, "main"))
    c.expect({}, {})


