"""Operation-parameter tracing: one JSON file for every operation.

    pytest tests/ttnn/unit_tests/base_functionality/test_python_tracer.py -s --trace-params
"""

import json
import re

import pytest
import ttnn
import ttnn.operation_tracer as tracer


@pytest.fixture
def traces(tmp_path):
    """Tracing into a folder of the test's own, from number 1; gives the files in order."""
    before = tracer._ENABLE_TRACE, tracer._SERIALIZE_TENSOR_VALUES, ttnn.CONFIG.root_report_path
    ttnn.CONFIG.root_report_path = str(tmp_path)
    tracer._OPERATION_COUNTER = 0
    tracer._ENABLE_TRACE = True

    def files():
        found = (tmp_path / "operation_parameters").glob("*.json")
        return sorted(found, key=lambda path: int(path.name.split("_")[0]))

    yield files
    tracer._ENABLE_TRACE, tracer._SERIALIZE_TENSOR_VALUES = before[:2]
    ttnn.CONFIG.root_report_path = before[2]


def read(path):
    return json.loads(path.read_text())


def shown(record):
    print(json.dumps(record, indent=2))
    return record


def rand(device, *shape):
    return ttnn.rand(shape=list(shape), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def test_operation_parameter_tracing(device, traces):
    a, b = rand(device, 2, 3), rand(device, 2, 3)
    ttnn.add(a, b)
    files = traces()
    assert [re.sub(r"\d{8}_\d{6}_\d{6}", "*", f.name) for f in files] == [
        "1_ttnn_rand_*.json",
        "2_ttnn_rand_*.json",
        "3_ttnn_add_*.json",
    ]
    record = shown(read(files[2]))
    assert record["operation_name"] == "ttnn.add"
    assert [arg["position"] for arg in record["args"]] == [0, 1]
    for tensor in (record["args"][0]["value"], record["args"][1]["value"], record["return_value"]):
        assert tensor["type"] == "ttnn.Tensor"
        assert tensor["shape"] == tensor["original_shape"] == [2, 3]
        assert ("values" in tensor) == tracer._SERIALIZE_TENSOR_VALUES


def test_without_values(device, traces):
    tracer._SERIALIZE_TENSOR_VALUES = False
    ttnn.add(rand(device, 2, 3), rand(device, 2, 3))
    assert "values" not in read(traces()[2])["return_value"]


def test_with_values(device, traces):
    tracer._SERIALIZE_TENSOR_VALUES = True
    a = ttnn.full([2, 3], 1.5, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.add(a, a)
    record = read(traces()[1])
    assert record["args"][0]["value"]["values"] == [[1.5] * 3] * 2
    assert record["return_value"]["values"] == [[3.0] * 3] * 2
    assert record["return_value"]["dtype"] == "float32"


def test_from_torch_and_to_device(device, traces):
    torch = pytest.importorskip("torch")
    tensor = torch.randn([2, 3], dtype=torch.bfloat16)
    host = ttnn.from_torch(tensor, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    ttnn.to_device(host, device=device, memory_config=ttnn.DRAM_MEMORY_CONFIG)
    first, second = map(read, traces())
    assert first["args"][0]["value"]["type"] == "torch.Tensor"
    assert first["return_value"]["type"] == second["return_value"]["type"] == "ttnn.Tensor"
    assert first["operation_name"] == "ttnn.from_torch" and second["operation_name"] == "ttnn.to_device"


def test_keyword_arguments(device, traces):
    a = rand(device, 32, 32)
    ttnn.add(a, 2.0, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=None)
    record = read(traces()[1])
    assert record["args"][1]["value"] == 2.0
    assert list(record["kwargs"]) == ["memory_config", "dtype"] and record["kwargs"]["dtype"] is None


def test_several_results(device, traces):
    ttnn.split(rand(device, 2, 4, 64, 128), 2, 1)
    assert [t["shape"] for t in read(traces()[1])["return_value"]] == [[2, 2, 64, 128]] * 2


def test_numbers_go_on(device, traces):
    for _ in range(5):
        rand(device, 2, 3)
    assert [read(f)[next(iter(read(f)))] for f in traces()] == [1, 2, 3, 4, 5]
    assert tracer._OPERATION_COUNTER == 5


def test_disabled_no_files(device, traces):
    tracer._ENABLE_TRACE = False
    rand(device, 2, 3)
    assert traces() == []


def test_own_directory(device, traces, tmp_path):
    ttnn.CONFIG.operation_parameter_log_dir = str(tmp_path / "own")
    try:
        rand(device, 2, 3)
    finally:
        ttnn.CONFIG.operation_parameter_log_dir = None
    assert traces() == [] and len(list((tmp_path / "own").glob("1_ttnn_rand_*.json"))) == 1


def test_operation_that_fails(device, traces):
    with pytest.raises(Exception):
        ttnn.add(rand(device, 2, 3), rand(device, 5, 7))
    record = json.loads(traces()[2].read_text())  # after the two inputs
    assert record["operation_name"] == "ttnn.add" and "return_value" not in record
    assert record["error"].startswith("RuntimeError: ") and record["test"].endswith("test_operation_that_fails")


def test_function_of_ones_own(device, traces):
    @ttnn.register_python_operation(name="ttnn.experimental.twice_traced")
    def twice(tensor, *, scale):
        return ttnn.multiply(tensor, scale)

    ttnn.experimental.twice_traced(rand(device, 2, 3), scale=2.0)
    names = [read(f)["operation_name"] for f in traces()]
    assert names == ["ttnn.rand", "ttnn.multiply", "ttnn.experimental.twice_traced"]
