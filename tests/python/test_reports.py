"""Reports: what captures write to files, and what the pytest plugin makes of tests."""

import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys

import pytest
import ttnn
import ttnn.graph_report


def tensor(device, shape=(1, 1, 64, 128), memory=ttnn.DRAM_MEMORY_CONFIG):
    return ttnn.full(list(shape), 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)


@pytest.fixture
def upstream(monkeypatch):
    monkeypatch.setenv("TTNN_DIALECT", "tt-metal")


def capture(path, work):
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    result = work()
    ttnn.graph.end_graph_capture_to_file(str(path))
    return json.loads(path.read_text()), result


def test_report(device, tmp_path):
    a = tensor(device)
    report, _ = capture(tmp_path / "deep" / "report.json", lambda: ttnn.add(a, a))
    assert report["version"] == ttnn.graph.REPORT_VERSION == 1
    assert any(node["node_type"] == "function_start" for node in report["graph"])
    assert {"capture_timestamp_ns", "total_duration_ns"} <= set(report["metadata"])
    assert any(d["arch"] == "WORMHOLE_B0" and d["l1_num_banks"] == 64 for d in report["devices"])
    assert report["cluster_descriptor"].startswith("arch:")
    assert "buffer_pages" not in report and "per_operation_buffers" not in report
    assert not (tmp_path / "deep" / "report.python_io.json").exists()


@pytest.mark.parametrize("dialect", ["seed", "tt-metal"])
def test_pages(device, tmp_path, monkeypatch, dialect):
    """Pages of what lives in the end; of what each operation made, freed or not, at the operations in which it lived."""
    monkeypatch.setenv("TTNN_DIALECT", dialect)
    a, l1 = tensor(device, memory=ttnn.L1_MEMORY_CONFIG), ttnn.L1_MEMORY_CONFIG
    freed = []

    def work():
        b = ttnn.relu(a, memory_config=l1)
        c = ttnn.relu(b, memory_config=l1)
        freed.append(b.buffer_address())
        ttnn.deallocate(b)
        return c

    ttnn.graph.enable_buffer_pages()
    try:
        report, c = capture(tmp_path / "report.json", work)
    finally:
        ttnn.graph.disable_buffer_pages()
    rows, made = report["buffer_pages"], {freed[0], c.buffer_address()}
    assert {row["address"] for row in rows} == {a.buffer_address(), c.buffer_address()}
    assert len(rows) == 2 * 8 and {row["page_size"] for row in rows} == {2048}
    assert {int(address) for address in report["buffer_pages_by_address"]} == made
    assert [len(living) for _, living in sorted((int(k), v) for k, v in report["per_operation_buffers"].items())] == [2, 3, 2]
    path = ttnn.graph_report.import_report(tmp_path / "report.json", tmp_path / "db")
    with sqlite3.connect(path) as db:
        found = db.execute("SELECT operation_id, address, sum(num_pages) FROM buffer_chunks GROUP BY 1, 2").fetchall()
    assert sorted(found) == sorted([(1, freed[0], 8)] + [(2, address, 8) for address in made] + [(3, c.buffer_address(), 8)])


def test_one_device_is_one(device, tmp_path):
    """All that is said of memory names the device that was opened: buffers, programs new and known, and one that failed."""
    a = tensor(device)
    large = ttnn.full([1, 1, 1024, 1024], 1.0, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)

    def work():
        for _ in range(2):
            ttnn.softmax(ttnn.matmul(a, a, transpose_b=True), dim=-1)
        fills = tensor(device, (1, 1, 21600, 2048), ttnn.L1_MEMORY_CONFIG)
        with pytest.raises(RuntimeError, match="circular buffers"):
            ttnn.add(large, large)
        ttnn.deallocate(fills)

    report, _ = capture(tmp_path / "report.json", work)
    ids = {int(node["params"]["device_id"]) for node in report["graph"] if "device_id" in (node["params"] or {})}
    assert ids == {row["device_id"] for row in report["devices"]} and len(ids) == 1
    assert sum(node["node_type"] == "circular_buffer_allocate" for node in report["graph"]) > 10


