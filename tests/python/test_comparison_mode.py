"""Comparison mode: operations beside their golden functions, locally and along a whole model."""

import logging

import pytest
import ttnn

torch = pytest.importorskip("torch")


@pytest.fixture
def comparing(device):
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_pcc", 0.999),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
    ):
        ttnn.graph.reset_comparison_records_data()
        yield device
    ttnn.graph.reset_comparison_records_data()


def tensor(device, *shape):
    return ttnn.from_torch(torch.randn(shape), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def records(level):
    return ttnn.comparison_records._records[f"{level}_tensor_comparison_records"]


def model(x, w):
    y = ttnn.layer_norm(ttnn.linear(x, w, activation="relu"))
    return ttnn.split(ttnn.softmax(y, dim=-1) + 1, 32, dim=1)


def test_a_good_model_passes(comparing):
    found = model(tensor(comparing, 64, 128), tensor(comparing, 128, 64))
    assert len(found) == 2
    assert len(records("local")) == len(records("global")) == 6
    assert all(record["matches"] and record["actual_pcc"] > 0.999 for record in records("local") + records("global"))


def test_a_wrong_operation_is_found(comparing):
    @ttnn.register_python_operation(name="ttnn.experimental.wrong_gelu", golden_function=torch.nn.functional.gelu)
    def wrong_gelu(x):
        return ttnn.relu(x)

    x = tensor(comparing, 64, 64)
    with pytest.raises(RuntimeError, match="wrong_gelu: Comparing output tensor 0 against CPU locally failed: pcc is 0.99"):
        ttnn.experimental.wrong_gelu(x)
    del ttnn.experimental.wrong_gelu, ttnn.decorators.REGISTERED_OPERATIONS["ttnn.experimental.wrong_gelu"]


def test_errors_add_up_globally(comparing, caplog):
    before = ttnn.relu.golden_function
    ttnn.relu.golden_function = lambda x: x * torch.rand(x.shape)
    try:
        with ttnn.manage_config("comparison_mode_should_raise_exception", False), caplog.at_level(logging.ERROR, "ttnn"):
            y = ttnn.relu(tensor(comparing, 64, 64))
            ttnn.relu.golden_function = before
            ttnn.exp(y)
    finally:
        ttnn.relu.golden_function = before
    assert [record["matches"] for record in records("local")] == [False, True]
    assert [record["matches"] for record in records("global")] == [False, False]
    assert sum("against CPU" in line for line in caplog.messages) == 3


def test_goldens_go_with_their_tensors(comparing):
    from ttnn import comparison_mode

    y = ttnn.relu(tensor(comparing, 32, 32))
    assert y.tensor_id in comparison_mode._goldens
    number = y.tensor_id
    del y
    assert number not in comparison_mode._goldens


def test_another_shape_is_a_difference(comparing):
    before = ttnn.relu.golden_function
    ttnn.relu.golden_function = lambda x: x[:16]
    try:
        with pytest.raises(RuntimeError, match=r"shape is \[32, 32\] but should be \[16, 32\]"):
            ttnn.relu(tensor(comparing, 32, 32))
    finally:
        ttnn.relu.golden_function = before


def test_nothing_is_compared_in_a_dry_run(comparing):
    x = tensor(comparing, 32, 32)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    try:
        ttnn.relu(x)
        assert not records("local")
    finally:
        ttnn.graph.end_graph_capture()
    ttnn.relu(x)
    assert records("local")


def test_switched_off_it_costs_nothing(device):
    x = tensor(device, 32, 32)
    ttnn.relu(x)
    assert not records("local") and not ttnn.decorators._intercepted()


def test_inputs_are_prepared_as_one_wishes(comparing):
    before = ttnn.relu.golden_function
    ttnn.attach_golden_function(ttnn.relu, lambda x: x, preprocess_golden_function_inputs=lambda a, k: ((ttnn.to_torch(a[0]).relu(),), {}))
    try:
        with pytest.raises(RuntimeError, match="globally"):  # that one is given what golden functions gave
            ttnn.relu(tensor(comparing, 32, 32))
    finally:
        ttnn.attach_golden_function(ttnn.relu, before)


def test_what_is_written_to_has_another_golden(comparing):
    x, other = tensor(comparing, 32, 32), tensor(comparing, 32, 32)
    a = ttnn.exp(x)
    ttnn.neg(x, output_tensor=a)
    ttnn.relu(a)
    ttnn.add_(a, other)
    ttnn.relu(a)
    ttnn.copy_host_to_device_tensor(ttnn.from_torch(torch.randn(32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT), a)
    ttnn.relu(a)
    assert all(record["actual_pcc"] > 0.999 for record in records("global"))
    view = ttnn.reshape(ttnn.relu(x), (1, 32, 32))
    assert list(ttnn.exp(view).shape) == [1, 32, 32]


def test_nothing_is_read_while_a_trace_is_captured(comparing):
    x = tensor(comparing, 32, 32)
    with ttnn.manage_config("enable_comparison_mode", False):
        ttnn.exp(x)
    trace = ttnn.begin_trace_capture(comparing, cq_id=0)
    y = ttnn.exp(x)
    ttnn.end_trace_capture(comparing, trace, cq_id=0)
    ttnn.execute_trace(comparing, trace, cq_id=0, blocking=True)
    assert torch.allclose(ttnn.to_torch(y), ttnn.to_torch(x).exp(), rtol=0.02, atol=0.02)
    ttnn.release_trace(comparing, trace)


def test_preparations_that_fail_are_told(comparing, caplog):
    before = ttnn.relu.golden_function
    ttnn.attach_golden_function(ttnn.relu, before, preprocess_golden_function_inputs=lambda a, k: 1 / 0)
    try:
        with pytest.raises(ZeroDivisionError):
            ttnn.relu(tensor(comparing, 32, 32))
        with ttnn.manage_config("comparison_mode_should_raise_exception", False), caplog.at_level(logging.WARNING, "ttnn"):
            ttnn.relu(tensor(comparing, 32, 32))
        assert "what prepares its inputs failed" in caplog.text
    finally:
        ttnn.attach_golden_function(ttnn.relu, before)


def test_reports_have_the_records(comparing, tmp_path):
    import sqlite3

    from ttnn import graph_report

    x = tensor(comparing, 32, 32)
    ttnn.graph.begin_graph_capture()
    ttnn.relu(ttnn.exp(x))
    ttnn.graph.end_graph_capture_to_file(str(tmp_path / "report.json"))
    database = graph_report.import_report(tmp_path / "report.json", tmp_path / "out")
    rows = sqlite3.connect(database).execute("SELECT tensor_id, golden_tensor_id, matches FROM local_tensor_comparison_records").fetchall()
    assert len(rows) == 2 and all(row[2] for row in rows) and len({row[1] for row in rows}) == 2


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.int32])
def test_goldens_of_whole_numbers_that_torch_has_not(dtype):
    x = torch.arange(8).to(dtype)
    assert ttnn.get_golden_function(ttnn.relu)(x).tolist() == list(range(8))
    assert ttnn.get_golden_function(ttnn.square)(x).tolist() == [i * i for i in range(8)]
    ttnn.get_golden_function(ttnn.remainder)(torch.arange(4, dtype=torch.int32), torch.zeros(4, dtype=torch.int32))
