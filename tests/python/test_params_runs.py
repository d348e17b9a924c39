"""Parameter files of many processes and many tests: what is counted, kept and numbered; values as files have them."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
import ttnn
import ttnn.operation_tracer as tracer

TRACES = "generated/ttnn/operation_parameters"
REMOVED = "they are removed now: --trace-params-keep keeps them"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pytest_line(arguments, code, **more):
    """Runs the code as a file of tests; the process, which has ended."""
    pathlib.Path("test_mine.py").write_text(code)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py", *arguments.split()]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **more)


def closing(ran):
    (line,) = [line for line in ran.stdout.splitlines() if line.startswith("ttnn: ")]
    return line.removeprefix("ttnn: ")


def files(where=TRACES):
    return sorted(pathlib.Path(where).iterdir(), key=lambda f: int(f.name.split("_")[0]))


def numbers(where=TRACES):
    return [int(f.name.split("_")[0]) for f in files(where)]


def left():
    """What tests left but themselves, and what plugins of pytest keep."""
    return sorted(p.name for p in pathlib.Path().iterdir() if p.name[0] != "." and p.name not in ("test_mine.py", "__pycache__"))


# ---- the closing line -------------------------------------------------------------------------------------

TWO = """
import ttnn
def test_a(): ttnn.zeros([2, 3]); ttnn.ones([2])
def test_b(): ttnn.zeros([2, 3])
"""


@pytest.mark.parametrize("values", ["", " --trace-params-with-values"])
def test_counts(values, folder):
    assert closing(pytest_line("--trace-params" + values, TWO)) == f"3 parameter files in {TRACES}; {REMOVED}"
    assert left() == []
    assert closing(pytest_line("--trace-params --trace-params-keep" + values, TWO)) == f"3 parameter files in {TRACES}; they are kept"
    assert numbers() == [1, 2, 3] and left() == ["generated"]
    assert closing(pytest_line("--trace-params", "def test_c(): pass")) == "no operation was called, so there is no parameter file"


ELSEWHERE = """
import pytest, ttnn
@pytest.mark.parametrize("i", range({count}))
def test_a(i, tmp_path):
    ttnn.CONFIG.operation_parameter_log_dir = tmp_path / "own"
    ttnn.zeros([2])
    ttnn.CONFIG.operation_parameter_log_dir = None
"""


def test_names_the_folders(folder):
    ran = pytest_line(f"--trace-params --basetemp={folder}/base", ELSEWHERE.format(count=1))
    assert closing(ran) == f"1 parameter file in base/test_a_0_0/own; {REMOVED}"
    ran = pytest_line("--trace-params --trace-params-keep --basetemp=/tmp/ttnn-test-params", ELSEWHERE.format(count=2))
    assert closing(ran) == "2 parameter files in /tmp/ttnn-test-params/test_a_0_0/own, /tmp/ttnn-test-params/test_a_1_0/own; they are kept"
    ran = pytest_line("--trace-params --basetemp=/tmp/ttnn-test-params", ELSEWHERE.format(count=5))
    assert closing(ran) == f"5 parameter files in 5 folders below /tmp/ttnn-test-params; {REMOVED}"
    assert not list(pathlib.Path("/tmp/ttnn-test-params").glob("*/own"))


# ---- one rule for all processes ---------------------------------------------------------------------------

MANY = """
import pytest, ttnn
@pytest.mark.parametrize("i", range(20))
def test_a(i): ttnn.zeros([2]); ttnn.ones([i + 1])
"""


def test_workers_of_xdist(folder):
    pytest.importorskip("xdist")
    assert closing(pytest_line("--trace-params -n 2", MANY)) == f"40 parameter files in {TRACES}; {REMOVED}"
    assert left() == []
    assert closing(pytest_line("--trace-params --trace-params-keep -n 2", MANY)) == f"40 parameter files in {TRACES}; they are kept"
    assert numbers() == list(range(1, 41))
    records = [json.loads(file.read_text()) for file in files()]
    assert sorted(r["test"] for r in records) == sorted(2 * [f"test_mine.py::test_a[{i}]" for i in range(20)])
    assert all(list(r)[-2:] == ["return_value", "test"] for r in records)


FORKS = """
import os, signal, ttnn
def test_a():
    for _ in range(4):
        child = os.fork()
        if not child:
            ttnn.zeros([2])
            os.kill(os.getpid(), signal.SIGTERM) if {killed} else os._exit(0)
        assert os.waitpid(child, 0)[1] == ({killed} and signal.SIGTERM)
    ttnn.ones([2])
"""


@pytest.mark.parametrize("killed", [False, True])
def test_forked_children(killed, folder):
    code = FORKS.format(killed=killed)
    assert closing(pytest_line("--trace-params", code)) == f"5 parameter files in {TRACES}; {REMOVED}"
    assert left() == []
    assert closing(pytest_line("--trace-params --trace-params-keep", code)) == f"5 parameter files in {TRACES}; they are kept"
    assert numbers() == [1, 2, 3, 4, 5]


def test_children_before_the_first_operation(folder):
    """They share the count all the same."""
    code = """
