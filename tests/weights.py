#!/usr/bin/python3
"""Writes checkpoints with given tensors, without torch or numpy.

usage: weights.py PATH EXPRESSION

EXPRESSION: what is saved, as Python has it: of .safetensors a dictionary of tensors (and "__metadata__"), else the object
            that torch.save() would be given. w(SEED) is a vector of floats that depends on the seed, w(SEED, N) one of N;
            t(DTYPE, SHAPE, BYTES) any other, v(TENSOR) another one that shares its storage.
"""
import io
import json
import pickle
import random
import struct
import sys
import zipfile

STORAGES = {"float32": "FloatStorage", "int32": "IntStorage", "int64": "LongStorage", "uint8": "ByteStorage"}
SAFETENSORS = {"float32": "F32", "int32": "I32", "int64": "I64", "uint8": "U8"}
ITEMS = {"float32": 4, "int32": 4, "int64": 8, "uint8": 1}


class Storage:
    def __init__(self, dtype, data):
        self.dtype, self.data = dtype, data


class Tensor:
    def __init__(self, dtype, shape, storage, strides=None):
        self.dtype, self.shape, self.storage = dtype, tuple(shape), storage
        self.strides = strides
        if strides is None:
            step, rows = 1, []
            for n in reversed(self.shape):
                rows.insert(0, step)
                step *= n
            self.strides = tuple(rows)


def t(dtype, shape, data, strides=None):
    return Tensor(dtype, shape, Storage(dtype, data), strides)


def w(seed, n=8):
    r = random.Random(str(seed))
    return t("float32", [n], b"".join(struct.pack("<f", r.uniform(-1, 1)) for _ in range(n)))


def v(tensor):
    return Tensor(tensor.dtype, tensor.shape, tensor.storage, tensor.strides)


class Global:
    """A name that is written as such, not looked up."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class Pickler(pickle._Pickler):
    def __init__(self, out):
        super().__init__(out, 2)
        self.storages = []

    def save(self, obj, save_persistent_id=True):
        if isinstance(obj, Global):
            self.write(b"c" + f"{obj.module}\n{obj.name}\n".encode())
        elif isinstance(obj, Tensor):
            self.save(Global("torch._utils", "_rebuild_tensor_v2"))
            self.save((obj.storage, 0, obj.shape, tuple(obj.strides), False, {}))
            self.write(b"R")
        elif isinstance(obj, Storage):
            if obj not in self.storages:
                self.storages.append(obj)
            self.write(b"(")
            for part in ("storage", Global("torch", STORAGES[obj.dtype]), str(self.storages.index(obj)), "cpu",
                         len(obj.data) // ITEMS[obj.dtype]):
                self.save(part)
            self.write(b"tQ")
        else:
            super().save(obj, save_persistent_id)


def torch_file(value):
    out, stream = io.BytesIO(), io.BytesIO()
    p = Pickler(stream)
    p.dump(value)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as z:
        def put(name, data):
            z.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
        put("archive/data.pkl", stream.getvalue())
        put("archive/byteorder", b"little")
        for i, storage in enumerate(p.storages):
            put(f"archive/data/{i}", storage.data)
        put("archive/version", b"3\n")
    return out.getvalue()


def safetensors(tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        if name == "__metadata__":
            header[name] = tensor
            continue
        raw = tensor.storage.data
        header[name] = {"dtype": SAFETENSORS[tensor.dtype], "shape": tensor.shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def main():
    path, value = sys.argv[1], eval(sys.argv[2])
    with open(path, "wb") as f:
        f.write((safetensors if path.endswith(".safetensors") else torch_file)(value))


main()
