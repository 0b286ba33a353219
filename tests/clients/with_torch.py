"""torch.save and torch.load: fresh, mapped, over an old file, twice into one file; the steps in such files."""

import errno
import io
import os
import time
import zipfile

import numpy as np
import torch
from safetensors.torch import save_file

from client import after_remount, kill, main, start, test, view


def checkpoint(step, width=256):
    """Weights, Adam moments and RNG state, about 3 * 16 * width^2 bytes; each step has its own."""
    torch.manual_seed(step)
    model = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(4)))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(8, width)).sum().backward()
    optimizer.step()
    return {"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
            "rng": torch.get_rng_state()}


def equal(a, b):
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


def in_memory(*payloads):
    buffer = io.BytesIO()
    for payload in payloads:
        torch.save(payload, buffer)
    return buffer.getvalue()


def die_in_save(path, say):
    """Writes all but the last 100 kB of a checkpoint and then waits to be killed."""
    content = in_memory(checkpoint(6))
    file = open(path, "wb")
    file.write(content[:-100_000])
    file.flush()
    say("written")
    time.sleep(600)


@test("checkpoints that are saved load back equal, also mapped")
def save(top):
    run = top / "runs" / "torch"
    run.mkdir(parents=True)
    for step in range(1, 6):
        torch.save(checkpoint(step), run / f"step_{step}.pt")
        for mmap in False, True:
            assert equal(torch.load(run / f"step_{step}.pt", mmap=mmap), checkpoint(step))


@test("the same checkpoint saved under the same name in two places is the same bytes")
def same(top):
    other = top / "runs" / "again"
    other.mkdir()
    torch.save(checkpoint(5), other / "step_5.pt")
    assert (other / "step_5.pt").read_bytes() == (top / "runs/torch/step_5.pt").read_bytes()


@test("the branch's latest names the checkpoint saved last, and step/ the nearest one")
def views(top):
    link = view(top, "branches/torch/latest")
    assert os.readlink(link) == "../../runs/torch/step_5.pt", os.readlink(link)
    assert equal(torch.load(link), checkpoint(5))
    assert torch.load(top / "branches/torch/step/2")["step"] == 2
    assert torch.load(top / "branches/torch/step/999")["step"] == 5
    assert os.path.samefile(top / "runs/torch/.expfs/latest", top / "runs/torch/step_5.pt")


@test("the attributes of a checkpoint tell its role, step and completeness")
def attributes(top):
    path = view(top, "runs/torch/step_5.pt")
    told = {name: os.getxattr(path, f"user.expfs.{name}") for name in ("role", "step", "complete")}
    assert told == {"role": b"WEIGHTS", "step": b"5", "complete": b"1"}, told
    assert (os.getxattr(path, "user.expfs.digest")
            == os.getxattr(top / "runs/again/step_5.pt", "user.expfs.digest"))


def told_step(path):
    try:
        return int(os.getxattr(path, "user.expfs.step"))
    except OSError as error:
        assert error.errno == errno.ENODATA, error
        return None


@test("a file that is saved over has the step that is in it, and step/ leads to it")
def overwritten(top):
    path = view(top, "runs/over/latest.pt")
    path.parent.mkdir()
    for step in 7, 8, 20:
        torch.save(checkpoint(step, 64), path)
        assert told_step(path) == step
        assert os.readlink(top / f"branches/over/step/{step}") == "../../../runs/over/latest.pt"
    for number, step in enumerate((7, 8, 20), 1):
        assert torch.load(top / f".expfs/history/runs/over/latest.pt/{number}.pt")["step"] == step


