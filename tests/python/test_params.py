"""Parameter files: recorded ones again, through this package; what may go wrong; switches."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

import params_replay as replay
import pytest
import ttnn
import ttnn.operation_tracer as tracer


@pytest.fixture
def traced(tmp_path):
    """Tracing from number 1 into a folder of the test; gives its records in order."""
    before = tracer._ENABLE_TRACE, tracer._SERIALIZE_TENSOR_VALUES, ttnn._ttnn.params.dialect()
    ttnn.CONFIG.operation_parameter_log_dir = tmp_path / "traces"
    tracer._OPERATION_COUNTER = 0
    tracer._ENABLE_TRACE = True

    def records():
        files = sorted((tmp_path / "traces").glob("*"), key=lambda f: int(f.name.split("_")[0]))
        found = [json.loads(f.read_text()) for f in files]
        for f in files:
            f.unlink()
        tracer._OPERATION_COUNTER = 0
        return found

    yield records
    tracer._ENABLE_TRACE, tracer._SERIALIZE_TENSOR_VALUES = before[:2]
    ttnn._ttnn.params.set_dialect(before[2])
    ttnn.CONFIG.operation_parameter_log_dir = None


@pytest.fixture
def device():
    found = ttnn.open_device(device_id=0, l1_small_size=32768)
    yield found
    ttnn.close_device(found)


def repeat(record, device, traced, room=0):
    """The last file that the recorded call writes here; room: tiles of L1 that are free above its inputs."""
    values = '"values"' in json.dumps(record)
    tracer._ENABLE_TRACE = False
    tracer._SERIALIZE_TENSOR_VALUES = values
    before = ttnn._ttnn.set_no_dispatch(not values), ttnn._ttnn.graph.set_dry_addresses(True)
    try:
        above = room and ttnn.empty([32, 32 * room], layout=ttnn.TILE_LAYOUT, device=device, memory_config=ttnn.L1_MEMORY_CONFIG)
        args = [replay.value(a["value"], device) for a in record["args"]]
        kwargs = {name: replay.value(v, device) for name, v in record["kwargs"].items()}
        del above
        tracer._ENABLE_TRACE = True
        replay.operation(record["operation_name"])(*args, **kwargs)
    finally:
        tracer._ENABLE_TRACE = False
        ttnn._ttnn.set_no_dispatch(before[0])
        ttnn._ttnn.graph.set_dry_addresses(before[1])
    return traced()[-1]


def difference(record, device, traced):
    """What differs, or None. A tensor that is moved within L1 stays what it is, or is a new one spread
    over the mesh when it comes to lie where it lay: the model's memory decides that, so both are tried."""
    for room in (0, 12800):
        found = replay.first_difference(replay.compared(repeat(record, device, traced, room)), replay.compared(record))
        if found is None or "placements" not in found:
            break
    return found


def needs_torch(record):
    return "torch.Tensor" in json.dumps(record)


def has_torch():
    try:
        import torch

        return torch is not None
    except ImportError:
        return False


@pytest.mark.parametrize("program", replay.lines("programs"), ids=lambda p: p["program"])
def test_recorded_program(program, device, traced):
    """Every file that ttnn 0.81.1 wrote of single programs: the same keys, order and texts."""
    ttnn._ttnn.params.set_dialect("tt-metal")
    for file in program["files"]:
        record = file["record"]
        if needs_torch(record) and not has_torch():
            pytest.skip("no torch")
        got = repeat(record, device, traced)
        assert replay.first_difference(replay.compared(got), replay.compared(record)) is None


def test_recorded_models(device, traced):
    """Every call of sixteen recorded models, each distinct one once."""
    ttnn._ttnn.params.set_dialect("tt-metal")
    seen, same, unknown, differ = set(), 0, 0, {}
    for path in sorted(replay.DATA.glob("model_*.jsonl.gz")):
        for line in replay.lines(path.name.removesuffix(".jsonl.gz")):
            record = line["record"]
            key = json.dumps(replay.compared(record))
            if key in seen or (needs_torch(record) and not has_torch()):
                continue
            seen.add(key)
            try:
                found = difference(record, device, traced)
            except replay.Unknown:
                unknown += 1
                continue
            except (RuntimeError, AttributeError) as error:
                found = str(error)
            if found:
                differ.setdefault(record["operation_name"], []).append(found)
            else:
                same += 1
    print(f"{same} calls as recorded, {sum(map(len, differ.values()))} not, {unknown} not to be repeated")
    assert differ == {}
    assert same >= (720 if has_torch() else 700)


