"""Records the .npy files of this directory with NumPy, and npy.json, which tells what is in them.

    python record.py DIRECTORY

Elements are those of value(), which tests/formats/test_npy.c computes again.
"""
import json
import sys

import numpy as np

out, rows = sys.argv[1], []


def value(i, kind):
    v = (i * 7919 + 13) % 2003 - 1001
    return v / 64 if kind == "f" else v != 0 and v % 3 == 0 if kind == "b" else \
        v % 100 if kind == "u" else v % 200 - 100


def save(name, descr, shape, fortran=False, version=None, same=False):
    kind = np.dtype(descr).kind
    count = int(np.prod(shape, dtype=int))
    array = np.array([value(i, kind) for i in range(count)]).reshape(shape).astype(descr)
    array = np.asarray(array, dtype=descr, order="F" if fortran else "C")
    with open(f"{out}/{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version)
    rows.append({"file": name, "kind": kind, "shape": list(shape), "same": same,
                 "dtype": {"f4": "float32", "f8": "float32", "f2": "float32", "i1": "int8",
                           "i2": "int32", "i4": "int32", "i8": "int32", "u1": "uint8",
                           "u2": "uint16", "u4": "uint32", "u8": "uint32", "b1": "uint8"
                           }[kind + str(np.dtype(descr).itemsize)]})


for code in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"):
    name = "b1" if code == "?" else code
    same = code in ("f4", "i1", "i4", "u1", "u2", "u4")
    save(f"{name}_little", np.dtype(code).newbyteorder("<"), (3, 5), same=same)
    save(f"{name}_big", np.dtype(code).newbyteorder(">"), (3, 5))
    save(f"{name}_fortran", code, (2, 3, 4), fortran=True)
for rank, shape in enumerate([(), (7,), (3, 4), (2, 3, 4), (1, 2, 3, 1), (2, 1, 2, 1, 2)]):
    save(f"rank{rank}", "<f4", shape, same=True)
    save(f"rank{rank}_fortran", ">i2", shape, fortran=True)
save("rank32", "<i4", (1,) * 30 + (2, 3), same=True)
save("empty", "<f4", (0, 3), same=True)
save("version2", "<f4", (3, 4), version=(2, 0))
save("version3", ">f8", (3, 4), version=(3, 0))
with open(f"{out}/npy.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
# what cannot be a tensor
np.save(f"{out}/not_complex.npy", np.zeros(3, "c8"))
np.save(f"{out}/not_text.npy", np.array(["a", "bc"]))
np.save(f"{out}/not_fields.npy", np.zeros(2, [("a", "f4"), ("b", "i4")]))
np.save(f"{out}/not_i8.npy", np.array([1, 2 ** 40]))
np.save(f"{out}/not_u8.npy", np.array([1, 2 ** 32], "u8"))
np.save(f"{out}/not_objects.npy", np.array([None, 1], dtype=object), allow_pickle=True)
