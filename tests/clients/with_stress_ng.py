"""stress-ng: its file system stressors, two processes each; one that does not go is run on the disk too."""

import re
import subprocess
import tempfile

from client import Skip, main, test

SECONDS = 2

MORE = "aio", "aiol", "msync", "readahead", "revio", "seek", "sendfile"  # of other classes, on files too

EXCLUDED = {
    "bind-mount": "mounts over the machine's root",
    "binderfs": "mounts a file system of its own",
    "eventfd": "touches no file system",
    "fanotify": "marks every mount of the machine",
    "procfs": "reads /proc only",
}

IMPOSSIBLE = {"fiemap": "FUSE passes this request on to no file system"}


def stress(name, directory):
    """How it went, and what was printed."""
    with tempfile.TemporaryDirectory(dir=directory) as path:
        done = subprocess.run(
            ["stress-ng", f"--{name}", "2", "--timeout", f"{SECONDS}s", "--temp-path", path, "--verify"],
            cwd=path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace")
    if done.returncode:
        return f"ended with {done.returncode}", done.stdout
    return "was skipped" if "skipping stress" in done.stdout else "went on", done.stdout


def register(name):
    @test(f"{name} goes on as on the disk")
    def stressed(top):
        here, printed = stress(name, top)
        if here == "went on":
            return
        on_disk, _ = stress(name, tempfile.gettempdir())
        if here == on_disk:
            raise Skip(f"it {here} on the disk too")
        if here == "was skipped" and name in IMPOSSIBLE:
            raise Skip(IMPOSSIBLE[name])
        raise AssertionError(f"{here}, {on_disk} on the disk:\n{printed}")


for name in re.findall(r"[\w-]+", subprocess.run(
        ["stress-ng", "--class", "filesystem?"], stdout=subprocess.PIPE, text=True
        ).stdout.partition("stressors:")[2]) + list(MORE):
    if name not in EXCLUDED:
        register(name)


if __name__ == "__main__":
    main()
