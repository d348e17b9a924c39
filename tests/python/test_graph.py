"""Graph capture: nesting, failures, the documented sample, queries on graphs made by hand. test_seeds.py has the documented snippets."""

import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import ttnn
from ttnn import program

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = os.path.join(HERE, "..", "data", "graph", "sample")


def tensor(device, shape=(32, 64), memory=None):
    memory = memory or ttnn.DRAM_MEMORY_CONFIG
    return ttnn.zeros(shape, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)


def captured(function, mode=ttnn.graph.RunMode.NORMAL):
    ttnn.graph.begin_graph_capture(mode)
    try:
        kept = function()
    finally:
        graph = ttnn.graph.end_graph_capture()
    del kept
    return graph


def types(graph):
    return [node["node_type"] for node in graph]


# ---- captures


def test_without_a_capture():
    with pytest.raises(RuntimeError, match="no graph capture is running on this thread"):
        ttnn.graph.end_graph_capture()
    assert not ttnn.graph.is_graph_capture_active()


def test_nested(device):
    a = tensor(device)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    ttnn.relu(a)
    inner = ttnn.graph.end_graph_capture()
    assert ttnn.graph.is_graph_capture_active()
    ttnn.exp(a)
    outer = ttnn.graph.end_graph_capture()
    assert ttnn.graph.extract_calltrace(inner)[0] == "ttnn::relu"
    assert [n for n in ttnn.graph.extract_calltrace(outer) if n in ("ttnn::relu", "ttnn::exp")] == ["ttnn::relu", "ttnn::exp"]
    assert all(n["params"]["address"] == "0" for n in inner if n["node_type"] == "buffer_allocate")


def test_dry_addresses(device):
    a = tensor(device)
    with ttnn.graph.dry_addresses():
        graph = captured(lambda: ttnn.relu(a), ttnn.graph.RunMode.NO_DISPATCH)
    addresses = [int(n["params"]["address"]) for n in graph if n["node_type"] == "buffer_allocate"]
    assert addresses and all(addresses)


