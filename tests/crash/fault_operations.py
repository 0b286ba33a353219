"""The operations of which calls to the disk are made to fail (faulter.py).

Each prepares, runs what is to fail within faults(), and says with expect() what may then be there.
"""
import ctypes
import os
import shutil
import sqlite3
import time

import tree as trees
from fault_case import LARGE, NEW, OLD, OTHER, Bad, Prefix, Refused, data, get, put, sync_dir, write


class Operation:
    def __init__(self, function, offline):
        self.function, self.offline = function, offline
        self.name = function.__name__.replace("_", " ")


OPERATIONS = []


def operation(function):
    """One that runs on a mount, of the store with op/ empty."""
    OPERATIONS.append(Operation(function, False))
    return function


def offline_operation(function):
    """One that begins without a mount."""
    OPERATIONS.append(Operation(function, True))
    return function


@offline_operation
def init(c):
    shutil.rmtree(c.store)
    with c.faults():
        c.command("init", c.store)
    c.check_error()
    if c.error and os.path.exists(c.store) and not c.forever:
        raise Bad("leaves the directory that it made")
    if c.error and not os.path.exists(os.path.join(c.store, "format")):  # else all was made but its last sync
        c.command("init", c.store)
    c.mount()
    os.mkdir(c / "")
    shutil.copytree(c.bench.kept_copy, os.path.join(c.point, "kept"), symlinks=True)
    c.bench.copy_links(os.path.join(c.point, "kept"))
    c.expect({}, {})
    c.unmount()


@offline_operation
def mount(c):
    with c.faults():
        c.mount()
    c.expect({}, {})


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


@operation
def keeper_round(c):
    put(c / "f", OLD)
    c.settle()
    put(c / "f.tmp", NEW)
    os.rename(c / "f.tmp", c / "f")
    put(c / "g", OTHER)
    with c.faults():
        time.sleep(2.3)
    c.expect({"f": NEW, "g": OTHER}, cut=[{"f": OLD}, {"f": NEW}, {"f": OLD, "g": OTHER}])


@operation
def umount(c):
    put(c / "f", OLD)
    c.settle()
    put(c / "f.tmp", NEW)
    os.rename(c / "f.tmp", c / "f")
    put(c / "g", OTHER)
    with open(c / "g", "ab") as f:
        f.write(NEW)
    put(c / "h", OLD)
    os.unlink(c / "h")
    with c.faults():
        c.unmount()
    c.expect({"f": NEW, "g": OTHER + NEW}, cut=[{"f": OLD}, {"f": NEW}, {"f": OLD, "g": OTHER + NEW}])


@operation
def recover_from_a_kill(c):
    put(c / "f", OLD)
    c.settle()
    put(c / "f.tmp", NEW)
    os.rename(c / "f.tmp", c / "f")
    fd = c.open("g", os.O_WRONLY | os.O_CREAT)
    write(fd, OTHER)
    gone = c.open("h", os.O_WRONLY | os.O_CREAT)
    write(gone, OTHER)
    os.unlink(c / "h")
    c.kill()
    put(os.path.join(c.store, "objects", "00", "77"), OLD)
    with c.faults():
        c.mount()
        time.sleep(0.3)  # the garbage is removed by the keeper
    c.closing.clear()
    c.expect({"f": NEW, "g": OTHER}, {"f": NEW, "g": OTHER}, cut=[{"f": NEW}, {"f": OLD}, {"f": OLD, "g": OTHER}])


def forget_session(c):
    db = sqlite3.connect(os.path.join(c.store, "expfs.db"))
    db.execute("UPDATE store SET value = 12345 WHERE key = 'session'")
    db.commit()
    db.close()


def tear(c, ino):
    """The disk lost the end of the content."""
    db = sqlite3.connect(os.path.join(c.store, "expfs.db"))
    number, = db.execute("SELECT object FROM inode WHERE ino = ?", (ino,)).fetchone()
    db.close()
    os.truncate(os.path.join(c.store, "objects", "%02x" % (number >> 8 & 255), "%x" % number), 10000)


@operation
def recover_from_a_power_cut(c):
    inplace = data(8, 70000)
    for name, content in (("whole", OLD), ("torn", data(7, 80000)), ("inplace", inplace)):
        put(c / name, content)
    c.settle()
    with open(c / "inplace", "r+b") as f:
        f.write(b"changed")
    for name in ("whole", "torn"):
        put(c / "tmp", NEW if name == "whole" else LARGE)
        os.rename(c / "tmp", c / name)
    put(c / "new", OTHER)
    put(c / "newtorn", data(9, 50000))
    torn = [os.stat(c / name).st_ino for name in ("torn", "newtorn")]
    c.kill()
    forget_session(c)
    for ino in torn:
        tear(c, ino)
    with c.faults():
        c.mount()
    wanted = {"whole": NEW, "torn": data(7, 80000), "inplace": trees.overlay(inplace, 0, b"changed"), "new": OTHER}
    lost = [{**wanted, "whole": OLD}, {path: wanted[path] for path in wanted if path != "new"}]
    c.expect(wanted, also=lost if c.kind.startswith("EIO") else [])  # what cannot be read is not whole


@operation
def status(c):
    put(c / "f", OLD)
    c.settle()
    with c.faults():
        c.command("status", c.point)
    c.expect({"f": OLD}, {"f": OLD})


@offline_operation
def fsck(c):
    with c.faults():
        said = c.command("fsck", c.store, may_fail=True)
        if said[0] == 1 and "cannot be read" not in said[1] and "unable to get the page" not in said[1]:
            raise Bad("finds damage: %s" % said[1])
        if said[0] not in (0, 1):
            raise Refused(("fsck",), said[0], said[2])
    c.expect({}, {})


@operation
def fsck_repair(c):
    put(c / "f", OLD)
    put(c / "g", NEW)
    c.settle()
    ino = os.stat(c / "f").st_ino
    c.unmount()
    db = sqlite3.connect(os.path.join(c.store, "expfs.db"))
    db.execute("UPDATE inode SET nlink = 7 WHERE ino = ?", (ino,))
    db.commit()
    db.close()
    put(os.path.join(c.store, "objects", "00", "77"), OLD)
    with c.faults():
        said = c.command("fsck", c.store, "--repair", may_fail=True)
        if said[0] not in (0, 1):
            raise Refused(("fsck",), said[0], said[2])
    if said[0] != 0:
        c.command("fsck", c.store, "--repair")
    c.expect({"f": OLD, "g": NEW}, {"f": OLD, "g": NEW})
