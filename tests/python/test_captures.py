"""Captures that are forgotten, of several threads, of operations written in Python; which calls count."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import types
import warnings

import pytest
import ttnn
import ttnn.operation_tracer as tracer

NORMAL, DRY = ttnn.graph.RunMode.NORMAL, ttnn.graph.RunMode.NO_DISPATCH
TTNN = pathlib.Path(ttnn.__file__).resolve().parents[2] / "ttnn"  # the command


@pytest.fixture
def device():
    found = ttnn.open_device(device_id=0)
    yield found
    while ttnn.graph.is_graph_capture_active():
        ttnn.graph.end_graph_capture()
    ttnn.close_device(found)


def tensor(device):
    return ttnn.full([32, 32], fill_value=2.0, layout=ttnn.TILE_LAYOUT, device=device)


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def python(tmp_path, text, **variables):
    """What a program of these lines prints on stderr."""
    (tmp_path / "cells.py").write_text(text)
    there = {**os.environ, "PYTHONPATH": str(pathlib.Path(ttnn.__file__).resolve().parents[1]), **variables}
    return subprocess.run([sys.executable, "cells.py"], cwd=tmp_path, check=True, stderr=subprocess.PIPE, text=True, env=there).stderr


# ---- captures that are forgotten


def test_a_nested_begin_warns_once(device):
    ttnn.graph.begin_graph_capture(DRY)
    line = sys._getframe().f_lineno - 1
    with pytest.warns(RuntimeWarning, match="a NO_DISPATCH capture is open since [0-9:]{8}, begun in ") as said:
        ttnn.graph.begin_graph_capture(NORMAL)
    assert f"{__file__}, line {line}: nothing is computed" in str(said[0].message) and said[0].filename == __file__
    ttnn.graph.end_graph_capture()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ttnn.graph.begin_graph_capture(NORMAL)  # that was said
    ttnn.graph.end_graph_capture()
    ttnn.graph.end_graph_capture()
    ttnn.graph.begin_graph_capture(NORMAL)
    with pytest.warns(RuntimeWarning, match="a NORMAL capture is open since .*: what begins now is inside of it"):
        ttnn.graph.begin_graph_capture(NORMAL)


def test_notebooks_that_are_not_loaded_yet(device, monkeypatch):
    """A capture begins while IPython is being imported, or where something else has its name."""
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    with ttnn.graph.capture() as captured:
        ttnn.ones([2])
    assert captured.graph


def test_the_block_forgets_none(device):
    a = tensor(device)
    captured = ttnn.graph.capture(DRY)
    with contextlib.suppress(ZeroDivisionError), captured, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ttnn.graph.begin_graph_capture(NORMAL)
        ttnn.relu(a)
        1 / 0
    assert not ttnn.graph.is_graph_capture_active() and "ttnn::relu" in ttnn.graph.extract_calltrace(captured.graph)
    assert ttnn.relu(a).to_list()[0][0] == 2.0
    with ttnn.graph.capture() as captured:
        ttnn.graph.end_graph_capture()
    assert captured.graph is None


def test_the_block_writes_a_report(device, tmp_path):
    with pytest.raises(ZeroDivisionError), ttnn.graph.capture(NORMAL, tmp_path / "failed.json"):
        1 / 0
    with ttnn.graph.capture(NORMAL, tmp_path / "report.json") as captured:
        ttnn.relu(tensor(device))
    assert json.loads((tmp_path / "report.json").read_text())["graph"] == captured.graph
    assert not (tmp_path / "failed.json").exists()


def test_ends_on_another_thread_are_refused(device, tmp_path):
    ttnn.graph.begin_graph_capture(NORMAL)
    ends = ttnn.graph.end_graph_capture, lambda: ttnn.graph.end_graph_capture_to_file(tmp_path / "no.json")
    refused = []

    def end():
        for each in ends:
            with pytest.raises(RuntimeError) as error:
                each()
            refused.append(str(error.value))

    in_thread(end)
    for text in refused:
        assert f"on thread {threading.get_native_id()} a NORMAL capture is open since" in text and __file__ in text
    ttnn.relu(tensor(device))
    assert "ttnn::relu" in ttnn.graph.extract_calltrace(ttnn.graph.end_graph_capture())
    for each in ends:
        with pytest.raises(RuntimeError, match="no graph capture is running on this thread, nor on another"):
            each()


def test_a_word_at_the_end(tmp_path):
    begun = "import os, ttnn\nttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)\n"
    said = python(tmp_path, begun)
    assert "the process ends, and a NO_DISPATCH capture is open since" in said and "cells.py, line 2: what it recorded is dropped" in said
    assert python(tmp_path, begun + "ttnn.graph.end_graph_capture()\n") == ""
    # A child of a fork has nothing to say of its parent's.
    assert python(tmp_path, begun + "if os.fork():\n    os.wait()\n").count("the process ends") == 1


# ---- several threads


def two_threads(device, **more):
    """The graphs of two threads that capture at the same time, by name of what each calls."""
    a, graphs, together = tensor(device), {}, threading.Barrier(2)
    ids = {}

    def work(name):
        ids[name] = threading.get_native_id()
        ttnn.graph.begin_graph_capture(NORMAL, **more)
        together.wait()
        for _ in range(3):
            getattr(ttnn, name)(a)
        together.wait()
        graphs[name] = ttnn.graph.end_graph_capture()

    threads = [threading.Thread(target=work, args=[name]) for name in ("relu", "exp")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return graphs, ids


def operations(graph, thread=None):
    return [
        node["params"]["name"]
        for node in graph
        if node["node_type"] == "function_start" and node["stacking_level"] == 1 and thread in (None, node.get("thread"))
    ]


def test_nodes_say_their_thread(device):
    graphs, ids = two_threads(device)
    for graph in graphs.values():
        threads = {row["id"]: row["thread"] for row in json.loads(graph[0]["params"]["threads"])}
        assert all(("thread" in node) == (node["node_type"] not in ("capture_start", "capture_end")) for node in graph)
        for name, thread in ids.items():
            assert operations(graph, threads[thread]) == [f"ttnn::{name}"] * 3
        # What a function does is of its thread.
        for node in graph:
            if node["node_type"] == "function_start":
                assert all(graph[to]["thread"] == node["thread"] for to in node["connections"] if graph[to]["node_type"] != "tensor")


def test_a_capture_of_one_thread(device):
    graphs, _ = two_threads(device, this_thread=True)
    for name, graph in graphs.items():
        assert operations(graph) == [f"ttnn::{name}"] * 3
        assert not any("thread" in node for node in graph) and "threads" not in graph[0]["params"]


def test_graphs_of_files_say_their_threads(device, tmp_path):
    a = tensor(device)
    with ttnn.graph.capture(NORMAL, tmp_path / "report.json") as captured:
        ttnn.relu(a)
        in_thread(lambda: ttnn.exp(a))
    assert {node.get("thread") for node in captured.graph} == {None, 0, 1}
    assert ttnn.graph.load(tmp_path / "report.json") == captured.graph


@pytest.mark.skipif(not TTNN.exists(), reason="the command is not built")
def test_streams_and_graphs_say_the_same_threads(tmp_path):
    text = """