def test_larger_than_memory(device):
    def run():
        a = ttnn.empty([64, 32768, 32768], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        return ttnn.relu(a)

    graph = captured(run, ttnn.graph.RunMode.NO_DISPATCH)
    assert max(int(n["params"]["size"]) for n in graph if n["node_type"] == "buffer") == 64 * 32768 * 32768 * 2


def test_a_failure_leaves_a_whole_graph(device):
    a, b = tensor(device, (64, 64)), tensor(device, (96, 64))

    def run():
        with pytest.raises(RuntimeError):
            ttnn.add(a, b)
        return ttnn.relu(a)

    graph = captured(run)
    assert types(graph).count("function_start") == types(graph).count("function_end")
    (error,) = [n for n in graph if n["node_type"] == "error"]
    assert error["params"]["error_type"] == "exception"
    assert error["params"]["error_operation"] == "ttnn::add"
    levelized = ttnn.graph.extract_levelized_graph(graph)
    assert [v["name"] for v in levelized][-1] == "ttnn::relu"


# ---- times and reports


def test_durations(device):
    graph = captured(lambda: ttnn.relu(tensor(device)))
    assert ttnn.graph.extract_total_duration_from_graph(graph) > 0
    assert ttnn.graph.extract_operation_durations(graph)["ttnn::relu"] > 0


def test_reports(device, tmp_path):
    a = tensor(device)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    ttnn.relu(a)
    report = ttnn.graph.get_current_report()
    assert report["version"] == ttnn.graph.REPORT_VERSION and "total_duration_ns" not in report["metadata"]
    path = tmp_path / "deep" / "my_report.json"
    graph = ttnn.graph.end_graph_capture_to_file(path)
    written = json.loads(path.read_text())
    assert written["graph"] == graph
    assert written["devices"][0]["arch"] == "WORMHOLE_B0"
    assert written["metadata"]["rank"] == 0 and written["metadata"]["total_duration_ns"] > 0
    assert ttnn.graph.load(path) == graph


def test_switches():
    assert not ttnn.graph.is_buffer_pages_enabled()
    ttnn.graph.enable_detailed_buffer_tracing()
    assert ttnn.graph.is_buffer_pages_enabled()
    ttnn.graph.disable_buffer_pages()
    assert not ttnn.graph.is_detailed_buffer_tracing_enabled()


# ---- the names of upstream's module, older and newer ones

NAMES = """
RunMode begin_graph_capture end_graph_capture end_graph_capture_to_file get_current_report REPORT_VERSION extract_calltrace
extract_levelized_graph TensorInfo extract_peak_L1_memory_usage count_intermediate_and_output_tensors extract_output_info
extract_output_tensors extract_resource_usage_per_core enable_stack_traces disable_stack_traces is_stack_trace_enabled
enable_buffer_pages disable_buffer_pages is_buffer_pages_enabled import_report extract_total_duration_from_graph
extract_operation_durations pretty_format pretty_print visualize_node visualize_edge visualize ExitStackWithPop
enable_detailed_buffer_tracing disable_detailed_buffer_tracing is_detailed_buffer_tracing_enabled is_graph_capture_active
track_function_start track_function_end enable_python_io_recording disable_python_io_recording is_python_io_recording_enabled
enable_python_stack_traces disable_python_stack_traces is_python_stack_trace_enabled record_python_operation
record_python_operation_error append_python_io_record store_output_tensor_ids store_captured_graph record_tensor_comparison_data
has_comparison_records reset_comparison_records_data flush_comparison_records_to_db COMPARISON_RECORDS_SIDECAR_SUFFIX
full_graph_capture
"""


def test_all_names_are_there():
    assert [name for name in NAMES.split() if not hasattr(ttnn.graph, name)] == []


def test_functions_of_ones_own(device):
    a = tensor(device)

    def run():
        ttnn.graph.track_function_start("my_block")
        ttnn.relu(a)
        ttnn.graph.track_function_end()

    graph = captured(run)
    assert ttnn.graph.extract_calltrace(graph)[:2] == ["my_block", "ttnn::relu"]
    assert [v["name"] for v in ttnn.graph.extract_levelized_graph(graph, 2)][:2] == ["my_block", "ttnn::relu"]
    with pytest.raises(RuntimeError, match="no function was begun"):
        ttnn.graph.track_function_end()


RECORD = {"tensor_id": 5, "golden_tensor_id": 6, "matches": True, "desired_pcc": 0.99, "actual_pcc": 0.995}


def rows(path, table):
    return sqlite3.connect(path).execute(f"SELECT tensor_id, actual_pcc FROM {table} ORDER BY 1").fetchall()


def test_comparison_records(device, tmp_path):
    graph = ttnn.graph
    graph.reset_comparison_records_data()
    graph.flush_comparison_records_to_db(tmp_path / "none")
    assert not graph.has_comparison_records() and not (tmp_path / "none").exists()

    graph.record_tensor_comparison_data(local_tensor_comparison_records=[RECORD])
    graph.flush_comparison_records_to_db(tmp_path)
    graph.record_tensor_comparison_data(
        local_tensor_comparison_records=[{**RECORD, "tensor_id": 7}], global_tensor_comparison_records=[RECORD])
    graph.flush_comparison_records_to_db(tmp_path)
    assert not graph.has_comparison_records()
    assert rows(tmp_path / "db.sqlite", "local_tensor_comparison_records") == [(5, 0.995), (7, 0.995)]
    assert rows(tmp_path / "db.sqlite", "global_tensor_comparison_records") == [(5, 0.995)]

    graph.begin_graph_capture()
    graph.record_tensor_comparison_data(local_tensor_comparison_records=[RECORD], tensors=[{"tensor_id": 5}, {"tensor_id": 5}])
    graph.end_graph_capture_to_file(tmp_path / "r.json")
    beside = json.loads((tmp_path / "r.comparison_records.json").read_text())
    assert beside["local_tensor_comparison_records"] == [RECORD] and beside["tensors"] == [{"tensor_id": 5}]
    assert not graph.has_comparison_records()


@pytest.mark.parametrize("options", [{}, {"tables": True}, {"schema": "3.3"}, {"schema": "3.3", "tables": True}])
def test_comparison_records_into_the_database_of_a_report(device, tmp_path, options):
    graph = ttnn.graph
    graph.reset_comparison_records_data()
    graph.begin_graph_capture()
    kept = ttnn.relu(tensor(device))
    graph.end_graph_capture_to_file(tmp_path / "r.json")
    database = ttnn.graph_report.import_report(tmp_path / "r.json", tmp_path / "db", **options)

    def tensors():
        with sqlite3.connect(database) as connection:
            return connection.execute("SELECT * FROM tensors ORDER BY tensor_id").fetchall()

    before = tensors()
    known = before[-1][0]
    assert before[-1][1] == "ttnn.Shape([32, 64])" and before[-1][4] and before[-1][6]  # memory configuration and address
    new = {"tensor_id": known + 1000, "shape": "Shape([3])", "dtype": "DataType::FLOAT32"}
    records = [{**RECORD, "tensor_id": id} for id in (known, known + 1000)]
    for pcc in (0.5, 0.75):  # the second time they take the place of the first
        graph.record_tensor_comparison_data(
            local_tensor_comparison_records=[{**record, "actual_pcc": pcc} for record in records],
            tensors=[{**new, "tensor_id": known}, new])
        graph.flush_comparison_records_to_db(tmp_path / "db")
        assert rows(database, "local_tensor_comparison_records") == [(known, pcc), (known + 1000, pcc)]
    after = tensors()
    assert after[:-1] == before and len(after) == len(before) + 1
    assert after[-1][:3] == (known + 1000, "Shape([3])", "DataType.FLOAT32")
    del kept


def test_records_of_calls(device, tmp_path):
    graph = ttnn.graph
    graph.begin_graph_capture()
    record = graph.record_python_operation("mine", (tensor(device), 2), {"x": [1]})
    graph.store_output_tensor_ids([9])
    graph.store_captured_graph([])
    graph.record_python_operation_error(record, "ValueError", "no")
    graph.record_python_operation_error(record, "ValueError", "again")
    graph.record_python_operation_error(None, "ValueError", "no")
    graph.end_graph_capture_to_file(tmp_path / "r.json")
    (written,) = json.loads((tmp_path / "r.python_io.json").read_text())
    assert written["name"] == "mine" and written["arguments"]["1"] == "2" and written["arguments"]["x"] == "[1]"
    assert len(written["input_tensor_ids"]) == 1 and written["output_tensor_ids"] == [9]
    assert written["captured_graph"] == [] and written["error"] == {"type": "ValueError", "message": "no"}


# ---- queries on graphs made by hand


def node(counter, kind, **params):
    return {
        "counter": counter, "node_type": kind, "params": params, "arguments": [],
        "connections": [], "input_tensors": [], "stacking_level": 0,
    }


def test_every_kind_of_program_memory():
    trace = [
        node(0, "capture_start"),
        node(1, "circular_buffer_allocate", size="1024", globally_allocated="0"),
        node(2, "dataflow_buffer_allocate", size="2048", borrows_memory="0"),
        node(3, "scratchpad_allocate", size="512"),
        node(4, "capture_end"),
    ]
    usage = ttnn.graph.extract_resource_usage_per_core(trace)
    assert (usage.peak_cb, usage.peak_dataflow_buffer, usage.peak_scratchpad) == (1024, 2048, 512)
    assert usage.peak_total == 3584
    assert "peak_total=3584" in repr(usage) and str(usage).startswith("Peak Memory Usage Per Core:")
    with pytest.warns(DeprecationWarning):
        ttnn.graph.extract_resource_usage_per_core(trace, interleaved_storage_cores=64)


def test_nothing_to_find():
    trace = [node(0, "capture_start"), node(1, "capture_end")]
    assert ttnn.graph.extract_peak_L1_memory_usage(trace) == 0
    with pytest.raises(RuntimeError):
        ttnn.graph.extract_output_tensors(trace)


# ---- the sample and the dialect, in processes of their own

RUN = """
import json, ttnn
device = ttnn.open_device(device_id=0)
a, b = (ttnn.empty([n, 3, 32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device,
                   memory_config=ttnn.L1_MEMORY_CONFIG) for n in (4, 1))
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
ttnn.add(a, b)
graph = ttnn.graph.end_graph_capture()
print(json.dumps([graph, ttnn.graph.pretty_format(graph)]))
"""


NUMBERS = """
import array, json, ttnn
class Array(array.array): pass  # which can carry a number, as tensors of torch can
first, second = Array("f", [1] * 32), Array("f", [1] * 32)
device = ttnn.open_device(device_id=0)
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
made = [ttnn.from_torch(given, device=device).tensor_id for given in (first, second, first, first)]
ttnn.graph.end_graph_capture()
print(json.dumps([made, first.tensor_id, second.tensor_id]))
"""


INNER = """
import json, sys, ttnn
device = ttnn.open_device(device_id=0)
given = ttnn.zeros([1, 1, 32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
ttnn.global_avg_pool2d(given)
ttnn.graph.end_graph_capture_to_file(sys.argv[1] + "/r.json")
print(open(sys.argv[1] + "/r.python_io.json").read())
"""

CUT = """
import array, json, ttnn
mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 1))
data = memoryview(array.array("f", [1] * 2048)).cast("B").cast("f", (1, 2, 32, 32))
def step(mapper, dtype, **options):
    before = ttnn.from_torch(data).tensor_id
    return ttnn.from_torch(data, dtype=dtype, mesh_mapper=mapper, **options).tensor_id - before
tiles = dict(layout=ttnn.TILE_LAYOUT)
same, cut, first = ttnn.ReplicateTensorToMesh(mesh), ttnn.ShardTensorToMesh(mesh, dim=3), ttnn.ShardTensorToMesh(mesh, dim=1)
cases = [(same, ttnn.float32), (same, ttnn.bfloat16), (cut, ttnn.float32), (first, ttnn.float32), (first, ttnn.bfloat16)]
print(json.dumps([[step(*case), step(*case, device=mesh), step(*case, device=mesh, **tiles)] for case in cases]))
"""


def in_a_process(program=RUN, *arguments, **environment):
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_documented_sample():
    graph, pretty = in_a_process(TTNN_GENERATION="classic", TTNN_DIALECT="seed")
    with open(SAMPLE + ".json") as file:
        sample = json.load(file)
    assert len(graph) == len(sample) == 34
    for want, got in zip(sample, graph):
        assert (got["node_type"], got["connections"]) == (want["node_type"], want["connections"])
        for key, value in want["params"].items():
            # What the memory map decides is another matter.
            assert key in ("address", "size") and key in got["params"] or got["params"][key] == value
    with open(SAMPLE + ".txt") as file:
        assert pretty == file.read()


def test_dialect_of_the_release():
    graph, pretty = in_a_process(TTNN_DIALECT="tt-metal")
    assert graph[0]["params"] is None
    assert ttnn.graph.extract_calltrace(graph)[:2] == ["ttnn.add", "BinaryNgDeviceOperation"]
    assert "Function Start: ttnn.add" in pretty


def test_arrays_are_numbered_once():
    made, first, second = in_a_process(NUMBERS, TTNN_DIALECT="tt-metal")
    steps = [b - a for a, b in zip(made, made[1:])]
    assert first < made[0] < second < made[1]
    assert steps == [4, 3, 3]  # the array, the tensor on the host, on the device, and what is given back


def test_data_of_meshes_is_numbered_as_upstream():
    """Steps that the released library counts, too: for the host, a device in rows, in tiles."""
    assert in_a_process(CUT, TTNN_DIALECT="tt-metal") == [[1, 2, 3], [2, 5, 4], [3, 4, 5], [2, 3, 4], [3, 6, 5]]


def test_records_of_inner_calls(tmp_path):
    """What an operation calls that upstream writes in Python: tuples and places as there."""
    calls = in_a_process(INNER, str(tmp_path), TTNN_DIALECT="tt-metal")
    pool, reshape = (next(call["arguments"] for call in calls if call["name"] == name) for name in ("ttnn.avg_pool2d", "ttnn.reshape"))
    assert [pool[name] for name in ("kernel_size", "stride", "padding")] == ["(1, 32)", "(1, 1)", "(0, 0)"]
    assert list(reshape) == ["0", "1"] and reshape["1"] == "(1, 1, 1, 32)"


def test_a_mode_that_is_none(device):
    """A text is not taken for the mode that runs for real."""
    for mode in ("NO_DISPATCH", 1, True):
        with pytest.raises(TypeError, match="RunMode.NORMAL or RunMode.NO_DISPATCH"):
            ttnn.graph.begin_graph_capture(mode)
    assert not ttnn.graph.is_graph_capture_active()


@pytest.mark.parametrize("name, value", [("TTNN_DIALECT", "tt_metal"), ("TTNN_TRACE_PARAMS", "bogus"), ("TT_METAL_OPERATION_TIMEOUT_SECONDS", "-1")])
def test_a_variable_that_is_mistyped(name, value):
    ran = subprocess.run([sys.executable, "-c", "import ttnn"], env={**os.environ, name: value}, capture_output=True, text=True)
    assert ran.returncode == 1 and f'ValueError: {name} is "{value}"; it can be' in ran.stderr


def test_visualize(device, tmp_path):
    """The library's own pictures: no package and no program is needed."""
    graph = ttnn.graph
    graph.begin_graph_capture(graph.RunMode.NORMAL)
    ttnn.exp(ttnn.zeros([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device))
    nodes = graph.end_graph_capture()
    picture = graph.visualize(nodes, file_name=tmp_path / "p.svg")
    assert picture._repr_svg_() == (tmp_path / "p.svg").read_text() and os.listdir(tmp_path) == ["p.svg"]
    names = "".join(xml.etree.ElementTree.parse(tmp_path / "p.svg").getroot().itertext())
    assert "ttnn::exp" in names
    assert graph.visualize(nodes).svg == picture.svg
    with pytest.raises(ValueError, match="must end in .svg, .png or .pdf"):
        graph.visualize(nodes, file_name="p.txt")
    with pytest.raises(ValueError, match="have not ended"):
        graph.visualize([n for n in nodes if n["node_type"] != "function_end"])


def captured_with_stacks(device, switch):
    """The nodes of a call and of a refused one, with a switch on."""
    graph = ttnn.graph
    enable, disable = getattr(graph, f"enable_{switch}"), getattr(graph, f"disable_{switch}")
    a = ttnn.zeros([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    enable()
    try:
        graph.begin_graph_capture(graph.RunMode.NORMAL)
        ttnn.exp(a)
        with pytest.raises(RuntimeError):
            ttnn.matmul(a, ttnn.zeros([64, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device))
        return graph.end_graph_capture()
    finally:
        disable()


def test_a_capture_that_does_not_begin(monkeypatch):
    """It leaves nothing on."""

    def fail(*unused):
        raise MemoryError("not now")

    monkeypatch.setattr(ttnn._ttnn.graph, "begin", fail)
    monkeypatch.setenv("TTNN_DIALECT", "tt-metal")
    with ttnn.manage_config("enable_graph_python_stack_traces", True):
        with pytest.raises(MemoryError, match="not now"):
            ttnn.graph.begin_graph_capture()
    assert not ttnn.graph.is_python_stack_trace_enabled() and not ttnn.graph.is_python_io_recording_enabled()


def test_python_stacks_say_where(device):
    """File, line and function of the call stand in its node, and in that of an error."""
    nodes = captured_with_stacks(device, "python_stack_traces")
    called = next(n for n in nodes if n["node_type"] == "function_start" and n["params"]["name"] == "ttnn::exp")
    assert re.fullmatch(rf'File "{re.escape(__file__)}", line \d+, in captured_with_stacks', called["stack_trace"][0])
    assert "in test_python_stacks_say_where" in called["stack_trace"][1]
    assert not any("python/ttnn/" in line for line in called["stack_trace"])
    error = next(n for n in nodes if n["node_type"] == "error")
    assert "in captured_with_stacks" in error["stack_trace"][0]
    assert "stack_trace" not in captured_with_stacks(device, "buffer_pages")[1]


def test_c_stacks_have_names(device):
    """Functions that no linker knows have theirs, too: the extension exports one alone."""
    nodes = captured_with_stacks(device, "stack_traces")
    frames = [line for n in nodes if n["node_type"] == "function_start" for line in n.get("stack_trace", [])]
    inside = [line for line in frames if "_ttnn.cpython" in line]
    assert inside and all(re.search(r"\([A-Za-z_][\w.: ]*\+0x", line) for line in inside), inside[:5]


def test_c_stacks_begin_at_the_call(device):
    """Of the library there are only the functions of the graph, the innermost first; then whoever called the outermost."""
    nodes, opened = captured_with_stacks(device, "stack_traces"), []
    for node in nodes:
        if node["node_type"] == "function_start":
            opened.append(node["params"]["name"])
            inside = [re.search(r"\((.*)\+0x", line).group(1) for line in node["stack_trace"] if "_ttnn.cpython" in line]
            assert inside == opened[::-1]
            assert "_ttnn.cpython" in node["stack_trace"][0] and "_ttnn.cpython" not in node["stack_trace"][len(opened)]
        elif node["node_type"] == "function_end":
            opened.pop()


@pytest.mark.parametrize("dialect", ["seed", "tt-metal"])
def test_stacks_of_a_trace(tmp_path, dialect):
    """Python's lines come first, then C's; the database has both in either dialect."""
    (tmp_path / "model.py").write_text(
        "import ttnn\ndevice = ttnn.open_device(device_id=0)\na = ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=device)\n"
        "def layer():\n    return ttnn.exp(a)\nlayer()\n"
    )
    environment = {**os.environ, "TTNN_DIALECT": dialect, "PYTHONPATH": str(pathlib.Path(ttnn.__file__).resolve().parent.parent)}
    for line in ([program.path(), "trace", "--stacks", "-q", "-o", "out", "--", sys.executable, "model.py"], [program.path(), "import", "out", "db"]):
        subprocess.run(line, cwd=tmp_path, env=environment, check=True, capture_output=True)
    with sqlite3.connect(tmp_path / "db" / "db.sqlite") as db:
        ((text,),) = db.execute("select stack_trace from stack_traces join operations using (operation_id) where name like 'ttnn%exp'")
    lines = text.split("\n")
    assert lines[:2] == [f'File "{tmp_path}/model.py", line 5, in layer', f'File "{tmp_path}/model.py", line 6, in <module>']
    assert re.search(r"_ttnn\.cpython.*\(ttnn(::|\.)exp\+0x", lines[2]) and "_ttnn.cpython" not in lines[3]


def test_stacks_reach_the_database(device, tmp_path):
    graph = ttnn.graph
    a = ttnn.zeros([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    graph.enable_python_stack_traces()
    graph.begin_graph_capture(graph.RunMode.NORMAL)
    ttnn.exp(a)
    with pytest.raises(RuntimeError):
        ttnn.matmul(a, ttnn.zeros([64, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device))
    graph.end_graph_capture_to_file(tmp_path / "r.json")
    graph.disable_python_stack_traces()
    graph.import_report(str(tmp_path / "r.json"), str(tmp_path / "db"))
    with sqlite3.connect(tmp_path / "db" / "db.sqlite") as db:
        traces = [row[0] for row in db.execute("select stack_trace from stack_traces")]
        errors = [row[0] for row in db.execute("select stack_trace from errors")]
    assert traces and all("in test_stacks_reach_the_database" in text for text in traces)
    assert errors and all("in test_stacks_reach_the_database" in text for text in errors)
