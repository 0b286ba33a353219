"""rsync, tar, cp: a tree of every kind of file, copied in, out and across, and compared."""

import os
import shutil
import tempfile
from pathlib import Path

from client import after_remount, main, run, test

scratch = Path(tempfile.mkdtemp(prefix="expfs-copies-"))


def plant(tree):
    """300 files of many sizes in 20 directories, hard and symbolic links, holes, a FIFO, odd names."""
    for directory in range(20):
        path = tree / f"directory {directory}" / "below"
        path.mkdir(parents=True)
        for number in range(15):
            file = path / f"file-{number}"
            file.write_bytes(os.urandom(number**4))
            file.chmod(0o400 + 0o010 * (number % 8))
            os.utime(file, ns=(10**18 + number, 10**18 + 987654321 * directory))
        os.link(path / "file-3", path.parent / "linked")
    (tree / "last.pt").symlink_to("directory 9/below/file-9")
    (tree / "broken").symlink_to("nowhere")
    (tree / "round").symlink_to("round")
    (tree / "below").symlink_to("directory 1/below")
    with open(tree / "holes", "wb") as file:
        file.seek(50 << 20)
        file.write(b"end")
    os.mkfifo(tree / "fifo")
    for name in ("modèle.pt", "mode\u0300le.pt", "-dash", "new\nline", "epoch=3-val_loss=0.5:x?*",
                 "x" * 255, os.fsdecode(b"m\xff.pt")):
        (tree / name).write_text(ascii(name))
    (tree / "empty").mkdir()
    os.setxattr(tree / "holes", "user.note", "größer".encode())
    for directory in sorted(tree.glob("directory*")):
        os.utime(directory, ns=(10**18, 10**18 + 123456789))


def source():
    if not (scratch / "tree").exists():
        plant(scratch / "tree")
    return scratch / "tree"


def rsync(*arguments):
    """What rsync changed, one line an entry; times count to the nanosecond."""
    return run("rsync", "-aHXS", "--modify-window=-1", "--itemize-changes", *map(str, arguments)).splitlines()


def assert_nothing(changes):
    assert changes == [], "\n".join(changes[:20])


def assert_same(tree, other):
    """Equal in names, kinds, bytes, modes, owners, links and times."""
    assert_nothing(rsync("--checksum", "--dry-run", "--delete", f"{tree}/", f"{other}/"))
    assert other.joinpath("directory 3/linked").stat().st_nlink == 2


@test("rsync copies a tree in, and a second time nothing")
def rsync_in(top):
    assert len(rsync(f"{source()}/", top / "in")) > 300
    assert_nothing(rsync(f"{source()}/", top / "in"))
    assert_same(source(), top / "in")


@test("rsync copies it across within the mount and out again, and a second time nothing")
def rsync_across(top):
    for target in top / "across", scratch / "out":
        rsync(f"{top / 'in'}/", target)
        assert_nothing(rsync(f"{top / 'in'}/", target))
        assert_same(source(), target)


@test("rsync brings a changed, a removed and an added file over, in place and by rename")
def rsync_update(top):
    tree = top / "in"
    (tree / "directory 1/below/file-14").chmod(0o600)
    with open(tree / "directory 1/below/file-14", "r+b") as file:
        file.seek(5000)
        file.write(b"changed")
    (tree / "directory 1/below/file-12").unlink()
    (tree / "directory 1/below/added").write_text("added")
    for options in ("--inplace", "--no-whole-file"), ("--delete", "--no-whole-file"):
        rsync(*options, f"{tree}/", top / "across")
    assert_same(tree, top / "across")
    for restored in tree, top / "across":
        rsync("--delete", f"{source()}/", restored)
        assert_same(source(), restored)


@test("tar makes an archive of the tree, finds no difference and unpacks it equal")
def tar(top):
    archive = top / "tree.tar"
    common = "tar", "--format=posix", "--xattrs", "--xattrs-include=user.*", "-f", str(archive)
    printed = run(*common, "-c", "--sparse", "-C", str(top / "in"), ".")
    assert printed == "", printed
    printed = run(*common, "-d", "-C", str(top / "in"))
    assert printed == "", printed
    (top / "unpacked").mkdir()
    run(*common, "-x", "-p", "-C", str(top / "unpacked"))
    assert_same(source(), top / "unpacked")


@test("a changed file is a difference to tar")
def tar_differs(top):
    path = top / "unpacked" / "directory 2" / "below" / "file-7"
    path.chmod(0o644)
    path.write_bytes(b"x" * path.stat().st_size)
    printed = run("tar", "-f", str(top / "tree.tar"), "-d", "-C", str(top / "unpacked"), status=1)
    assert "file-7: Contents differ" in printed, printed


@test("cp -a gives an equal tree, with its holes")
def cp(top):
    run("cp", "-a", str(top / "in"), str(top / "copied"))
    assert_same(source(), top / "copied")
    for path in source() / "holes", top / "in" / "holes", top / "copied" / "holes":
        assert path.stat().st_blocks < 4096, path


@test("copies that follow links hold the target's bytes, others the link")
def links(top):
    target = (top / "in" / "last.pt").read_bytes()
    run("cp", "-L", str(top / "in" / "last.pt"), str(top / "followed.pt"))
    assert (top / "followed.pt").read_bytes() == target and not (top / "followed.pt").is_symlink()
    os.rename(top / "copied", top / "moved")
    assert os.readlink(top / "moved" / "last.pt") == "directory 9/below/file-9"
    assert (top / "moved" / "last.pt").read_bytes() == target
    assert (top / "moved" / "last.pt").lstat().st_size == len("directory 9/below/file-9")


@test("a tree moved in from another file system is equal, and gone there")
def moved_in(top):
    shutil.copytree(scratch / "out" / "directory 5", scratch / "leaving")
    shutil.move(scratch / "leaving", top / "arrived")
    assert not (scratch / "leaving").exists()
    run("diff", "-r", str(scratch / "out" / "directory 5"), str(top / "arrived"))


@after_remount("every tree is still equal, and tar still finds no difference")
def remounted(top):
    assert_same(top / "in", top / "across")
    assert_same(top / "in", top / "moved")
    printed = run("tar", "--xattrs", "-f", str(top / "tree.tar"), "-d", "-C", str(top / "in"))
    assert printed == "", printed


@after_remount("the trees are removed with nothing left")
def removed(top):
    for name in "across", "moved", "unpacked", "in":
        shutil.rmtree(top / name)
    assert sorted(set(os.listdir(top)) & {"across", "moved", "unpacked", "in"}) == []


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(scratch)
