"""`ttnn configs trace` and `add`: configurations of tests, scripts and programs, whatever language they are in."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import ttnn
from ttnn import program
from ttnn.graph_tracer_utils import GraphTracerUtils

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent / "data" / "master" / "models"

NETWORK = """
import math
import ttnn

TOKENS, WIDTH, HEADS, HIDDEN, seed = 256, 512, 8, 2048, 0
device = ttnn.open_device(device_id=0)
l1 = ttnn.MemoryConfig(buffer_type=ttnn.BufferType.L1)


def draw(rows, cols, most):
    global seed
    seed += 1
    return ttnn.rand([1, rows, cols], device, low=-most, high=most, seed=seed)


def dense(x, cols, activation=None):
    rows = x.shape[-1]
    more = {"activation": activation} if activation else {}
    weights, bias = draw(rows, cols, math.sqrt(3 / rows)), draw(1, cols, 0.1)
    return ttnn.linear(x, weights, bias=bias, memory_config=l1, **more)


x = draw(TOKENS, WIDTH, math.sqrt(3))
qkv = dense(ttnn.layer_norm(x, memory_config=l1), 3 * WIDTH)
q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(qkv, num_heads=HEADS, transpose_key=False, memory_config=l1)
seen = ttnn.transformer.scaled_dot_product_attention(q, k, v, memory_config=l1)
x = ttnn.add(x, dense(ttnn.transformer.concatenate_heads(seen, memory_config=l1), WIDTH), memory_config=l1)
x = ttnn.add(x, dense(dense(ttnn.layer_norm(x, memory_config=l1), HIDDEN, "gelu"), WIDTH), memory_config=l1)
"""

SMALL = """
import os
import signal

import pytest
import ttnn


def made(device, *shape):
    return ttnn.ones(list(shape), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


@pytest.mark.parametrize("rows", [32, 64])
def test_passes(device, rows):
    ttnn.relu(made(device, rows, 32))


def test_fails(device):
    ttnn.sigmoid(made(device, 32, 32))
    assert False


def test_is_killed(device):
    ttnn.exp(made(device, 96, 32))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def trace(folder, *arguments, **environment):
    command = [program.path(), "configs", "trace", "--python", sys.executable, *map(str, arguments)]
    env = dict(os.environ, **environment)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=env)


def configurations(path):
    """{operation: [configuration]} of a master."""
    return {name: entry["configurations"] for name, entry in json.loads(path.read_text())["operations"].items()}


def undated(path, source):
    text = path.read_text().replace(source, "SOURCE")
    lines = [line for line in text.splitlines() if '"last_updated"' not in line and '"trace_uid"' not in line]
    return "\n".join(lines)


@pytest.fixture
def small(tmp_path):
    (tmp_path / "test_small.py").write_text(SMALL)
    return tmp_path


# ---- tests


def test_a_test_is_traced(small):
    done = trace(small, "test_small.py::test_passes")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[:5] == ["🚀 TTNN Operations Tracer", "=" * 50, "📁 test_small.py", "=" * 50, "🚀 Running test with operations tracing..."]
    for line in ("📈 Captured 4 operations", "📝 Added 4 new unique configurations to master file", "📋 RESULTS", "Test Result: ✅ PASSED", "📊 Captured: 4 operations, 2 unique types", "🔧 Unique Configurations (current test):", "   • ttnn::relu: 2 unique configs (2x executed)"):
        assert line in lines
    master = small / "traced_operations/ttnn_operations_master.json"
    assert {name: len(found) for name, found in configurations(master).items()} == {"ttnn::ones": 2, "ttnn::relu": 2}
    assert {config["source"] for found in configurations(master).values() for config in found} == {"test_small.py"}
    assert configurations(master)["ttnn::relu"][0]["machine_info"] == [{"board_type": "Wormhole", "device_series": "n150", "card_count": 1}]
    assert [path.name for path in master.parent.iterdir()] == [master.name]  # raw traces are gone


@pytest.mark.slow
def test_again_nothing_is_new(small):
    trace(small, "test_small.py::test_passes")
    done = trace(small, small / "test_small.py::test_passes")  # by its absolute path, too
    assert "📝 Added 0 new unique configurations to master file" in done.stdout
    master = small / "traced_operations/ttnn_operations_master.json"
    assert json.loads(master.read_text())["metadata"]["models"] == ["test_small.py"]
    assert json.loads(master.read_text())["metadata"]["total_operations"] == 8


@pytest.mark.slow
def test_a_failing_test_contributes(small):
    done = trace(small, "test_small.py::test_fails")
    assert done.returncode == 1
    assert "Test Result: ❌ FAILED" in done.stdout
    assert "   • test_small.py::test_fails: failed, 2 operations captured" in done.stdout
    assert "ttnn::sigmoid" in configurations(small / "traced_operations/ttnn_operations_master.json")


