"""Checkpoints of torch, safetensors and numpy in odd forms: what is told of each
without loading it, against what loading it gives."""

import argparse
import collections
import hashlib
import os
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from client import Skip, after_remount, main, run, test
from tensor_cases import CASES, Elsewhere, Net, State

INIT_STEP = 25
MODEL_KEYS = "model", "model_state_dict", "state_dict", "module"
OTHER_KEYS = {"optimizer", "optimizer_state_dict", "optimizer_states", "optim_g", "opt_state", "scheduler",
              "lr_scheduler", "lr_schedulers", "scaler", "grad_scaler", "amp", "rng", "rng_state", "rng_states",
              "torch_rng", "cuda_rng_state"}
RNG_KEYS = {key for key in OTHER_KEYS if "rng" in key}

def walk(value, name=(), path=()):
    """The tensors in a value, by name; as format/torch.h says."""
    if isinstance(value, torch.Tensor):
        yield ".".join(name), value
        return
    if id(value) in path:
        return
    path += (id(value),)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from walk(inner, name + (str(key),), path)
    elif isinstance(value, (list, tuple, collections.deque)):
        for i, inner in enumerate(value):
            yield from walk(inner, name + (str(i),), path)
    elif isinstance(value, (torch.nn.Module, State, argparse.Namespace)):
        yield from walk(value.__dict__, name, path)


def is_number(value):
    if isinstance(value, torch.Tensor):
        return value.numel() == 1 and not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)
    if type(value) is float:
        return value.is_integer() and abs(value) <= 2**53
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def number(value, names, least):
    for name in names:
        found = value
        for key in name.split("."):
            found = found.get(key) if isinstance(found, dict) else None
        if found is not None and is_number(found) and least <= int(found) < 2**63:
            return int(found)
    return None


def belongs(value):
    """The names of the model's tensors, each with what it is called there."""
    if not isinstance(value, dict):
        return {name: name for name, _ in walk(value)}
    for key in MODEL_KEYS:
        if not isinstance(value.get(key), torch.Tensor) and (names := [name for name, _ in walk(value.get(key))]):
            return {f"{key}.{name}": name for name in names}
    return {name: name for key, inner in value.items()
            for name, _ in walk({key: inner})
            if key not in (RNG_KEYS if isinstance(inner, torch.Tensor) else OTHER_KEYS)}


def components(tensor):
    """The tensors that one is made of, by name; format/torch_composed.h says which."""
    if isinstance(tensor, Elsewhere):
        return {"inner": tensor.inner}
    if tensor.layout == torch.sparse_coo:
        return {"indices": tensor._indices(), "values": tensor._values()}
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return {"crow_indices": tensor.crow_indices(), "col_indices": tensor.col_indices(), "values": tensor.values()}
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return {"ccol_indices": tensor.ccol_indices(), "row_indices": tensor.row_indices(), "values": tensor.values()}
    if tensor.is_quantized and tensor.qscheme() == torch.per_tensor_affine:
        return {f"integers per_tensor_affine {tensor.q_scale():.17g} {tensor.q_zero_point()}": tensor}
    if tensor.is_quantized:
        return {f"integers per_channel_affine {tensor.q_per_channel_axis()}": tensor,
                "scales": tensor.q_per_channel_scales(), "zeros": tensor.q_per_channel_zero_points()}
    return None


