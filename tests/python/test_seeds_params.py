"""What TT-NN's document on operation-parameter tracing shows, as it is printed there."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

COMPAT = pathlib.Path(__file__).resolve().parent.parent.parent / "python" / "compat"
TRACES = "generated/ttnn/operation_parameters"


@pytest.fixture
def workspace(tmp_path):
    """A copy of the folder that command lines are run in."""
    shutil.copytree(COMPAT, tmp_path / "ws", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "ws"


def environment(folder):
    """With a `pytest` of this Python first, which counts as installed."""
    programs = folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "pytest").write_text(f'#!/bin/sh\nexec {sys.executable} -m pytest -p no:cacheprovider "$@"\n')
    (programs / "pytest").chmod(0o755)
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}


def shell(line, folder):
    return subprocess.run(line, shell=True, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=300)


def script(code, folder):
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran


def names(folder):
    found = sorted(folder.iterdir(), key=lambda f: int(f.name.split("_")[0]))
    return [re.sub(r"\d{8}_\d{6}_\d{6}", "*", f.name) for f in found], [json.loads(f.read_text()) for f in found]


OWN_CODE = """
import ttnn
import ttnn.operation_tracer

# Enable tracing
ttnn.operation_tracer._ENABLE_TRACE = True

# Optionally set a custom trace directory
ttnn.CONFIG.root_report_path = "/path/to/trace/output"

