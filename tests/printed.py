#!/usr/bin/python3
"""Runs what a document prints, in one shell, and holds the output against what is printed there.

usage: printed.py [--stdout] DOCUMENT DIRECTORY [SECTION]

DOCUMENT is a text in Markdown, of which the ```console blocks are run, or a manual page in mdoc, of which the literal
displays with commands are; all of them, or those below the heading SECTION, one after the other, in DIRECTORY. What
stands in a block with the name of a file, as ```python train.py, is written to that file first. A command whose exit
status is not 0 is followed by one with "$?" in it, or is wrong.

With --stdout what goes to standard error is not compared: programs that train say there what differs from machine to
machine.

Sizes, losses, times, numbers of selections and the digests of weights may differ from those printed, and the home
directory, which is printed as /root; nothing else.

Exit status: 0 all as printed, 1 not (each difference is told).
"""
import os
import re
import subprocess
import sys

MARK = "--- printed: end of command, exit status "
ROFF = {r"\&": "", r"\e": "\\", r"\-": "-", r"\(ti": "~", r"\(ha": "^", r"\(aq": "'", r"\(ga": "`"}


def markdown(text, section, directory):
    if section:
        inside = re.search(r"^## %s$(.*?)(?=^## |\Z)" % re.escape(section), text, re.M | re.S)
        text = inside.group(1) if inside else ""
    for name, content in re.findall(r"^```\w+ (\S+)$\n(.*?)^```$", text, re.M | re.S):
        with open(os.path.join(directory, os.path.expanduser(name)), "w") as f:
            f.write(content)
    return re.findall(r"^```console$\n(.*?)^```$", text, re.M | re.S)


def mdoc(text):
    plain = lambda block: re.sub(r"\\(&|e|-|\(..)", lambda m: ROFF[m.group()], block)
    return [plain(b) for b in re.findall(r"^\.Bd -literal[^\n]*\n(\$ .*?)^\.Ed$", text, re.M | re.S)]


def commands(blocks):
    """Pairs of a command and the lines that are printed below it."""
    found = []
    for line in "".join(blocks).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def normal(lines, home):
    out = []
    for line in lines:
        if re.match("expfs: .*: is unmounted.*; waiting", line):
            continue  # a process of another, which has mounts of its own, still looked at it
        line = line.replace(home, "HOME").replace("/root", "HOME")
        line = re.sub(r" *\b\d+(\.\d+)? ([KMG]iB|B)\b", " SIZE", line)
        line = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME", line)
        line = re.sub(r"sel-\d+", "sel-N", line)
        line = re.sub(r"^(sha256|model|tensors)( +)[0-9a-f]{32,}$", r"\1\2DIGEST", line)
        out.append(re.sub(r"loss \d+\.\d+", "loss N", line))
    return out


def main():
    stdout = sys.argv[1] == "--stdout" and bool(sys.argv.pop(1))
    document, directory = sys.argv[1:3]
    home = os.environ["HOME"]
    text = open(document).read()
    blocks = markdown(text, "".join(sys.argv[3:]), directory) if document.endswith(".md") else mdoc(text)
    pairs = commands(blocks)
    script = "".join("%s\nended=$?; printf '%%s%%s\\n' '%s' $ended; (exit $ended)\n" % (command, MARK) for command, _ in pairs)
    run = subprocess.run(["bash"], input=script, cwd=directory, stdout=subprocess.PIPE,
                         stderr=None if stdout else subprocess.STDOUT, text=True)
    parts = re.split(re.escape(MARK) + r"(\d+)\n", run.stdout)
    good = len(pairs) > 0 and len(parts) == 2 * len(pairs) + 1
    following = [command for command, _ in pairs[1:]] + [""]
    for (command, printed), output, status, after in zip(pairs, parts[::2], parts[1::2], following):
        got = output.rstrip("\n").split("\n") if output else []
        print("$ %s\n%s" % (command, output), end="")
        if status != "0" and "$?" not in after:
            print("exit status %s" % status)
            good = False
        if normal(got, home) != normal(printed, home):
            print("%s prints:\n%s" % (os.path.basename(document), "\n".join(printed)))
            good = False
    sys.exit(0 if good else 1)


main()
