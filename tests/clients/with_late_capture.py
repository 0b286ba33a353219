"""Weights that were selected at one step and saved at another, with real PyTorch: what expfs says of such files, unasked
and when it is asked."""

import copy
import json
import os
import subprocess
import time

import torch
from safetensors.torch import save_file

from client import after_remount, expfs, main, test, view

EXPFS = os.environ.get("EXPFS", "expfs")


def ask(*arguments):
    """Exit status and answer of a command."""
    done = subprocess.run([EXPFS, *map(str, arguments), "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    return done.returncode, json.loads(done.stdout or "null")


def verify(path, *arguments):
    return ask("verify", path, *arguments)


def labels(top, run):
    """Names of the checkpoints of a run that status warns of."""
    end = time.monotonic() + 60
    while any(expfs(top, "status")["background"][key] > 0 for key in ("unjudged", "unread")):
        assert time.monotonic() < end, "weights are not read"
        time.sleep(0.2)
    return {w["path"].rsplit("/", 1)[1] for w in expfs(top, "status")["warnings"]
            if w["kind"] == "label" and w["path"].startswith(f"/runs/{run}/")}


def weight(path):
    return torch.load(path)["model"]["weight"].item()


@test("of four candidates, saved at once, by alias, as a shallow and as a deep copy, the two that are late are told")
def fixture(top):
    view(top, "")
    run = top / "runs" / "fixture"
    run.mkdir(parents=True)
    model = torch.nn.Linear(1, 1, bias=False)

    def train_to(value, step):
        with torch.no_grad():
            model.weight.fill_(value)
        torch.save({"step": step, "model": model.state_dict()}, run / f"step_{step}.pt")

    train_to(1.0, 1)
    train_to(2.0, 2)
    alias, shallow, deep = model.state_dict(), dict(model.state_dict()), copy.deepcopy(model.state_dict())
    torch.save({"step": 2, "model": model.state_dict()}, run / "at_once.pt")
    train_to(3.0, 3)
    for name, state in ("alias", alias), ("shallow", shallow), ("deep", deep):
        torch.save({"step": 2, "model": state}, run / f"{name}.pt")
    assert [weight(run / f"{name}.pt") for name in ("at_once", "alias", "shallow", "deep")] == [2, 3, 3, 2]
    assert labels(top, "fixture") == {"alias.pt", "shallow.pt"}
    check_fixture(top)


def check_fixture(top):
    run = top / "runs" / "fixture"
    for name, answer, status in ("at_once", "ACCEPT", 0), ("alias", "RECOVER", 10), ("shallow", "RECOVER", 10), ("deep", "ACCEPT", 0):
        code, told = verify(run / f"{name}.pt")
        assert (code, told["answer"]) == (status, answer), (name, told)
        assert told["reference"]["path"] == "/runs/fixture/step_2.pt", told
        assert told["control"]["path"] != told["reference"]["path"] and told["control_differs"] == 1, told
        assert told["model"]["equal" if status == 0 else "content"] == 1, told
    assert [h["step"] for h in verify(run / "alias.pt")[1]["holds"]][:1] == [3]


@after_remount("after a remount the answers are the same, and what RECOVER names brings the weights back")
def recover(top):
    run = top / "runs" / "fixture"
    assert labels(top, "fixture") == {"alias.pt", "shallow.pt"}
    check_fixture(top)
    instead = verify(run / "alias.pt")[1]["instead"]
    subprocess.run([EXPFS, "restore", f"{top}{instead['path']}@{instead['version']}", run / "back.pt"], check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    assert weight(run / "back.pt") == 2
    assert verify(run / "back.pt", "--against", run / "step_2.pt")[0] == 0


class Net(torch.nn.Module):
    """Buffers, and weights that are tied."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(32, 16)
        self.norm = torch.nn.BatchNorm1d(16)
        self.hidden = torch.nn.Linear(16, 16)
        self.head = torch.nn.Linear(16, 32, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.norm(self.hidden(self.embed(x))))


def train(run, epochs=10):
    """Ten epochs; the best, of epoch 7, is saved in several ways after the last one."""
    torch.manual_seed(1)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    for epoch in range(1, epochs + 1):
        x = torch.randint(0, 32, (64,))
        torch.nn.functional.cross_entropy(net(x), x).backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.save({"epoch": epoch, "model": net.state_dict(), "optimizer": optimizer.state_dict(),
                    "rng": {"torch": torch.get_rng_state()}}, run / f"epoch_{epoch:02}.pt")
        if epoch == 7:
            late, good = net.state_dict(), copy.deepcopy(net.state_dict())
    return late, good


@test("in a loop with Adam, BatchNorm and tied weights a late best is told, as torch's file, safetensors and behind a prefix")
def loop(top):
    view(top, "")
    run = top / "runs" / "loop"
    run.mkdir(parents=True)
    late, good = train(run)
    for name, state in ("late", late), ("good", good):
        torch.save(state, run / f"{name}_epoch_07.pt")
        torch.save({"model": {f"module.{k}": v for k, v in state.items()}, "epoch": 7}, run / f"{name}_prefixed.pt")
        save_file({k: v.clone() for k, v in state.items()}, run / f"{name}_epoch_07.safetensors")
        save_file({k: v.clone() for k, v in state.items() if k != "head.weight"}, run / f"{name}_untied_epoch_07.safetensors")
    assert labels(top, "loop") == {"late_epoch_07.pt", "late_prefixed.pt", "late_epoch_07.safetensors",
                                   "late_untied_epoch_07.safetensors"}
    for name in "epoch_07.pt", "prefixed.pt", "epoch_07.safetensors":
        assert verify(run / f"good_{name}")[0] == 0, verify(run / f"good_{name}")
        code, told = verify(run / f"late_{name}")
        assert code == 10 and told["holds"][0]["epoch"] == 10, told
        assert told["instead"]["path"] == "/runs/loop/epoch_07.pt"


@test("a checkpoint of 1 GiB, and one in bfloat16, are read and told, with what a resume finds in them")
def large(top):
    view(top, "")
    run = top / "runs" / "large"
    run.mkdir(parents=True)
    state = {f"layer{i}": torch.rand(1 << 24) for i in range(16)}
    torch.save({"step": 1, "model": state, "optimizer": {"lr": 1}, "rng": torch.get_rng_state()}, run / "step_1.pt")
    save_file(state, run / "copy_step_1.safetensors")
    half = {key: value[:1024].to(torch.bfloat16) for key, value in state.items()}
    torch.save({"step": 2, "model": half}, run / "step_2.pt")
    save_file(half, run / "copy_step_2.safetensors")
    assert labels(top, "large") == set()
    for step in 1, 2:
        assert verify(run / f"copy_step_{step}.safetensors")[0] == 0
    assert ask("show", run / "step_1.pt")[1]["weights"]["parts"] == ["optimizer", "rng-torch"]


main()
