"""What a directory tree holds: as a model that operations change, and as found on a disk.

A tree is a dict from relative path to Node; names of one hard-linked file share their Node.
"""
import os
import stat


class Node:
    """kind: 'f', 'd', 'l', 'p'. mtime and mode are None where anything is right."""

    def __init__(self, kind, mode=None, data=b"", target=None, mtime=None, xattrs=()):
        self.kind, self.mode, self.data, self.target = kind, mode, data, target
        self.mtime, self.xattrs = mtime, dict(xattrs)
        self.ino = self.nlink = None  # of nodes found on a disk

    def copy(self):
        return Node(self.kind, self.mode, self.data, self.target, self.mtime, self.xattrs)


class Partial:
    """The content base, over which any prefix of chunk may lie at offset."""

    def __init__(self, base, offset, chunk):
        self.base, self.offset, self.chunk = base, offset, chunk

    def accepts(self, data):
        there = data[self.offset:self.offset + len(self.chunk)]
        n = len(os.path.commonprefix([there, self.chunk]))
        return overlay(self.base, self.offset, self.chunk[:n]) == data


def overlay(base, offset, chunk):
    if not chunk:
        return base
    if len(base) < offset:
        base += bytes(offset - len(base))
    return base[:offset] + chunk + base[offset + len(chunk):]


def copy(tree):
    seen = {}
    return {path: seen.setdefault(id(node), node.copy()) for path, node in tree.items()}


def scan_path(path):
    st = os.lstat(path)
    kind = {stat.S_IFREG: "f", stat.S_IFDIR: "d", stat.S_IFLNK: "l", stat.S_IFIFO: "p"}[stat.S_IFMT(st.st_mode)]
    node = Node(kind)
    if kind == "f":
        with open(path, "rb") as f:
            node.data = f.read()
        node.mtime = st.st_mtime_ns
        if len(node.data) != st.st_size:
            raise OSError("%s: size %d, read %d bytes" % (path, st.st_size, len(node.data)))
    if kind == "l":
        node.target = os.readlink(path)
    else:
        node.mode = stat.S_IMODE(st.st_mode)
        node.xattrs = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    node.ino, node.nlink = st.st_ino, st.st_nlink
    return node


def scan(top, tree=None, below="", wanted=lambda path: True):
    """Reads what is below top/below into a tree; wanted() chooses among the paths."""
    tree = {} if tree is None else tree
    inodes = {}
    todo = [below]
    while todo:
        directory = todo.pop()
        for name in os.listdir(os.path.join(top, directory)):
            path = os.path.join(directory, name)
            if not wanted(path):
                continue
            node = scan_path(os.path.join(top, path))
            tree[path] = inodes.setdefault(node.ino, node)
            if node.kind == "d":
                todo.append(path)
    return tree


def describe(data):
    return data if not isinstance(data, bytes) else "%d bytes" % len(data)


def differences(model, found):
    """Lines that say in what the tree found is not the model; none if it is."""
    lines = ["%s: is missing" % path for path in sorted(model.keys() - found.keys())]
    lines += ["%s: should not be there" % path for path in sorted(found.keys() - model.keys())]
    for path in sorted(model.keys() & found.keys()):
        want, have = model[path], found[path]
        for what in ("kind", "mode", "target", "xattrs"):
            a, b = getattr(want, what), getattr(have, what)
            if a is not None and a != b:
                lines.append("%s: %s is %r, expected %r" % (path, what, b, a))
        if want.mtime is not None and want.mtime != have.mtime:
            lines.append("%s: mtime is %r, expected %r" % (path, have.mtime, want.mtime))
        if isinstance(want.data, Partial):
            if not want.data.accepts(have.data):
                lines.append("%s: %d bytes are no state of the write that was under way" % (path, len(have.data)))
        elif want.data != have.data:
            at = len(os.path.commonprefix([want.data, have.data]))
            lines.append("%s: %d bytes, expected %d, differ at %d" % (path, len(have.data), len(want.data), at))
    return lines + link_differences(model, found)


def link_differences(model, found):
    lines, node_of = [], {}
    names, children = {}, {}
    for path, node in model.items():
        names.setdefault(id(node), []).append(path)
        if node.kind == "d":
            parent = os.path.dirname(path)
            children[parent] = children.get(parent, 0) + 1
    for path in sorted(model.keys() & found.keys()):
        want, have = model[path], found[path]
        wanted = 2 + children.get(path, 0) if want.kind == "d" else len(names[id(want)])
        if have.nlink != wanted:
            lines.append("%s: link count %d, expected %d" % (path, have.nlink, wanted))
        if node_of.setdefault(have.ino, want) is not want:
            lines.append("%s: shares its inode with a file that it was never linked to" % path)
    for paths in names.values():
        if len({found[p].ino for p in paths if p in found}) > 1:
            lines.append("%s: names of one file are several inodes" % " ".join(sorted(paths)))
    return lines