import multiprocessing, ttnn
def work(i): [ttnn.zeros([2]) for _ in range(10)]
context = multiprocessing.get_context("fork")
children = [context.Process(target=work, args=(i,)) for i in range(4)]
[c.start() for c in children]; [c.join() for c in children]
ttnn.zeros([2])
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "TTNN_TRACE_PARAMS": "1"})
    assert numbers() == list(range(1, 42))


def test_a_count_of_ones_own(folder):
    """A test that begins at 1 and sets it back leaves the others their numbers."""
    code = """
import ttnn, ttnn.operation_tracer as tracer, pytest
@pytest.mark.parametrize("i", range(8))
def test_a(i, tmp_path):
    ttnn.zeros([2])
    before, tracer._OPERATION_COUNTER = tracer._OPERATION_COUNTER, 0
    ttnn.CONFIG.operation_parameter_log_dir = tmp_path
    ttnn.zeros([2])
    assert [f.name.split("_")[0] for f in tmp_path.iterdir()] == ["1"]
    ttnn.CONFIG.operation_parameter_log_dir = None
    tracer._OPERATION_COUNTER = before
    ttnn.zeros([2])
"""
    workers = ["-n 2"] if __import__("importlib").util.find_spec("xdist") else [""]
    for arguments in workers:
        ran = pytest_line("--trace-params --trace-params-keep " + arguments, code)
        assert ran.returncode == 0, ran.stdout
        assert numbers() == list(range(1, 17))


ENDED = """
import time, pathlib, ttnn
def test_a():
    ttnn.zeros([2])
    pathlib.Path("there").touch()
    time.sleep(60)
"""


@pytest.mark.parametrize("kept", [False, True])
def test_sigterm(kept, folder):
    """It ends the tests in order: files go or stay as always."""
    (folder / "test_mine.py").write_text(ENDED)
    options = ["--trace-params", *["--trace-params-keep"] * kept]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 120
        while not (folder / "there").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[0]
    assert process.returncode == 2 and f"ttnn: 1 parameter file in {TRACES}; " + ("they are kept" if kept else REMOVED) in said
    assert left() == (["generated", "there"] if kept else ["there"])


def test_sigterm_is_given_back(folder):
    """Whoever calls pytest.main() has its own way to end again."""
    (folder / "test_mine.py").write_text(TWO)
    code = """
import pytest, signal
assert pytest.main(["-q", "-p", "no:cacheprovider", "--trace-params", "test_mine.py"]) == 0
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_folders_that_were_there_stay(folder):
    (folder / "generated").mkdir()
    pytest_line("--trace-params", TWO)
    assert left() == ["generated"] and not list((folder / "generated").iterdir())


# ---- what failed ------------------------------------------------------------------------------------------


@pytest.fixture
def traced(tmp_path):
    before = tracer._ENABLE_TRACE, tracer._SERIALIZE_TENSOR_VALUES, ttnn._ttnn.params.dialect()
    ttnn.CONFIG.operation_parameter_log_dir = tmp_path / "traces"
    tracer._OPERATION_COUNTER, tracer._ENABLE_TRACE = 0, True
    yield lambda: files(tmp_path / "traces") if (tmp_path / "traces").exists() else []
    tracer._ENABLE_TRACE, tracer._SERIALIZE_TENSOR_VALUES = before[:2]
    ttnn._ttnn.params.set_dialect(before[2])
    ttnn.CONFIG.operation_parameter_log_dir = None


@ttnn.register_python_operation(name="ttnn.experimental.fails_in_python")
def fails_in_python(value):
    raise ValueError(f"no {value}")


@pytest.mark.parametrize(
    "call, error, args",
    [
        (lambda: ttnn.add(ttnn.zeros([2, 3], layout=ttnn.TILE_LAYOUT), 1, nothing=2), "TypeError: ", 2),
        (lambda: ttnn.reshape(ttnn.zeros([2, 3]), [7]), "RuntimeError: ", 2),
        (lambda: ttnn.experimental.fails_in_python("luck"), "ValueError: no luck", 1),
    ],
)
def test_what_failed_leaves_its_file(call, error, args, traced):
    with pytest.raises(Exception) as caught:
        call()
    record = json.loads(traced()[-1].read_text())
    assert record["error"] == f"{type(caught.value).__name__}: {caught.value}" and record["error"].startswith(error)
    assert len(record["args"]) == args and "return_value" not in record
    assert list(record)[:6] == ["operation_number", "operation_name", "timestamp", "args", "kwargs", "num_tensors"]
    assert list(record)[6:] == ["error", "test"] and record["test"] == os.environ["PYTEST_CURRENT_TEST"].removesuffix(" (call)")


def test_other_dialects_leave_none(traced):
    ttnn._ttnn.params.set_dialect("tt-metal")
    with pytest.raises(ValueError):
        ttnn.experimental.fails_in_python(1)
    assert traced() == []
    ttnn.zeros([2])
    assert list(json.loads(traced()[0].read_text())) == ["operation_id", "operation_name", "args", "kwargs", "return_value"]


# ---- values -----------------------------------------------------------------------------------------------


def test_values_on_one_line(traced):
    tracer._SERIALIZE_TENSOR_VALUES = True
    ttnn.Tensor([0.5, 0.25, 1.0, 2.0, 3.0, -4.0], [2, 3], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
    ttnn.to_layout(ttnn.Tensor([0.5, 0.25, 1.0, 2.0, 3.0, -4.0], [2, 3], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT), ttnn.TILE_LAYOUT)
    text = traced()[-1].read_text()
    assert '"shape": [2, 3],\n' in text and '"values": [[0.5, 0.25, 1.0], [2.0, 3.0, -4.0]],\n' in text


def test_our_reader_takes_them(traced, tmp_path, device):
    """`ttnn configs add` reads NaN, and passes over what failed."""
    program = pathlib.Path(ttnn.__file__).resolve().parents[2] / "ttnn"
    if not program.is_file():
        pytest.skip("no command ttnn")
    tracer._SERIALIZE_TENSOR_VALUES = True
    tensor = ttnn.full([32, 32], float("nan"), layout=ttnn.TILE_LAYOUT, device=device)
    with pytest.raises(RuntimeError):
        ttnn.reshape(tensor, [7])
    assert len(traced()) == 2 and all("NaN" in file.read_text() for file in traced())
    command = [program, "configs", "add", "--master", tmp_path / "m.json", tmp_path / "traces"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert list(json.loads((tmp_path / "m.json").read_text())["operations"]) == ["ttnn::full"]


def test_values_of_many(traced):
    """Smaller than with a number a line, as upstream's are."""
    tracer._SERIALIZE_TENSOR_VALUES = True
    ttnn.full([256, 256], 0.123456789, dtype=ttnn.float32)
    (file,) = traced()
    text = file.read_text()
    assert len(text) < 0.75 * len(json.dumps(json.loads(text), indent=2))
    assert len(json.loads(text)["return_value"]["values"]) == 256