def test_upstreams_report(device, upstream, tmp_path):
    a = tensor(device)
    ttnn.graph.enable_detailed_buffer_tracing()
    try:
        report, b = capture(tmp_path / "report.json", lambda: ttnn.add(a, a, memory_config=ttnn.L1_MEMORY_CONFIG))
    finally:
        ttnn.graph.disable_detailed_buffer_tracing()
    (living,) = report["per_operation_buffers"].values()
    assert {row["address"] for row in living} == {a.buffer_address(), b.buffer_address()}
    ((entry,),) = report["buffer_pages_by_address"].values()
    assert report["graph"][entry["alloc_counter"]]["node_type"] == "buffer_allocate"
    assert report["metadata"]["rank"] == 0 and report["metadata"]["world_size"] == 1

    (record,) = json.loads((tmp_path / "report.python_io.json").read_text())
    assert record["name"] == "ttnn.add"
    assert record["input_tensor_ids"] == [a.tensor_id, a.tensor_id] and record["output_tensor_ids"] == [b.tensor_id]
    assert set(record["arguments"]) == {"0", "1", "memory_config"}
    assert record["arguments"]["0"].startswith("ttnn.Tensor(shape=Shape([1, 1, 64, 128]), dtype=DataType.BFLOAT16, layout=")
    assert f"tensor_id={a.tensor_id}, is_allocated=True, device_id=" in record["arguments"]["0"]


def test_calls_that_fail(device, upstream, tmp_path):
    a, b = tensor(device), tensor(device, (1, 1, 64, 96))
    ttnn.graph.enable_python_stack_traces()
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    with pytest.raises(RuntimeError) as caught:
        ttnn.add(a, b)
    ttnn.graph.end_graph_capture_to_file(str(tmp_path / "report.json"))
    ttnn.graph.disable_python_stack_traces()
    (record,) = json.loads((tmp_path / "report.python_io.json").read_text())
    assert record["error"] == {"type": "RuntimeError", "message": str(caught.value)}
    assert "output_tensor_ids" not in record
    assert f'  File "{__file__}", line' in record["python_stack_trace"][0]
    assert "ttnn.add(a, b)\n" in record["python_stack_trace"][0]


def records(path):
    return [(r["name"], list(r["arguments"]), r["input_tensor_ids"], r.get("output_tensor_ids")) for r in json.loads(path.read_text())]


def test_calls_inside_of_calls(device, upstream, tmp_path):
    a = tensor(device)

    def work():
        ttnn.relu(a[:, :, :32], memory_config=ttnn.L1_MEMORY_CONFIG)

    capture(tmp_path / "report.json", work)
    item, piece, relu = records(tmp_path / "report.python_io.json")
    assert item == ("ttnn.Tensor.__getitem__", ["0", "1"], [a.tensor_id], None)  # what comes of it has the last record
    assert piece[:3] == ("ttnn.slice", ["0", "1", "2", "3"], [a.tensor_id]) and len(piece[3]) == 1
    assert relu[:3] == ("ttnn.relu", ["memory_config", "0"], piece[3])


def test_calls_inside_of_calls_that_fail(device, upstream, tmp_path):
    a = tensor(device)
    ttnn.deallocate(a)

    def work():
        with pytest.raises(RuntimeError):
            a[:, :, :32]

    capture(tmp_path / "report.json", work)
    outer, inner = json.loads((tmp_path / "report.python_io.json").read_text())
    assert (outer["name"], inner["name"]) == ("ttnn.Tensor.__getitem__", "ttnn.slice")
    for record in outer, inner:
        assert record["error"]["type"] == "RuntimeError" and "output_tensor_ids" not in record
        assert "is_allocated=False, mesh_coords=" in record["arguments"]["0"]


class Unprintable:
    def __str__(self):
        raise ValueError("no")


