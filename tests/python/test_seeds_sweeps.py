"""What TT-NN's guides on traced configurations show of sweeps: snippets and command lines as they are printed there, in a folder that
`ttnn workspace` makes. test_seeds_configs.py has what comes before the sweeps, and the snippets that both need.

Where a guide leaves something out, ELISIONS lists what is filled in.
"""

import json
import re
import sqlite3

import pytest
from test_seeds_configs import BINARY, ELISIONS as SHARED, NEW_TEST, QUICK, SHORT, STEPS, TWO_STEPS, UNARY, filled, make_workspace, masked, shell
from ttnn import configs, program, sweeps

SIGMOID = "tests/sweep_framework/sweeps/eltwise/unary/sigmoid_accurate/sigmoid_accurate.py"

# (where, as it is printed, what it takes to run). Three more are in test_seeds_configs.py: two backslashes at the end of a line, parameters
# that are left out, a command in a block of Python.
ELISIONS = [
    ("the table of commands: a path", "tests/sweep_framework/sweeps/.../test.py", SIGMOID),
    ("a sweep that fails where the unit test passes: a path", "tests/sweep_framework/sweeps/.../sigmoid_accurate.py", SIGMOID),
    ("the table of commands: an operation", "<op_name>", "silu"),
    ("the table of commands: a file", "<vector_file>", "tests/sweep_framework/vectors_export/model_traced.silu_model_traced.json"),
    ("an operation's name", "your_operation_name", "silu"),
    ("an operation's name", "your_op", "silu"),
    ("a new sweep test: an operation's name", '"my_op"', '"sigmoid_accurate"'),
]


def complete(text):
    """With what the guides leave out."""
    for _, printed, instead in ELISIONS:
        text = text.replace(printed, instead)
    return text


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    return make_workspace(tmp_path_factory.mktemp("sweeps") / "ws")


def run(line, folder):
    ran = shell(complete(line), folder)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def in_order(said, wanted):
    """All lines that a guide prints, in its order and but for numbers; between them others may stand."""
    lines = iter(masked(line) for line in said.splitlines())
    for line in wanted.splitlines():
        if line != "...":
            assert any(masked(line) == found for found in lines), f"{line}\nis not, in this order, in\n{said}"


def newest(workspace):
    """The records of the last run, from its file; its rows say the same."""
    results = sweeps.Folder(workspace).results
    file = max(results.glob("oprun_*.json"), key=lambda path: path.stat().st_mtime_ns)
    run = json.loads(file.read_text())
    with sqlite3.connect(results / "results.sqlite") as database:
        rows = database.execute(
            "select vector, module, suite, status, message from results where run_id = (select max(id) from runs) order by position"
        ).fetchall()
    keys = ("input_hash", "full_test_name", "test_case_name", "status", "message")
    assert rows == [tuple(record[key] for key in keys) for record in run["tests"]]
    return run["tests"]


# ---- tests

SAID = """\
✅ Loaded 30 model-traced configurations for sigmoid_accurate
   • Shapes: 30
   • Dtypes: 1 unique
   • Layouts: 1 unique
   • Memory Configs: 30 unique

SWEEPS - Generated 30 test vectors for suite model_traced.
...
test_sweep[model_traced-0] PASSED
test_sweep[model_traced-1] PASSED
...
test_sweep[model_traced-29] PASSED

======================== 30 passed in 33.45s ========================
"""
ANALYSIS = """\
🔍 SWEEP TEST RESULTS ANALYSIS
============================================================
📊 Overall Test Statistics:
   • Total Tests: 30
   • ✅ Passed: 30 (100.0%)
   • ❌ Failed: 0
   • ⏱️  Avg Duration: 0.60s per test

🚀 Performance Metrics:
   • Min PCC: 0.999989
   • Max PCC: 1.000000
   • Avg PCC: 0.999996

🎉 No failures detected!
"""