import threading, ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.zeros([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
for _ in range(20):
    ttnn.relu(a)
    thread = threading.Thread(target=lambda: [ttnn.exp(a) for _ in range(5)])
    thread.start()
    ttnn.relu(a)
    thread.join()
"""
    python(tmp_path, text, TTNN_TRACE=str(tmp_path))
    trace = next(tmp_path.glob("*.ttrace"))
    subprocess.run([TTNN, "export", "graph", "-o", tmp_path / "graph.json", trace], check=True, capture_output=True)
    graph = json.loads((tmp_path / "graph.json").read_text())
    assert graph == ttnn.graph.load(trace) and {node["thread"] for node in graph[1:-1]} == set(range(21))
    assert not any("thread" in node for node in json.loads(show("--tree", "--json", "--thread=0", trace)))


def test_graphs_of_the_release_say_no_threads(tmp_path):
    text = """
import threading, ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.zeros([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
with ttnn.graph.capture(ttnn.graph.RunMode.NORMAL) as captured:
    ttnn.relu(a)
    thread = threading.Thread(target=lambda: ttnn.exp(a))
    thread.start()
    thread.join()
assert not any("thread" in node for node in captured.graph)
assert "ttnn.exp" not in ttnn.graph.extract_calltrace(captured.graph)
"""
    python(tmp_path, text, TTNN_DIALECT="tt-metal")


# ---- operations written in Python


@pytest.fixture
def mine():
    @ttnn.register_python_operation(name="ttnn.experimental.mine_for_captures")
    def mine(tensor, *, times=1, fail=False):
        for _ in range(times):
            tensor = ttnn.relu(tensor)
        if fail:
            raise ValueError("on purpose")
        return tensor

    yield mine
    ttnn.decorators.REGISTERED_OPERATIONS.pop(mine.name)


def test_operations_in_python_are_in_graphs(device, mine):
    a = tensor(device)
    with ttnn.graph.capture(NORMAL) as captured:
        mine(a, times=2)
    graph = captured.graph
    assert operations(graph) == ["ttnn::experimental::mine_for_captures"]
    assert ttnn.graph.extract_calltrace(graph)[:2] == ["ttnn::experimental::mine_for_captures", "ttnn::relu"]
    start = next(node for node in graph if node["node_type"] == "function_start")
    end = next(n for n in graph if n["node_type"] == "function_end" and n["params"]["name"] == start["params"]["name"])
    assert [graph[i]["node_type"] for i in start["input_tensors"]] == ["tensor"]
    assert start["arguments"][1:] == ["2"] and "tensor" in [graph[i]["node_type"] for i in end["connections"]]


def test_operations_in_python_that_fail(device, mine):
    a = tensor(device)
    with ttnn.graph.capture(NORMAL) as captured, contextlib.suppress(ValueError):
        mine(a, fail=True)
    errors = [node["params"] for node in captured.graph if node["node_type"] == "error"]
    assert [(e["error_operation"], e["error_message"]) for e in errors] == [
        ("ttnn::experimental::mine_for_captures", "ValueError: on purpose")
    ]
    assert [n["node_type"] for n in captured.graph].count("function_start") == [n["node_type"] for n in captured.graph].count("function_end")
    with ttnn.graph.capture(NORMAL) as captured, contextlib.suppress(RuntimeError):
        mine(ttnn.zeros([2, 2]), times=1)  # relu of a host tensor
    assert sum(node["node_type"] == "error" for node in captured.graph) == 1


# What the release's graphs of these calls have, by level; names that differ here are left out.
IN_PYTHON = """
ttnn.dump_tensor("x.tensorbin", host): 1 ttnn.dump_tensor
ttnn.load_tensor("x.tensorbin"): 1 ttnn.load_tensor
ttnn.load_tensor("x.tensorbin", device=device): 1 ttnn.load_tensor, 2 Tensor::to_device
ttnn.allocate_tensor_on_host(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device): 1 ttnn.allocate_tensor_on_host
ttnn.allocate_tensor_on_device(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device): 1 ttnn.allocate_tensor_on_device, 2 tt::tt_metal::create_device_tensor
ttnn.from_buffer([1.0] * 1024, shape, ttnn.bfloat16, device, ttnn.ROW_MAJOR_LAYOUT): 1 ttnn.from_buffer, 2 Tensor::to_device
ttnn.Tensor.cpu(a): 1 Tensor::cpu
"""


def test_operations_in_python_are_in_graphs_of_the_release(tmp_path):
    rows = [line.rsplit("): ", 1) for line in IN_PYTHON.strip().splitlines()]
    text = f"""
import ttnn
device, shape = ttnn.open_device(device_id=0), ttnn.Shape([32, 32])
host = ttnn.zeros([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
a = ttnn.to_device(host, device)
for call, wanted in {rows}:
    with ttnn.graph.capture() as captured:
        kept = eval(call + ")")
    found = [f"{{n['stacking_level']}} {{n['params']['name']}}" for n in captured.graph if n["node_type"] == "function_start"]
    found = [name for name in found if name != "1 Tensor::deallocate"]
    assert ", ".join(found) == wanted, (call, found)
"""
    python(tmp_path, text, TTNN_DIALECT="tt-metal")


# ---- parameter files of methods

METHODS = {
    "cpu": lambda a: a.cpu(),
    "to": lambda a: a.to(ttnn.ROW_MAJOR_LAYOUT),
    "reshape": lambda a: a.reshape([1, 32, 32]),
    "pad": lambda a: a.cpu().to(ttnn.ROW_MAJOR_LAYOUT).pad([64, 64], [0, 0], 0),
    "unpad": lambda a: a.cpu().to(ttnn.ROW_MAJOR_LAYOUT).unpad([0, 0], [32, 16]),
    "pad_to_tile": lambda a: a.cpu().to(ttnn.ROW_MAJOR_LAYOUT).pad_to_tile(0),
    "unpad_from_tile": lambda a: a.cpu().to(ttnn.ROW_MAJOR_LAYOUT).pad_to_tile(0).unpad_from_tile([32, 32]),
    "deallocate": lambda a: a.deallocate(),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_leave_parameter_files(device, tmp_path, name):
    a = tensor(device)
    ttnn.CONFIG.operation_parameter_log_dir = tmp_path
    tracer._ENABLE_TRACE = True
    try:
        METHODS[name](a)
    finally:
        tracer._ENABLE_TRACE = False
        ttnn.CONFIG.operation_parameter_log_dir = None
    record = json.loads(max(tmp_path.iterdir(), key=lambda f: int(f.name.split("_")[0])).read_text())
    assert record["operation_name"] == f"ttnn.Tensor.{name}"
    assert record["args"][0]["value"]["type"] == "ttnn.Tensor" and ("return_value" in record) == (name != "deallocate")


def test_all_methods_are_tried():
    rows = (pathlib.Path(__file__).parents[2] / "python/src/tensor_ops.c").read_text()
    assert {line.split("(")[1].split(")")[0] for line in rows.splitlines() if line.startswith("\t{FAST(")} == set(METHODS)


# ---- which calls count


def show(*args):
    return subprocess.run([TTNN, "show", *args], check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(not TTNN.exists(), reason="the command is not built")
def test_tensors_that_go_are_no_calls(tmp_path):
    text = """
import ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.zeros([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
for _ in range(100):
    b = ttnn.add(a, 1)
ttnn.deallocate(b)
c = ttnn.relu(a)
"""
    python(tmp_path, text, TTNN_TRACE=str(tmp_path))
    trace = next(tmp_path.glob("*.ttrace"))
    for dialect, names in (("seed", "ttnn::{}"), ("tt-metal", "ttnn.{}")):
        rows = {row["name"]: row["calls"] for row in json.loads(show("--json", "--dialect", dialect, trace))}
        assert rows == {names.format(name): n for name, n in (("add", 100), ("zeros", 1), ("deallocate", 1), ("relu", 1))}
        for part, wanted in (("--last=1", ["relu"]), ("--first=101", ["add", "deallocate", "relu"])):
            graph = json.loads(show("--tree", "--json", "--dialect", dialect, part, trace))
            called = [name for name in operations(graph) if name != "Tensor::deallocate"]
            assert called == [names.format(name) for name in wanted]
    assert "103 operations" in show("--info", trace)
