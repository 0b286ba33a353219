#!/usr/bin/python3
"""Holds the manual pages against the program.

usage: manual.py commands EXPFS MANDIR     each command, its usage and options, as "expfs help" tells them
       manual.py messages SRCDIR MANDIR    each message under DIAGNOSTICS, as the source has it
       manual.py names SRCDIR MANDIR       each kind of warning, attribute and key of config.yaml, as the source has it
       manual.py references MANDIR         each reference to a page of ours
       manual.py headings MANDIR           each heading, as the source of the page has it

Exit status: 0 they agree, 1 not (each difference is told on standard error).
"""
import glob
import os
import re
import subprocess
import sys

differences = []


def differs(*words):
    differences.append(" ".join(words))


def pages(mandir):
    """The pages by file name; of a link the page that it leads to."""
    found = {}
    for path in glob.glob(os.path.join(mandir, "*.[1-9]")):
        link = re.fullmatch(r"\.so man\d/(\S+)\n", open(path).read())
        found[os.path.basename(path)] = os.path.join(mandir, link.group(1)) if link else path
    return found


def output(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True).stdout


def spaced(usage):
    return re.sub(r"\s*\|\s*", "|", re.sub(r"\s+", " ", usage.replace("…", "..."))).replace(" ...", "...").strip()


def usages(page):
    """The lines of the synopsis, by command."""
    text = re.sub(r".\x08", "", output("mandoc", "-T", "ascii", "-O", "width=500", page))
    synopsis = re.search(r"^SYNOPSIS\n(.*?)^DESCRIPTION$", text, re.M | re.S).group(1)
    return {line.split()[1]: spaced(line) for line in synopsis.splitlines() if line.startswith("     expfs ")}


def options_of_page(page, command):
    section = re.search(r"^\.Ss expfs %s\n(.*?)(?=^\.S[sh] )" % command, open(page).read(), re.M | re.S)
    if not section:
        return None
    flags = re.findall(r"^\.It Fl (\S+)", section.group(1), re.M)
    return {"-" + f for f in flags} | set(re.findall(r"^\.It Cm (\S+)", section.group(1), re.M))


def options_of_help(text):
    return set(re.findall(r"^ +(--?[a-z][\w-]*)", text, re.M)) | set(re.findall(r"^ {8,}([a-z_]+)  ", text, re.M))


def check_command(command, text, page, synopsis):
    usage = spaced(text.splitlines()[0])
    pattern = re.escape(usage).replace(re.escape("[OPTION...]"), ".*")
    if not re.fullmatch(pattern, synopsis.get(command, "")):
        differs("%s: help says %r, the page %r" % (command, usage, synopsis.get(command)))
    options, told = options_of_page(page, command), options_of_help(text)
    if options is None:
        differs("%s: the page has no section expfs %s" % (command, command))
    elif options != told:
        differs("%s: options only in help: %s; only in the page: %s" % (command, sorted(told - options), sorted(options - told)))