def test_sigmoid_accurate_and_its_analysis(workspace):
    """Examples 3 and 4: thirty of thirty, in the guide's words, and so says the analysis right behind it."""
    said = run(f"pytest {SIGMOID} \\\n  -k model_traced -v", workspace)
    plain = re.sub(r"^\S+::(test_sweep\S+ PASSED) +\[ *\d+%\]$", r"\1", said, flags=re.M)
    in_order(re.sub("=+ (30 passed in .*s) =+", r"======================== \1 ========================", plain), SAID)
    assert [int(n) for n in re.findall(r"^test_sweep\[model_traced-(\d+)\] PASSED$", plain, re.M)] == list(range(30))
    analysis = run("python analyze_sweep_results.py", workspace)
    assert masked(analysis) == masked(ANALYSIS)
    assert "Total Tests: 30\n" in analysis and "Passed: 30 (100.0%)" in analysis and "Failed: 0\n" in analysis
    records = newest(workspace)
    assert [record["status"] for record in records] == ["pass"] * 30
    assert min(float(record["message"]) for record in records) >= 0.999


def test_the_analysis_of_a_native_sweep(workspace):
    """The last run counts, whoever made it; a folder without results is said."""
    swept = run(f"{program.path()} sweep run --master {configs.PLACES[0]} --op plus_one", workspace)
    assert "Total Tests: 3\n" in run("python analyze_sweep_results.py", workspace), swept
    none = shell("python analyze_sweep_results.py --results-dir none", workspace)
    assert none.returncode == 1 and "there are no results of a run" in none.stderr


def test_a_test_and_the_runner_write_the_same(workspace):
    """But for times and the random numbers of PCC."""

    def told(records):
        kept = [{key: value for key, value in record.items() if not key.endswith("_ts") and key != "message"} for record in records]
        return sorted(kept, key=lambda record: record["input_hash"])

    module = "model_traced.silu_model_traced"
    run(f"pytest -q {sweeps.Folder(workspace).path(module)}", workspace)
    one = newest(workspace)
    run(f"python3 tests/sweep_framework/sweeps_parameter_generator.py --module-name {module}", workspace)
    run(f"python3 tests/sweep_framework/sweeps_runner.py --module-name {module} --vector-source vectors_export --result-dest results_export", workspace)
    assert told(newest(workspace)) == told(one) and len(one) == 2


SLOW_LINES = [
    ("pytest tests/sweep_framework/sweeps/.../test.py", 30),
    (f"pytest {SIGMOID}", 30),
    ("pytest tests/sweep_framework/sweeps/.../test.py -k model_traced", 30),
]


@pytest.mark.slow
@pytest.mark.parametrize("line, count", SLOW_LINES, ids=[line for line, _ in SLOW_LINES])
def test_lines_with_pytest(workspace, line, count):
    said = run(line, workspace)
    assert f"= {count} passed in" in said
    assert len(newest(workspace)) == count
    assert "Passed: 30 (100.0%)" in run("python analyze_sweep_results.py", workspace)


# ---- the generator and the runner


def test_lines_of_the_table(workspace):
    """With a bare name of an operation, and with a vector file."""
    said = run("python3 tests/sweep_framework/sweeps_parameter_generator.py --module-name <op_name> --dump-file", workspace)
    assert "SWEEPS - Generated 1 test vectors for suite model_traced." in said
    said = run(
        "python3 tests/sweep_framework/sweeps_runner.py --module-name <op_name> --suite-name model_traced --vector-source file "
        "--file-path <vector_file> --result-dest results_export",
        workspace,
    )
    assert "SWEEPS - 1 vectors ran, 0 failed." in said
    (record,) = newest(workspace)
    assert (record["op_name"], record["test_case_name"], record["status"]) == ("silu_model_traced", "model_traced", "pass")


PAD = """
# Generate test vectors
python3 tests/sweep_framework/sweeps_parameter_generator.py \\
  --module-name model_traced.pad_model_traced \\
  --dump-file

# Run model_traced suite
python3 tests/sweep_framework/sweeps_runner.py \\
  --module-name model_traced.pad_model_traced \\
  --suite model_traced \\
  --vector-source vectors_export \\
  --result-dest results_export
"""


