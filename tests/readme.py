#!/usr/bin/python3
"""Runs what the README prints, in one shell, and holds the output against what is printed there.

usage: readme.py README DIRECTORY SECTION

SECTION is the heading whose ```console block is run, in DIRECTORY, with a home directory of its own.
Sizes, losses, times, numbers of selections and the digests of weights may differ from those printed, and where the home
directory is; nothing else.

Exit status: 0 all as printed, 1 not (each difference is told).
"""
import os
import re
import subprocess
import sys

MARK = "--- readme: end of command, exit status "


def console_block(text, section):
    inside = re.search(r"^## %s$(.*?)(?=^## |\Z)" % re.escape(section), text, re.M | re.S)
    block = inside and re.search(r"^```console$(.*?)^```$", inside.group(1), re.M | re.S)
    if not block:
        sys.exit("no console block in the section %s" % section)
    return block.group(1).strip("\n").split("\n")


def commands(lines):
    """Pairs of a command and the lines that are printed below it."""
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def normal(lines, home):
    out = []
    for line in lines:
        line = line.replace(home, "HOME").replace("/root", "HOME")
        line = re.sub(r"\d+(\.\d+)? ([KMG]iB|B)\b", "SIZE", line)
        line = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", line)
        line = re.sub(r"sel-\d+", "sel-N", line)
        line = re.sub(r"^(sha256|model|tensors)( +)[0-9a-f]{32,}$", r"\1\2DIGEST", line)
        out.append(re.sub(r"loss \d+\.\d+", "loss N", line))
    return out


def main():
    readme, directory, section = sys.argv[1:]
    home = os.environ["HOME"]
    pairs = commands(console_block(open(readme).read(), section))
    script = "".join("%s\nprintf '%%s%%s\\n' '%s' $?\n" % (command, MARK) for command, _ in pairs)
    run = subprocess.run(["bash"], input=script, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    parts = re.split(re.escape(MARK) + r"(\d+)\n", run.stdout)
    good = len(parts) == 2 * len(pairs) + 1
    for (command, printed), output, status in zip(pairs, parts[::2], parts[1::2]):
        got = output.rstrip("\n").split("\n") if output else []
        print("$ %s\n%s" % (command, output), end="")
        if status != "0":
            print("exit status %s" % status)
            good = False
        if printed and normal(got, home) != normal(printed, home):
            print("the README prints:\n%s" % "\n".join(printed))
            good = False
    sys.exit(0 if good else 1)


main()
