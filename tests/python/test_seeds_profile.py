"""tt-torch's guide to profiling: its command lines as they are printed there, in a folder that `ttnn workspace` makes; and what
its limits were: several processes, a port that is taken, processes that end early."""

import csv
import importlib.metadata
import os
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest
import ttnn
from ttnn import program, tt_profile

SEED = pathlib.Path(__file__).parent.parent / "data" / "profile" / "seed_add.csv"  # the guide's table, as it is printed
# Times, what is computed of times, hashes, bytes and paths: theirs are of another machine. All other cells are equal.
OTHERS = re.compile(r"^(HOST|DEVICE|OP TO OP) .*(TS|CYCLE|\[ns\])$|KERNEL (SOURCE|HASH|SIZE \[B\])$|^PM FPU UTIL|^LOC$")
USAGE = 'tt_profile.py [-h] [-o OUTPUT_PATH] [-p PORT] "test_command"'
REPORT = "results/perf/device_ops_perf_trace.csv"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile") / "ws"
    made = subprocess.run([program.path(), "workspace", folder], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return folder


def environment(folder):
    """With `python` and `pytest` of this Python first; the package is that which runs here."""
    programs = folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    for name, module in (("python", ""), ("pytest", " -m pytest -p no:cacheprovider")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable}{module} "$@"\n')
        (programs / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "TTNN_PROFILE", "TTNN_TRACE"))}
    package = str(pathlib.Path(ttnn.__file__).resolve().parent.parent)
    return {**kept, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": package, "PYTHONDONTWRITEBYTECODE": "1"}


def shell(line, folder):
    return subprocess.run(line, shell=True, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=300)


def profiled(line, folder, report=REPORT, code=0):
    """Runs a line that profiles; (what it said, the rows of its report)."""
    ran = shell(line, folder)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert f"Wrote report to {report}\n" in ran.stderr
    with open(folder / report, newline="") as file:
        return ran.stderr, list(csv.DictReader(file))


def script(folder, name, text):
    (folder / name).write_text(textwrap.dedent(text))
    return name


# ---- the guide's commands


def test_add(workspace):
    """The guide's example: the sum of two matrices is a report of one row, and that is the row which the guide prints."""
    said, rows = profiled('python tt_torch/tools/tt_profile.py "pytest -svv tests/torch/test_basic.py"', workspace)
    with open(SEED, newline="") as file:
        (printed,) = csv.DictReader(file)
    (row,) = rows
    assert list(row) == list(printed) and len(row) == 77
    assert {name: row[name] for name in row if not OTHERS.search(name)} == {name: printed[name] for name in row if not OTHERS.search(name)}
    assert re.sub(r'"[^"]*/tests/', '"/tests/', row["LOC"]) == re.sub(r'"[^"]*/tests/', '"/tests/', printed["LOC"])
    assert not any(row[name] for name in row if "RISC" in name), "nothing here is a processor of a core"
    assert all(int(row[name]) > 0 for name in ("HOST DURATION [ns]", "DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]"))
    assert re.search(r"overhead: [0-9.]+ ms of \d+ ms \([0-9.]+ %\): \d+ records in [0-9.]+ ms \(\d+ ns each\)", said)


@pytest.mark.slow
def test_mnist(workspace):
    line = 'python tt_torch/tools/tt_profile.py "pytest -svv tests/models/mnist/test_mnist.py::test_mnist_train[single_device-full-eval]"'
    said, rows = profiled(line, workspace)
    assert sum(row["OP CODE"] == "MatmulDeviceOperation" for row in rows) >= 3
    assert "of 1 process;" in said


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["op_by_op_shlo", "op_by_op_torch"])
def test_operations_in_processes_of_their_own(workspace, kind):
    """The guide's limit is one process; here every operation is one."""
    line = f'"pytest -svv tests/models/mnist/test_mnist.py::test_mnist_train[single_device-{kind}-eval]"'
    said, rows = profiled(f"python tt_torch/tools/tt_profile.py -o ops.csv {line}", workspace, "results/perf/ops.csv")
    processes = int(re.search(r"of (\d+) processes;", said).group(1))
    assert processes >= 5 and sum(row["OP CODE"] == "MatmulDeviceOperation" for row in rows) >= 3
    assert len(list((workspace / "results/perf/ops/traces").glob("*.ttrace"))) == processes


def test_usage(workspace, capfd):
    ran = shell("python tt_torch/tools/tt_profile.py -h", workspace)
    assert ran.returncode == 0 and ran.stdout.startswith(f"usage: {USAGE}\n")
    for wrong, message in (
        (["pytest", "-svv", "tests"], 'must be quoted: tt_profile "pytest -svv ..."'),
        (["pytest", "tests"], 'must be quoted: tt_profile "pytest tests ..."'),
        (["pytest tests", "--bogus"], "unknown option '--bogus'\n"),
        ([], "required: test_command"),
        (["-p", "x", "true"], "invalid int value"),
    ):
        with pytest.raises(SystemExit) as left:
            tt_profile.main(wrong)
        assert left.value.code == 2 and message in capfd.readouterr().err