def test_texts_of_arguments(device):
    a = tensor(device)
    one = ttnn.python_io.argument_text(a)
    assert ttnn.python_io.argument_text([a] * 33) == f"[{', '.join([one] * 32)}, ... +1 more]"
    assert ttnn.python_io.argument_text([[[[[a]]]]]) == "[[[[[... 1 element(s) below the summary depth limit]]]]]"
    assert ttnn.python_io.argument_text(Unprintable()) == "<unprintable Unprintable: ValueError: no>"


def test_torch_tensors_have_numbers(device, upstream, tmp_path):
    torch = pytest.importorskip("torch")
    a = tensor(device)

    def work():
        b = ttnn.to_torch(a)
        ttnn.from_torch(b)
        ttnn.from_torch(torch.ones(2))

    capture(tmp_path / "report.json", work)
    to_torch, from_device, again, first = records(tmp_path / "report.python_io.json")
    assert to_torch == ("ttnn.to_torch", ["0"], [a.tensor_id], None)
    assert from_device[:3] == ("ttnn.from_device", ["0"], [a.tensor_id])
    assert again[2] == from_device[3] and first[2] == []


def test_dry_runs_count_and_use_programs(device, upstream):
    a = tensor(device)

    def numbers(mode):
        ttnn.graph.begin_graph_capture(mode)
        ttnn.reshape(a, (1, 1, 128, 64))
        graph = ttnn.graph.end_graph_capture()
        buffers = sum(n["node_type"] == "buffer_allocate" for n in graph)
        return buffers, [n["params"]["runtime_id"] for n in graph if n["node_type"] == "program_execution"]

    dry, normal = ttnn.graph.RunMode.NO_DISPATCH, ttnn.graph.RunMode.NORMAL
    before, first = numbers(dry), numbers(normal)
    assert before == (2, []) and first[0] == 2  # the result and the program's own table
    assert numbers(dry) == (1, []) and numbers(normal) == (1, [first[1][0] + 2])


def test_nothing_is_recorded_without_a_capture(device, upstream, tmp_path):
    assert not ttnn.graph.is_python_io_recording_enabled()
    ttnn.graph.begin_graph_capture()
    assert ttnn.graph.is_python_io_recording_enabled()
    ttnn.graph.end_graph_capture()
    assert not ttnn.graph.is_python_io_recording_enabled()
    with pytest.raises(RuntimeError, match="no graph capture is running on this thread"):
        ttnn.graph.end_graph_capture_to_file(str(tmp_path / "none.json"))


MODEL = """
import ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.full([1, 1, 64, 128], 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
b = ttnn.add(a, a, memory_config=ttnn.L1_MEMORY_CONFIG)
c = ttnn.matmul(a, ttnn.full([1, 1, 128, 32], 1.0, layout=ttnn.TILE_LAYOUT, device=device))
ttnn.close_device(device)
"""


@pytest.mark.parametrize("dialect", ["seed", "tt-metal"])
def test_traces_become_databases(tmp_path, dialect):
    """A trace, read where no device is open, gives what the capture of the same program gives."""
    package = pathlib.Path(ttnn.__file__).parent.parent.absolute()
    environment = dict(os.environ, PYTHONPATH=str(package), TTNN_DIALECT=dialect)

    def run(program, **more):
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env={**environment, **more}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stderr

    run(MODEL, TTNN_TRACE=str(tmp_path / "traces"))
    captured = MODEL.replace("\na =", "\nttnn.graph.begin_graph_capture()\na =")
    captured = captured.replace("ttnn.close_device", 'ttnn.graph.end_graph_capture_to_file("report.json")\nttnn.close_device')
    run(captured)
    (tmp_path / "report.python_io.json").unlink(missing_ok=True)  # traces have no such records
    said = run("import ttnn.graph_report as g; g.import_report('traces', 'a'); g.import_report('report.json', 'b')")
    assert "warning" not in said, said
    assert (tmp_path / "a" / "cluster_descriptor.yaml").read_text() == (tmp_path / "b" / "cluster_descriptor.yaml").read_text()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["cluster_descriptor.yaml", "db.sqlite"]
    with sqlite3.connect(tmp_path / "a" / "db.sqlite") as a, sqlite3.connect(tmp_path / "b" / "db.sqlite") as b:
        count = b.execute("select count(*) from operations").fetchone()[0]
        queries = ["select * from devices", f"select operation_id, name from operations where operation_id <= {count}",
                   f"select * from buffers where operation_id <= {count}"]
        if dialect == "seed":  # in the other, tensors get new numbers while a capture runs, and no arguments without Python's records
            queries += [f"select * from operation_arguments where operation_id <= {count}", "select * from device_tensors", "select * from tensors",
                        f"select * from input_tensors where operation_id <= {count}", "select * from output_tensors"]
        for query in queries:
            assert a.execute(query).fetchall() == b.execute(query).fetchall() != [], query
    assert {name for (name,) in a.execute("select name from operations")} >= {"ttnn::add" if dialect == "seed" else "ttnn.add"}


