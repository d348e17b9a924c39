"""Our models' configurations beside those of real ones: `python model_configurations.py [-v] [MODEL...]`.

The real ones are in tests/data/master: what a tracer saw on an n300. A configuration here is an operation with
its tensors (shape, type, layout, place, shards), the places and types it was given, shapes and lists of numbers,
the numbers of a program configuration and the fidelity of its kernel. Left out are what the file lost ("unsupported
type", "{...}"), and single numbers, of which the file has the defaults, too.
"""

import collections
import functools
import gzip
import json
import pathlib
import re
import sys

MASTER = pathlib.Path(__file__).parents[1] / "data/master/master_2025-11.json.gz"
TENSOR = re.compile(r"logical_shape")
PROGRAM = ("in0_block_w", "out_subblock_h", "out_subblock_w", "out_block_h", "out_block_w", "per_core_M", "per_core_N", "fuse_batch",
           "subblock_w", "block_h", "block_w", "q_chunk_size", "k_chunk_size")


def _numbers(text):
    return tuple(int(n) for n in re.findall(r"-?\d+", text))


def _found(pattern, text):
    match = re.search(pattern, text)
    return match.group(1) if match else None


def _place(text):
    """(layout, buffer, cores, shape of a shard) of the memory config in a text."""
    layout, buffer = _found(r"TensorMemoryLayout::(\w+)", text), _found(r"BufferType::(\w+)", text)
    spec = re.search(r"shard_spec\W{1,4}(?:ShardSpec)?\{\W*grid\W(.*?)shape\W+([\d, ]+)", text)
    return layout, buffer, *((_numbers(spec.group(1)), _numbers(spec.group(2))) if spec else ((), ()))


def _tensor(text):
    shape = _numbers(_found(r"logical_shape\W+(?:ttnn\.Shape\(\[)?([\d, ]*)", text) or "")
    # A tensor's own layout is said at its end, or by the kind of its pages.
    layout = _found(r"\WLayout::(TILE|ROW_MAJOR)", text) or ("ROW_MAJOR" if "RowMajorPageConfig" in text else "TILE")
    return "tensor", shape, _found(r"DataType::(\w+)", text), layout, _place(text)


@functools.lru_cache(None)
def pieces(text):
    """What is compared of one argument."""
    if "unsupported type" in text or "{...}" in text or "Conv2dConfig" in text or "SliceConfig" in text:
        return []
    if "logical_shape" in text:
        starts = [m.start() for m in TENSOR.finditer(text)] + [len(text)]
        found = [_tensor(text[begin:end]) for begin, end in zip(starts, starts[1:])]
        return [tensor[:4] for tensor in found] if "StorageType::HOST" in text or "HostStorage" in text else found
    program = tuple((name, int(n)) for name in PROGRAM for n in re.findall(rf"\b{name}\W+(\d+)", text))
    if "ProgramConfig" in text:
        return [("program", program)]
    if "KernelConfig" in text:
        return [("kernel", _found(r"math_fidelity\W+(?:MathFidelity::)?(\w+)", text))]
    if "TensorMemoryLayout" in text:
        return [("place", *_place(text))]
    if "DataType::" in text:
        return [("type", _found(r"DataType::(\w+)", text))]
    if re.search(r"[\[{]\s*-?\d+\s*,", text):
        return [("list", _numbers(re.sub(r"arg\d+", "", text)))]
    return []


def configuration(name, arguments):
    found = [piece for text in arguments for piece in pieces(text)]
    if name == "ttnn::slice":  # steps of 1 are written or not
        found = [piece for piece in found if piece[0] != "list" or set(piece[1]) != {1}]
    return tuple(found)


def _text(argument):
    """An argument of the file as one text."""
    if "UnparsedElement" in argument:
        return argument["UnparsedElement"]["element_info"]
    return json.dumps(argument)


def real(source):
    """{operation: set of configurations} of a source of the master."""
    found = collections.defaultdict(set)
    for name, operation in json.loads(gzip.decompress(MASTER.read_bytes()))["operations"].items():
        for entry in operation["configurations"]:
            sources = entry["source"] if isinstance(entry["source"], list) else [entry["source"]]
            if any(source in s for s in sources):
                found[name].add(configuration(name, map(_text, entry["arguments"])))
    return found


def of_graph(graph, into):
    for node in graph:
        if node["node_type"] == "function_start":
            name = node["params"]["name"]
            into[name].add(configuration(name, node.get("arguments", [])))


def ours_decoder(name):
    from ttnn_models import machine, rows, text_demo
    from ttnn_models.decoder import precision

    found = collections.defaultdict(set)
    row = rows.ROWS[name]
    with machine.opened(row.machine, divides=row.kv_heads) as device:
        for optimizations in ("performance", "accuracy"):
            for variant in text_demo.VARIANTS.values():
                run = text_demo.dry(row, device, precision(row, optimizations), variant, row.kinds())
                of_graph(run.graph, found)
    return found


def ours_efficientnet():
    from ttnn_models import efficientnet, machine

    found = collections.defaultdict(set)
    with machine.chip("n300", l1_small_size=efficientnet.L1_SMALL) as device:
        of_graph(efficientnet.dry(device).graph, found)
    return found


MODELS = {
    "efficientnetb0": ours_efficientnet,
    **{
        name: (lambda name=name: ours_decoder(name))
        for name in (
            "meta-llama/Llama-3.2-1B-Instruct",
            "meta-llama/Llama-3.2-11B-Vision-Instruct",
            "Qwen/Qwen2.5-Coder-7B-Instruct",
            "deepseek-ai/deepseek-llm-7b-chat",
        )
    },
}


def compare(model):
    """(rows of (operation, real, ours, in common), configurations only the real model has)."""
    theirs, ours = real(model), MODELS[model]()
    rows, missing = [], []
    for name in sorted(theirs):
        common = theirs[name] & ours[name]
        rows.append((name, len(theirs[name]), len(ours[name]), len(common)))
        missing += [(name, c) for c in sorted(theirs[name] - common, key=str)]
    return rows, missing


def totals(rows):
    """(operations in common, operations, configurations in common, configurations)."""
    return sum(bool(ours) for _, _, ours, _ in rows), len(rows), sum(row[3] for row in rows), sum(row[1] for row in rows)


def main(arguments):
    verbose = "-v" in arguments
    for model in [a for a in arguments if a != "-v"] or MODELS:
        rows, missing = compare(model)
        print(f"\n{model}\n{'operation':62} {'real':>5} {'ours':>5} {'common':>6}")
        for name, theirs, ours, common in rows:
            print(f"{name:62} {theirs:5} {ours:5} {common:6}")
        types, of_types, common, of_all = totals(rows)
        print(f"{types} of {of_types} operations ({types / of_types:.0%}), {common} of {of_all} configurations ({common / of_all:.0%})")
        for name, entry in missing if verbose else ():
            print("  only real:", name, entry)


if __name__ == "__main__":
    main(sys.argv[1:])
