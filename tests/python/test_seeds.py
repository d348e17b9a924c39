"""What TT-NN's document on graph tracing shows, as it is printed there: all that works in Python without a
report. Reports are in test_reports.py and test_graph_report.py, parameters in test_seeds_params.py."""

import contextlib
import io
import os
import subprocess
import sys

import pytest

import ttnn

OPERATIONS = "# ... your operations ..."


def tensor(device, shape=(32, 64)):
    return ttnn.zeros(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def run(code, operations=OPERATIONS, **names):
    """Runs a snippet, with operations where the document leaves them to its reader; what it has set and printed."""
    names = {"ttnn": ttnn, **names}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code.replace(OPERATIONS, operations), names)
    return names, printed.getvalue()


QUICK_START = """
import ttnn

ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
result = ttnn.add(tensor_a, tensor_b)  # Your operations here
graph = ttnn.graph.end_graph_capture()
print(graph)  # List of traced nodes
"""


def test_quick_start(device):
    a = tensor(device)
    names, printed = run(QUICK_START, tensor_a=a, tensor_b=tensor(device))
    graph = names["graph"]
    assert printed == f"{graph}\n"
    assert graph[0]["node_type"] == "capture_start" and graph[-1]["node_type"] == "capture_end"
    assert ttnn.graph.extract_calltrace(graph)[0] == "ttnn::add"
    assert names["result"].shape == a.shape


RUN_MODES = """
# Fast analysis without device
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)

# Real execution with actual addresses
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
"""


@pytest.mark.parametrize("number, real", [(1, False), (2, True)])
def test_run_modes(device, number, real):
    a = tensor(device)
    run(RUN_MODES.split("\n\n")[number - 1])
    ttnn.relu(a)
    graph = ttnn.graph.end_graph_capture()
    addresses = [int(n["params"]["address"]) for n in graph if n["node_type"] == "buffer_allocate"]
    assert addresses and all(bool(address) == real for address in addresses)


DURATIONS = """
graph = ttnn.graph.end_graph_capture()

for node in graph:
    if node["node_type"] == "function_end" and "duration_ns" in node:
        name = node["params"]["name"]
        duration_ms = node["duration_ns"] / 1_000_000
        print(f"{name}: {duration_ms:.2f} ms")
"""


def test_durations(device):
    a = tensor(device)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    ttnn.relu(a)
    _, printed = run(DURATIONS)
    lines = printed.splitlines()
    assert lines[-1].startswith("ttnn::relu: ") and lines[-1].endswith(" ms")
    assert [line.split(": ")[0] for line in lines][:2] == ["create_device_tensor", "Device Operation"]


PEAK = """
def get_peak_memory(graph):
    total_buffer = 0
    peak_buffer = 0

    for node in graph:
        if node["node_type"] == "buffer_allocate":
            total_buffer += int(node["params"]["size"])
            peak_buffer = max(peak_buffer, total_buffer)
        elif node["node_type"] == "buffer_deallocate":
            # Get size from connected buffer node
            buffer_id = node["connections"][0]
            buffer_node = graph[buffer_id]
            total_buffer -= int(buffer_node["params"]["size"])

    return peak_buffer
"""


def test_peak_memory(device):
    a = tensor(device)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    ttnn.relu(ttnn.relu(a))
    graph = ttnn.graph.end_graph_capture()
    names, _ = run(PEAK)
    assert names["get_peak_memory"](graph) == 2 * 32 * 64 * 2


STACKS = """
# Enable before capture
ttnn.graph.enable_stack_traces()

ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
# ... your operations ...
graph = ttnn.graph.end_graph_capture()

# Disable when done (removes overhead)
ttnn.graph.disable_stack_traces()

# Check status
if ttnn.graph.is_stack_trace_enabled():
    print("Stack traces enabled")
"""


def test_stack_traces(device):
    a = tensor(device)
    names, printed = run(STACKS, "ttnn.relu(a)", a=a)
    starts = [n for n in names["graph"] if n["node_type"] == "function_start"]
    assert starts[0]["params"]["name"] == "ttnn::relu" and starts[0]["stack_trace"]
    assert printed == ""
    _, printed = run(STACKS.split("# Disable")[0] + STACKS.split("# Check status")[1], "ttnn.relu(a)", a=a)
    ttnn.graph.disable_stack_traces()
    assert printed == "Stack traces enabled\n"
    names, _ = run(QUICK_START, tensor_a=a, tensor_b=a)
    assert not any("stack_trace" in n for n in names["graph"])