@pytest.mark.slow
def test_lines_of_one_operation(workspace):
    """`--suite` is a prefix of --suite-name. All 69 pads of the master, as they were traced."""
    said = run(PAD, workspace)
    assert "SWEEPS - Generated 69 test vectors for suite model_traced." in said and "SWEEPS - 69 vectors ran, 0 failed." in said
    records = newest(workspace)
    assert len(records) == 69 and all(record["success"] for record in records)


# ---- files


def test_files_of_the_guides(workspace):
    listed = """
        tests/sweep_framework/master_config_loader.py tests/sweep_framework/sweep_config_utils.py tests/sweep_framework/Allops.txt
        tests/sweep_framework/sweeps_parameter_generator.py tests/sweep_framework/sweeps_runner.py tests/sweep_framework/README.md
        tests/sweep_framework/sweeps/model_traced/add_model_traced.py tests/sweep_framework/sweeps/model_traced/reshape_model_traced.py
        tests/sweep_framework/sweeps/model_traced/pad_model_traced.py analyze_sweep_results.py test_sigmoid_traced_configs.py
    """
    assert [path for path in [*listed.split(), SIGMOID] if not (workspace / path).is_file()] == []


def test_every_traced_operation_has_a_module(workspace):
    """Real files with `parameters` and `run()`; the loader gives each of them vectors."""
    folder = sweeps.Folder(workspace)
    traced = {name.rsplit("::", 1)[-1] for name in configs.MasterConfigLoader(workspace / configs.PLACES[0])._open().names()}
    modules = {name for name in folder.names() if name.startswith("model_traced.")}
    assert {f"model_traced.{name}_model_traced" for name in traced} <= modules
    for name in ("add", "conv2d", "paged_update_cache"):
        text = folder.path(sweeps.TRACED.format(name)).read_text()
        assert f'loader.get_suite_parameters("{name}")' in text and '"model_traced": model_traced_params' in text and "\ndef run(\n" in text


# ---- modules of one's own

BODY = """
    import ttnn
    from tests.ttnn.utils_for_testing import check_with_pcc

    given = ttnn.rand(input_shape, dtype=input_a_dtype, layout=input_a_layout, device=device, memory_config=input_a_memory_config)
    result = ttnn.silu(given, memory_config=output_memory_config)
    return check_with_pcc(ttnn.get_golden_function(ttnn.silu)(given), result, 0.999)
"""
BINARY_BODY = """
    import ttnn
    from tests.ttnn.utils_for_testing import check_with_pcc

    a = ttnn.rand(input_shape["self"], dtype=input_a_dtype, layout=input_a_layout, device=device, memory_config=input_a_memory_config)
    b = ttnn.rand(input_shape["other"], dtype=input_b_dtype, layout=input_b_layout, device=device, memory_config=input_b_memory_config)
    return check_with_pcc(ttnn.get_golden_function(ttnn.matmul)(a, b), ttnn.matmul(a, b), 0.99)
"""
NAMES = '\nparameters = {"model_traced": {"traced_config_name": loader.get_traced_config_names("%s")}}\n'
LOOKUP = """
from tests.sweep_framework.sweep_config_utils import _CONFIG_LOOKUP, load_unary_op_configs

configs = load_unary_op_configs("silu")
parameters = {"model_traced": {"traced_config_name": list(_CONFIG_LOOKUP)}}

# Sweep framework passes config name (string)
def run(traced_config_name="traced_0", *, device):
    # Lookup actual config object
    config = _CONFIG_LOOKUP[traced_config_name]

    # Extract all parameters
    shape = config["shape"]                    # [1, 1, 12544, 32]
    mem_config = config["memory_config"]       # SHARDED with exact shard_shape
    layout = config["layout"]                  # TILE_LAYOUT
    dtype = config["dtype"]                    # bfloat8_b
    return shape == [1, 1, 12544, 32] and list(mem_config.shard_spec.shape) == [224, 32], str(dtype)
"""
ANY = "\n\ndef run(input_shape, **others):\n    return bool(input_shape), '1.0'\n"
COPIED = {
    # where a snippet is put, what is in it, how many vectors there are
    "unary": (complete(UNARY) + BODY, 1),
    "unary_names": (complete(UNARY) + BODY + NAMES % "silu", 1),
    "steps": (complete(STEPS) + BODY, 1),
    "all_cases": (complete(STEPS).replace('("silu")', '("silu", all_cases=True)') + BODY, 1),
    "binary": (filled(0, BINARY).replace('"add"', '"matmul"').replace('model_traced_params,  # Same as unary!', '{"input_shape": [{"self": [1, 1, 32, 64], "other": [1, 1, 64, 32]}], "input_a_dtype": [ttnn.bfloat16], "input_b_dtype": [ttnn.bfloat8_b], "input_a_layout": [ttnn.TILE_LAYOUT], "input_b_layout": [ttnn.TILE_LAYOUT], "input_a_memory_config": [ttnn.L1_MEMORY_CONFIG], "input_b_memory_config": [ttnn.DRAM_MEMORY_CONFIG], "output_memory_config": [None]},').replace("# 1.", "import ttnn\n# 1.", 1) + BINARY_BODY, 1),
    "binary_traced": (filled(0, BINARY) + "    return input_shape['self'] != [], str(input_b_memory_config)\n", 44),
    "binary_names": (filled(0, BINARY) + "    return input_shape['self'] != [], str(input_b_dtype)\n" + NAMES % "add", 47),
    "lookup": (LOOKUP, 1),
    "quick": (QUICK + ANY, 30),
    "short": (complete(SHORT) + ANY, 1),
    "two_steps": (complete(TWO_STEPS) + ANY, 1),
}


