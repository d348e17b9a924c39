"""What TT-NN's guides on traced configurations show of tracing: command lines and the plugin, as they are printed there, in a folder
that `ttnn workspace` makes. test_seeds_configs.py has what comes before, and says which snippets are no Python as they are printed.
"""

import json
import re

import pytest
from test_seeds_configs import filled, make_workspace, run, shell
from ttnn import configs


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One that is only read."""
    return make_workspace(tmp_path_factory.mktemp("shared") / "ws")


@pytest.fixture
def workspace(tmp_path):
    return make_workspace(tmp_path / "ws")


MODEL = '''
import ttnn


def test_{name}(device):
    """Stands for a model: few calls, with one that is repeated and one in another configuration."""
    a = ttnn.rand([1, 1, 64, {width}], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    b = ttnn.add(a, a)
    b = ttnn.add(b, a)
    c = ttnn.sigmoid_accurate(b)
    d = ttnn.matmul(c, ttnn.transpose(c, -2, -1))
    ttnn.multiply(d, 2.0)
'''
EFFICIENTNET = "models/experimental/efficientnetb0/tests/pcc/test_ttnn_efficientnetb0.py"
DEMOS = ["models/demos/wormhole/resnet50/demo/demo.py", "models/demos/wormhole/distilbert/demo/demo.py"]
TEXT_DEMO = "models/tt_transformers/demo/simple_text_demo.py"


def put_model(workspace, path, name, width=96):
    file = workspace / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(MODEL.format(name=name, width=width))
    return file


def master(workspace, folder="model_tracer/traced_operations"):
    return json.loads((workspace / folder / configs.MASTER).read_text())


def empty(workspace):
    """So that everything is new."""
    (workspace / "model_tracer" / "traced_operations" / configs.MASTER).unlink()


def counted(workspace):
    return {name: len(found["configurations"]) for name, found in master(workspace)["operations"].items()}


TRACED = """\
🚀 TTNN Operations Tracer
==================================================
📁 test_ttnn_efficientnetb0.py
==================================================
🚀 Running test with operations tracing...
📋 Loaded 200 valid operations from Allops.txt
...
📈 Captured 847 operations
📝 Added 28 new unique configurations to master file

==================================================
📋 RESULTS
==================================================
Test Result: ✅ PASSED
📊 Captured: 847 operations, 52 unique types
💾 File: test_efficientnetb0_model_ops_20251016_042252.json (234,567 bytes)
🔧 Unique Configurations (current test):
   • ttnn::sigmoid_accurate: 30 unique configs (45x executed)
   • ttnn::add: 6 unique configs (89x executed)
