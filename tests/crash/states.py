"""What a tree may hold after a power cut: a model that calls change, and what of it is promised.

The calls of one process, in their order, change names and contents. Of the names a power cut leaves the
state of one moment, not before the last fsync. What a name then leads to is one state of its history: the
contents that it had since one of them was synced, each whole. None in a history is: there was no such file.
"""
import posixpath
import random
import re

BLOCK = 4096
PIECE = 64  # of changes in place each such piece is there or not
BLOB = random.Random(0).randbytes(1 << 20)


def stream(key, at, length):
    """Bytes of the content of this name; each block tells whose it is, and which."""
    blocks = []
    for n in range(at // BLOCK, (at + length + BLOCK - 1) // BLOCK):
        head = b"<%s %d>\n" % (key.encode(), n)
        start = (sum(head) * 7919 + n * 4099) % (len(BLOB) - BLOCK)
        blocks.append(head + BLOB[start:start + BLOCK - len(head)])
    return b"".join(blocks)[at % BLOCK:at % BLOCK + length]


def identify(data):
    """What the blocks of a content say of it."""
    if not data:
        return "empty"
    counts = {}
    for at in range(0, len(data), BLOCK):
        block = data[at:at + BLOCK]
        m = re.match(rb"<(\S+) (\d+)>\n", block)
        key = m.group(1).decode() if m else "zeros" if not block.strip(b"\0") else "?"
        counts[key] = counts.get(key, 0) + 1
    return "%d bytes, blocks of %s" % (len(data), ", ".join("%s: %d" % c for c in counts.items()))


class Content:
    """base, all of it, and changes that were made in place since, of which any piece may be there."""

    def __init__(self, base):
        self.base, self.now, self.changes = bytes(base), bytearray(base), []

    def change(self, offset, data):
        self.changes.append((offset, data))
        put(self.now, offset, data)

    def settle(self):
        self.base, self.changes = bytes(self.now), []

    def accepts(self, data):
        if not self.changes or data == self.base:
            return data == self.base
        end = max([len(self.base)] + [offset + len(d) for offset, d in self.changes])
        if not len(self.base) <= len(data) <= end:
            return False
        open_ = set(at for at in range(0, len(data), PIECE)
                    if data[at:at + PIECE] != self.base[at:at + PIECE] or at + PIECE > len(self.base))
        return all(self.piece_accepts(data, at) for at in open_)

    def piece_accepts(self, data, at):
        """Is each byte of the piece one that was written there, or nothing yet?"""
        for i in range(at, min(at + PIECE, len(data))):
            may = {self.base[i]} if i < len(self.base) else {0}
            may.update(d[i - offset] for offset, d in self.changes if offset <= i < offset + len(d))
            if data[i] not in may:
                return False
        return True


def put(array, offset, data):
    if len(array) < offset:
        array.extend(bytes(offset - len(array)))
    array[offset:offset + len(data)] = data


class File:
    """An inode. content: as closed, or changed in place; written: what is written from empty, until its close."""

    def __init__(self, content=None):
        self.content, self.written = content, None if content else bytearray()


class Name:
    def __init__(self, file, history):
        self.file, self.history = file, history

    def settled(self):
        return len(self.history) == 1 and self.history[0] is not None and self.file.written is None


class Model:
    """nodes: path → Name of a file, "/" for a directory, or the target of a symbolic link as ("l", target)."""

    def __init__(self, found):
        self.nodes, self.fds, files = {}, {}, {}
        for path, node in found.items():
            if node.kind == "f":
                file = files.setdefault(node.ino, File(Content(node.data)))
                self.nodes[path] = Name(file, [file.content])
            else:
                self.nodes[path] = "/" if node.kind == "d" else ("l", node.target)

    def names(self, file):
        return [n for n in self.nodes.values() if isinstance(n, Name) and n.file is file]

    def below(self, path):
        return [p for p in self.nodes if p == path or p.startswith(path + "/")]

    def state(self):
        """As it is now; contents that are changed in place later take those changes along."""
        return {p: (n.file, tuple(n.history)) if isinstance(n, Name) else n for p, n in self.nodes.items()}

    def apply(self, call, acknowledged):
        """Does what the call does; acknowledged: it returned before the power failed."""
        getattr(self, "do_" + call[0])(*call[1:], **({"acknowledged": acknowledged} if "sync" in call[0] else {}))

    def do_open(self, fd, path, how):
        if path not in self.nodes:
            self.nodes[path] = Name(File(), [None])
        file = self.fds[fd] = self.nodes[path].file
        if how == "trunc" or (how != "read" and file.content and not file.content.now):
            file.written = bytearray()

    def do_write(self, fd, key, at, length, offset):
        file, data = self.fds[fd], stream(key, at, length)
        if file.written is not None:
            put(file.written, len(file.written) if offset is None else offset, data)
        else:
            file.content.change(len(file.content.now) if offset is None else offset, data)

    def do_copy(self, path, fd):
        self.fds[fd].written[:] = self.nodes[path].file.content.now

    def do_close(self, fd):
        file = self.fds.pop(fd)
        if file.written is not None and file not in self.fds.values():
            self.new_state(file)

    def new_state(self, file):
        file.content, file.written = Content(file.written), None
        for name in self.names(file):
            name.history.append(file.content)

    def sync(self, file, acknowledged):
        """What is not acknowledged may have been done, too."""
        if file.written is not None:
            self.new_state(file)
        if acknowledged:
            file.content.settle()
            for name in self.names(file):
                name.history = [file.content]

    def do_fsync(self, fd, acknowledged):
        self.sync(self.fds[fd], acknowledged)

    def do_syncdir(self, path, acknowledged):
        """Is for what is closed, and for what has nothing to go back to; of what was empty it may be."""
        for name in [n for p, n in self.nodes.items() if isinstance(n, Name) and posixpath.dirname(p) == path]:
            if name.file.written is None and not name.file.content.changes:
                self.sync(name.file, acknowledged)
            elif name.file.written is not None and (None in name.history or not any(c.now for c in name.history)):
                self.sync(name.file, acknowledged and name.history == [None])

    def do_rename(self, path, to):
        moved = self.nodes[path]
        if isinstance(moved, Name):
            over = self.nodes.get(to)
            before = over.history if over else [None]
            if over and max(len(self.names(moved.file)), len(self.names(over.file))) > 1 and moved.file.written is not None:
                self.new_state(moved.file)
            if not moved.settled():
                moved.history = before + ([moved.file.content] if moved.file.written is None else [])
        for p in self.below(path):
            self.nodes[to + p[len(path):]] = self.nodes.pop(p)

    def do_exchange(self, a, b):
        one, other = self.nodes[a], self.nodes[b]
        for name in (one, other):
            if name.file.written is not None:
                self.new_state(name.file)
        history = other.history if other.settled() else one.history + [other.file.content]
        if not one.settled():
            one.history = other.history + [one.file.content]
        other.history = history
        self.nodes[a], self.nodes[b] = other, one

    def do_link(self, path, to):
        name = self.nodes[path]
        if name.file.written is not None:
            self.new_state(name.file)
        self.nodes[to] = Name(name.file, [name.file.content] if name.settled() else [None, name.file.content])

    def do_truncate(self, path):
        file = self.nodes[path].file
        file.written = bytearray()
        if file not in self.fds.values():
            self.new_state(file)

    def do_unlink(self, path):
        del self.nodes[path]

    do_rmdir = do_unlink

    def do_mkdir(self, path):
        self.nodes[path] = "/"

    def do_symlink(self, target, path):
        self.nodes[path] = ("l", target)


# --- is it so? ---

def file_difference(path, history, node):
    if node is None:
        return None if None in history else "%s: is missing; it had: %s" % (path, tell(history))
    if node.kind != "f":
        return "%s: is no file" % path
    if any(content and content.accepts(node.data) for content in history):
        return None
    return "%s: %s; it had: %s" % (path, identify(node.data), tell(history))


def tell(history):
    return " / ".join("nothing" if c is None else identify(c.now) +
                      (" (%d changes not synced)" % len(c.changes) if c.changes else "") for c in history)


def differences(state, found):
    """Lines that say what of the tree found can not be, if the names are those of this state."""
    lines = ["%s: should not be there: %s" % (p, identify(n.data) if n.kind == "f" else n.kind)
             for p, n in found.items() if p not in state]
    for path, want in state.items():
        node = found.get(path)
        if want == "/" or want[0] == "l":
            if node is None or (node.kind, node.target) != (("d", None) if want == "/" else want):
                lines.append("%s: %s, found %s" % (path, want, node and (node.kind, node.target)))
            continue
        line = file_difference(path, want[1], node)
        if line:
            lines.append(line)
    return lines + link_differences(state, found)


def link_differences(state, found):
    """The names of one file are all there or all gone, and one inode, which nobody else has."""
    lines, names, inodes = [], {}, {}
    for path, want in state.items():
        if want != "/" and want[0] != "l":
            names.setdefault(want[0], []).append(path)
    for paths in names.values():
        inos = {found[p].ino if p in found else None for p in paths}
        if len(inos) > 1:
            lines.append("%s: names of one file, found as inodes %s" % (" ".join(paths), inos))
    for path, node in found.items():
        if node.kind == "f":
            inodes.setdefault(node.ino, []).append(path)
    for paths in inodes.values():
        if len({id(state[p][0]) for p in paths if p in state}) > 1:
            lines.append("%s: one inode, never were one file" % " ".join(paths))
        if found[paths[0]].nlink != len(paths):
            lines.append("%s: link count %d" % (" ".join(paths), found[paths[0]].nlink))
    return lines


class Call:
    """A line of a log: begun at a time, and returned at another (None: not)."""

    def __init__(self, call, begun):
        self.call, self.begun, self.ended = call, begun, None

    def is_sync(self):
        return self.call[0] in ("fsync", "syncdir", "commit")


def last_sync(logs, cut):
    """All calls that had returned at this time were synced, by whichever process."""
    return max((c.begun for calls in logs for c in calls if c.is_sync() and c.ended and c.ended < cut), default=0)


def check(base, calls, found, cut, synced):
    """Differences between what may be there and what was found. cut: what returned before that was acknowledged."""
    model, states, after = Model(base), [], 0
    for c in calls:
        if c.ended and (c.ended <= synced or (c.is_sync() and c.ended < cut)):
            after += 1
        else:
            break
    # the last acknowledged sync of its own may come after calls that the others did not see
    after = max([after] + [i + 1 for i, c in enumerate(calls) if c.is_sync() and c.ended and c.ended < cut])
    count = {path: node.target for path, node in found.items() if node.kind == "l"}
    for i, c in enumerate([None] + calls):
        if c:
            model.apply(c.call, c.ended is not None and c.ended < cut)
        if i >= after:
            states.append((i, model.state()))
    alike = [s for s in states if {p: n[1] for p, n in s[1].items() if n[0] == "l"} == count]
    if not alike:
        return ["the names are of no moment since the last sync: found %s, then was %s" %
                (count, {p: n[1] for p, n in states[0][1].items() if n[0] == "l"})]
    results = [(differences(state, found), i) for i, state in alike]
    lines, i = min(results, key=lambda r: len(r[0]))
    if lines:
        lines.append("(as of call %d of %d, the last synced is %d)" % (i, len(calls), after))
    return lines
