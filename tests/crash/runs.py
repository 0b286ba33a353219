"""A training in a run: edits of its configuration and data, and checkpoints, some with an edit in the midst; and what
its experiments must say after a power cut.

Each call is logged as those of saves.py. A checkpoint belongs to what lay in the run when its first byte was written
("first"; "rest" is the rest of it). An edit that the power cut took, so that history has not its text, counts as if
it had not been. Each text is written once.
"""
import hashlib
import json
import os
import random
import struct
import subprocess
import time

import saves

RUN, CONFIG = "runs/x", "config.yaml"
DATA = ("data/a.txt", "data/b.txt")
ABSENT = "00000000"
TORN = object()  # instead of a text: a path whose writer was killed, which counts as before


# --- hashes, as the specification says ---

def segment(text):
    return hashlib.sha256(text).hexdigest()[:8]


def hp_segment(text):
    config = json.loads(text.split("\n", 1)[1])  # which begins with a comment
    config.setdefault("auditor_mode", False)
    return segment(json.dumps(config, sort_keys=True).encode())


def data_segment(texts):
    """Of a dict from path to content."""
    lines = [b"%s %s\0" % (digest(text), path.encode()) for path, text in sorted(texts.items()) if text is not None]
    return segment(b"".join(lines)) if lines else ABSENT


def digest(data):
    return subprocess.run(["xxh128sum"], input=data, stdout=subprocess.PIPE, check=True).stdout.split()[0]


def model_segment(tensor):
    return segment(b"init_step:0\n%s:float32:[2,3]\n" % tensor.encode())


# --- the training ---

def weights(key, tensor):
    """Bytes of a checkpoint that tells its key."""
    header = json.dumps({"__metadata__": {"key": key}, tensor: {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}})
    return struct.pack("<Q", len(header)) + header.encode() + random.Random(key).randbytes(24)


def read_weights(path):
    """The key and the tensor of a checkpoint; None of a directory that lost its weights."""
    path = os.path.join(path, "model.safetensors") if os.path.isdir(path) else path
    if not os.path.exists(path):
        return None
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
    return header.pop("__metadata__")["key"], next(iter(header))


def put(path, data, how, sync):
    to = path + ".tmp" if how == "rename" else path
    with open(to, "wb") as f:
        f.write(data)
        f.flush()
        if sync:
            os.fsync(f.fileno())
    if to != path:
        os.rename(to, path)


def save_first(path, data):
    if path.startswith("checkpoint-"):
        os.mkdir(path)
        path += "/model.safetensors"
    f = open(path, "wb", buffering=0)
    f.write(data[:20])
    return f


def save_rest(path, f, data, sync):
    f.write(data[20:])
    if sync:
        os.fsync(f.fileno())
    f.close()
    if path.startswith("checkpoint-"):
        put(path + "/trainer_state.json", b"{}", "trunc", sync)


class Training:
    def __init__(self, rnd, session, log):
        self.rnd, self.session, self.log, self.count, self.saved = rnd, session, log, 0, []

    def do(self, f, *call):
        self.log.say("begin", call)
        result = f()
        self.log.say("end")
        return result

    def key(self):
        self.count += 1
        return "%d.%d" % (self.session, self.count)

    def begin(self):
        """Each path holds what was closed, and is no session's that was killed."""
        self.configure()
        for path in DATA:
            self.put_data(path)

    def configure(self):
        key = self.key()
        text = "# %s\n%s\n" % (key, json.dumps({"lr": self.rnd.choice((key, 0.1, 0.2)), "batch": [1, 2]}))
        how, sync = self.rnd.choice(("trunc", "rename")), self.rnd.random() < 0.3
        self.do(lambda: put(CONFIG, text.encode(), how, sync), "text", CONFIG, text)

    def put_data(self, path):
        text = self.key() + "\n"
        self.do(lambda: put(path, text.encode(), "trunc", self.rnd.random() < 0.3), "text", path, text)

    def edit_data(self):
        path = self.rnd.choice(DATA)
        if os.path.exists(path) and self.rnd.random() < 0.3:
            self.do(lambda: os.unlink(path), "text", path, None)
        else:
            self.put_data(path)

    def save(self):
        key = self.key()
        number = self.session * 10000 + self.count
        path = self.rnd.choice(("last.safetensors", "step_%d.safetensors" % number, "checkpoint-%d" % number))
        data, sync = weights(key, "b" if self.rnd.random() < 0.1 else "a"), self.rnd.random() < 0.4
        f = self.do(lambda: save_first(path, data), "first", path, key)
        if self.rnd.random() < 0.3:
            self.rnd.choice((self.configure, self.edit_data))()
        self.do(lambda: save_rest(path, f, data, sync), "rest", path, key)
        if path.startswith("step_"):
            self.saved.append(path)

    def tidy(self):
        if len(self.saved) > 3:
            path = self.saved.pop(0)
            self.do(lambda: os.unlink(path), "unlink", path)

    def ask(self):
        with open("../../branches/x/" + self.rnd.choice(("HEAD", "pending"))) as f:
            f.read()


def make(top):
    """A run that has a configuration on the disk."""
    os.makedirs(os.path.join(top, RUN, "data"))
    put(os.path.join(top, RUN, CONFIG), b'# 0\n{"lr": 0}\n', "trunc", True)
    saves.sync_directory(os.path.join(top, RUN))
    saves.sync_directory(os.path.join(top, "runs"))


