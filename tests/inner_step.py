#!/usr/bin/python3
"""Writes checkpoints that say which step they are of, without torch or numpy.

usage: inner_step.py PATH EXPRESSION [SEED]

EXPRESSION: what is saved, as Python has it: of a torch file (.pt, .ckpt …) the pickled object, of .safetensors the
            metadata, of .npz a dictionary of integers. SEED: the weights beside it depend on it.
"""
import io
import json
import pickle
import struct
import sys
import zipfile


def stored(records):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as z:
        for name, data in records:
            z.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return out.getvalue()


def torch_file(value, weights):
    data = value if isinstance(value, bytes) else pickle.dumps(value, 2)
    return stored([("archive/data.pkl", data), ("archive/byteorder", b"little"), ("archive/data/0", weights),
                   ("archive/version", b"3\n")])


def safetensors(metadata, weights):
    header = json.dumps({"__metadata__": metadata,
                         "w": {"dtype": "U8", "shape": [len(weights)], "data_offsets": [0, len(weights)]}}).encode()
    return struct.pack("<Q", len(header)) + header + weights


def array(descr, shape, data):
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + data


def arrays(values, weights):
    return stored([(f"{name}.npy", array("<i8", (), struct.pack("<q", value))) for name, value in values.items()] +
                  [("w.npy", array("|u1", (len(weights),), weights))])


def main():
    path, value = sys.argv[1], eval(sys.argv[2])
    weights = f"weights {sys.argv[3] if len(sys.argv) > 3 else ''}\n".encode() * 100
    write = {"safetensors": safetensors, "npz": arrays}.get(path.rsplit(".", 1)[-1], torch_file)
    with open(path, "wb") as f:
        f.write(write(value, weights))


main()