@pytest.mark.parametrize("dialect", ["seed", "tt-metal"])
@pytest.mark.parametrize("detailed", [False, True])
def test_databases_of_captures(tmp_path, monkeypatch, device, dialect, detailed):
    """Captures of ours, imported, against a slow importer that was written from the rules alone."""
    monkeypatch.setenv("TTNN_DIALECT", dialect)
    monkeypatch.syspath_prepend(str(pathlib.Path(__file__).parent.parent / "report"))
    from reference import COLUMNS, Reference

    def work():
        a = tensor(device, memory=ttnn.L1_MEMORY_CONFIG)
        b = ttnn.matmul(ttnn.add(a, a), tensor(device, (1, 1, 128, 64)), memory_config=ttnn.L1_MEMORY_CONFIG)
        ttnn.deallocate(a)
        with pytest.raises(RuntimeError):
            ttnn.add(b, tensor(device, (1, 1, 64, 96)))
        return ttnn.softmax(b, dim=-1)

    if detailed:
        ttnn.graph.enable_detailed_buffer_tracing()
    try:
        capture(tmp_path / "in" / "report.json", work)
    finally:
        ttnn.graph.disable_detailed_buffer_tracing()
    ttnn.graph_report.import_report(tmp_path / "in", tmp_path / "out")
    want = Reference(tmp_path / "in")
    assert len(want.tables["operations"]) > 4 and want.tables["errors"]
    with sqlite3.connect(tmp_path / "out" / "db.sqlite") as database:
        for table, rows in want.tables.items():
            found = database.execute(f"select {', '.join(COLUMNS[table].split())} from {table}").fetchall()
            if table == "tensors":  # those that only Python knows come in no particular order
                found, rows = sorted(found, key=str), sorted(rows, key=str)
            assert found == rows, table


def test_pages_of_traces(tmp_path):
    package = pathlib.Path(ttnn.__file__).parent.parent.absolute()
    environment = dict(os.environ, PYTHONPATH=str(package), TTNN_TRACE=str(tmp_path))
    subprocess.run([sys.executable, "-c", MODEL], env=environment, check=True)
    (trace,) = tmp_path.glob("*.ttrace")
    command = package.parent / "ttnn"
    if not command.exists():
        pytest.skip("no command `ttnn` beside the package")
    subprocess.run([command, "import", "--pages", trace, tmp_path / "out"], stdout=subprocess.DEVNULL, check=True)
    with sqlite3.connect(tmp_path / "out" / "db.sqlite") as database:
        rows = database.execute("select distinct operation_id, address from buffer_chunks").fetchall()
        living = database.execute("select distinct operation_id, address from buffers where buffer_type = 1").fetchall()
    assert rows and set(rows) <= set(living)


CALLS = """
import ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.full([2, 3], fill_value=1.5, layout=ttnn.TILE_LAYOUT, device=device)
ttnn.softmax(ttnn.add(a, a), dim=-1)
"""