def run(top, session, seed, log_path, stop):
    os.chdir(os.path.join(top, RUN))
    rnd = random.Random(seed)
    training = Training(rnd, session, saves.Log(log_path))
    training.begin()
    while not os.path.exists(stop):
        rnd.choice((training.configure, training.edit_data, training.save, training.save, training.save, training.tidy,
                    training.ask))()
        time.sleep(rnd.choice((0, 0.003, 0.02, 0.1)))


# --- what is there ---

def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


def xattr(path, name):
    try:
        return os.getxattr(path, "user.expfs." + name).decode()
    except OSError:
        return None


def read_tree(top):
    return {os.path.relpath(os.path.join(d, n), top): read(os.path.join(d, n)) for d, _, names in os.walk(top) for n in names}


class Found:
    """What files, history and experiments hold: the texts of each path, now and ever; of each checkpoint that is complete
    its key, tensor and hash; of each experiment its files."""

    def __init__(self, program, top):
        run, branch = os.path.join(top, RUN), os.path.join(top, "branches/x")
        self.now, self.ever = {}, {}
        for path in (CONFIG,) + DATA:
            self.ever[path] = {text_of(t) for t in read_tree(os.path.join(run, ".expfs/history", path)).values()}
            text = text_of(read(os.path.join(run, path)))
            self.now[path] = text if text is None or text in self.ever[path] else TORN
        self.checkpoints = {}
        for name in os.listdir(run):
            path = os.path.join(run, name)
            if xattr(path, "role") == "WEIGHTS" and xattr(path, "complete") == "1" and read_weights(path):
                self.checkpoints[name] = (*read_weights(path), xattr(path, "hash"))
        self.head, self.pending = (text_of(read(os.path.join(branch, n))).split() for n in ("HEAD", "pending"))
        out = subprocess.run([program, "log", "x", "--json"], cwd=top, stdout=subprocess.PIPE, check=True).stdout
        self.experiments = {e["hash"]: Experiment(os.path.join(top, "experiments", e["hash"]))
                            for e in json.loads(out)["experiments"]}


class Experiment:
    def __init__(self, path):
        steps = os.path.join(path, "step")
        self.hp, self.data = read_tree(os.path.join(path, "HP")), read_tree(os.path.join(path, "DATA"))
        names = os.listdir(steps) if os.path.isdir(steps) else []
        self.tensors = {w[1] for w in (read_weights(os.path.join(steps, n)) for n in names) if w}


def text_of(data):
    return data if data is None else data.decode()


# --- is it so? ---

def in_force(history, ever):
    """The last text that is not lost; None stands for a path that was taken away."""
    return next(t for t in reversed(history) if t in (None, TORN) or t in ever)


def segments_of(texts):
    """HP and DATA."""
    data = {p: t and t.encode() for p, t in texts.items() if p != CONFIG}
    return hp_segment(texts[CONFIG]), data_segment(data)


def expected(base, calls, found):
    """The HP and DATA segments of the checkpoint of each key; None where a killed writer's text lay there, of which nothing is
    known."""
    history = {path: [text] for path, text in base.now.items()}
    segments = {}
    for c in calls:
        what, path, *more = c.call
        if what == "text":
            history[path].append(more[0])
        elif what == "first":
            texts = {p: in_force(history[p], found.ever[p]) for p in history}
            segments[more[0]] = None if TORN in texts.values() else segments_of(texts)
    return segments


def checkpoint_lines(base, calls, found):
    segments, lines = expected(base, calls, found), []
    for name, (key, tensor, is_) in found.checkpoints.items():
        if key in segments and not segments[key]:
            want = is_
        elif key in segments:
            hp, data = segments[key]
            want = hp + model_segment(tensor) + data
        else:
            want = base.checkpoints[name][2] if name in base.checkpoints and base.checkpoints[name][0] == key else None
        if is_ != want:
            lines.append("%s/%s (%s): is of experiment %s, expected %s" % (RUN, name, key, is_, want))
        if is_ not in found.experiments:
            lines.append("%s/%s (%s): its experiment %s is not in the log" % (RUN, name, key, is_))
    return lines


def experiment_lines(found):
    lines = []
    for hash_, e in found.experiments.items():
        hp = hp_segment(e.hp[CONFIG].decode()) if e.hp else ABSENT
        if hp != hash_[:8]:
            lines.append("experiment %s: its configuration gives %s: %s" % (hash_, hp, e.hp))
        if data_segment(e.data) != hash_[16:]:
            lines.append("experiment %s: its data gives %s: %s" % (hash_, data_segment(e.data), e.data))
        if e.tensors and {model_segment(t) for t in e.tensors} != {hash_[8:16]}:
            lines.append("experiment %s: its checkpoints have the tensors %s" % (hash_, e.tensors))
    return lines


def head_lines(found):
    """What is pending, or else the head, is what lies in the run."""
    now, lines = found.pending[-1:] or found.head, []
    if TORN not in found.now.values() and not (now and (now[0][:8], now[0][16:]) == segments_of(found.now)):
        lines.append("%s: is at %s, and holds %s" % (RUN, now, segments_of(found.now)))
    return lines + ["%s: its head %s is not in the log" % (RUN, h) for h in found.head if h not in found.experiments]


def check(base, calls, found):
    return checkpoint_lines(base, calls, found) + experiment_lines(found) + head_lines(found)