def put(workspace, name, text):
    """A module at tests/sweep_framework/sweeps/own/NAME.py."""
    path = sweeps.Folder(workspace).path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_snippets_are_modules(workspace):
    """All patterns as files of one's own: found, generated and run by one command each; what a guide leaves out (`{ ... }`) has no vectors."""
    for name, (text, _) in COPIED.items():
        put(workspace, f"own.{name}", text)
    said = run("python3 tests/sweep_framework/sweeps_parameter_generator.py --module-name own", workspace)
    vectors = {name: json.loads(sweeps.Folder(workspace).file(f"own.{name}").read_text()) for name in COPIED}
    for name, (_, count) in COPIED.items():
        found = len(vectors[name]["model_traced"])
        assert found == count or (name.startswith("binary_") and found >= count), name
    assert "SWEEPS - Generated 0 test vectors for suite nightly." in said
    said = run("python3 tests/sweep_framework/sweeps_runner.py --module-name own --vector-source vectors_export --result-dest results_export --summary", workspace)
    records = newest(workspace)
    assert {record["status"] for record in records} == {"pass"}, [record for record in records if not record["success"]][:1]
    assert {record["full_test_name"] for record in records} == {f"own.{name}" for name in COPIED}
    assert len(records) == sum(len(found["model_traced"]) for found in vectors.values())


TORCH = """
import torch
import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.ttnn.utils_for_testing import check_with_pcc

parameters = {"model_traced": MasterConfigLoader().get_suite_parameters("sigmoid_accurate")}

def run(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, *, device):
    dtype, layout, mem_config = input_a_dtype, input_a_layout, input_a_memory_config
    torch_input = torch.randn(input_shape)
    torch_reference = torch.sigmoid(torch_input)

    # Use extracted config to create tensor
    ttnn_input = ttnn.from_torch(
        torch_input,
        dtype=dtype,              # bfloat8_b
        layout=layout,            # TILE_LAYOUT
        device=device,
        memory_config=mem_config  # HEIGHT_SHARDED with [224,32] shard_shape
    )
    # In sweep test, ensure output_memory_config matches input
    output_mem_config = mem_config  # Same as input for unary ops

    # Operation runs with exact traced configuration
    result = ttnn.sigmoid_accurate(ttnn_input, memory_config=output_mem_config)
    ttnn_output = ttnn.to_torch(result)

    # Check accuracy
    pcc = check_with_pcc(torch_reference, ttnn_output, threshold=0.999)
    return pcc
"""


