"""Recorded parameter files as calls again: every value of a record becomes what it was written from."""

import contextlib
import gzip
import json
import pathlib
import re

import ttnn

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "params"


# Of objects without defaults: what prints as 0 or 1 and is no number.
SWITCHES = ("inplace", "legacy_reduction", "use_welford")


class Unknown(Exception):
    """A value that cannot be made again: only its text or address was written."""


def lines(name):
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


@contextlib.contextmanager
def dry():
    """Nothing is computed or placed: recorded tensors may be large."""
    before = ttnn._ttnn.set_no_dispatch(True)
    try:
        yield
    finally:
        ttnn._ttnn.set_no_dispatch(before)


def _member(text):
    """The member of "DataType.BFLOAT16" or "DataType::BFLOAT16"."""
    kind, name = re.split(r"\.|::", text)
    return getattr(getattr(ttnn, kind), name)


def memory_config(record):
    shard = record["shard_spec"]
    layout, buffer = _member(record["memory_layout"]), _member(record["buffer_type"])
    if shard == "None":
        return ttnn.MemoryConfig(layout, buffer)
    grid, shape = re.match(r"ShardSpec\{grid=\[(.*)\], shape=\[(.*)\], orientation", shard).groups()
    numbers = [int(n) for n in re.findall(r"\d+", grid)]
    ranges = [
        ttnn.CoreRange(ttnn.CoreCoord(*numbers[i : i + 2]), ttnn.CoreCoord(*numbers[i + 2 : i + 4]))
        for i in range(0, len(numbers), 4)
    ]
    orientation = _member(re.search(r"orientation=(ShardOrientation::\w+)", shard).group(1))
    spec = ttnn.ShardSpec(ttnn.CoreRangeSet(ranges), [int(n) for n in shape.split(",")], orientation)
    return ttnn.MemoryConfig(layout, buffer, spec)


def tensor(record, device):
    """A tensor like the recorded one before its call: not deallocated yet."""
    shape, dtype, layout = record["original_shape"], _member(record["original_dtype"]), _member(record["layout"])
    memory = memory_config(record["memory_config"])
    spread = len(record["mesh_device"]["placements"])
    on_device = record["storage_type"] == "StorageType.DEVICE"
    if on_device and spread == 2 and "Shard" not in str(record["mesh_device"]["placements"]):
        return ttnn.empty(shape, dtype=dtype, layout=layout, device=device, memory_config=memory)
    if not on_device and spread == 2 or "Shard" in str(record["mesh_device"]["placements"]):
        raise Unknown("a tensor that a mesh mapper made")
    host = ttnn.zeros(shape, dtype=dtype, layout=layout)
    return ttnn.to_device(host, device, memory_config=memory) if on_device else host


def _split(text):
    """The parts between commas that are in no bracket."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()] if text.strip() else parts


def printed(text, like=None):
    """A value from what it prints; `like` tells what kind of number is meant."""
    if text == "std::nullopt":
        return None
    if isinstance(like, bool) or text in ("true", "false"):
        return text in ("1", "true")
    if re.fullmatch(r"\d+-\d+", text):
        return ttnn.CoreCoord(*map(int, text.split("-")))
    if re.fullmatch(r"-?[\d.e+-]+", text):
        return float(text) if isinstance(like, float) or "." in text else int(text)
    if re.fullmatch(r"\w+::\w+", text):
        return _member(text)
    if text.startswith("{["):
        numbers = [int(n) for n in re.findall(r"\d+", text)]
        return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(*numbers[:2]), ttnn.CoreCoord(*numbers[2:]))])
    if text.startswith("slice("):
        return slice(*(None if p == "None" else int(p) for p in _split(text[6:-1])))
    found = re.fullmatch(r"(?:ttnn\.)?(\w+)\((.*)\)", text, re.S)
    if not found:
        raise Unknown(text)
    kind = getattr(ttnn, found.group(1), None)
    if kind is None:
        raise Unknown(text)
    fields = dict(part.split("=", 1) for part in _split(found.group(2)))
    try:
        default = kind()
    except Exception:  # some have no defaults
        default = None
    return kind(**{name: printed(value, name in SWITCHES or getattr(default, name, None)) for name, value in fields.items()})


def _matmul_config(record):
    values = dict(record)
    kind = getattr(ttnn, values.pop("type"))
    for name, value in list(values.items()):
        if isinstance(value, dict) and set(value) == {"x", "y"}:
            values[name] = ttnn.CoreCoord(value["x"], value["y"])
        elif isinstance(value, dict):
            values[name] = ttnn.UnaryWithParam(ttnn.UnaryOpType(value["op_type"]), *value["param"])
        elif name == "hop_cores":
            values[name] = ttnn.CoreRangeSet(value)
    return kind(**{name: value for name, value in values.items() if value is not None})


def value(record, device):
    if isinstance(record, list):
        items = [value(item, device) for item in record]
        return tuple(items) if any(isinstance(item, slice) for item in items) else items
    if not isinstance(record, dict):
        return record
    kind = record.get("type")
    if kind == "ttnn.Tensor":
        return tensor(record, device)
    if kind == "torch.Tensor":
        import torch

        dtype = getattr(torch, record["dtype"].removeprefix("torch."))
        return torch.tensor(record["values"], dtype=dtype) if "values" in record else torch.zeros(record["shape"], dtype=dtype)
    if kind == "MeshDevice":
        return device
    if "memory_layout" in record:
        return memory_config(record)
    if "math_fidelity" in record:
        made = {k: _member(v) if isinstance(v, str) and "." in v else v for k, v in record.items()}
        made["math_approx_mode"] = record["math_approx_mode"] == "True"
        return ttnn.WormholeComputeKernelConfig(**made)
    if "repr" in record and "object at" not in record["repr"]:
        return _member(record["repr"])
    if kind and "value" in record:
        return printed(record["value"])
    if kind and "repr" not in record:
        return _matmul_config(record)
    raise Unknown(str(record))


def operation(name):
    found = ttnn
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def call(record, device):
    """Calls what a record is of, as it says."""
    args = [value(a["value"], device) for a in record["args"]]
    kwargs = {name: value(v, device) for name, v in record["kwargs"].items()}
    return operation(record["operation_name"])(*args, **kwargs)


def compared(record):
    """A record without what cannot be the same: its number, and numbers made of others by hashing."""

    def plain(value):
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items() if k != "hash"}
        if isinstance(value, list):
            return [plain(v) for v in value]
        return re.sub(r" at 0x\w+", "", value) if isinstance(value, str) else value

    return {k: plain(v) for k, v in record.items() if k != "operation_id"}


def first_difference(a, b, where=""):
    """ "kwargs.dtype.repr: 'x', not 'y'", or None."""
    if type(a) is not type(b):
        return f"{where}: {a!r:.200}, not {b!r:.200}"
    if isinstance(a, dict):
        if list(a) != list(b):
            return f"{where}: keys {list(a)}, not {list(b)}"
        pairs = [(f"{where}.{k}", a[k], b[k]) for k in a]
    elif isinstance(a, list):
        if len(a) != len(b):
            return f"{where}: {len(a)} items, not {len(b)}"
        pairs = [(f"{where}[{i}]", x, y) for i, (x, y) in enumerate(zip(a, b))]
    else:
        return None if a == b else f"{where}: {a!r:.200}, not {b!r:.200}"
    return next((d for d in (first_difference(x, y, w) for w, x, y in pairs) if d), None)
