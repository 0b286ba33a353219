"""git: a repository grown by 200 commits, repacked, cloned, checked."""

import os

from client import after_remount, main, run, test

COMMITS = 200

os.environ.update(
    GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull,
    GIT_AUTHOR_NAME="A", GIT_AUTHOR_EMAIL="a@example.org",
    GIT_COMMITTER_NAME="A", GIT_COMMITTER_EMAIL="a@example.org")


def git(directory, *arguments):
    return run("git", "-C", str(directory), "-c", "gc.auto=0", *arguments)


def assert_sound(directory):
    printed = git(directory, "fsck", "--full", "--strict", "--no-dangling", "--no-progress")
    assert printed == "", printed
    assert git(directory, "status", "--porcelain") == ""
    assert git(directory, "rev-list", "--count", "HEAD").strip() == str(COMMITS)


@test("a repository takes 200 commits of changed, added, renamed and removed files")
def commits(top):
    work = top / "work"
    run("git", "init", "-q", "-b", "main", str(work))
    for number in range(COMMITS):
        (work / "config.yaml").write_text(f"lr: {number}\n" * (number + 1))
        (work / f"file-{number}").write_bytes(os.urandom(1000 * (number % 7)))
        if number % 10 == 9:
            os.rename(work / f"file-{number - 9}", work / f"renamed-{number}")
            os.unlink(work / f"file-{number - 8}")
        git(work, "add", "-A")
        git(work, "commit", "-q", "-m", f"commit {number}")
    assert_sound(work)


@test("it is sound after branches, a merge and a hard reset")
def merge(top):
    work = top / "work"
    git(work, "checkout", "-q", "-b", "side", "HEAD~50")
    (work / "side").write_text("side\n")
    git(work, "add", "side")
    git(work, "commit", "-q", "-m", "side")
    git(work, "checkout", "-q", "main")
    git(work, "merge", "-q", "side")
    assert (work / "side").read_text() == "side\n"
    git(work, "reset", "-q", "--hard", "HEAD^1")
    assert not (work / "side").exists()
    assert_sound(work)


@test("it is sound after a full repack, with no loose object left")
def repack(top):
    work = top / "work"
    git(work, "gc", "-q", "--aggressive", "--prune=now")
    git(work, "reflog", "expire", "--expire=now", "--all")
    git(work, "gc", "-q", "--prune=now")
    assert git(work, "count-objects").startswith("0 objects"), git(work, "count-objects")
    assert_sound(work)


@test("clones with hard links, without them and shallow are sound")
def clones(top):
    for name, *options in ("linked",), ("copied", "--no-hardlinks"), ("bare", "--bare"):
        run("git", "clone", "-q", *options, str(top / "work"), str(top / name))
    run("git", "clone", "-q", "--depth", "10", f"file://{top}/work", str(top / "shallow"))
    for name in "linked", "copied":
        assert_sound(top / name)
    pack, = (top / "linked/.git/objects/pack").glob("*.pack")
    assert pack.stat().st_nlink == 3  # here, in work and in bare
    git(top / "bare", "fsck", "--full")
    git(top / "shallow", "fsck", "--full")


@test("a second work tree is made, changed and removed")
def worktree(top):
    git(top / "work", "worktree", "add", "-q", str(top / "second"), "side")
    (top / "second" / "side").write_text("changed\n")
    git(top / "second", "commit", "-q", "-a", "-m", "changed")
    git(top / "work", "worktree", "remove", str(top / "second"))
    assert not (top / "second").exists()
    assert_sound(top / "work")


@after_remount("the repository is sound and no file looks changed to the index")
def remounted(top):
    assert git(top / "work", "diff-files") == ""  # compares inode numbers and times
    for name in "work", "linked", "copied":
        assert_sound(top / name)


if __name__ == "__main__":
    main()
