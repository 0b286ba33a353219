"""What the client scripts share.

A client script is run as `with_NAME.py DIR [before|after]`: it works in DIR as
the real program would, prints one TAP line for each of its tests, in the order
in which they stand, and ends with 1 if one failed. `after` runs the tests that
look, after a remount, at what `before` left in DIR. DIR is the top of a mount,
or any other directory, to compare.
"""

import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

_tests = {"before": [], "after": []}


class Skip(Exception):
    """Raised by a test that cannot be done here; the text says why."""


def test(sentence, phase="before"):
    def register(function):
        _tests[phase].append((sentence, function))
        return function
    return register


def after_remount(sentence):
    return test(sentence, "after")


def main():
    directory = Path(sys.argv[1]).resolve()
    phase = sys.argv[2] if len(sys.argv) > 2 else "before"
    tap = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the programs print is no TAP
    failed = False
    for sentence, function in _tests[phase]:
        print(f"== {sentence}", flush=True)  # heads what follows in the log
        try:
            function(directory)
        except Skip as reason:
            print(f"ok - {sentence} # SKIP {reason}", file=tap)
        except Exception:
            failed = True
            print(f"not ok - {sentence}", file=tap)
            for line in traceback.format_exc().splitlines():
                print(f"# {line}", file=tap)
        else:
            print(f"ok - {sentence}", file=tap)
    sys.exit(failed)


_spawn = multiprocessing.get_context("spawn")


def fresh(function, *arguments):
    """The function's result in a new process, as when a program is started again."""
    with ProcessPoolExecutor(1, mp_context=_spawn) as pool:
        return pool.submit(function, *arguments).result()


def start(function, *arguments):
    """A new process running function(*arguments, say), where say(object) tells the
    caller, who reads it with the returned hear(). Returns process, hear."""
    ours, theirs = _spawn.Pipe(duplex=False)
    process = _spawn.Process(target=function, args=(*arguments, theirs.send), daemon=True)
    process.start()
    theirs.close()  # so that hear() fails at once when the process dies

    def hear():
        assert ours.poll(60), "nothing heard for 60 seconds"
        return ours.recv()
    return process, hear


def kill(process):
    process.kill()
    process.join()


def run(*command, status=0, **options):
    """What the command prints; fails with all it printed if it ends otherwise."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    assert done.returncode == status, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def view(directory, path):
    """The path of a view in the mount's top directory."""
    if not os.path.ismount(directory):
        raise Skip("only a mount has views")
    return directory / path


def equal(found, expected):
    assert found == expected, f"{found} is not {expected}"


def expfs(directory, *command):
    """The answer of the command to one who stands at the mount's top directory."""
    view(directory, "")
    return json.loads(run(os.environ["EXPFS"], *command, "--json", cwd=directory))


def digest(path):
    """What tells one content from another: of a directory that of each file in it."""
    if path.is_dir():
        return {str(found.relative_to(path)): digest(found) for found in path.rglob("*") if not found.is_dir()}
    return hashlib.sha256(path.read_bytes()).hexdigest()