"""


def mask(text):
    text = re.sub(r"\d[\d,]*", "N", text)
    return re.sub(r"ttnn::\w+", "ttnn::x", text)


def check_texts(said):
    """All lines that the guide prints, in its order; between them others may stand."""
    lines = iter(mask(line) for line in said.splitlines())
    for wanted in TRACED.splitlines():
        if wanted != "...":
            assert any(mask(wanted) == line for line in lines), f"{wanted}\nis not, in this order, in\n{said}"


def test_tracing_efficientnet(workspace):
    put_model(workspace, EFFICIENTNET, "efficientnetb0_model")
    empty(workspace)
    ran = shell(f"python generic_ops_tracer.py \\\n  {EFFICIENTNET}::test_efficientnetb0_model", workspace)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    check_texts(ran.stdout)
    found = counted(workspace)
    assert {"ttnn::add": 1, "ttnn::sigmoid_accurate": 1, "ttnn::matmul": 1, "ttnn::transpose": 1}.items() <= found.items()
    assert not any(name in found for name in ("ttnn::to_layout", "ttnn::to_device", "ttnn::deallocate"))
    sources = {c["source"] for op in master(workspace)["operations"].values() for c in op["configurations"]}
    assert sources == {EFFICIENTNET}
    assert "(2x executed)" in ran.stdout
    again = shell(f"python model_tracer/generic_ops_tracer.py {EFFICIENTNET}::test_efficientnetb0_model", workspace)
    assert "📝 Added 0 new unique configurations to master file" in again.stdout
    assert [path.name for path in (workspace / "traced_operations").iterdir() if path.suffix == ".json"] == [configs.MASTER]
    assert counted(workspace) == found


@pytest.mark.slow
def test_both_paths_give_one_master(workspace):
    put_model(workspace, DEMOS[0], "demo", 32)
    put_model(workspace, DEMOS[1], "demo", 64)
    before = counted(workspace)
    assert before["ttnn::add"] == 78
    assert shell(f"python generic_ops_tracer.py {DEMOS[0]}::test_demo", workspace).returncode == 0
    between = counted(workspace)
    assert shell(f"python model_tracer/generic_ops_tracer.py {DEMOS[1]}::test_demo", workspace).returncode == 0
    assert before["ttnn::add"] + 2 == between["ttnn::add"] + 1 == counted(workspace)["ttnn::add"]
    assert master(workspace) == master(workspace, "traced_operations")
    assert {*DEMOS} <= set(master(workspace)["metadata"]["models"])
    files = [path for path in workspace.rglob(configs.MASTER) if not path.parent.is_symlink()]
    assert len(files) == 1


@pytest.mark.slow
def test_absolute_path(workspace):
    file = put_model(workspace, EFFICIENTNET, "efficientnetb0_model")
    empty(workspace)
    ran = shell(f"python {workspace}/generic_ops_tracer.py {file}::test_efficientnetb0_model", workspace.parent)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert master(workspace)["metadata"]["models"] == [EFFICIENTNET]


@pytest.mark.slow
def test_raw_traces_and_output_directory(workspace):
    """Raw traces go after the merge (as above), unless --store is given; the master may be elsewhere."""
    put_model(workspace, EFFICIENTNET, "efficientnetb0_model")
    place = workspace.parent / "own"
    line = f"python model_tracer/generic_ops_tracer.py {EFFICIENTNET}::test_efficientnetb0_model --store -o {place}"
    ran = shell(line, workspace)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert json.loads((place / configs.MASTER).read_text())["metadata"]["models"] == [EFFICIENTNET]
    (kept,) = re.findall(r"💾 File: (\S+\.json) \(", ran.stdout)
    assert (place / kept).exists() and json.loads((place / kept).read_text())["content"]


@pytest.mark.slow
def test_models_of_the_text_demo(workspace):
    """The source of a configuration names the model that the demo ran."""
    put_model(workspace, TEXT_DEMO, "demo_text")
    empty(workspace)
    for name in ("meta-llama/Llama-3.2-1B-Instruct", "Qwen/Qwen2.5-Coder-7B-Instruct"):
        line = f"HF_MODEL={name} python model_tracer/generic_ops_tracer.py {TEXT_DEMO}::test_demo_text"
        assert shell(line, workspace).returncode == 0
    assert master(workspace)["metadata"]["models"] == [
        f"{TEXT_DEMO} [HF_MODEL:meta-llama/Llama-3.2-1B-Instruct]",
        f"{TEXT_DEMO} [HF_MODEL:Qwen/Qwen2.5-Coder-7B-Instruct]",
    ]


@pytest.mark.slow
def test_a_script(workspace):
    """The vision demo is named without a test: it is run as a script."""
    path = "models/demos/gemma3/demo/vision_demo.py"
    put_model(workspace, path, "demo")
    with open(workspace / path, "a") as file:
        file.write("\n\nif __name__ == '__main__':\n    device = ttnn.open_device(device_id=0)\n    test_demo(device)\n    ttnn.close_device(device)\n")
    empty(workspace)
    ran = shell(f"HF_MODEL=google/gemma-3-27b-it python model_tracer/generic_ops_tracer.py {path}", workspace)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert counted(workspace)["ttnn::add"] == 1


def test_a_failing_test_contributes(workspace):
    file = put_model(workspace, EFFICIENTNET, "efficientnetb0_model")
    file.write_text(file.read_text() + "    assert False\n")
    empty(workspace)
    ran = shell(f"python generic_ops_tracer.py {EFFICIENTNET}::test_efficientnetb0_model", workspace)
    assert ran.returncode == 1 and "Test Result: ❌ FAILED" in ran.stdout
    assert counted(workspace)["ttnn::sigmoid_accurate"] == 1


BATCH = """\
#!/bin/bash
# trace_all_models.sh