@pytest.mark.slow
def test_a_module_with_torch(torch, workspace):
    """The guide's steps of a sweep, with torch on both sides; children are forked before torch has threads."""
    put(workspace, "with_torch.sigmoid", TORCH)
    run("python3 tests/sweep_framework/sweeps_parameter_generator.py --module-name with_torch.sigmoid", workspace)
    said = run("python3 tests/sweep_framework/sweeps_runner.py --module-name with_torch.sigmoid --vector-source vectors_export --result-dest results_export", workspace)
    assert "SWEEPS - 30 vectors ran, 0 failed." in said
    assert "= 30 passed in" in run("pytest tests/sweep_framework/sweeps/with_torch/sigmoid.py", workspace)


def test_a_placeholder_has_no_vectors(workspace):
    """As they are printed the patterns name no operation: that is said, loudly, and nothing passes."""
    put(workspace, "placeholder.unary", UNARY + "    pass\n")
    ran = shell("python3 tests/sweep_framework/sweeps_parameter_generator.py --module-name placeholder.unary", workspace)
    assert ran.returncode == 1
    assert "No configurations found for operation: your_operation_name" in ran.stdout and "HAS NO VECTORS" in ran.stdout
    ran = shell("python3 tests/sweep_framework/sweeps_runner.py --module-name placeholder.unary --vector-source vectors_export --result-dest results_export", workspace)
    assert ran.returncode == 1 and "NO VECTOR WAS RUN" in ran.stdout


def test_a_new_sweep_test(workspace):
    """At the guide's path, which its first line tells: found and run, by the runner and as tests."""
    text = complete(filled(2, NEW_TEST))
    assert text.splitlines()[1] == "# tests/sweep_framework/sweeps/eltwise/unary/my_op/my_op.py"
    put(workspace, "eltwise.unary.my_op.my_op", text)
    said = run("pytest tests/sweep_framework/sweeps/eltwise/unary/my_op/my_op.py -k model_traced -v", workspace)
    assert "test_sweep[model_traced-29] PASSED" in said and "= 30 passed in" in said
    run("python3 tests/sweep_framework/sweeps_parameter_generator.py --module-name eltwise.unary.my_op", workspace)
    said = run("python3 tests/sweep_framework/sweeps_runner.py --module-name eltwise.unary.my_op.my_op --vector-source vectors_export --result-dest results_export", workspace)
    assert "SWEEPS - 30 vectors ran, 0 failed." in said


# ---- troubleshooting

VERIFY = """
# Unit test should pass
pytest test_sigmoid_traced_configs.py

# Sweep test should also pass
pytest tests/sweep_framework/sweeps/.../sigmoid_accurate.py -k model_traced
"""


def shards(memory):
    """What counts of it: ranges have no order."""
    spec = memory.shard_spec
    ranges = {(one.start.x, one.start.y, one.end.x, one.end.y) for one in spec.grid.ranges()}
    return memory.memory_layout, memory.buffer_type, list(spec.shape), spec.orientation, ranges


def test_the_sweep_has_what_the_unit_test_has(workspace):
    """The fourth case: vectors have the very shards of the unit test, none is computed."""
    unit = {}
    exec((workspace / "test_sigmoid_traced_configs.py").read_text().replace("from tests.ttnn.utils_for_testing import check_with_pcc", ""), unit)
    loader = configs.MasterConfigLoader(workspace / configs.PLACES[0])
    rows = list(configs.vectors(loader.get_suite_parameters("sigmoid_accurate")))
    found = [(row["input_shape"], *shards(row["input_a_memory_config"])) for row in rows]
    assert found == [(shape, *shards(unit["memory_config"](layout, shard, ranges))) for shape, layout, shard, ranges in unit["CONFIGURATIONS"]]


@pytest.mark.slow
def test_a_sweep_against_its_unit_test(workspace):
    assert run(VERIFY, workspace).count("= 30 passed in") == 2


def test_elisions_are_needed():
    """Each of them stands in something above, or in what is shared."""
    texts = [UNARY, STEPS, SHORT, TWO_STEPS, NEW_TEST, VERIFY, *(line for line, _ in SLOW_LINES), open(__file__).read().split("# ---- tests")[1]]
    assert all(any(printed in text for text in texts) for _, printed, _ in ELISIONS) and len(SHARED) == 4