def check_commands(expfs, mandir):
    found, commands, documented = pages(mandir), {}, set()
    for word in sorted(set(re.findall(r"[a-z]+", output(expfs, "help")))):
        text = subprocess.run([expfs, "help", word], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if text.returncode == 0:
            commands[word] = text.stdout
    overview = open(found["expfs.1"]).read()
    for command, text in commands.items():
        page = found.get("expfs-%s.1" % command)
        if not page:
            differs("%s: has no page expfs-%s.1" % (command, command))
            continue
        check_command(command, text, page, usages(page))
        if "\n.Xr expfs-%s 1\n" % command not in overview and page != found["expfs.1"]:
            differs("%s: is not in expfs(1)" % command)
        if not re.search(r"^\.Nm expfs-%s\b" % command, open(page).read(), re.M):
            differs("%s: is not under NAME" % command)
    for page in set(found.values()):
        if page.endswith(".1"):
            documented |= {c for c in usages(page) if c.islower()}
    for command in sorted(documented - set(commands)):
        differs("%s: is no command, but has a page" % command)


def source_texts(srcdir):
    """Literals of the source, adjacent ones joined, with a NUL for each conversion."""
    texts = []
    for path in glob.glob(srcdir + "/src/**/*.c", recursive=True) + glob.glob(srcdir + "/fs/*.c"):
        text = re.sub(r'"\s*(PRI\w+|JSON_INTEGER_FORMAT)\s*"', "u", open(path).read())
        text = re.sub(r'"\s*\n\s*"', "", text)
        texts += re.findall(r'"((?:[^"\\\n]|\\.)*)"', text)
    return [re.sub(r"%[-.*\d]*l*z?[a-zA-Z]", "\0", t) for t in texts]


def check_messages(srcdir, mandir):
    texts = source_texts(srcdir)
    for page in sorted(set(pages(mandir).values())):
        lists = "".join(re.findall(r"^\.Bl -diag\n.*?^\.El$", open(page).read(), re.M | re.S))
        for message in re.findall(r'^\.It "(.*)"$', lists, re.M):
            for piece in re.split(r"\b[A-Z]+\b|\.\.\.|[:;] ", message):
                piece = piece.strip(" :;,/-")
                if len(piece) > 3 and not any(piece in t for t in texts):
                    differs("%s: %r: the source has no %r" % (os.path.basename(page), message, piece))


def listed(page, macro, begin, end):
    """The names of the items in a part of a page."""
    part = re.search(r"^%s\n(.*?)^%s" % (begin, end), open(page).read(), re.M | re.S).group(1)
    return set(" ".join(re.findall(r"^\.It %s(.*)$" % macro, part, re.M)).split())


def check_names(srcdir, mandir):
    read = lambda name: open(os.path.join(srcdir, name)).read()
    warning, config = read("src/op/warning.c"), read("src/exp/config.c")
    kinds = set(re.findall(r'\bwarn\(\w+, "([\w-]+)"', warning)) | set(re.findall(r'\[JUDGE_\w+\] = "([\w-]+)"', warning))
    attributes = {"user.expfs." + key for key in re.findall(r'{ "(\w+)", \w+_value }', read("fs/xattr.c"))}
    keys = set(re.findall(r'{ "(\w+)", read_\w+ }', config))
    keys |= set(re.findall(r'\[ROLE_\w+\] = "(\w+)"', read("src/format/role.c")))
    page = open(mandir + "/expfs.config.5").read()
    page_keys = re.findall(r"\bIc ([\w ,]+) :", re.search(r"^\.Sh DESCRIPTION(.*?)^\.Ss", page, re.M | re.S).group(1))
    told = {
        "warnings": (kinds, listed(mandir + "/expfs-status.1", "", r"\.Ss Warnings", r"\.Pp")),
        "attributes": (attributes, listed(mandir + "/expfs-tree.7", "Li ", r"\.Sh ATTRIBUTES", r"\.El")),
        "keys": (keys, set(re.findall(r"\w+", " ".join(page_keys)))),
    }
    for what, (source, page) in told.items():
        if source != page or not source:
            differs("%s: only in the source: %s; only in the page: %s" % (what, source - page, page - source))


def check_references(mandir):
    found = pages(mandir)
    for page in sorted(set(found.values())):
        for name, section in re.findall(r"^\.Xr (\S*expfs\S*) (\d)", open(page).read(), re.M):
            if "%s.%s" % (name, section) not in found:
                differs("%s: refers to %s(%s), which there is not" % (os.path.basename(page), name, section))


def check_headings(mandir):
    """A word in one that is the name of a macro vanishes or becomes something else."""
    for page in sorted(set(pages(mandir).values())):
        shown = {line.strip() for line in re.sub(r".\x08", "", output("mandoc", "-T", "ascii", page)).splitlines()}
        for heading in re.findall(r"^\.S[hs] (.*)$", open(page).read(), re.M):
            if heading.replace("\\&", "") not in shown:
                differs("%s: the heading %r is shown otherwise" % (os.path.basename(page), heading))


checks = {"commands": check_commands, "messages": check_messages, "names": check_names, "references": check_references,
          "headings": check_headings}
checks[sys.argv[1]](*sys.argv[2:])
for line in differences:
    print(line, file=sys.stderr)
sys.exit(1 if differences else 0)