# Trace all models in a directory
for test in models/demos/wormhole/*/demo/demo.py; do
    echo "Tracing $test"
    python generic_ops_tracer.py "$test::test_demo"
done

# Results accumulated in ttnn_operations_master.json
"""


@pytest.mark.slow
def test_batch(workspace):
    for number, path in enumerate(DEMOS):
        put_model(workspace, path, "demo", 32 * (number + 1))
    empty(workspace)
    assert (workspace / "trace_all_models.sh").read_text() == BATCH
    ran = shell("./trace_all_models.sh", workspace)
    assert ran.returncode == 0 and [f"Tracing {path}" for path in sorted(DEMOS)] == re.findall("^Tracing .*$", ran.stdout, re.M)
    assert sorted(master(workspace)["metadata"]["models"]) == sorted(DEMOS)
    assert counted(workspace)["ttnn::add"] == 2


OWN_MODEL = """
# 1. Ensure your model test uses ttnn operations
def test_my_custom_model(device):
    # ... model code using ttnn.add, ttnn.matmul, etc. ...
    pass

# 2. Trace it
python generic_ops_tracer.py path/to/test.py::test_my_custom_model

# 3. Configurations automatically added to master JSON
"""


@pytest.mark.slow
def test_own_model(workspace):
    code = filled(3, OWN_MODEL).replace("    pass", "    import ttnn\n    ttnn.relu(ttnn.ones([1, 32], device=device, layout=ttnn.TILE_LAYOUT))")
    (workspace / "path" / "to").mkdir(parents=True)
    (workspace / "path" / "to" / "test.py").write_text(code)
    empty(workspace)
    ran = shell("python generic_ops_tracer.py path/to/test.py::test_my_custom_model", workspace)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert counted(workspace)["ttnn::relu"] == 1


# ---- the plugin


@pytest.mark.slow
def test_custom_exclusions(workspace):
    """Editing the file, at the root or in model_tracer, changes what is traced: one name more, and one less."""
    model = put_model(workspace, EFFICIENTNET, "efficientnetb0_model")
    model.write_text(model.read_text() + "    ttnn.to_layout(a, ttnn.ROW_MAJOR_LAYOUT)\n")
    empty(workspace)
    tracer = workspace / "generic_ops_tracer.py"
    text = tracer.read_text()
    mark = "# Add your custom exclusions here\n"
    assert mark in text
    text = text.replace(mark, "'ttnn::sigmoid_accurate',\n            " + mark)
    tracer.write_text(text.replace('            "ttnn::to_layout",\n', ""))
    ran = shell(f"python generic_ops_tracer.py {EFFICIENTNET}::test_efficientnetb0_model", workspace)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = counted(workspace)
    assert "ttnn::sigmoid_accurate" not in found and found["ttnn::add"] == found["ttnn::to_layout"] == 1


PLUGIN = """
import sys

sys.path.insert(0, "model_tracer")
import ttnn
from generic_ops_tracer import GraphTracerUtils, OperationsTracingPlugin
from ttnn.graph_tracer_utils import GraphTracerUtils as same

assert GraphTracerUtils is same
plugin = OperationsTracingPlugin()
assert len(plugin.excluded_operations) == 24
assert plugin.is_valid_operation("ttnn::add") and not plugin.is_valid_operation("ttnn::to_device")
assert not plugin.is_valid_operation("ttnn::no_such_operation")

device = ttnn.open_device(device_id=0)
# Start TTNN graph capture
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
a = ttnn.ones([1, 1, 32, 32], device=device, layout=ttnn.TILE_LAYOUT, dtype=ttnn.bfloat16)
ttnn.add(a, a)
ttnn.add(a, a)
# End capture and serialize
captured_graph = ttnn.graph.end_graph_capture()
trace_data = GraphTracerUtils.serialize_graph(captured_graph)
operations = [plugin.clean_operation_data(entry) for entry in trace_data["content"] if plugin.is_valid_operation(entry["operation"])]
names = [entry["operation"] for entry in operations]
print(names.count("ttnn::add"))
print(plugin.update_master_file("own/master.json", operations, "test_x.py"), plugin.update_master_file("own/master.json", operations, "test_y.py"))
"""


def test_plugin(workspace):
    said = run(PLUGIN, workspace).splitlines()
    assert said[0] == "2"
    first, second = said[1].split()
    assert int(first) >= 1 and second == "0"
    made = json.loads((workspace / "own" / "master.json").read_text())
    (config,) = made["operations"]["ttnn::add"]["configurations"]
    assert config["source"] == "test_x.py" and list(config["arguments"][0]) == ["arg0"]
    assert made["metadata"]["models"] == ["test_x.py", "test_y.py"]


# How the guide says it works: what is printed there of functions.
FUNCTIONS = """
OperationsTracingPlugin pytest_runtest_setup(self, item)
OperationsTracingPlugin pytest_runtest_teardown(self, item, nextitem)
OperationsTracingPlugin is_valid_operation(self, op_name)
OperationsTracingPlugin clean_operation_data(self, operation)
OperationsTracingPlugin update_master_file(self, master_file_path, new_operations, test_name)
MasterConfigLoader get_operation_configs(self, operation_name)
MasterConfigLoader parse_memory_config(self, memory_config, tensor_shape)
sweep_config_utils load_unary_op_configs(operation_name, all_cases)
"""
FILTER = """
def is_valid_operation(self, op_name):
    # 1. Check exclusion list (36 utility operations)
    if op_name in self.excluded_operations:
        return False

    # 2. Check Allops.txt (official list of TTNN operations)
    return op_name in self.valid_operations
"""
EXCLUSIONS = """
class OperationsTracingPlugin:
    def __init__(self):
        self.excluded_operations = {
            'ttnn::to_device',
            'ttnn::from_device',
            # Add your custom exclusions here
        }
"""


def test_how_it_works(shared):
    """The functions that the guide names take what it gives them, and the pieces that it prints fit the class."""
    code = f"""
import inspect
import sys

sys.path.insert(0, "model_tracer")
import generic_ops_tracer
from generic_ops_tracer import OperationsTracingPlugin as ours
from tests.sweep_framework import sweep_config_utils
from tests.sweep_framework.master_config_loader import MasterConfigLoader

places = {{"OperationsTracingPlugin": ours, "MasterConfigLoader": MasterConfigLoader, "sweep_config_utils": sweep_config_utils}}
for line in {FUNCTIONS!r}.strip().splitlines():
    place, signature = line.split(" ", 1)
    name, parameters = signature.rstrip(")").split("(")
    assert list(inspect.signature(getattr(places[place], name)).parameters) == parameters.split(", "), line

exec({FILTER!r})
exec({EXCLUSIONS!r})
plugin = ours()
for name in generic_ops_tracer.OperationsTracingPlugin.valid_operations:
    assert is_valid_operation(plugin, name) == plugin.is_valid_operation(name)


class Mine(ours):
    __init__ = OperationsTracingPlugin.__init__


assert not Mine().is_valid_operation("ttnn::to_device") and Mine().is_valid_operation("ttnn::to_layout")
print("all of it")
"""
    assert run(code, shared) == "all of it\n"


def test_plugin_in_pytest(workspace):
    """The class is a plugin of pytest, too."""
    put_model(workspace, EFFICIENTNET, "efficientnetb0_model")
    empty(workspace)
    code = f"""
import sys

sys.path.insert(0, "model_tracer")
import pytest
from generic_ops_tracer import OperationsTracingPlugin

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "{EFFICIENTNET}"], plugins=[OperationsTracingPlugin()]))
"""
    run(code, workspace)
    found = counted(workspace)
    assert found["ttnn::add"] == 1 and "ttnn::to_layout" not in found


def test_cleaning():
    """Texts of C++ become JSON."""
    info = '{"arg0": {"Tensor":{"tensor_spec":{"logical_shape":[1, 64],"tensor_layout":{"memory_config":{"shard_spec":{"grid":[{"x":0,"y":0} - {"x":7,"y":7}],"shape":"{32, 32}"}}}}}}}'
    operation = {"operation": "ttnn::relu", "arguments": [{"UnparsedElement": {"error": "x", "element_info": info}}, {"arg1": "nullopt"}]}
    spec = configs.clean_operation(operation)["arguments"][0]["arg0"]["Tensor"]["tensor_spec"]["tensor_layout"]["memory_config"]["shard_spec"]
    assert spec["grid"] == [{"x": 0, "y": 0}, {"x": 7, "y": 7}] and spec["shape"] in ("[32, 32]", "{32, 32}", [32, 32])


def test_extractors(workspace):
    """A row that a user adds to the table changes the parameters."""
    table = workspace / "model_tracer" / "operation_parameter_extractors.py"
    mark = "    # Add your operations here.\n"
    table.write_text(table.read_text().replace(mark, '    "slice": {"begins": "ints@1"},\n' + mark))
    code = """
from tests.sweep_framework.master_config_loader import MasterConfigLoader

loader = MasterConfigLoader()
for name in ("typecast", "permute", "slice"):
    ((names, rows),) = loader.get_suite_parameters(name).items()
    print(names.split(",")[-1], rows[0][-1])
"""
    said = [line for line in run(code, workspace).splitlines() if line.split()[0] in ("output_dtype", "dims", "begins")]
    assert said == ["output_dtype DataType.BFLOAT8_B", "dims [0, 2, 3, 1]", "begins [0, 0, 0, 0]"]
