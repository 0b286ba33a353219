#!/usr/bin/python3
"""Writes what WeightsLab 2.0.3 writes, where and in the order in which it does.

usage: weightslab.py ROOT ACT...

ACT: dump HASH [STEP...]    a state that is dumped: manifest, HP, data, weights, manifest, state file; more weights
     pending HASH           an edit: the state file alone
     save HASH STEP...      periodic weights; the manifest is rewritten only if it lists the hash
     load HASH              the state file names an older hash
     resume                 a new process: the state file's previous hash is the current one
     flush                  the pending hash is dumped
Acts are separated by +.
"""
import io
import json
import os
import sys
import time
import zipfile


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%S") + f".{time.time_ns() // 1000 % 1000000:06d}"


def in_place(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def weights(exp_hash, step):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as z:
        z.writestr(f"{exp_hash}_step_{step:06d}/data.pkl", b"\x80\x02}q\x00.")
        z.writestr(f"{exp_hash}_step_{step:06d}/data/0", f"{exp_hash} {step} ".encode() * 100)
        z.writestr(f"{exp_hash}_step_{step:06d}/version", b"3\n")
    return out.getvalue()


class Root:
    def __init__(self, root):
        self.root = root
        self.state = {"current_exp_hash": None, "previous_exp_hash": None}
        self.experiments = {}  # in the order of the first dump
        self.latest = None
        try:
            with open(f"{root}/.checkpoint_manager_state.json") as f:
                self.state = json.load(f)
        except FileNotFoundError:
            pass
        try:
            with open(f"{root}/checkpoints/manifest.yaml") as f:
                self.read_manifest(f.read().splitlines())
        except FileNotFoundError:
            pass

    def read_manifest(self, lines):
        entry = None
        for line in lines:
            key, _, value = line.strip().partition(": ")
            if line.startswith("    "):
                entry[key] = value
            elif line.startswith("  "):
                entry = self.experiments[key.rstrip(":").strip("'")] = {}
            elif key == "latest_hash":
                self.latest = value.strip("'")

    def write_manifest(self):
        def text(value):
            return f"'{value}'" if value.isdigit() and value[0] in "12345678" else value
        lines = ["experiments:"]
        for exp_hash, entry in self.experiments.items():
            lines.append(f"  {text(exp_hash)}:")
            lines += [f"    {key}: {value}" for key, value in entry.items()]
        lines += [f"latest_hash: {text(self.latest)}", f"last_updated: '{now()}'", ""]
        in_place(f"{self.root}/checkpoints/manifest.yaml", "\n".join(lines))

    def write_state(self, current, previous):
        self.state = {"current_exp_hash": current, "previous_exp_hash": previous, "step_counter": 0,
                      "model_init_step": 0, "last_updated": now(),
                      "component_hashes": {"hp": current[:8], "model": current[8:16], "data": current[16:],
                                           "combined": current}}
        in_place(f"{self.root}/.checkpoint_manager_state.json", json.dumps(self.state, indent=2))

    def save(self, exp_hash, *steps):
        models = f"{self.root}/checkpoints/models/{exp_hash[8:16]}"
        for step in map(int, steps):
            name = f"{exp_hash}_step_{step:06d}.pt"
            in_place(f"{models}/{name}", weights(exp_hash, step))
            in_place(f"{models}/projection/{name.replace('.pt', '.coords.pt')}", weights(exp_hash, step))
            in_place(f"{models}/projection/{name}", weights(exp_hash, 10**9))
            if exp_hash in self.experiments:
                self.experiments[exp_hash] |= {"latest_weight_checkpoint": name, "latest_weight_step": step}
                self.write_manifest()

    def write_components(self, exp_hash):
        checkpoints, hp, data = f"{self.root}/checkpoints", exp_hash[:8], exp_hash[16:]
        self.latest = exp_hash
        self.experiments.setdefault(exp_hash, {
            "hp_hash": hp, "model_hash": exp_hash[8:16], "data_hash": data, "created": f"'{now()}'",
            "last_used": f"'{now()}'", "latest_weight_checkpoint": "null", "latest_weight_step": "null",
            "experiment_name": "demo", "notes": "''"})
        self.write_manifest()
        in_place(f"{checkpoints}/HP/{hp}/{hp}_config.yaml", f"exp_hash: {hp}\nhyperparameters:\n  lr: 0.1\n")
        in_place(f"{checkpoints}/data/{data}/{data}_data_snapshot.json", json.dumps({"exp_hash": exp_hash}))

    def dump(self, exp_hash, *steps):
        previous = self.state["current_exp_hash"]
        self.write_components(exp_hash)
        self.save(exp_hash, *steps[:1])
        self.write_state(exp_hash, previous)
        self.save(exp_hash, *steps[1:])

    def pending(self, exp_hash):
        self.write_state(exp_hash, self.state["current_exp_hash"])

    load = pending

    def resume(self):
        self.write_state(self.state["current_exp_hash"], self.state["current_exp_hash"])

    def flush(self):
        self.write_components(self.state["current_exp_hash"])
        self.write_state(self.state["current_exp_hash"], self.state["previous_exp_hash"])


def main():
    root, act = Root(sys.argv[1]), []
    for word in sys.argv[2:] + ["+"]:
        if word != "+":
            act.append(word)
            continue
        getattr(root, act[0])(*act[1:])
        act = []


main()