def test_a_killed_test_contributes(small):
    done = trace(small, "test_small.py")
    assert done.returncode == 128 + 9
    assert "Test Result: ❌ KILLED" in done.stdout
    assert "   • test_small.py::test_fails: failed, 2 operations captured" in done.stdout
    assert "   • test_small.py::test_is_killed: killed, 2 operations captured" in done.stdout
    assert set(configurations(small / "traced_operations/ttnn_operations_master.json")) == {"ttnn::ones", "ttnn::relu", "ttnn::sigmoid", "ttnn::exp"}


@pytest.mark.slow
def test_a_batch_accumulates(tmp_path):
    for name, op in (("one", "relu"), ("two", "exp")):
        (tmp_path / name / "demo").mkdir(parents=True)
        (tmp_path / name / "demo/demo.py").write_text(SMALL.replace("test_passes", "test_demo").replace("ttnn.relu", f"ttnn.{op}"))
        assert trace(tmp_path, f"{name}/demo/demo.py::test_demo").returncode == 0
    master = tmp_path / "traced_operations/ttnn_operations_master.json"
    assert json.loads(master.read_text())["metadata"]["models"] == ["one/demo/demo.py", "two/demo/demo.py"]
    assert set(configurations(master)) == {"ttnn::ones", "ttnn::relu", "ttnn::exp"}


@pytest.mark.slow
def test_exclusions_lists_and_what_is_kept(small):
    (small / "names.txt").write_text("ttnn.relu\nttnn.ones\n")
    done = trace(small, "--store", "--exclude", "ttnn::ones", "--ops", "names.txt", "test_small.py::test_passes")
    assert "📋 Loaded 2 valid operations from names.txt" in done.stdout
    folder = small / "traced_operations"
    assert list(configurations(folder / "ttnn_operations_master.json")) == ["ttnn::relu"]
    (content,) = folder.glob("test_passes_ops_*.json")
    assert [entry["operation"] for entry in json.loads(content.read_text())["content"]] == ["ttnn::relu"] * 2
    assert len(list(folder.glob("*.ttrace"))) == 1


def test_processes_are_merged(tmp_path):
    """A script, none of whose functions is a test, and its children."""
    script = tmp_path / "script.py"
    script.write_text("import os\n" + SMALL.split("@pytest")[0] + "\nfor rows in (32, 64, 96):\n    if not os.fork():\n        device = ttnn.open_device(device_id=0)\n        ttnn.relu(made(device, rows, 32))\n        os._exit(0)\nfor _ in range(3):\n    os.wait()\n")
    done = trace(tmp_path, "script.py")
    assert done.returncode == 0, done.stdout + done.stderr
    found = configurations(tmp_path / "traced_operations/ttnn_operations_master.json")
    assert len(found["ttnn::relu"]) == 3
    assert found["ttnn::relu"][0]["source"] == "script.py"


def test_a_script_runs_once_and_may_go_elsewhere(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "script.py").write_text("import os\nos.chdir('other')\n" + SMALL.split("@pytest")[0] + "made(ttnn.open_device(device_id=0), 32, 32)\nopen('runs', 'a').write('.')\n")
    done = trace(tmp_path, "script.py")
    assert "📈 Captured 1 operations" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "other/runs").read_text() == "."


@pytest.mark.slow
def test_a_master_keeps_its_layout(small):
    for layout in ("v1", "v2", "seed"):
        trace(small, "--layout", layout, "--master", "m.json", "test_small.py::test_passes")
        assert configurations(small / "m.json")["ttnn::relu"][0]["source"] == "test_small.py"


def test_what_cannot_be_traced_leaves_nothing(small):
    folder = small / "traced_operations"
    assert trace(small, "./none").returncode == 2
    assert list(folder.iterdir()) == []
    (folder / "ttnn_operations_master.json").write_text("no master")
    done = trace(small, "test_small.py::test_passes")
    assert done.returncode == 2 and "passed" not in done.stdout  # it is not run for nothing
    assert [path.name for path in folder.iterdir()] == ["ttnn_operations_master.json"]


@pytest.mark.slow
def test_operations_without_a_module_are_named(small):
    modules = small / "tests/sweep_framework/sweeps/model_traced"
    modules.mkdir(parents=True)
    (modules / "relu_model_traced.py").write_text("")
    done = trace(small, "test_small.py::test_passes")
    assert "⚠️  Without a test module in tests/sweep_framework/sweeps/model_traced: ttnn::ones (ttnn workspace . makes it)\n" in done.stdout


# ---- languages


