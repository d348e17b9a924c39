"""Memory and performance of one run link: the device operations of the database are the rows of the performance report, in order,
as ttnn-visualizer compares them (tests/visualizer asks it itself)."""

import csv
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import ttnn

PROGRAM = """
import sys, ttnn

device = ttnn.open_device(device_id=0)
def full(*shape, **how):
    return ttnn.full([*shape], 0.5, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, **how)

if len(sys.argv) > 1:
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
a, b = full(1, 1, 64, 64), full(1, 1, 64, 64)
x = ttnn.matmul(a, b)
for turn in range(3):
    x = ttnn.softmax(ttnn.add(x, b), dim=-1)
    try:
        ttnn.add(full(1, 1, 1, 1 << 21), b)  # no such broadcast, after or in its operation
    except RuntimeError:
        pass
    try:
        ttnn.relu(full(1, 1, 1 << 12, 1 << 13), memory_config=ttnn.L1_MEMORY_CONFIG)  # no room
    except RuntimeError:
        pass
    x = ttnn.permute(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), (0, 1, 3, 2))
    x = ttnn.concat([ttnn.to_layout(x, ttnn.TILE_LAYOUT), a], dim=2)
    ttnn.deallocate(a)
    a = ttnn.typecast(ttnn.typecast(b, ttnn.float32), ttnn.bfloat16)
    x = ttnn.layer_norm(ttnn.slice(x, [0, 0, 0, 0], [1, 1, 64, 64]))
    x = ttnn.mean(x * x, dim=3, keepdim=True) + ttnn.repeat(b, ttnn.Shape([1, 1, 1, 1]))
if len(sys.argv) > 1:
    ttnn.graph.end_graph_capture_to_file(sys.argv[1])
ttnn.close_device(device)
"""


@pytest.fixture(scope="module")
def tool():
    beside = Path(ttnn.__file__).resolve().parents[2] / "ttnn"
    found = beside if beside.is_file() else shutil.which("ttnn")
    if not found:
        pytest.skip("no ttnn command")
    return str(found)


def device_operations(database):
    """Names in the order of their beginning; what did not end, or not by its name, has launched nothing."""
    names = []
    for (text,) in sqlite3.connect(database).execute("select captured_graph from captured_graph order by operation_id"):
        begun, ended = [], []
        for node in json.loads(text):
            if node["node_type"] == "function_start":
                begun.append(node["params"]["name"])
                ended.append(False)
            elif node["node_type"] == "function_end":
                own = [i for i, name in enumerate(begun) if name == node["params"]["name"] and ended[i] is False]
                if own:
                    ended[own[-1]] = None if node["params"].get("aborted") else True
        names += [n for n, e in zip(begun, ended) if e and "::" not in n and "ttnn." not in n and "(torch)" not in n]
    return names


@pytest.fixture(scope="module")
def run(tool, tmp_path_factory):
    """The trace of a run, its report, and the operations of its performance report."""
    folder = tmp_path_factory.mktemp("run")

    def record(dialect):
        environment = dict(os.environ, TTNN_DIALECT=dialect, TTNN_TRACE=str(folder / dialect), TTNN_TRACE_OPTIONS="profile")
        subprocess.run([sys.executable, "-c", PROGRAM, str(folder / f"{dialect}.json")], env=environment, check=True)
        (trace,) = (folder / dialect).glob("*.ttrace")
        subprocess.run([tool, "export", "csv", "-o", folder / "rows.csv", trace], check=True)
        with open(folder / "rows.csv", newline="") as file:
            codes = [row["OP CODE"] for row in csv.DictReader(file) if row["OP TYPE"] != "signpost"]
        return trace, folder / f"{dialect}.json", codes

    return {dialect: record(dialect) for dialect in ("seed", "tt-metal")}


@pytest.mark.parametrize("dialect", ["seed", "tt-metal"])
@pytest.mark.parametrize("source", ["trace", "report"])
@pytest.mark.parametrize("form", [[], ["--tables"]])
def test_names_are_those_of_the_rows(tool, run, tmp_path, dialect, source, form):
    trace, report, codes = run[dialect]
    subprocess.run([tool, "import", "--dialect", dialect, *form, trace if source == "trace" else report, tmp_path], check=True,
                   stdout=subprocess.DEVNULL)
    assert len(codes) > 30 and "MatmulDeviceOperation" in codes
    assert device_operations(tmp_path / "db.sqlite") == codes


@pytest.mark.parametrize("form, names", [([], ["AddDeviceOperation"]), (["--strict"], ["Device Operation"])])
def test_names_of_a_graph(tool, tmp_path, form, names):
    """With --strict names are as the graph has them."""
    kinds = [("capture_start", None), ("function_start", "ttnn::add"), ("function_start", "Device Operation"),
             ("function_end", "Device Operation"), ("function_end", "ttnn::add"), ("capture_end", None)]
    graph = [{"counter": i, "node_type": kind, "params": {"name": name} if name else {}, "connections": [], "arguments": [],
              "input_tensors": [], "stacking_level": 0} for i, (kind, name) in enumerate(kinds)]
    for node in graph[2:4]:
        node["params"]["operation"] = "AddDeviceOperation"
    (tmp_path / "report.json").write_text(json.dumps({"version": 1, "graph": graph, "metadata": {"rank": 0, "world_size": 1}}))
    subprocess.run([tool, "import", *form, tmp_path / "report.json", tmp_path / "db"], check=True, stdout=subprocess.DEVNULL)
    assert device_operations(tmp_path / "db" / "db.sqlite") == names
