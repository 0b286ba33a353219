#!/usr/bin/python3
"""Kills `expfs export` at random moments and looks, each time, whether what is in the folder is whole and of known versions.

usage: exporter.py --expfs PROGRAM --dir DIR [--rounds N] [--seed N] [--no-exchange]

A run saves a file and, in every second round, a directory; both become the latest in turn, so that latest.bin, latest and latest/ take
each other's place, too. With --no-exchange the folder's file system seems not to know RENAME_EXCHANGE, as FAT.
"""
import argparse
import ctypes
import errno
import hashlib
import os
import random
import platform
import struct
import subprocess
import sys
import time
from pathlib import Path

FILES = ("model.safetensors", "config.json", "trainer_state.json")


def digest(path):
    """Of a file, or of all files of a directory."""
    if path.is_dir():
        return tuple(sorted((p.name, digest(p)) for p in path.iterdir()))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def refuse_exchange():
    """Calls of renameat2 with RENAME_EXCHANGE fail in this process and its children (seccomp)."""
    call = {"x86_64": 316, "aarch64": 276}[platform.machine()]
    load_number, load_flags = 0, 16 + 8 * 4  # offsets in struct seccomp_data: the call, the lower half of its fifth argument
    code = [
        (0x20, 0, 0, load_number),
        (0x15, 0, 3, call),
        (0x20, 0, 0, load_flags),
        (0x45, 0, 1, 2),  # RENAME_EXCHANGE
        (0x06, 0, 0, 0x00050000 | errno.EINVAL),
        (0x06, 0, 0, 0x7FFF0000),
    ]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    header = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, ctypes.c_char_p(header), 0, 0) == 0, os.strerror(ctypes.get_errno())  # PR_SET_SECCOMP


class Round:
    def __init__(self, options):
        self.expfs, self.dir = options.expfs, Path(options.dir)
        self.random = random.Random(options.seed)
        self.store, self.mount, self.folder = (self.dir / name for name in ("store", "mnt", "folder"))
        self.known = {"latest": set(), "best": set()}
        self.wanted = {}
        self.step = 0
        self.limit = refuse_exchange if options.no_exchange else None
        self.longest = 0.1  # seconds that an export is given; nears what it takes

    def command(self, *arguments):
        return [self.expfs, *map(str, arguments)]

    def run(self, *arguments):
        subprocess.run(self.command(*arguments), check=True, stdout=subprocess.DEVNULL)

    def prepare(self):
        self.dir.mkdir(parents=True, exist_ok=True)
        self.mount.mkdir()
        self.run("init", self.store)
        (self.store / "config.yaml").write_text('roles:\n  WEIGHTS: ["state_<n>"]\n')
        self.run("mount", self.store, self.mount)
        self.top = self.mount / "runs" / "r"
        self.top.mkdir()

    def save(self):
        self.step += 1
        content = self.random.randbytes(400_000)
        if self.step % 4 < 2:
            path = self.top / (f"step_{self.step}.bin" if self.step % 8 < 4 else f"state_{self.step}")
            path.write_bytes(content)
        else:
            path = self.top / f"checkpoint-{self.step}"
            path.mkdir()
            for name in FILES:
                (path / name).write_bytes(content if name == FILES[0] else b'{"global_step": %d}' % self.step)
            (path / FILES[0]).write_bytes(len(b"{}").to_bytes(8, "little") + b"{}")
        with open(self.top / "metrics.jsonl", "a") as metrics:
            metrics.write('{"step": %d, "val_loss": %f}\n' % (self.step, 1 / self.step if self.random.random() < 0.5 else 9))
        for name in self.known:
            view = self.mount / "branches" / "r" / name
            self.wanted[name] = digest(Path(os.path.realpath(view)))
            self.known[name].add(self.wanted[name])

    def export_and_kill(self):
        process = subprocess.Popen(self.command("export", self.top, self.folder), stdout=subprocess.DEVNULL, preexec_fn=self.limit)
        try:
            process.wait(self.random.uniform(0, self.longest))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.longest *= 1.1
            return True
        assert process.returncode == 0, f"export ended with {process.returncode}"
        self.longest *= 0.8
        return False

    def check(self):
        """Each of the pair is there, whole, though what an export was at may lie beside, or an old one that had to make room. Whether
        something does."""
        for name in self.known:
            found = [p for p in (self.folder / name, self.folder / f"{name}.bin") if p.exists()]
            found = found or [p for p in (self.folder / f".expfs-old-{name}",) if p.exists()]
            assert found, f"{name} is gone: {sorted(os.listdir(self.folder))}"
            for path in found:
                assert digest(path) in self.known[name], f"{path} is no version"
        left = [name for name in os.listdir(self.folder) if name.startswith((".expfs-part-", ".expfs-old-"))]
        others = set(os.listdir(self.folder)) - {"latest", "latest.bin", "best", "best.bin", *left}
        assert not others, others
        return bool(left)

    def check_end(self):
        self.save()
        while self.step % 8 > 1:  # of a state_N export need not think that a run goes on from it
            self.save()
        self.run("export", self.top, self.folder)
        self.check()
        names = sorted(os.listdir(self.folder))
        assert len(names) == 2, names
        for path in self.folder.iterdir():
            assert digest(path) == self.wanted[path.stem], f"{path} is not the newest"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--expfs", required=True)
    parser.add_argument("--dir", required=True)
    parser.add_argument("--no-exchange", action="store_true")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print("seed", options.seed)
    r = Round(options)
    r.prepare()
    try:
        r.save()
        r.run("export", r.top, r.folder)
        killed = left = 0
        while killed < options.rounds:
            r.save()
            killed += r.export_and_kill()
            left += r.check()
        r.check_end()
        print(f"killed {killed} times of {r.step}, {left} times with something left")
    finally:
        r.run("umount", r.mount)


main()