@test("the step is found where loops, Lightning, nanoGPT and others put it, and none where there is none")
def keys(top):
    folder = view(top, "runs/keys")
    folder.mkdir()
    weights = {"model": torch.nn.Linear(3, 2).state_dict()}
    shapes = {
        "lightning": (200, {"epoch": 2, "global_step": 200, "state_dict": weights["model"], "loops": {"step": 3}}),
        "nano_gpt": (5000, weights | {"iter_num": 5000, "best_val_loss": torch.tensor(1.25), "config": {"step": 1}}),
        "torchlingo": (17, weights | {"state": {"epoch": -1, "global_step": 17}, "rng": {"python": (3, (2**31, 624), None)}}),
        "megatron": (6, weights | {"iteration": 6, "args": None}),
        "tensor": (41, weights | {"step": torch.tensor(41)}),
        "parameter": (42, weights | {"step": torch.nn.Parameter(torch.tensor([42]), requires_grad=False)}),
        "numpy": (2**40, weights | {"step": np.int64(2**40)}),
        "division": (12, weights | {"step": 12.0}),
        "fraction": (None, weights | {"step": 12.5}),
        "negative": (3, weights | {"step": -1, "iteration": 3}),
        "plain": (None, weights["model"]),
        "deepspeed": (None, {"module": weights["model"], "global_steps": 4}),
        "module": (None, torch.nn.Linear(3, 2)),
    }
    for name, (_, value) in shapes.items():
        torch.save(value, folder / f"{name}.pt")
    torch.save(shapes["lightning"][1], folder / "old.pt", _use_new_zipfile_serialization=False)
    save_file(weights["model"], folder / "model.safetensors", metadata={"format": "pt", "step": "31"})
    np.savez(folder / "arrays.npz", step=np.array([32]), w=np.ones(3))
    found = {path.name: told_step(path) for path in folder.iterdir()}
    assert found == {f"{name}.pt": step for name, (step, _) in shapes.items()} | {
        "old.pt": None, "model.safetensors": 31, "arrays.npz": 32}, found
    assert sorted(map(int, os.listdir(top / "branches/keys/step"))) == sorted(s for s in found.values() if s is not None)


@test("a writer killed in the middle of a save leaves the earlier checkpoints and latest")
def killed(top):
    run = top / "runs" / "torch"
    writer, hear = start(die_in_save, run / "step_6.pt")
    hear()
    kill(writer)
    try:
        torch.load(run / "step_6.pt")
    except RuntimeError:
        pass
    else:
        raise AssertionError("a torn file was loaded")
    assert equal(torch.load(run / "step_5.pt"), checkpoint(5))
    if os.path.ismount(top):
        assert os.readlink(top / "branches/torch/latest") == "../../runs/torch/step_5.pt"
    os.unlink(run / "step_6.pt")


@test("a checkpoint saved over a larger or smaller one has no byte of the old one")
def over(top):
    path = top / "runs" / "torch" / "last.pt"
    for step, width in (1, 256), (2, 64), (3, 512), (4, 8):
        torch.save(checkpoint(step, width), path)
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
        assert path.stat().st_size < 14 * 16 * width**2 + 20_000
        assert equal(torch.load(path), checkpoint(step, width))


@test("two saves into one open file give the bytes that they give in memory")
def twice(top):
    path = top / "twice.pt"
    with open(path, "wb") as file:
        torch.save(checkpoint(1), file)
        torch.save(checkpoint(2), file)
    assert path.read_bytes() == in_memory(checkpoint(1), checkpoint(2))


@test("a smaller save at the start of an open file, then cut, loads")
def rewound(top):
    with open(top / "twice.pt", "r+b") as file:
        torch.save(checkpoint(3, 64), file)
        file.truncate()
    assert (top / "twice.pt").read_bytes() == in_memory(checkpoint(3, 64))
    assert equal(torch.load(top / "twice.pt"), checkpoint(3, 64))


@test("weights mapped from a file that is then replaced stay what they were")
def replaced(top):
    path = top / "mapped.pt"
    torch.save(checkpoint(1), path)
    mapped = torch.load(path, mmap=True)
    torch.save(mapped | {"step": 2}, top / "mapped.tmp")
    os.replace(top / "mapped.tmp", path)
    assert equal(mapped, checkpoint(1))
    assert equal(torch.load(path, mmap=True), checkpoint(1) | {"step": 2})


@after_remount("every checkpoint still loads equal")
def again(top):
    run = top / "runs" / "torch"
    for step in range(1, 6):
        assert equal(torch.load(run / f"step_{step}.pt", mmap=step % 2 == 0), checkpoint(step))
    assert equal(torch.load(run / "last.pt"), checkpoint(4, 8))
    assert equal(torch.load(top / "twice.pt"), checkpoint(3, 64))
    assert equal(torch.load(top / "mapped.pt"), checkpoint(1) | {"step": 2})


@after_remount("latest is again the checkpoint saved last")
def latest_again(top):
    assert os.readlink(view(top, "branches/torch/latest")) == "../../runs/torch/last.pt"


@after_remount("removing the checkpoint saved last makes latest fall back")
def fall_back(top):
    link = view(top, "branches/torch/latest")
    os.unlink(top / "runs/torch/last.pt")
    assert os.readlink(link) == "../../runs/torch/step_5.pt", os.readlink(link)


if __name__ == "__main__":
    main()
