"""What TT-NN's guides on traced configurations show, up to tracing (test_seeds_tracing.py) and the sweeps: snippets and command
lines as they are printed there, in a folder that `ttnn workspace` makes. Small tests that are put at the guides' paths stand for the models.

Four snippets are no Python as they are printed; ELISIONS lists what is filled in.
"""

import ast
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import ttnn
from ttnn import configs, program

# (where, as it is printed, what it takes to run)
ELISIONS = [
    ("the binary pattern: a line ends in two backslashes", " \\\\\n", " \\\n"),
    ("shards: a command stands in a block of Python", 'python analyze_operations.py <operation> | grep "shard_shape"\n', ""),
    ("a new sweep test: parameters are left out", "input_a_dtype=None, ..., *, device", "input_a_dtype=None, **others"),
    ("a model of one's own: a command stands in a block of Python", "python generic_ops_tracer.py path/to/test.py::test_my_custom_model\n", ""),
]


def make_workspace(folder):
    made = subprocess.run([program.path(), "workspace", folder], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One that is only read."""
    return make_workspace(tmp_path_factory.mktemp("shared") / "ws")


def environment(folder, **more):
    """With `python`, `python3` and `pytest` of this Python first; the package is that which runs here."""
    programs = folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    for name, module in (("python", ""), ("python3", ""), ("pytest", " -m pytest -p no:cacheprovider")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable}{module} "$@"\n')
        (programs / name).chmod(0o755)
    package = str(pathlib.Path(ttnn.__file__).resolve().parent.parent)
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("HF_MODEL", "LLAMA_DIR", "PYTEST_"))},
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": package,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-8",
        **more,
    }


def shell(line, folder, **more):
    return subprocess.run(line, shell=True, cwd=folder, env=environment(folder, **more), capture_output=True, text=True, timeout=300)


def run(code, folder):
    """Runs a snippet in the folder; what it prints."""
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def filled(number, text):
    _, printed, instead = ELISIONS[number]
    with pytest.raises(SyntaxError):
        ast.parse(text)
    assert printed in text
    text = text.replace(printed, instead)
    ast.parse(text)
    return text


# ---- the patterns to copy and paste

UNARY = """
# 1. Import the loader and helper function
from tests.sweep_framework.master_config_loader import MasterConfigLoader, unpack_traced_config

# 2. Load and add to parameters (before your parameters dict)
loader = MasterConfigLoader()
# Default: Run exact 30 traced configs
model_traced_params = loader.get_suite_parameters("your_operation_name")
# OR: Run all combinations (30 shapes × dtypes × layouts × memory_configs)
# model_traced_params = loader.get_suite_parameters("your_operation_name", all_cases=True)

parameters = {
    "nightly": {
        # ... your existing nightly tests ...
    },
    "model_traced": model_traced_params,  # Just add this line!
}

# 3. In your run() function, add traced_config_name parameter and ONE line to unpack
def run(
    input_shape=None,
    input_a_dtype=None,
    input_a_layout=None,
    input_a_memory_config=None,
    output_memory_config=None,
    traced_config_name=None,  # Add this parameter
    *,
    device,
):
    # Unpack all config values in ONE line
    if traced_config_name:
        input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config = unpack_traced_config(traced_config_name)

    # Rest of your test logic stays the same!
"""

USE_UNARY = """
    import ttnn

    given = ttnn.rand(input_shape, dtype=input_a_dtype, layout=input_a_layout, device=device, memory_config=input_a_memory_config)
    return ttnn.sigmoid_accurate(given, memory_config=output_memory_config)


import ttnn

device = ttnn.open_device(device_id=0)
for name in loader.get_traced_config_names("sigmoid_accurate"):
    config = loader.get_traced_config(name)
    result = run(traced_config_name=name, device=device)
    assert list(result.shape) == config["shape"] and result.memory_config() == config["memory_config"]
ttnn.close_device(device)
print(name)
"""


def test_unary_pattern(shared):
    assert "No configurations found for operation: your_operation_name" in run(UNARY + "    pass\n", shared)
    said = run(UNARY.replace("your_operation_name", "sigmoid_accurate") + USE_UNARY, shared)
    assert said.splitlines()[-1] == "sigmoid_accurate_traced_29"


STEPS = """
from tests.sweep_framework.master_config_loader import MasterConfigLoader, unpack_traced_config

loader = MasterConfigLoader()

# Option 1 (Default): Run exact traced configs (e.g., 30 tests)
model_traced_params = loader.get_suite_parameters("your_operation_name")

# Option 2: Run all combinations (e.g., 30 shapes × unique dtypes × layouts × memory_configs)
# model_traced_params = loader.get_suite_parameters("your_operation_name", all_cases=True)

parameters = {
    "nightly": {
        # ... your existing nightly tests ...
    },
    "model_traced": model_traced_params,  # Just add this line!
}

def run(
    input_shape=None,
    input_a_dtype=None,
    input_a_layout=None,
    input_a_memory_config=None,
    output_memory_config=None,
    traced_config_name=None,  # Add this parameter
    *,
    device,
) -> list:
    # Unpack all config values in ONE line
    if traced_config_name:
        input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config = unpack_traced_config(traced_config_name)

    # Everything is now ready to use!
    # ... your test implementation ...
"""


def test_step_by_step(shared):
    """Both options; with all combinations the parameters come one by one, and no name is given."""
    run(STEPS, shared)
    exact = STEPS.replace("your_operation_name", "silu")
    every = exact.replace("\nmodel_traced_params", "\n# model_traced_params", 1).replace("\n# model_traced_params = loader.get_suite_parameters(\"silu\", all", "\nmodel_traced_params = loader.get_suite_parameters(\"silu\", all")
    for code, keys in ((exact, 1), (every, 5)):
        said = run(code + "    return [input_shape]\n\nfrom ttnn.configs import vectors\nprint(len(model_traced_params), len(list(vectors(model_traced_params))))\n", shared)
        assert said.endswith(f"{keys} 1\n")
    said = run(every + "    return [input_shape]\n\nprint(run(**{name: values[0] for name, values in model_traced_params.items()}, device=None))\n", shared)
    assert said.endswith("[[1, 1, 12544, 32]]\n")


BINARY = r"""
# 1. Import the loader and BINARY helper function
from tests.sweep_framework.master_config_loader import MasterConfigLoader, unpack_binary_traced_config

# 2. Load and add to parameters (same as unary)
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("add")  # Automatically detects binary operation

parameters = {
    "nightly": { ... },
    "model_traced": model_traced_params,  # Same as unary!
}

# 3. In your run() function, use unpack_BINARY_traced_config
def run(
    input_shape=None,  # IMPORTANT: All parameters must have default values!
    input_a_dtype=None,
    input_b_dtype=None,
    input_a_layout=None,
    input_b_layout=None,
    input_a_memory_config=None,
    input_b_memory_config=None,
    traced_config_name=None,
    *,
    device,
):
    # Unpack BINARY config (7 values) in ONE line
    if traced_config_name:
        input_shape, input_a_dtype, input_b_dtype, input_a_layout, input_b_layout, \\
            input_a_memory_config, input_b_memory_config = unpack_binary_traced_config(traced_config_name)

    # Rest of test logic stays the same!
"""

USE_BINARY = """
    return input_shape, input_a_dtype, input_b_dtype, input_b_memory_config


shape, a, b, memory = run(traced_config_name="add_traced_0", device=None)
print(shape, a, b, memory.shard_spec.shape)
"""


def test_binary_pattern(shared):
    said = run(filled(0, BINARY) + USE_BINARY, shared)
    assert said.splitlines()[0] == "✅ Loaded 78 model-traced configurations for add"
    assert said.splitlines()[-1] == (
        "{'self': [1, 1, 3136, 24], 'other': [1, 1, 3136, 24]} DataType.BFLOAT8_B DataType.BFLOAT8_B [64, 32]"
    )


QUICK = """
# In your sweep test file (e.g., sigmoid_accurate.py)
from tests.sweep_framework.master_config_loader import MasterConfigLoader

loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("sigmoid_accurate")

parameters = {
    "model_traced": model_traced_params,  # That's it!
}
"""
LOADED = """\
✅ Loaded 30 model-traced configurations for sigmoid_accurate
   • Shapes: 30
   • Dtypes: 1 unique
   • Layouts: 1 unique
   • Memory Configs: 30 unique
"""


def masked(text):
    return re.sub(r"\d+", "N", text)


def test_quick_start(shared):
    said = run(QUICK + "\n(rows,) = parameters['model_traced'].values()\nprint(len(rows))\n", shared)
    assert masked(said) == masked(LOADED) + "N\n"
    assert said.splitlines()[-1] == "30"


SHORT = """
from tests.sweep_framework.master_config_loader import MasterConfigLoader
loader = MasterConfigLoader()
parameters = {"model_traced": loader.get_suite_parameters("your_op")}
"""
TWO_STEPS = """
# 1. Import and load
from tests.sweep_framework.master_config_loader import MasterConfigLoader

loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("your_operation_name")

# 2. Add to parameters
parameters = {
    "nightly": { ... },
    "model_traced": model_traced_params,  # Add this line!
}
"""


@pytest.mark.parametrize("snippet", [SHORT, TWO_STEPS])
def test_short_patterns(shared, snippet):
    """As they are printed the operation is a placeholder: a suite that gives no vectors. Then with a real one."""
    said = run(snippet + "print([len(v) for v in parameters['model_traced'].values()])\n", shared)
    assert said == f"⚠️ No configurations found for operation: {'your_op' if snippet is SHORT else 'your_operation_name'}\n[1, 0, 0, 0, 0]\n"
    real = re.sub(r"your_op\w*", "pad", snippet)
    assert run(real + "print([len(v) for v in parameters['model_traced'].values()])\n", shared).endswith("[69]\n")


NEW_TEST = """
# tests/sweep_framework/sweeps/eltwise/unary/my_op/my_op.py
from tests.sweep_framework.master_config_loader import MasterConfigLoader

# Load traced configs (one line!)
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("my_op")

# Add to parameters (one line!)
parameters = {
    "nightly": {
        # ... your existing tests ...
    },
    "model_traced": model_traced_params,  # Done!
}

# Your run function stays the same - no special handling needed!
def run(input_shape=None, input_a_dtype=None, ..., *, device):
    # Just use the parameters - everything is set up automatically
    pass
"""


def test_new_sweep_test(shared):
    code = filled(2, NEW_TEST).replace('"my_op"', '"typecast"')
    said = run(
        code + "\n((names, rows),) = model_traced_params.items()\nfor row in rows: run(**dict(zip(names.split(','), row)), device=None)\nprint(len(rows))",
        shared,
    )
    assert said.endswith("57\n")


def test_vectors_of_suites(shared):
    """What a guide leaves out is no suite: no vectors, and no error."""
    said = run(
        filled(0, BINARY)
        + """
    return traced_config_name


from ttnn.configs import vectors

for name in ("nightly", "model_traced"):
    print(name, len(list(vectors(parameters[name]))))
print(len(list(vectors({}))), len(list(vectors(loader.get_suite_parameters("nothing")))))
print(list(next(vectors(parameters["model_traced"])))[:2], run(device=None))
""",
        shared,
    ).splitlines()
    assert said[-5:-3] == ["nightly 0", "model_traced 78"]
    assert said[-2:] == ["0 0", "['input_shape', 'input_a_dtype'] None"]
    assert list(configs.vectors({"a,b": [(1, 2), (3, 4)], "c": [5, 6]}))[1] == {"a": 1, "b": 2, "c": 6}


# ---- loading step by step


def test_loading_step_by_step(shared):
    said = run(
        """
from tests.sweep_framework.master_config_loader import MasterConfigLoader

loader = MasterConfigLoader()
for config in loader.get_operation_configs("sigmoid_accurate"):
    tensor_spec = config[0]["arg0"]["Tensor"]["tensor_spec"]
    tensor_layout = tensor_spec["tensor_layout"]
    memory_config_dict = tensor_layout["memory_config"]

    # Extract shape: [1, 1, 12544, 32]
    shape = tensor_spec.get("logical_shape", [])

    # Extract dtype: DataType::BFLOAT8_B
    dtype = tensor_layout.get("dtype", "DataType::BFLOAT16")

    # Extract memory config with EXACT shard specs
    memory_config = loader.parse_memory_config(memory_config_dict, shape)
    assert loader.extract_tensor_config(config[0]).shape == shape
    print(shape, loader.parse_dtype(dtype), loader.parse_layout("Layout::TILE"), memory_config.shard_spec.shape)
""",
        shared,
    )
    assert said.splitlines()[0] == "[1, 1, 12544, 32] DataType.BFLOAT8_B Layout.TILE [224, 32]"
    assert len(said.splitlines()) == 30


def test_memory_config_by_hand():
    """The classes take what the guide gives them, by position, and the loader makes the same."""
    shard_shape, orientation = [224, 32], ttnn.ShardOrientation.ROW_MAJOR
    memory_layout, buffer_type = ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1
    CoreRange, CoreRangeSet = ttnn.CoreRange, ttnn.CoreRangeSet
    start, end = ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 6)

    core_range_set = CoreRangeSet({CoreRange(start, end)})
    shard_spec = ttnn.ShardSpec(core_range_set, shard_shape, orientation)
    by_hand = ttnn.MemoryConfig(memory_layout, buffer_type, shard_spec)

    traced = {
        "buffer_type": "BufferType::L1",
        "memory_layout": "TensorMemoryLayout::HEIGHT_SHARDED",
        "shard_spec": {"grid": [{"x": 0, "y": 0}, {"x": 7, "y": 6}], "shape": [224, 32], "orientation": "ShardOrientation::ROW_MAJOR"},
    }
    assert configs.MasterConfigLoader().parse_memory_config(traced, [1, 1, 12544, 32]) == by_hand


UTILITIES = """
import array
import ttnn
from tests.sweep_framework.sweep_config_utils import _CONFIG_LOOKUP, load_unary_op_configs
from tests.ttnn.utils_for_testing import check_with_pcc

# Default: N exact tests (shapes paired with their memory configs)
configs = load_unary_op_configs("sigmoid_accurate", all_cases=False)  # 30 tests
assert list(configs) == ["traced_config"] and len(configs["traced_config"]) == 30

# Cartesian product: N shapes × M memory_configs tests
configs = load_unary_op_configs("sigmoid_accurate", all_cases=True)   # 900 tests
assert len(configs["input_shapes"]) * len(configs["input_memory_config"]) == 900

# Sweep framework passes config name (string)
def run(traced_config_name="traced_0", *, device):
    # Lookup actual config object
    config = _CONFIG_LOOKUP[traced_config_name]

    # Extract all parameters
    shape = config["shape"]                    # [1, 1, 12544, 32]
    mem_config = config["memory_config"]       # SHARDED with exact shard_shape
    layout = config["layout"]                  # TILE_LAYOUT
    dtype = config["dtype"]                    # bfloat8_b

    count = shape[0] * shape[1] * shape[2] * shape[3]
    numbers = array.array("f", (i % 97 / 16 - 3 for i in range(count)))
    torch_input = memoryview(numbers).cast("B").cast("f", shape)

    # Use extracted config to create tensor
    ttnn_input = ttnn.from_torch(
        torch_input,
        dtype=dtype,              # bfloat8_b
        layout=layout,            # TILE_LAYOUT
        device=device,
        memory_config=mem_config  # HEIGHT_SHARDED with [224,32] shard_shape
    )
    output_mem_config = mem_config  # Same as input for unary ops

    # Operation runs with exact traced configuration
    result = ttnn.sigmoid_accurate(ttnn_input, memory_config=output_mem_config)
    torch_reference = ttnn.get_golden_function(ttnn.sigmoid_accurate)(ttnn_input)
    ttnn_output = result

    # Check accuracy
    pcc = check_with_pcc(torch_reference, ttnn_output, threshold=0.999)
    return shape, mem_config.shard_spec.shape, layout, dtype, pcc

device = ttnn.open_device(device_id=0)
print(*run(device=device))
"""


def test_utilities(shared):
    said = run(UTILITIES, shared).split()
    assert " ".join(said[:-2]) == "[1, 1, 12544, 32] [224, 32] Layout.TILE DataType.BFLOAT8_B"
    assert said[-2] == "(True," and float(said[-1].strip("')")) > 0.999


# ---- the file as the guide prints it

PRINTED_MASTER = """{
  "operations": {
    "sigmoid_accurate": {
      "configurations": [
        [
          {
            "arg0": {
              "Tensor": {
                "tensor_spec": {
                  "logical_shape": [1, 1, 12544, 32],
                  "tensor_layout": {
                    "dtype": "DataType::BFLOAT8_B",
                    "memory_config": {
                      "buffer_type": "BufferType::L1",
                      "memory_layout": "TensorMemoryLayout::HEIGHT_SHARDED",
                      "shard_spec": {
                        "grid": [{"x":0,"y":0}, {"x":7,"y":6}],
                        "shape": [224, 32],
                        "orientation": "ShardOrientation::ROW_MAJOR"
                      }
                    }
                  }
                }
              }
            }
          }
        ]
      ]
    }
  },
  "metadata": {
    "models": ["test_efficientnetb0_model"],
    "unique_operations": 50,
    "total_configurations": 300,
    "last_updated": "2025-10-16 04:22:52"
  }
}
"""


def test_printed_master(tmp_path):
    (tmp_path / "master.json").write_text(PRINTED_MASTER)
    loader = configs.MasterConfigLoader(tmp_path / "master.json")
    ((_, (row,)),) = loader.get_suite_parameters("ttnn::sigmoid_accurate").items()
    assert row[:3] == ([1, 1, 12544, 32], ttnn.bfloat8_b, ttnn.TILE_LAYOUT)
    assert list(row[3].shard_spec.shape) == [224, 32]


# ---- the arithmetic of shards

SHARDS = [
    # kind, tensor, shard, ranges, cores, and what must be divided without a rest
    ("HEIGHT", [1, 1, 12544, 32], [224, 32], [((0, 0), (7, 6))], 56, lambda t, s, n: n * s[0] == t[2] == 12544),
    ("WIDTH", [1, 1, 196, 480], [224, 32], [((0, 0), (7, 0)), ((0, 1), (6, 1))], 15, lambda t, s, n: n * s[1] == t[3] == 480),
    ("BLOCK", [1, 1, 196, 672], [32, 96], [((0, 0), (6, 6))], 49, lambda t, s, n: 7 * s[0] >= t[2] and 7 * s[1] == t[3]),
]


@pytest.mark.parametrize("kind, shape, shard, ranges, cores, divides", SHARDS, ids=[row[0] for row in SHARDS])
def test_shard_arithmetic(shared, kind, shape, shard, ranges, cores, divides):
    grid = [[{"x": x, "y": y} for x, y in pair] for pair in ranges]
    traced = {
        "memory_layout": f"TensorMemoryLayout::{kind}_SHARDED",
        "buffer_type": "BufferType::L1",
        "shard_spec": {"grid": grid, "shape": f"{{{shard[0]}, {shard[1]}}}", "orientation": "ShardOrientation::ROW_MAJOR"},
    }
    loader = configs.MasterConfigLoader(shared / "traced_operations" / configs.MASTER)
    memory = loader.parse_memory_config(traced, shape)
    assert list(memory.shard_spec.shape) == shard and memory.shard_spec.grid.num_cores() == cores
    assert divides(shape, list(memory.shard_spec.shape), memory.shard_spec.grid.num_cores())
    everywhere = [c for name in loader._open().names() for c in loader.traced_configs(name)]
    assert any(c.get("shape", c.get("shape_a")) == shape and c.get("memory_config", c.get("memory_config_a")) == memory for c in everywhere)


# ---- looking at what was traced

SHOWN = """\
📊 Operation: ttnn::sigmoid_accurate
📊 Configurations: 30
================================================================================

📋 Configuration 1:
----------------------------------------
  arg0: Tensor(shape=[1, 1, 12544, 32], dtype=BFLOAT8_B, memory=L1_HEIGHT_SHARDED,
        shard(shard_shape=[224, 32], grid=[(0,0)→(7,6)], orientation=ROW_MAJOR))
"""


@pytest.mark.parametrize("script", ["analyze_operations.py", "model_tracer/analyze_operations.py"])
def test_analyzer(shared, script):
    ran = shell(f"python {script} sigmoid_accurate", shared)
    assert ran.returncode == 0, ran.stderr
    assert SHOWN in ran.stdout
    assert len(re.findall("^📋 Configuration [0-9]+:$", ran.stdout, re.M)) == 30
    assert "  arg0: Tensor(shape=[1, 1, 1, 8], dtype=BFLOAT8_B, memory=L1_WIDTH_SHARDED,\n" in ran.stdout


@pytest.mark.parametrize("operation, count", [("add", 78), ("matmul", 6), ("ttnn.add", 78), ("experimental.paged_update_cache", 21)])
def test_analyzer_names(shared, operation, count):
    said = shell(f"python analyze_operations.py {operation}", shared).stdout
    assert f"📊 Configurations: {count}\n" in said


def test_analyzer_options(shared):
    everything = shell("python analyze_operations.py --list", shared)
    assert everything.returncode == 0 and "sigmoid_accurate" in everything.stdout
    assert shell("python analyze_operations.py --stats", shared).returncode == 0
    assert shell("python analyze_operations.py --brief add", shared).stdout.count("arg0") == 0
    assert shell("python analyze_operations.py --debug add", shared).stdout.count("nullopt") > 0
    elsewhere = shared.parent / "elsewhere.json"
    elsewhere.write_text(PRINTED_MASTER)
    said = shell(f"python analyze_operations.py sigmoid_accurate --master-file {elsewhere}", shared).stdout
    assert "📊 Configurations: 1\n" in said
    assert "🔧 Operation:" in shell("python analyze_operations.py add --format classic", shared).stdout


# ---- troubleshooting


def test_no_configurations_found(shared):
    """The first case: the loader says so, and the operations that there are can be listed."""
    loader = configs.MasterConfigLoader(shared / "traced_operations" / configs.MASTER)
    assert loader.get_suite_parameters("sigmoid_acurate")["input_a_dtype"] == []
    said = shell('python analyze_operations.py | grep "Operation:"', shared).stdout.splitlines()
    assert len(said) == 43 and all(line.startswith("📊 Operation: ttnn::") for line in said)
    assert shell("python analyze_operations.py sigmoid_acurate", shared).stdout.count("Configuration 1") == 0


SHARD_CHECK = """
# Check the shard shape
python analyze_operations.py <operation> | grep "shard_shape"

# Shard dimensions should be multiples of 32 for TILE_LAYOUT
# e.g., [224, 32] ✓, [64, 96] ✓, [33, 17] ✗
"""


def test_shards_are_multiples_of_tiles(shared):
    """The second case: what was traced in tiles has such shards, and a tensor with others is refused in these words."""
    filled(1, SHARD_CHECK)
    said = shell('python analyze_operations.py sigmoid_accurate | grep "shard_shape"', shared).stdout
    shards = re.findall(r"shard_shape=\[(\d+), (\d+)\]", said)
    assert len(shards) == 30 and all(int(side) % 32 == 0 for shard in shards for side in shard)
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 0))})
    spec = ttnn.ShardSpec(cores, [33, 17], ttnn.ShardOrientation.ROW_MAJOR)
    memory = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
    device = ttnn.open_device(device_id=0)
    try:
        with pytest.raises(RuntimeError, match="(?i)tile"):
            ttnn.rand([1, 1, 33, 17], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory)
    finally:
        ttnn.close_device(device)


def test_memory_layouts_match(shared):
    """The third case: the output of a unary operation gets the memory of its input."""
    loader = configs.MasterConfigLoader(shared / "traced_operations" / configs.MASTER)
    ((names, rows),) = loader.get_suite_parameters("sigmoid_accurate").items()
    at = names.split(",").index
    assert all(row[at("input_a_memory_config")] == row[at("output_memory_config")] for row in rows)
    shape, dtype, layout, mem_config, output_mem_config = configs.unpack_traced_config("sigmoid_accurate_traced_3")
    assert output_mem_config == mem_config


def test_unparsed_elements(shared, tmp_path):
    """The fifth case: what can be recovered is; what cannot is shown as PARSE_ERROR."""
    lost = {"error": "Expecting value", "element_info": '{"arg0": {"Tensor":{"tensor_spec":{"logical_shape":[1, 2], "x": ???}}}'}
    configurations = [{"arguments": [{"UnparsedElement": lost}], "source": "x.py"}]
    (tmp_path / "m.json").write_text(json.dumps({"operations": {"ttnn::relu": {"configurations": configurations}}, "metadata": {}}))
    assert "PARSE_ERROR" in shell(f"python analyze_operations.py relu --master-file {tmp_path / 'm.json'}", shared).stdout
    real = json.loads((shared / "traced_operations" / configs.MASTER).read_text())
    unparsed = [a for c in real["operations"]["ttnn::sigmoid_accurate"]["configurations"] for a in c["arguments"] if "UnparsedElement" in a]
    said = shell("python analyze_operations.py sigmoid_accurate", shared).stdout
    assert len(unparsed) == 30 and "PARSE_ERROR" not in said and "UnparsedElement" not in said


def test_number_of_tests(shared):
    """The sixth case: exactly the traced ones, or all combinations."""
    loader = configs.MasterConfigLoader(shared / "traced_operations" / configs.MASTER)
    assert len(list(configs.vectors(configs.load_unary_op_configs("sigmoid_accurate", False, loader)))) == 30
    assert len(list(configs.vectors(configs.load_unary_op_configs("sigmoid_accurate", True, loader)))) == 900
    assert len(list(configs.vectors(loader.get_suite_parameters("sigmoid_accurate")))) == 30


def test_unit_test(shared):
    ran = shell("pytest test_sigmoid_traced_configs.py", shared)
    assert ran.returncode == 0 and "30 passed" in ran.stdout, ran.stdout


# ---- 81 configurations, 67 with distinct inputs


def test_both_counts(shared):
    said = run(
        "from tests.sweep_framework.master_config_loader import MasterConfigLoader\nMasterConfigLoader().get_suite_parameters('slice')", shared
    )
    assert "74 configurations, 51 with distinct inputs" in said