def test_levels_of_traces(tmp_path):
    """Functions of Python have arguments in both dialects, and what a call makes for itself is no input of it."""
    package = pathlib.Path(ttnn.__file__).parent.parent.absolute()
    environment = dict(os.environ, PYTHONPATH=str(package), TTNN_TRACE=str(tmp_path))
    subprocess.run([sys.executable, "-c", CALLS], env=environment, check=True)
    (trace,) = tmp_path.glob("*.ttrace")
    command = package.parent / "ttnn"
    if not command.exists():
        pytest.skip("no command `ttnn` beside the package")

    def ask(*words):
        return json.loads(subprocess.run([command, *words, trace], capture_output=True, check=True).stdout)

    rows = {}
    for dialect in "seed", "tt-metal":
        found = ask("show", "--levels", "1", "--json", "--dialect", dialect)
        rows[dialect] = [row for row in found if row["name"].startswith("ttnn")]
    assert [row["name"] for row in rows["tt-metal"]] == ["ttnn.full", "ttnn.add", "ttnn.softmax"]
    for ours, theirs in zip(rows["seed"], rows["tt-metal"]):
        assert len(ours["arguments"]) == len(theirs["arguments"]) > 1
    full, add, softmax = rows["tt-metal"]
    assert full["arguments"][1] == "1.5" and softmax["arguments"][1] == "-1"
    assert add["in_edges"] == [full["counter"]] and softmax["in_edges"] == [add["counter"]]
    # Graphs are as upstream writes them.
    for node in ask("export", "graph", "--dialect", "tt-metal"):
        if node["node_type"] == "function_start" and node["params"]["name"].startswith("ttnn."):
            assert not node["arguments"]

HOST = """
import ttnn
device = ttnn.open_device(device_id=0)
rows = memoryview(bytearray(4096)).cast("f", (32, 32))
a = ttnn.from_torch(rows, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
ttnn.add(a, ttnn.from_torch(rows, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device))
"""


def test_tensors_without_numbers(tmp_path):
    """What is brought from other libraries has none: it is no tensor of the graph, and an import says nothing of it."""
    package = pathlib.Path(ttnn.__file__).parent.parent.absolute()
    environment = dict(os.environ, PYTHONPATH=str(package), TTNN_TRACE=str(tmp_path))
    subprocess.run([sys.executable, "-c", HOST], env=environment, check=True)
    (trace,) = tmp_path.glob("*.ttrace")
    command = package.parent / "ttnn"
    if not command.exists():
        pytest.skip("no command `ttnn` beside the package")
    done = subprocess.run([command, "import", trace, tmp_path / "out"], capture_output=True, text=True, check=True)
    assert not done.stderr and "1 operations" in done.stdout


def test_reports_of_tests(tmp_path):
    (tmp_path / "test_small.py").write_text(
        "import ttnn\n"
        "def test_add(device):\n"
        "    a = ttnn.full([1, 1, 32, 32], 1.0, layout=ttnn.TILE_LAYOUT, device=device)\n"
        "    ttnn.add(a, a)\n"
    )
    overrides = {"enable_graph_report": True, "root_report_path": str(tmp_path / "reports")}
    package = pathlib.Path(ttnn.__file__).parent.parent.absolute()
    environment = dict(os.environ, TTNN_CONFIG_OVERRIDES=json.dumps(overrides), PYTHONPATH=str(package))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "ttnn.pytest_plugin", "-p", "no:cacheprovider", "test_small.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = (tmp_path / "reports").iterdir()
    assert re.fullmatch(r"test_small_test_add_[0-9a-f]{8}_[a-z]{3}\d\d_\d{4}", folder.name)
    assert not (folder / "graph_capture.json").exists()
    text = (folder / "config.json").read_text()
    config = json.loads(text)
    assert text == json.dumps(config, indent=4) and list(config) == sorted(config)  # as upstream writes it
    assert {"cache_path", "comparison_mode_pcc", "enable_graph_report", "report_name", "report_path", "root_report_path", "tmp_dir"} <= set(config)
    assert config["report_path"] == str(folder)
    assert config["report_name"].startswith("test_small_test_add_") and config["enable_graph_report"] is True
    with sqlite3.connect(folder / "db.sqlite") as database:
        names = [name for (name,) in database.execute("select name from operations order by operation_id")]
    assert [name.replace("::", ".") for name in names if "add" in name] == ["ttnn.add"]