# Your ttnn operations will now be traced
device = ttnn.open_device(device_id=0)
a = ttnn.rand(shape=[2, 3], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
b = ttnn.rand(shape=[2, 3], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
c = ttnn.add(a, b)
"""


def test_running_your_own_code(tmp_path):
    script(OWN_CODE.replace("/path/to", str(tmp_path)), tmp_path)
    found, records = names(tmp_path / "trace/output/operation_parameters")
    assert found == ["1_ttnn_rand_*.json", "2_ttnn_rand_*.json", "3_ttnn_add_*.json"]
    assert list(records[2]) == ["operation_number", "operation_name", "timestamp", "args", "kwargs", "num_tensors", "return_value"]
    tensor = {
        "type": "ttnn.Tensor",
        "shape": [2, 3],
        "dtype": "bfloat16",
        "original_shape": [2, 3],
        "original_dtype": "bfloat16",
        "layout": "TILE",
        "storage_type": "DEVICE_STORAGE",
    }
    assert records[2]["operation_number"] == 3 and records[2]["operation_name"] == "ttnn.add"
    assert re.fullmatch(r"\d{8}_\d{6}_\d{6}", records[2]["timestamp"])
    assert records[2]["args"] == [{"position": 0, "value": tensor}, {"position": 1, "value": tensor}]
    assert [list(a["value"]) for a in records[2]["args"]] == [list(tensor)] * 2
    assert records[2]["return_value"] == tensor
    assert records[2]["num_tensors"] == 3  # in args, kwargs and return value, as the text says


EXAMPLE_1 = """
import ttnn
import ttnn.operation_tracer

# Enable tracing
ttnn.operation_tracer._ENABLE_TRACE = True

device = ttnn.open_device(device_id=0)
a = ttnn.rand(shape=[2, 3], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
b = ttnn.rand(shape=[2, 3], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
c = ttnn.add(a, b)
"""


def test_example_1(tmp_path):
    script(EXAMPLE_1, tmp_path)
    assert names(tmp_path / TRACES)[0] == ["1_ttnn_rand_*.json", "2_ttnn_rand_*.json", "3_ttnn_add_*.json"]


EXAMPLE_2 = """
import torch
import ttnn
import ttnn.operation_tracer

# Enable tracing
ttnn.operation_tracer._ENABLE_TRACE = True

device = ttnn.open_device(device_id=0)
torch_tensor = torch.randn([2, 3], dtype=torch.bfloat16)
tensor_host = ttnn.from_torch(torch_tensor, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
tensor_device = ttnn.to_device(tensor_host, device=device, memory_config=ttnn.DRAM_MEMORY_CONFIG)
"""


def test_example_2(tmp_path, torch):
    script(EXAMPLE_2, tmp_path)
    found, records = names(tmp_path / TRACES)
    assert found == ["1_ttnn_from_torch_*.json", "2_ttnn_to_device_*.json"]
    assert records[0]["args"][0]["value"] == {"type": "torch.Tensor", "shape": [2, 3], "dtype": "bfloat16"}
    assert records[0]["return_value"]["storage_type"] == "HOST_STORAGE"
    assert records[1]["args"][0]["value"]["type"] == records[1]["return_value"]["type"] == "ttnn.Tensor"


SET_DIRECTORY = """
import ttnn

# Set custom trace directory
ttnn.CONFIG.root_report_path = "/path/to/my/traces"
# Or specifically:
ttnn.CONFIG.operation_parameter_log_dir = "/path/to/my/traces"
"""

CHECKS = """
import ttnn.operation_tracer
print(ttnn.operation_tracer._ENABLE_TRACE)  # Should be True
print(ttnn.CONFIG.root_report_path)  # Should point to your desired directory
"""


def test_directory_and_checks(tmp_path):
    more = "import ttnn.operation_tracer\nttnn.operation_tracer._ENABLE_TRACE = True\nttnn.zeros([2])\n"
    ran = script(SET_DIRECTORY.replace("/path/to/my", str(tmp_path)) + more + CHECKS, tmp_path)
    assert ran.stdout.split() == ["True", f"{tmp_path}/traces"]
    assert names(tmp_path / "traces")[0] == ["1_ttnn_zeros_*.json"]


IN_A_TEST = '''
import ttnn

def test_my_operation(tmp_path):
    # Override the log directory
    original_path = ttnn.CONFIG.root_report_path
    ttnn.CONFIG.root_report_path = str(tmp_path)

    # Your operations here...
    ttnn.zeros([2, 3])
    assert len(list((tmp_path / "operation_parameters").iterdir())) == 1

    # Restore original path
    ttnn.CONFIG.root_report_path = original_path
    ttnn.zeros([2, 3])
    import pathlib
    assert len(list(pathlib.Path("generated/ttnn/operation_parameters").iterdir())) == 1
'''


def test_in_a_test(workspace):
    (workspace / "test_mine.py").write_text(IN_A_TEST)
    ran = shell("pytest test_mine.py --trace-params", workspace)
    assert ran.returncode == 0, ran.stdout
    assert not (workspace / TRACES).exists()  # cleaned up


FILE = "tests/ttnn/unit_tests/base_functionality/test_python_tracer.py"
LINES = [
    f"pytest {FILE} -s --trace-params",
    f"pytest {FILE}::test_operation_parameter_tracing -s --trace-params",
    f"pytest {FILE}::test_operation_parameter_tracing -s --trace-params --trace-params-with-values",
]


@pytest.mark.parametrize("line", LINES, ids=["all", "one", "values"])
def test_command_line(line, workspace):
    ran = shell(line, workspace)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert '"operation_name": "ttnn.add"' in ran.stdout
    assert ('"values": [' in ran.stdout) == ("with-values" in line)
    assert not (workspace / TRACES).exists()


def test_files_are_kept_when_asked(workspace):
    (workspace / "test_mine.py").write_text("import ttnn\ndef test_it(): ttnn.zeros([2, 3])\n")
    ran = shell("pytest test_mine.py --trace-params --trace-params-with-values --trace-params-keep", workspace)
    assert ran.returncode == 0, ran.stdout
    found, records = names(workspace / TRACES)
    assert found == ["1_ttnn_zeros_*.json"] and records[0]["return_value"]["values"] == [[0.0] * 3] * 2


@pytest.mark.parametrize("option", ["--trace-params-with-values", "--trace-params-keep"])
def test_an_option_alone_is_a_usage_error(option, workspace):
    ran = shell(f"pytest {FILE} {option}", workspace)
    assert ran.returncode == 4 and f"{option} must be used together with --trace-params" in ran.stderr


def test_examples_folder(workspace):
    """Files that this library made, of the two examples, with values."""
    first, records = names(workspace / "examples/example1")
    second, more = names(workspace / "examples/example2")
    assert first == ["1_ttnn_rand_*.json", "2_ttnn_rand_*.json", "3_ttnn_add_*.json"]
    assert second == ["1_ttnn_from_torch_*.json", "2_ttnn_to_device_*.json"]
    a, b, c = (r["return_value"]["values"] for r in records)
    assert all(abs(x + y - z) <= 1 / 128 for rows in zip(a, b, c) for x, y, z in zip(*rows))
    assert more[1]["return_value"]["values"] == more[0]["args"][0]["value"]["values"]


def test_in_any_folder(tmp_path):
    """Where `import ttnn` works pytest knows the options, and a closing line says what was written."""
    (tmp_path / "test_mine.py").write_text("import ttnn\ndef test_mine(device): ttnn.zeros([2, 3]); ttnn.zeros([2, 3])\n")
    ran = shell("pytest -q --trace-params", tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"ttnn: 2 parameter files in {TRACES}; they are removed now: --trace-params-keep keeps them" in ran.stdout
    assert not (tmp_path / TRACES).exists()
    ran = shell("pytest -q --trace-params --trace-params-keep", tmp_path)
    assert f"ttnn: 2 parameter files in {TRACES}; they are kept" in ran.stdout
    assert len(list((tmp_path / TRACES).iterdir())) == 2


def test_a_script_with_both_options(tmp_path):
    (tmp_path / "s.py").write_text("import ttnn\nttnn.full([2], fill_value=3.0)\n")
    for options, has in (("--trace-params", False), ("--trace-params --trace-params-with-values", True), ("--trace-params-with-values", None)):
        ran = shell(f"{sys.executable} s.py {options}", tmp_path)
        assert ran.returncode == 0, ran.stderr
        files = list((tmp_path / TRACES).iterdir()) if (tmp_path / TRACES).exists() else []
        assert len(files) == (has is not None)
        for file in files:
            assert ("values" in json.loads(file.read_text())["return_value"]) == has
            file.unlink()
