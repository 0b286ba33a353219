"""The operations on a store of which calls to the disk are made to fail (faulter.py), as fault_files.py has those on files."""
import os
import shutil
import sqlite3
import time

import tree as trees
from fault_case import LARGE, NEW, OLD, OTHER, Bad, Refused, data, put, write
from fault_operation import offline_operation, operation


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