@pytest.mark.parametrize("example", ["example1", "example2"])
def test_shipped_examples(example, device, traced):
    """The files that came with the documents: the same calls with the same numbers give them again."""
    torch = pytest.importorskip("torch")
    ttnn._ttnn.params.set_dialect("2026-01")
    tracer._SERIALIZE_TENSOR_VALUES = True
    wanted = [json.loads(f.read_text()) for f in sorted((replay.DATA / "examples" / example).iterdir())]
    if example == "example1":
        ttnn.rand(shape=[4, 5], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        ttnn.rand(shape=[4, 5], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        tracer._ENABLE_TRACE = False
        given = [torch.tensor(r["return_value"]["values"]) for r in wanted[:2]]
        a, b = (ttnn.from_torch(t, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) for t in given)
        tracer._ENABLE_TRACE = True
        ttnn.add(a, b)
        got = traced()
        for record in (*got[:2], *wanted[:2]):
            values = record["return_value"].pop("values")  # random
            assert len(values) == 4 and all(0 <= v < 1 for row in values for v in row)
        sums = [record["return_value"].pop("values") for record in (got[2], wanted[2])]
        for ours, theirs in zip(*(sum(rows, []) for rows in sums), strict=True):
            assert abs(ours - theirs) <= 1 / 128  # the card rounds halves up, not to even
    else:
        tensor = torch.tensor(wanted[0]["args"][0]["value"]["values"], dtype=torch.bfloat16)
        host = ttnn.from_torch(tensor, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
        ttnn.to_device(host, device=device, memory_config=ttnn.DRAM_MEMORY_CONFIG)
        got = traced()
    assert [replay.first_difference(g, w) for g, w in zip(got, wanted, strict=True)] == [None] * len(wanted)


def test_text_is_that_of_json_dump(device, tmp_path):
    """Byte for byte: indent, separators, escapes, no newline at the end."""
    path = tracer.serialize_operation_parameters(
        "ttnn.test", (1, 1e-05, "é\n", [], {}, [1, [2.0]], float("nan")), {"a": None, "b": {"c": True}}, tmp_path
    )
    text = pathlib.Path(path).read_text()
    assert text == json.dumps(json.loads(text), indent=2)
    assert "\\u00e9\\n" in text and "NaN" in text


# ---- what may go wrong ------------------------------------------------------------------------------------


class Bad:
    def __str__(self):
        raise ValueError("no text")


def in_a_process(code, **environment):
    """Runs code with tracing into ./traces; its result and how it went."""
    before = "import ttnn, ttnn.operation_tracer as tracer\ntracer._ENABLE_TRACE = True\nttnn.CONFIG.operation_parameter_log_dir = 'traces'\n"
    return subprocess.run(
        [sys.executable, "-c", before + code], capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )


@pytest.mark.parametrize(
    "make, why",
    [
        ("l = []; l.append(l); x = l", "RecursionError"),
        ("d = {}; d['d'] = d; x = d", "RecursionError"),
        ("x = type('Bad', (), {'__str__': lambda s: 1 / 0})()", "ZeroDivisionError"),
        ("x = {(1, 2): 3}", "keys must be"),
    ],
)
def test_a_value_that_cannot_be_written(make, why, tmp_path, monkeypatch):
    """The result is the operation's, one line says what is wrong, no half file is left."""
    monkeypatch.chdir(tmp_path)
    ran = in_a_process(
        f"{make}\n"
        "@ttnn.register_python_operation(name='ttnn.experimental.odd')\n"
        "def odd(value): return 42\n"
        "for _ in range(3): assert ttnn.experimental.odd(x) == 42\n"
        "assert ttnn.experimental.odd(1) == 42\n"
    )
    assert ran.returncode == 0, ran.stderr
    said = [line for line in ran.stderr.splitlines() if "could not be written" in line]
    assert len(said) == 1 and why in said[0] and "ttnn.experimental.odd" in said[0]
    assert [f.name.split("_2")[0] for f in (tmp_path / "traces").iterdir()] == ["1_ttnn_experimental_odd"]


def test_a_huge_tensor(tmp_path, monkeypatch):
    """One whose values are nowhere: a file without them, and a line about it."""
    monkeypatch.chdir(tmp_path)
    ran = in_a_process(
        "tracer._SERIALIZE_TENSOR_VALUES = True\n"
        "ttnn._ttnn.set_no_dispatch(True)\n"
        "device = ttnn.open_device(device_id=0)\n"
        "a = ttnn.empty([1 << 16, 1 << 16], dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)\n"
        "b = ttnn.add(a, a)\n"
        "assert list(b.shape) == [65536, 65536]\n"
    )
    assert ran.returncode == 0, ran.stderr
    assert len([line for line in ran.stderr.splitlines() if "values of a tensor are missing" in line]) == 1
    files = sorted((tmp_path / "traces").iterdir())
    assert len(files) == 2 and "values" not in json.loads(files[1].read_text())["return_value"]


@pytest.mark.parametrize("target", ["/proc/ttnn", "file/below"])
def test_a_directory_that_cannot_be(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    ran = in_a_process(
        f"ttnn.CONFIG.operation_parameter_log_dir = {target!r}\n"
        "a = ttnn.zeros([2, 3]); b = ttnn.zeros([2, 3])\n"
        "assert list(b.shape) == [2, 3]\n"
        "ttnn.CONFIG.operation_parameter_log_dir = 'good'\n"
        "c = ttnn.zeros([2, 3])\n"
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("could not be written") == 1 and "2 operations have no parameter file" in ran.stderr
    assert [f.name.split("_")[0] for f in (tmp_path / "good").iterdir()] == ["1"]


def on_a_small_disk(tmp_path, size, code):
    """Runs code in a process for which the directory "traces" has room for so many bytes; -1: it is read-only."""
    (tmp_path / "traces").mkdir()
    library, source = tmp_path / "small_disk.so", pathlib.Path(__file__).parent / "preload" / "small_disk.c"
    compiler = ["gcc", "-D_GNU_SOURCE", "-shared", "-fPIC", source, "-o", library, "-ldl"]
    subprocess.run(compiler, check=True, env={**os.environ, "LD_PRELOAD": ""})
    preload = ":".join(filter(None, [os.environ.get("LD_PRELOAD"), str(library)]))
    return in_a_process(code, LD_PRELOAD=preload, SMALL_DISK=str((tmp_path / "traces").resolve()), SMALL_DISK_BYTES=str(size))


def test_a_full_disk(tmp_path, monkeypatch):
    """Files until it is full, then one line, and the work goes on."""
    monkeypatch.chdir(tmp_path)
    ran = on_a_small_disk(
        tmp_path,
        64000,
        "for _ in range(200): x = ttnn.zeros([2, 3])\n"
        "import os; names = os.listdir('traces'); n = sorted(int(f.split('_')[0]) for f in names)\n"
        "assert n == list(range(1, len(n) + 1)) and 0 < len(n) < 200, n\n"
        "import json; [json.load(open('traces/' + f)) for f in names]; print('fine')\n",
    )
    assert ran.stdout.strip() == "fine", ran.stderr
    assert ran.stderr.count("could not be written") == 1 and "No space left" in ran.stderr


def test_a_disk_that_is_read_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = on_a_small_disk(
        tmp_path,
        -1,
        "for _ in range(5): assert list(ttnn.zeros([2, 3]).shape) == [2, 3]\n"
        "import os; assert os.listdir('traces') == [] and tracer._OPERATION_COUNTER == 0; print('fine')\n",
    )
    assert ran.stdout.strip() == "fine", ran.stderr
    assert ran.stderr.count("could not be written") == 1 and "Read-only file system" in ran.stderr
    assert "5 operations have no parameter file" in ran.stderr


def test_a_directory_that_goes(traced, tmp_path):
    """Removed in the middle of the run: it is made again, and numbers go on."""
    ttnn.zeros([2, 3])
    shutil.rmtree(tmp_path / "traces")
    ttnn.zeros([2, 3])
    assert [r["operation_number"] for r in traced()] == [2]


def test_threads(traced):
    """Eight at once: numbers without gaps or doubles, every file whole."""

    def work():
        for _ in range(25):
            ttnn.zeros([2, 3])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [r["operation_number"] for r in traced()] == list(range(1, 201))


def test_fork_in_the_middle(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = in_a_process(
        "import os\n"
        "for _ in range(10): ttnn.zeros([2, 3])\n"
        "child = os.fork()\n"
        "for _ in range(50): ttnn.zeros([2, 3])\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n"
    )
    assert ran.returncode == 0, ran.stderr
    numbers = sorted(int(f.name.split("_")[0]) for f in (tmp_path / "traces").iterdir())
    assert numbers == list(range(1, 111))


def test_many_operations(tmp_path, monkeypatch):
    """So many that a mistake in counting shows; TTNN_TEST_CALLS=1000000 for the whole."""
    monkeypatch.chdir(tmp_path)
    count = int(os.environ.get("TTNN_TEST_CALLS", "5000"))
    ran = in_a_process(f"x = ttnn.zeros([1])\nfor _ in range({count - 1}): ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)\n")
    assert ran.returncode == 0, ran.stderr
    numbers = {int(entry.name.split("_")[0]) for entry in os.scandir(tmp_path / "traces")}
    assert numbers == set(range(1, count + 1))


# ---- switches ---------------------------------------------------------------------------------------------


def test_switches_are_those_of_the_library(traced, tmp_path):
    params = ttnn._ttnn.params
    assert tracer._ENABLE_TRACE is True and params.heard() and tracer.is_tracing_enabled()
    tracer.enable_tracing(False)
    assert tracer._ENABLE_TRACE is False and not params.heard()
    tracer._SERIALIZE_TENSOR_VALUES = 1
    assert tracer._SERIALIZE_TENSOR_VALUES is True and params.get(params.VALUES)
    tracer.enable_tensor_value_serialization(False)
    assert tracer._SERIALIZE_TENSOR_VALUES is False
    tracer._OPERATION_COUNTER = 41
    tracer._ENABLE_TRACE = True
    ttnn.zeros([2])
    assert tracer._OPERATION_COUNTER == 42 and params.counter() == 42
    tracer._IS_SERIALIZING = True
    ttnn.zeros([2])
    assert tracer._OPERATION_COUNTER == 42
    tracer._IS_SERIALIZING = False
    assert tracer._TRACE_PARAMS_IN_ARGV is False
    assert [r["operation_number"] for r in traced()] == [42]


def test_no_recursion(traced):
    """Operations that are called while a file is made have none; the flag is up meanwhile."""
    seen = []

    class Curious:
        def __str__(self):
            seen.append(tracer._IS_SERIALIZING)
            ttnn.zeros([2])
            return "curious"

    @ttnn.register_python_operation(name="ttnn.experimental.curious")
    def curious(value):
        return None

    curious(Curious())
    assert seen == [True] and tracer._IS_SERIALIZING is False
    (record,) = traced()
    assert record["args"][0]["value"] == {"type": "Curious", "repr": "curious"} and "return_value" not in record


def test_wrap_function(traced):
    def triple(x, *, by=3):
        "Three times."
        return x * by

    wrapped = tracer.wrap_function_for_tracing(triple, "ttnn.own.triple")
    assert wrapped(2, by=4) == 8 and wrapped.__doc__ == "Three times." and wrapped.__wrapped__ is triple
    assert tracer.wrap_function_for_tracing(ttnn.add, "ttnn.add") is ttnn.add
    (record,) = traced()
    assert record["operation_name"] == "ttnn.own.triple" and record["kwargs"] == {"by": 4} and record["return_value"] == 8


def test_serialize_value(device):
    value = tracer.serialize_value
    assert value([1, 2.5, "x", None, True, (3,)]) == [1, 2.5, "x", None, True, [3]]
    assert value({"a": [ttnn.bfloat16], 1: 2}) == {"a": [{"type": "DataType", "repr": "DataType.BFLOAT16"}], "1": 2}
    assert value({1, 1}) == {"type": "set", "value": "{1}"}
    assert value(ttnn.Shape([1, 32]))["type"] == "Shape"
    assert value(ttnn.CoreGrid(x=8, y=7)) == {"type": "CoreGrid", "value": "ttnn.CoreGrid(x=8, y=7)"}
    assert value(slice(0, 1)) == {"type": "slice", "value": "slice(0, 1, None)"}
    assert value(1 << 80) == str(1 << 80)
    assert value("\udc80") == "?"
    tensor = ttnn.full([2, 2], 7, dtype=ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    assert value(tensor, True)["values"] == [[7, 7], [7, 7]] and value(tensor, True)["dtype"] == "int32"
    with pytest.raises(RecursionError):
        loop = []
        loop.append(loop)
        value(loop)


def test_values_of_torch_tensors(device):
    torch = pytest.importorskip("torch")
    value = tracer.serialize_value
    for dtype, name in ((torch.bfloat16, "float32"), (torch.float32, "float32"), (torch.int64, "int64"), (torch.float64, "float64")):
        tensor = torch.arange(6).reshape(2, 3).to(dtype)
        assert value(tensor, True) == {"type": "torch.Tensor", "shape": [2, 3], "dtype": name, "values": [[0, 1, 2], [3, 4, 5]]}
        assert "values" not in value(tensor, False)
    assert value(torch.tensor([True, False]), True)["values"] == [True, False]
    assert value(torch.tensor(2.5, requires_grad=True), True)["values"] == 2.5
    for dtype in (ttnn.bfloat8_b, ttnn.bfloat4_b):
        block = ttnn.from_torch(torch.ones(2, 3), dtype=dtype, layout=ttnn.TILE_LAYOUT)
        assert value(block, True)["values"] == [[1.0] * 3] * 2 and value(block, True)["dtype"] == "float32"


def test_directories(tmp_path, monkeypatch):
    """The order of the documents; a root that nobody assigned counts as not set."""
    where = ttnn._ttnn.params.directory
    assert where() == "generated/ttnn/operation_parameters"
    original = ttnn.CONFIG.root_report_path
    ttnn.CONFIG.root_report_path = str(tmp_path)
    assert where() == f"{tmp_path}/operation_parameters"
    ttnn.CONFIG.operation_parameter_log_dir = tmp_path / "own"
    assert where() == f"{tmp_path}/own"
    ttnn.CONFIG.root_report_path = "elsewhere"
    assert where() == f"{tmp_path}/own"
    ttnn.CONFIG.operation_parameter_log_dir = None
    assert where() == "elsewhere/operation_parameters"
    ttnn.CONFIG.root_report_path = original
    assert where() == "generated/ttnn/operation_parameters"


def test_environment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "import ttnn\nttnn.zeros([2])\nttnn.zeros([2])\n"
    for wish, values in (("1", False), ("values", True), ("async", False)):
        directory = tmp_path / wish
        environment = {**os.environ, "TTNN_TRACE_PARAMS": wish, "TTNN_OPERATION_TRACE_DIR": str(directory)}
        subprocess.run([sys.executable, "-c", code], check=True, env=environment)
        files = sorted(directory.iterdir())
        assert files[-1].name.startswith("2_ttnn_zeros_")
        assert ("values" in json.loads(files[-1].read_text())["return_value"]) == values


PROGRAM = """
import argparse, sys
import ttnn
parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int)
parser.add_argument("rest", nargs="*")
print(sys.argv[1:], parser.parse_args())
print(ttnn.operation_tracer._TRACE_PARAMS_IN_ARGV, ttnn.operation_tracer._SERIALIZE_TENSOR_VALUES)
ttnn.zeros([2])
"""


@pytest.mark.parametrize(
    "given, seen, values",
    [
        ("--trace-params", "", False),
        ("--layers 2 --trace-params", "--layers 2", False),
        ("--trace-params --layers 2", "--layers 2", False),
        ("--trace-params-with-values --layers 2 --trace-params", "--layers 2", True),
        ("--trace-params --layers 2 -- --trace-params --", "--layers 2 -- --trace-params --", False),
        ("--layers 2 -- --trace-params", "--layers 2 -- --trace-params", None),
        ("--layers 2", "--layers 2", None),
    ],
)
def test_argument_of_the_program(tmp_path, given, seen, values):
    """A program's own parser sees its own arguments; values: whether files have them, None: there are none."""
    (tmp_path / "model.py").write_text(PROGRAM)
    ran = subprocess.run([sys.executable, "model.py", *given.split()], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0].startswith(f"{seen.split()} Namespace(")
    assert lines[1] == f"{values is not None} {bool(values)}"
    files = list(tmp_path.glob("generated/ttnn/operation_parameters/*"))
    assert [file.name.split("_2", 1)[0] for file in files] == ([] if values is None else ["1_ttnn_zeros"])
    assert all(("values" in json.loads(file.read_text())["return_value"]) == values for file in files)


def test_values_alone_are_the_programs_to_refuse(tmp_path):
    (tmp_path / "model.py").write_text(PROGRAM)
    command = [sys.executable, "model.py", "--trace-params-with-values"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 2 and "unrecognized arguments: --trace-params-with-values" in ran.stderr


@pytest.mark.parametrize("command", [["-m", "pytest"], ["-c", "import sys, pytest; sys.argv[0] = '/usr/bin/pytest'; sys.exit(pytest.main())"]])
def test_pytest_keeps_its_arguments(tmp_path, command):
    (tmp_path / "test_it.py").write_text("import sys\nimport ttnn\n\n\ndef test_it():\n    assert '--trace-params' in sys.argv\n")
    options = ["-q", "-p", "ttnn.pytest_plugin", "--trace-params", "test_it.py"]
    ran = subprocess.run([sys.executable, *command, *options], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


def program():
    """The command `ttnn` of this build, or an installed one."""
    beside = pathlib.Path(ttnn.__file__).resolve().parents[2] / "ttnn"
    found = beside if beside.is_file() else shutil.which("ttnn")
    return found or pytest.skip("no command ttnn")


@pytest.mark.parametrize("dialect", ["seed", "tt-metal"])
def test_export_gives_the_same_files(dialect, tmp_path, monkeypatch):
    """A recording of a Python program holds its calls as they were written."""
    monkeypatch.chdir(tmp_path)
    ran = in_a_process(
        "device = ttnn.open_device(device_id=0)\n"
        "a = ttnn.full([2, 40], 1.5, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)\n"
        "b = ttnn.add(a, 2, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=None)\n"
        "c = a[0:1]\n"
        "kernel = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi2)\n"
        "d = ttnn.matmul(a, b, transpose_b=True, compute_kernel_config=kernel)\n"
        "e = ttnn.split(ttnn.zeros([4, 4], layout=ttnn.TILE_LAYOUT, device=device), 2, 0)\n"
        "@ttnn.register_python_operation(name='ttnn.experimental.odd')\n"
        "def odd(*args, **kwargs): return {'x': (1, None)}\n"
        "odd([a, {'k': 2.5, 3: {1}}], object, shape=ttnn.Shape([1, 2]), grid=ttnn.CoreGrid(x=2, y=3), text='\u00e9')\n",
        TTNN_TRACE=str(tmp_path / "recorded"),
        TTNN_DIALECT=dialect,
    )
    assert ran.returncode == 0, ran.stderr
    (trace,) = (tmp_path / "recorded").iterdir()
    subprocess.run([program(), "export", "params", "--dialect", dialect, "-o", "made", str(trace)], check=True)

    def texts(directory):
        files = sorted(pathlib.Path(directory).iterdir(), key=lambda f: int(f.name.split("_")[0]))
        stamp = re.compile(r"\d{8}_\d{6}_\d{6}")
        return [(stamp.sub("", f.name), stamp.sub("", f.read_text())) for f in files]

    assert texts("made") == texts("traces") and len(texts("traces")) == 8