def test_console_script():
    """The wheel's `tt_profile`."""
    found = [point for point in importlib.metadata.entry_points(group="console_scripts") if point.name == "tt_profile"]
    assert found and found[0].load() is tt_profile.main


def test_function(workspace, monkeypatch):
    """As other tools call it; the exit code of the command comes back."""
    monkeypatch.chdir(workspace)
    assert tt_profile.tt_profile("exit 7", "function.csv", 8086) == 7
    assert tt_profile.tt_profile(f"{program.path()} devices >/dev/null", workspace / "here.csv") == 1, "no operation"
    assert (workspace / "here.csv").read_text().startswith("OP CODE,")


# ---- several processes and threads

FAMILY = """
    import multiprocessing, os, signal, sys, threading
    import ttnn

    device = ttnn.open_device(device_id=0)
    a = ttnn.full([32, 32], fill_value=1.0, layout=ttnn.TILE_LAYOUT, device=device)

    def child(operation, ends):
        operation(a)
        if ends:
            os.kill(os.getpid(), signal.SIGKILL)

    ttnn.exp(a)
    thread = threading.Thread(target=child, args=(ttnn.sin, False))
    thread.start()
    thread.join()
    fork = multiprocessing.get_context("fork")
    for operation, ends in ((ttnn.cos, False), (ttnn.sqrt, True)):
        process = fork.Process(target=child, args=(operation, ends))
        process.start()
        process.join()
        assert process.exitcode == (-9 if ends else 0)
    ttnn.mark("the end", None)
"""


def test_family(workspace):
    """A thread, a worker that forks, and one that is killed: all they did is in one report."""
    name = script(workspace, "family.py", FAMILY)
    said, rows = profiled(f'{program.path()} profile -o family.csv "python {name}"', workspace, "results/perf/family.csv")
    words = [re.search(r"UnaryOpType::(\w+)", row["ATTRIBUTES"]) for row in rows if row["OP CODE"] == "UnaryDeviceOperation"]
    assert [word.group(1) for word in words] == ["EXP", "SIN", "COS", "SQRT"]
    assert rows[-1]["OP CODE"] == "the end" and rows[-1]["OP TYPE"] == "signpost"
    assert "of 3 processes;" in said and said.count("ended early; what it recorded before is in the report") == 2


SIGNPOSTS = """
    import ttnn
    from tracy import signpost

    device = ttnn.open_device(device_id=0)
    a = ttnn.ones([32, 32], layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.exp(a)
    signpost("start", "the part that counts")
    ttnn.sin(a)
    signpost("stop")
    ttnn.cos(a)
"""


def test_parts(workspace):
    """Between signposts. The last one is left out: tt-perf-report shows what comes behind it."""
    name = script(workspace, "signposts.py", SIGNPOSTS)
    line = f'{program.path()} profile -o part.csv --begin start --end stop "python {name}"'
    _, rows = profiled(line, workspace, "results/perf/part.csv")
    assert [row["OP CODE"] for row in rows] == ["start", "UnaryDeviceOperation"]
    assert rows[0]["ATTRIBUTES"] == "the part that counts" and "UnaryOpType::SIN" in rows[1]["ATTRIBUTES"]
    assert rows[1]["LOC"] == f'loc(fused["{workspace}/signposts.py":9:0, "sin"])'


LINGERING = """
    import os, sys, time
    import ttnn

    device = ttnn.open_device(device_id=0)
    a = ttnn.full([32, 32], fill_value=1.0, layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.exp(a)
    if os.fork():
        os._exit(0)
    os.setsid()
    ttnn.exp(a)
    print(os.getpid(), flush=True)
    time.sleep(float(sys.argv[1]))
"""


def test_processes_that_outlive_the_command(workspace):
    """One that ends soon is waited for; one that does not is named, and what it did so far is in the report."""
    name = script(workspace, "lingering.py", LINGERING)
    line = f'{program.path()} profile -o lingering.csv --wait {{}} "python {name} {{}} >pid 2>/dev/null"'
    said, rows = profiled(line.format(20, 0.5), workspace, "results/perf/lingering.csv")
    assert len(rows) == 2 and "timed out" not in said
    said, rows = profiled(line.format(1, 60), workspace, "results/perf/lingering.csv")
    pid = int((workspace / "pid").read_text())
    os.kill(pid, 9)
    assert len(rows) == 2
    assert re.findall(rf"process {pid} [^\n]*: (still runs|ended early);", said) == ["still runs"]
    assert re.search(r"'python lingering.py 60 >pid 2>/dev/null' on port \d+ timed out after 1 seconds: 1 of its processes still runs", said)
    assert "-p\n" in said