def dense(tensor):
    tensor = tensor.detach().as_subclass(torch.Tensor)
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    return tensor.contiguous().view(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def elements(tensor):
    """What the digest of elements in logical order is; None where there are none in one place."""
    if tensor.device.type == "meta" or tensor.is_conj():
        return "-"
    parts = components(tensor)
    if parts is None:
        return hashlib.sha256(dense(tensor)).hexdigest()
    return hashlib.sha256(b"".join(
        f"{name}:{str(part.dtype).removeprefix('torch.')}:[{','.join(map(str, part.shape))}]\n".encode() + dense(part)
        for name, part in parts.items())).hexdigest()


def escaped(text):
    return b"".join(b"\\x%02x" % c if c < 32 or c in b"\x7f:\\" else bytes([c]) for c in text.encode())


def structure(tensors, names):
    lines = sorted(escaped(names[name]) + f":{str(t.dtype).removeprefix('torch.')}:".encode() +
                   f"[{','.join(map(str, t.shape))}]\n".encode() for name, t in tensors if name in names)
    return hashlib.sha256(f"init_step:{INIT_STEP}\n".encode() + b"".join(lines)).hexdigest() if lines else None


def expected(value):
    tensors = list(walk(value))
    names = belongs(value)
    return {
        "tensors": sorted((name, str(t.dtype).removeprefix("torch."), list(t.shape), name in names, elements(t))
                          for name, t in tensors),
        "step": number(value, ("step", "global_step", "state.global_step", "iter_num", "iteration"), 0),
        "epoch": number(value, ("epoch", "state.epoch"), -2**63),
        "structure": structure(tensors, names),
    }


def program():
    build = Path(os.environ.get("EXPFS") or Path(__file__).parents[2] / "build/expfs").resolve().parent
    if not (build / "Makefile").exists():
        raise Skip("only a build directory has the program that tells")
    run("make", "-C", build, "tests/clients/tensors")
    return build / "tests/clients/tensors"


def told(*paths):
    files = {}
    for line in run(program(), str(INIT_STEP), *map(str, paths)).splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "file":
            found = files[Path(rest)] = {"tensors": [], "step": None, "epoch": None, "structure": None}
        elif kind == "tensor":
            name, shape, whose, digest, dtype = rest.split(" ", 4)
            found["tensors"].append((bytes.fromhex(name).decode(), dtype,
                                     [int(n) for n in shape.strip("[]").split(",") if n], whose == "model", digest))
        elif kind in ("step", "epoch"):
            found[kind] = int(rest)
        else:
            found[kind] = rest
    for found in files.values():
        found["tensors"].sort()
    return files


def compare(paths, load):
    files = told(*paths)
    wrong = []
    for path in paths:
        wanted = expected(load(path))
        if files[path] != wanted:
            wrong.append(f"{path.name}: told\n{files[path]}\nloaded\n{wanted}"[:4000])
    assert len(files) == len(paths) > 0
    assert not wrong, "\n".join(wrong)


def load(path):
    return torch.load(path, weights_only=False)


@test(f"of {len(CASES)} checkpoints in odd forms all tensors are told as torch.load gives them")
def odd_forms(top):
    folder = top / "tensors"
    folder.mkdir()
    for name, make in CASES.items():
        torch.save(make(), folder / f"{name}.pt")
    compare(sorted(folder.iterdir()), load)


@test("with pickles of protocols 1 to 5 the same is told")
def protocols(top):
    folder = top / "protocols"
    folder.mkdir()
    names = ("weightslab", "torchlingo", "non_ascii_keys", "nested", "big_integers", "integer_keys", "subclasses",
             "many_numbers", "objects", "other_keys", "random_states")
    for name in names:
        for protocol in 1, 2, 3, 4, 5:
            torch.save(CASES[name](), folder / f"{name}.{protocol}.pt", pickle_protocol=protocol)
    compare(sorted(folder.iterdir()), load)


@test("a file without a record of the byte order, under another prefix, is told the same")
def old_zip(top):
    path = top / "old.pt"
    with open(path, "wb") as file:
        torch.save(CASES["weightslab"](), file, _disable_byteorder_record=True)
    compare([path], load)


@test("a file of big-endian values is told as they are loaded")
def big_endian(top):
    path = top / "big.pt"
    torch.serialization.set_default_load_endianness(None)
    import zipfile
    little = top / "little.pt"
    torch.save({"w": torch.arange(4, dtype=torch.int32), "step": torch.tensor(258, dtype=torch.int16)}, little)
    with zipfile.ZipFile(little) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("byteorder"):
                data = b"big"
            if name.endswith("data/0"):
                data = np.frombuffer(data, "<i4").astype(">i4").tobytes()
            if name.endswith("data/1"):
                data = np.frombuffer(data, "<i2").astype(">i2").tobytes()
            new.writestr(name, data)
    loaded = load(path)
    assert loaded["step"] == 258 and loaded["w"].tolist() == [0, 1, 2, 3]
    found = told(path)[path]
    assert found["step"] == 258
    assert [t[:3] for t in found["tensors"]] == [("step", "int16", []), ("w", "int32", [4])]
    assert [t[4] for t in found["tensors"]] == [elements(loaded["step"]), elements(loaded["w"])]


@test("safetensors are told as they are loaded, with the step in their metadata")
def safetensors(top):
    folder = top / "safetensors"
    folder.mkdir()
    for name in ("plain", "empty", "scalars", "many_dimensions", "many_tensors", "hugging_face", "float8"):
        tensors = {key: value.detach().clone().contiguous() for key, value in walk(CASES[name]())
                   if "fnuz" not in key}
        save_file(tensors, folder / f"{name}.safetensors")
    save_file({"größe\"\\\n🙂": torch.ones(2), "b": torch.ones(1, 3).bfloat16()}, folder / "keys.safetensors",
              metadata={"format": "pt", "größe\"🙂": "\t"})
    compare(sorted(folder.iterdir()), load_file)
    path = top / "step.safetensors"
    save_file({"w": torch.ones(2)}, path, metadata={"iteration": "5", "global_step": "12", "step": "x", "epoch": "3"})
    found = told(path)[path]
    assert (found["step"], found["epoch"]) == (12, 3)


@test("one model has one structure in a plain dictionary, below a key, and in safetensors")
def structures(top):
    net = Net()
    torch.save(net.state_dict(), top / "plain.pt")
    torch.save({"model_state_dict": net.state_dict(), "step": 1}, top / "below.pt")
    save_file(net.state_dict(), top / "flat.safetensors")
    paths = [top / "plain.pt", top / "below.pt", top / "flat.safetensors"]
    assert len({found["structure"] for found in told(*paths).values()}) == 1
    torch.save(torch.nn.Sequential(net).state_dict(), top / "other.pt")
    assert len({found["structure"] for found in told(*paths, top / "other.pt").values()}) == 2


@test("numpy's arrays are told as they are loaded")
def arrays(top):
    for save, name in (np.savez, "arrays.npz"), (np.savez_compressed, "compressed.npz"):
        one_file_of_arrays(save, top / name)


def one_file_of_arrays(save, path):
    arrays = {"w": np.arange(12, dtype=np.float32).reshape(3, 4), "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
              "big": np.arange(3, dtype=">i8"), "half": np.zeros(2, np.float16), "b": np.array([True]),
              "c": np.ones(2, np.complex64), "empty": np.zeros((0, 3), np.uint8), "a/b": np.zeros(1, np.int16),
              "step": np.array(31), "epoch": np.array(2, np.int8), "long": np.arange(2e6) % 1000,
              "wide": np.asfortranarray(np.arange(900000.0).reshape(900, 1000))}
    save(path, **arrays, text=np.array(["a", "bc"]), fields=np.zeros(2, [("x", "<f4"), ("y", "<i2", (3,))]),
             größe=np.zeros(1, [("größe", "<f4")]))
    found = told(path)[path]
    assert (found["step"], found["epoch"]) == (31, 2)
    told_arrays = {name: (dtype, shape, digest) for name, dtype, shape, _, digest in found["tensors"]}
    for name, array in arrays.items():
        digest = hashlib.sha256(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()).hexdigest()
        assert told_arrays.pop(name) == (str(array.dtype.newbyteorder("=")), list(array.shape), digest), name
    assert {name: entry[1:] for name, entry in told_arrays.items()} == {
        "text": ([2], "-"), "fields": ([2], "-"), "größe": ([1], "-")}


@test("what is not read is refused with the reason")
def refused(top):
    torch.save({"w": torch.ones(1)}, top / "legacy.pt", _use_new_zipfile_serialization=False)
    (top / "text.pt").write_text("no tensors here\n")
    reasons = {
        "legacy.pt": "pickle outside of a zip file, as torch before 1.6 wrote them",
        "text.pt": "no file of tensors that can be read here",
    }
    files = told(*(top / name for name in reasons))
    assert {path.name: found["refused"] for path, found in files.items()} == reasons


@after_remount("all is told as before")
def remounted(top):
    compare(sorted((top / "tensors").iterdir()), load)


if __name__ == "__main__":
    main()
