"""Records print.json (kept as print.json.gz): what tensors print as, by ttnn 0.81.1 (dialect tt-metal) and torch (seed).

    python record.py ../host print.json       needs ttnn 0.81.1, torch and a mock cluster of four

Of the seed dialect only the values are torch's, printed 12 columns to the right: the length of
"ttnn.Tensor(". Elements are those of value(), which tests/unit/test_print.c computes again.
"""
import json
import sys

import torch
import ttnn

FLOATS = ("bfloat16", "float32", "bfloat8_b", "bfloat4_b")
SPECIAL = [0.0, -0.0, 1.0, float("nan"), float("inf"), float("-inf"), 1e-10, 123456.0, -2.5]
KINDS = {"uint8": torch.uint8, "uint16": torch.uint16, "uint32": torch.uint32,
         "int32": torch.int32, "int8": torch.int8}
host, rows = sys.argv[1], []


def value(i, kind):
    v = (i * 7919 + 13) % 2003 - 1001
    return {"ramp": i, "mixed": v / 64, "wide": v * 2.0 ** (3 * (i % 9 - 4)), "small": v / 1e9,
            "large": v * 1e7, "zero": 0, "whole": v, "special": SPECIAL[i % 9],
            "nan": float("nan"), "few": i % 3 - 1, "one": v / 64 if i == 0 else 0}[kind]


def data(shape, kind, dtype):
    count = 1
    for extent in shape:
        count *= extent
    if dtype in FLOATS:
        return torch.tensor([value(i, kind) for i in range(count)], dtype=torch.float32
                            ).reshape(shape)
    bits = int(dtype.lstrip("uint"))
    ints = [i * 2654435761 % 2 ** bits - (0 if dtype[0] == "u" else 2 ** (bits - 1))
            for i in range(count)]
    return torch.tensor(ints, dtype=KINDS[dtype]).reshape(shape)


def add(dialect, text, **case):
    rows.append({"dialect": dialect, **case, "text": text})


def as_rows(tensor):
    """ttnn 0.81.1 shows padding instead of what follows the first plane of padded tiles. So such a
    tensor is printed as rows, and the words after the values are changed."""
    rows = ttnn.from_torch(tensor.to_torch(), layout=ttnn.ROW_MAJOR_LAYOUT)
    return str(rows).replace("Layout::ROW_MAJOR", "Layout::TILE").replace(
        f"DataType::{rows.dtype.name}", f"DataType::{tensor.dtype.name}")


def metal(shape, kind="mixed", dtype="bfloat16", layout="ROW_MAJOR", profile="short", sci="auto",
          precision=4):
    ttnn.set_printoptions(profile=profile, precision=precision,
                          sci_mode={"auto": "default", "on": True, "off": False}[sci])
    tensor = ttnn.from_torch(data(shape, kind, dtype), dtype=getattr(ttnn, dtype),
                             layout=getattr(ttnn.Layout, layout))
    broken = layout == "TILE" and len(shape) > 2 and tensor.shape[-2] % 32
    add("tt-metal", as_rows(tensor) if broken else str(tensor), shape=shape, values=kind, dtype=dtype, layout=layout,
        profile=profile, sci=sci, precision=precision)


def seed(shape, kind="mixed", dtype="float32", threshold=1000, edge=3, width=80, precision=4,
         sci="auto"):
    torch.set_printoptions(threshold=threshold, edgeitems=edge, linewidth=width,
                           precision=precision,
                           sci_mode={"auto": None, "on": True, "off": False}[sci])
    tensor = data(shape, kind, dtype)
    if dtype == "bfloat16":
        tensor = tensor.to(torch.bfloat16)
    elif dtype in ("uint16", "uint32"):
        tensor = tensor.to(torch.int64)  # torch cannot print these
    text = torch._tensor_str._tensor_str(tensor, 12)
    add("seed", text, shape=shape, values=kind, dtype=dtype, layout="ROW_MAJOR",
        threshold=threshold, edge=edge, width=width, precision=precision, sci=sci)


shapes = [[], [1], [3], [4], [5], [9], [2, 3], [4, 4], [5, 5], [3, 9], [9, 3], [2, 3, 4], [5, 2, 6],
          [2, 5, 5, 2], [1, 1, 1, 7], [6, 1, 1, 1], [2, 1, 5, 1, 3], [0], [0, 3], [2, 0], [1, 2, 1, 2, 1, 2],
          [2, 32, 3]]
for shape in shapes:
    metal(shape)
    metal(shape, "ramp", "float32", "TILE")
    metal(shape, profile="full")
    metal(shape, dtype="int32")
    if len(shape) != 5:
        metal(shape, "whole", "bfloat8_b", "TILE")
for kind in ("ramp", "mixed", "wide", "small", "large", "zero", "whole", "special", "nan", "few", "one"):
    for dtype in ("float32", "bfloat16", "bfloat8_b", "bfloat4_b"):
        if kind == "special" and dtype.endswith("_b"):
            continue
        metal([3, 6], kind, dtype, "TILE" if dtype.endswith("_b") else "ROW_MAJOR")
    for sci in ("on", "off"):
        metal([2, 3], kind, "float32", sci=sci)
for dtype in KINDS:
    metal([3, 7], "ramp", dtype)
    metal([3, 7], "ramp", dtype, "TILE", profile="full")
    metal([2, 2], "ramp", dtype, sci="on")
for precision in (0, 1, 2, 6, 9):
    for sci in ("auto", "on", "off"):
        metal([2, 3], "mixed", "float32", sci=sci, precision=precision)
        metal([2, 3], "special", "float32", sci=sci, precision=precision)
metal([40, 50], "mixed", "float32", "TILE")
metal([2, 3], profile="empty")
metal([], profile="empty", dtype="int32")
ttnn.set_printoptions(profile="short", precision=4, sci_mode="default")
padded = ttnn.from_torch(data([3, 5], "mixed", "float32"), dtype=ttnn.float32).pad([4, 7], [0, 0], 1e9)
add("tt-metal", str(padded), shape=[3, 5], values="mixed", dtype="float32", layout="ROW_MAJOR",
    padded=[4, 7], pad=1e9, profile="short", sci="auto", precision=4)
mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 2))
for name in ("mesh_replicated", "mesh_rows", "mesh_columns", "mesh_part"):
    add("tt-metal", str(ttnn.load_tensor(f"{host}/{name}.tensorbin")), file=name, profile="short",
        sci="auto", precision=4)
ttnn.close_mesh_device(mesh)

for shape in shapes:
    for kind in ("mixed", "ramp"):
        seed(shape, kind)
for shape in ([10, 20], [30], [2, 50], [3, 3, 40], [40, 40], [1001], [2, 501], [9, 12, 11], [8, 2, 2, 50], [2000, 1]):
    seed(shape)
    seed(shape, "whole")
    seed(shape, dtype="int32")
    seed(shape, width=40)
    seed(shape, threshold=10, edge=2)
for kind in ("ramp", "mixed", "wide", "small", "large", "zero", "whole", "special", "nan", "few", "one"):
    for sci in ("auto", "on", "off"):
        seed([3, 6], kind, sci=sci)
    seed([3, 6], kind, "bfloat16")
for dtype in KINDS:
    seed([3, 7], "ramp", dtype)
for precision in (0, 1, 2, 6, 9):
    seed([2, 3], precision=precision)
    seed([2, 3], "wide", precision=precision)

with open(sys.argv[2], "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
print(len(rows))
