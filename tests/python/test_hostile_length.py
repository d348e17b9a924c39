"""A long trace is read in the memory that a short one takes. TTNN_TEST_LENGTH=N records N operations."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

import pytest

OPERATIONS = int(os.environ.get("TTNN_TEST_LENGTH", 20000))
LIMIT = 400 << 20  # bytes of address space, in which all commands have to do
TTNN = os.path.join(os.environ.get("OUT", "build"), "ttnn")
SANITIZED = "asan" in TTNN or "tsan" in TTNN  # they reserve terabytes

PROGRAM = """
import sys, ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.full((32, 32), 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
for i in range(int(sys.argv[1])):
    c = ttnn.add(a, a)
"""


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("trace"))
    subprocess.run([sys.executable, "-c", PROGRAM, str(OPERATIONS)], env={**os.environ, "TTNN_TRACE": folder}, check=True)
    (name,) = os.listdir(folder)
    return os.path.join(folder, name)


def limit():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def run(*words, behind=None, warns=""):
    """What a command prints, or the program behind it. `warns`: what it says besides, and nothing else."""
    first = subprocess.Popen([TTNN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limit)
    if not behind:
        printed, errors = first.communicate()
    else:
        printed = subprocess.run(behind, stdin=first.stdout, stdout=subprocess.PIPE, text=True).stdout
        errors = first.stderr.read()
    assert first.wait() == 0, errors
    assert re.fullmatch(rf"ttnn: warning: {warns}.*\n" if warns else "", errors), errors
    return printed


def test_operations(trace):
    table = {row["name"]: row["calls"] for row in json.loads(run("show", "--json", trace))}
    assert table["ttnn::add"] == OPERATIONS
    table = {row["name"]: row["calls"] for row in json.loads(run("show", "--json", "--dialect", "tt-metal", trace))}
    assert table["ttnn.add"] == OPERATIONS


def test_flame(trace):
    lines = run("export", "flame", trace).splitlines()
    assert len(lines) < 20 and any(line.startswith("ttnn::add ") for line in lines)


def test_peak(trace):
    peak = json.loads(run("show", "--peak", "--json", trace))
    assert peak["dram"]["bytes"] == 3 * 2048  # the input, the result, and the one before it
    assert [holder["shape"] for holder in peak["dram"]["holders"]] == ["ttnn.Shape([32, 32])"] * 3


@pytest.mark.parametrize("view, word", [("--tree", "Begin: ttnn::add"), ("--memory", "begin_op")])
def test_lines(trace, view, word):
    assert int(run("show", view, trace, behind=["grep", "-c", word])) == OPERATIONS + 1 - (view == "--tree")


@pytest.mark.parametrize("dialect", ["seed", "tt-metal"])
def test_graph(trace, dialect):
    end = run("export", "graph", "--dialect", dialect, trace, behind=["tail", "-c", "1000"])
    assert '"node_type": "capture_end"' in end and end.endswith("]\n")
    last = int(re.findall(r'"counter": (\d+)', end)[-1])
    assert 10 * OPERATIONS < last < 30 * OPERATIONS


def test_report(trace):
    end = run("export", "report", trace, behind=["tail", "-c", "100000"])
    assert '"node_type": "capture_end"' in end and end.rstrip().endswith("}")


def test_params(trace, tmp_path):
    """A file for each call."""
    run("export", "params", "-o", str(tmp_path / "params"), trace)
    assert sum(1 for entry in os.scandir(tmp_path / "params")) == OPERATIONS + 1


def test_part(trace):
    """The last calls of a file of any length are there at once."""
    part = run("show", "--last", "3", "--json", trace)
    assert sum(row["calls"] for row in json.loads(part) if row["name"] == "ttnn::add") in (1, 2, 3)


@pytest.mark.parametrize("form", [[], ["--views"]], ids=["default", "views"])
def test_import(trace, tmp_path, form):
    """Texts of captured_graph are a table up to a gigabyte; beyond that they are a view, and who did not ask for one is told."""
    import sqlite3

    fits, large = OPERATIONS <= 80000, OPERATIONS >= 120000  # 9 to 11 KB each
    warns = "the graphs of the operations are too long for a table: captured_graph is a view" if large and not form else ""
    run("import", *form, trace, str(tmp_path / "db"), warns=warns)
    database = sqlite3.connect(tmp_path / "db" / "db.sqlite")
    names = dict(database.execute("select name, count(*) from operations group by name"))
    assert names["ttnn::add"] == OPERATIONS
    last = max(number for (number,) in database.execute("select operation_id from operations"))
    assert database.execute("select count(*) from buffers where operation_id = ?", (last,)).fetchone()[0] in (1, 2, 3)
    (kind,) = database.execute("select type from sqlite_master where name = 'captured_graph'").fetchone()
    assert kind == ("view" if form or large else "table") or not (fits or large)
    (text,) = database.execute("select captured_graph from captured_graph where operation_id = ?", (last,)).fetchone()
    assert json.loads(text)


@pytest.mark.skipif(OPERATIONS < 300000, reason="a bar is shown after a second")
def test_progress(trace, tmp_path):
    """Who waits longer than a second sees how long it will take: the first reading has a bar of its own if it takes that long."""
    import pty

    ours, theirs = pty.openpty()
    done = subprocess.Popen([TTNN, "import", "--views", trace, str(tmp_path / "db")], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    time.sleep(0.2)
    done.send_signal(signal.SIGSTOP)  # a fast machine is done before anybody waits that long
    time.sleep(1.5)
    done.send_signal(signal.SIGCONT)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # nobody has the other end any more
            break
        shown += part
    os.close(ours)
    assert done.wait() == 0
    bars = re.findall(rb"(reading|importing) +\[[^\]]*\] .* ([\d:]+) left", shown.replace(b"\r", b"\n"))
    labels = [label for label, _ in bars]
    assert b"importing" in labels and labels == sorted(labels, reverse=True), shown[-300:]
    # The time of the first reading is none of the rate of the second, which would tell of hours at first.
    assert all(len(left) <= len(b"59:59") for _, left in bars), bars
    assert shown.endswith(b"\r\x1b[K")