def test_numbers_that_are_none(traced):
    """NaN and infinities as Python's json writes them; Python's json reads them, and so do we."""
    tracer._SERIALIZE_TENSOR_VALUES = True
    given = ttnn.Tensor([float("nan"), float("inf"), -float("inf"), 1.0], [4], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
    ttnn.to_layout(given, ttnn.ROW_MAJOR_LAYOUT)
    text = traced()[-1].read_text()
    assert '"values": [NaN, Infinity, -Infinity, 1.0]' in text
    assert str(json.loads(text)["return_value"]["values"]) == "[nan, inf, -inf, 1.0]"
    assert json.dumps(tracer.serialize_value(float("nan"))) == "NaN"


MESH = """
import ttnn, ttnn.operation_tracer as tracer
device = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
data = ttnn.Tensor([float(i) for i in range(8)], [4, 2], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
cut = ttnn.distribute_tensor(data, ttnn.ShardTensorToMesh(device, 0), device)
same = ttnn.distribute_tensor(data, ttnn.ReplicateTensorToMesh(device), device)
tracer._SERIALIZE_TENSOR_VALUES = tracer._ENABLE_TRACE = True
ttnn.clone(cut), ttnn.clone(same), ttnn.from_device(cut)
"""


def test_values_of_a_mesh(torch, folder):
    """Of a tensor on several devices all shards, or one and how many there are where all are the same."""
    subprocess.run([sys.executable, "-c", MESH], check=True, env={**os.environ, "TTNN_DEVICE": "n300"})
    cut, same, host = (json.loads(file.read_text())["return_value"] for file in files())
    assert cut["shape"] == [2, 2] and cut["values"] == [[0.0, 1.0], [2.0, 3.0]]
    assert cut["shards"] == 2 and cut["other_shards"] == [[[4.0, 5.0], [6.0, 7.0]]]
    assert host["values"] == cut["values"] and host["other_shards"] == cut["other_shards"]
    assert same["shards"] == 2 and "other_shards" not in same and len(same["values"]) == 4
    assert list(same) == "type shape dtype values shards original_shape original_dtype layout storage_type".split()


def test_objects_without_addresses(traced, device):
    """A mapper, a function, an object of one's own: the same program writes the same."""

    class Own:
        pass

    @ttnn.register_python_operation(name="ttnn.experimental.takes_anything")
    def takes_anything(*args):
        pass

    ttnn.experimental.takes_anything(ttnn.ReplicateTensorToMesh(device), Own(), takes_anything, lambda: 1)
    text = traced()[-1].read_text()
    assert "0x" not in text and "<function" in text and "Own object>" in text


@pytest.fixture
def device():
    found = ttnn.open_device(device_id=0)
    yield found
    ttnn.close_device(found)
