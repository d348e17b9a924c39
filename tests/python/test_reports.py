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


def test_pages(device, tmp_path):
    a = tensor(device, memory=ttnn.L1_MEMORY_CONFIG)
    ttnn.graph.enable_buffer_pages()
    try:
        report, b = capture(tmp_path / "report.json", lambda: ttnn.relu(a, memory_config=ttnn.L1_MEMORY_CONFIG))
    finally:
        ttnn.graph.disable_buffer_pages()
    rows = report["buffer_pages"]
    assert {row["address"] for row in rows} == {a.buffer_address(), b.buffer_address()}
    assert len(rows) == 2 * 8 and {row["page_size"] for row in rows} == {2048}
    assert "per_operation_buffers" not in report


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


def test_nothing_is_recorded_without_a_capture(device, upstream, tmp_path):
    assert not ttnn.graph.is_python_io_recording_enabled()
    ttnn.graph.begin_graph_capture()
    assert ttnn.graph.is_python_io_recording_enabled()
    ttnn.graph.end_graph_capture()
    assert not ttnn.graph.is_python_io_recording_enabled()
    assert ttnn.graph.end_graph_capture_to_file(str(tmp_path / "none.json")) is None


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
    config = json.loads((folder / "config.json").read_text())
    assert config["report_name"].startswith("test_small_test_add_") and config["enable_graph_report"] is True
    with sqlite3.connect(folder / "db.sqlite") as database:
        names = [name for (name,) in database.execute("select name from operations order by operation_id")]
    assert [name.replace("::", ".") for name in names if "add" in name] == ["ttnn.add"]
