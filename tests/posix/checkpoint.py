#!/usr/bin/python3
"""Writes files such as training programs write, of about SIZE bytes that depend on SEED alone.

usage: checkpoint.py KIND PATH SIZE SEED

KIND: bytes         no format
      zip           stored zip with the records of torch.save
      safetensors   length, JSON header, tensors
      torn-zip, torn-safetensors    the same, cut off in the middle
"""
import io
import json
import random
import struct
import sys
import zipfile


def make_bytes(size, seed):
    return random.Random(seed).randbytes(size)


def make_zip(size, seed):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as z:
        def record(name, data):
            z.writestr(zipfile.ZipInfo("archive/" + name, (1980, 1, 1, 0, 0, 0)), data)
        record("data.pkl", b"\x80\x02}q\x00.")
        record("byteorder", b"little")
        half = size // 2
        record("data/0", make_bytes(half, seed))
        record("data/1", make_bytes(size - half, seed + 1))
        record("version", b"3\n")
    return out.getvalue()


def make_safetensors(size, seed):
    size -= size % 4
    header = json.dumps({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + make_bytes(size, seed)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    kind, path, size, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    data = {"bytes": make_bytes, "zip": make_zip, "safetensors": make_safetensors}[kind.removeprefix("torn-")](size, seed)
    if kind.startswith("torn-"):
        data = data[:len(data) * 2 // 3]
    with open(path, "wb") as f:
        f.write(data)


main()