ARGUMENTS = """
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
# ... your operations ...
graph = ttnn.graph.end_graph_capture()

for node in graph:
    if node["node_type"] == "function_start" and "arguments" in node:
        print(f"{node['params']['name']}: {node['arguments']}")
"""


def test_arguments(device):
    names, printed = run(ARGUMENTS, "ttnn.add(a, a)", a=tensor(device))
    lines = printed.splitlines()
    assert lines[0].startswith("ttnn::add: ['Tensor(storage=DeviceStorage()")
    assert len(lines) == len(ttnn.graph.extract_calltrace(names["graph"]))
    (add,) = [n for n in names["graph"] if n["node_type"] == "function_start" and n["params"]["name"] == "ttnn::add"]
    assert len(add["arguments"]) == 2 and add["input_tensors"][0] == add["input_tensors"][1]


LEVELS = """
graph = ttnn.graph.end_graph_capture()

# Extract with max_level=1 (top-level operations only)
levelized = ttnn.graph.extract_levelized_graph(graph)

# Or expand to see internal operations
levelized = ttnn.graph.extract_levelized_graph(graph, max_level=2)

for vertex in levelized:
    print(f"{vertex['name']} (level {vertex['stacking_level']})")
    print(f"  inputs: {vertex['in_edges']}")
    print(f"  outputs: {vertex['out_edges']}")
    print(f"  internals: {vertex['internals']}")
"""


def test_levels(device):
    a, b, c = (tensor(device) for _ in range(3))
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    ttnn.add(a, ttnn.multiply(b, c))
    names, printed = run(LEVELS)

    levelized = ttnn.graph.extract_levelized_graph(names["graph"])
    assert [v["name"].split("[")[0] for v in levelized] == ["tensor"] * 3 + ["ttnn::multiply", "ttnn::add"]
    multiply, add = levelized[3:]
    assert multiply["in_edges"] == [0, 1] and multiply["out_edges"] == [4]
    assert add["in_edges"] == [2, 3] and add["out_edges"] == []

    inner = [v for v in names["levelized"] if v["stacking_level"] == 2]
    assert [v["name"] for v in inner] == ["ttnn::prim::binary_ng"] * 2
    assert all(len(v["internals"]) == 1 for v in names["levelized"] if v["name"] in ("ttnn::multiply", "ttnn::add"))
    assert "ttnn::prim::binary_ng (level 2)\n" in printed and printed.count("internals: ") == len(names["levelized"])


HANGING = """
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
try:
    result = some_operation(tensor)
    ttnn._ttnn.device.synchronize_device(device)
except Exception as e:
    graph = ttnn.graph.end_graph_capture()
    print(f"Operation hung. Captured trace: {graph}")
    raise
"""
BEFORE = """
import ttnn
device = ttnn.open_device(device_id=0)
tensor = ttnn.empty([1, 1, 262144, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
small = ttnn.full([32, 32], 2.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
def some_operation(x):
    return ttnn.transformer.scaled_dot_product_attention(x, x, x, is_causal=False)
"""
# The limit is one for the process: far above what the small calls take on slow machines, far below the minutes
# that all pairs of 262144 rows take on fast ones.
LIMIT = "3"


def in_a_process(code, seconds):
    environment = {**os.environ, "TT_METAL_OPERATION_TIMEOUT_SECONDS": seconds, "TTNN_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)


def test_hanging_operation():
    done = in_a_process(BEFORE + HANGING, LIMIT)
    assert done.returncode == 1 and "RuntimeError: " in done.stderr and "TIMEOUT" in done.stderr
    assert done.stdout.startswith("Operation hung. Captured trace: [{") and "'node_type': 'error'" in done.stdout


def test_what_follows_a_hanging_operation():
    caught = "try:\n" + "".join(f"    {line}\n" for line in HANGING.splitlines()) + "except RuntimeError as error:\n    print(error)\n"
    done = in_a_process(BEFORE + caught + "print(ttnn.relu(small).to_list()[31][31], len(graph))\n", LIMIT)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "TIMEOUT" in lines[1] and lines[2].startswith("2.0 ")


def test_no_limit():
    code = BEFORE.replace("262144", "64") + HANGING + "print(len(ttnn.graph.end_graph_capture()) > 5)"
    assert in_a_process(code, "0").stdout == in_a_process(code, "30").stdout == "True\n"