@pytest.mark.parametrize("layout", ["v1", "v2", "seed"])
def test_c_and_python_give_one_master(tmp_path, layout):
    network = pathlib.Path(program.path()).parent / "examples/network"
    if not network.exists():
        pytest.skip("the examples are not built")
    (tmp_path / "network.py").write_text(NETWORK)
    shutil.copy(network, tmp_path / "network")
    assert trace(tmp_path, "--layout", layout, "--master", "c.json", "./network").returncode == 0
    done = trace(tmp_path, "--layout", layout, "--master", "python.json", "network.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert undated(tmp_path / "c.json", "./network") == undated(tmp_path / "python.json", "network.py")
    assert len(configurations(tmp_path / "c.json")) > 5


# ---- whole models

MODELS = """
import sys
import torch
import ttnn
sys.path.insert(0, {here!r})
import models

function, options = models.MODELS[{name!r}]
device = ttnn.open_device(device_id=0, **options)
with torch.no_grad():
    torch.manual_seed(0)
    forward = function(ttnn, torch, device)
    ttnn.mark("forward")
    try:
        forward()
    except RuntimeError:  # what came before the refusal counts
        if not {name!r}.endswith("_refused"):
            raise
"""


@pytest.mark.parametrize("name", ["mlp", "minilm_l6", "attention_block", "mbconv_block", "resnet_bottleneck", "llama_tiny", "efficientnet_b0", "resnet50_refused"])
def test_models_give_upstreams_configurations(tmp_path, name):
    """Our own run of a model gives what upstream's tracer made of its run of the same."""
    pytest.importorskip("torch")
    (tmp_path / "model.py").write_text(MODELS.format(here=str(HERE), name=name))
    done = trace(tmp_path, "--layout", "v2", "--master", "ours.json", "model.py")
    assert done.returncode == 0, done.stdout + done.stderr
    ours = {(op, c["config_hash"]) for op, found in configurations(tmp_path / "ours.json").items() for c in found}
    theirs = json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))["operations"]
    theirs = {(op, c["config_hash"]) for op, entry in theirs.items() for c in entry["configurations"]}
    assert theirs <= ours
    assert {op for op, _ in ours - theirs} <= EXTRA.get(name, set())


EXTRA = {}  # what models do besides their forward pass


# ---- other sources


def test_graphs_are_sources(device, tmp_path):
    """A captured graph gives the configurations that a trace of the same calls does."""
    a = ttnn.ones([32, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
    ttnn.relu(a, memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.add(a, a)
    graph = ttnn.graph.end_graph_capture()
    content = GraphTracerUtils.serialize_graph(graph)["content"]
    add = next(entry for entry in content if entry["operation"] == "ttnn::add")
    assert add["arguments"][0]["arg0"]["Tensor"]["tensor_spec"]["logical_shape"] == [32, 64]
    assert add["arguments"][0]["arg0"]["Tensor"]["layout"] == "Layout::TILE"
    helper = {"counter": 0, "node_type": "function_start", "params": {"name": "ttnn::convert_python_tensor_to_tt_tensor"}, "arguments": ["1"], "connections": []}
    (tmp_path / "graph.json").write_text(json.dumps([*graph, {**helper, "counter": len(graph)}]))
    done = subprocess.run([program.path(), "configs", "add", "--master", "m.json", "graph.json"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(configurations(tmp_path / "m.json")) == {"ttnn::relu", "ttnn::add"}


@pytest.mark.slow
def test_parameter_files_are_sources(small):
    """Folders of parameter files: each dialect, and only tests that passed where there are outcomes."""
    for dialect in ("seed", "tt-metal", "2026-01"):
        folder = small / dialect
        folder.mkdir()
        command = [sys.executable, "-m", "pytest", "-q", "-p", "ttnn.pytest_plugin", "--trace-params", "--trace-params-keep", "test_small.py::test_passes"]
        env = dict(os.environ, TTNN_PARAMS_DIALECT=dialect, TTNN_OPERATION_TRACE_DIR=str(folder / "passed"))
        subprocess.run(command, cwd=small, env=env, check=True, capture_output=True)
        shutil.copytree(folder / "passed", folder / "failed")
        for outcome in ("passed", "failed"):
            (folder / outcome / "_status.json").write_text(json.dumps({"test_nodeid": "t.py::t", "status": outcome}))
        done = subprocess.run([program.path(), "configs", "add", "--master", f"{dialect}.json", "--layout", "v2", folder], cwd=small, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found = configurations(small / f"{dialect}.json")
        assert {name: len(configs) for name, configs in found.items()} == {"ttnn.ones": 2, "ttnn.relu": 2}
        assert found["ttnn.relu"][0]["executions"][0]["count"] == 1
        assert found["ttnn.relu"][0]["arguments"]["arg0"]["original_dtype"] == "DataType.BFLOAT16"
        assert found["ttnn.relu"][0]["arguments"]["arg0"]["layout"] == "Layout.TILE"
