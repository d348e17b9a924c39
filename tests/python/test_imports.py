"""ttnn import: compact databases say what those of tables say, traces what their reports say, at any length."""

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ttnn

DATA = Path(__file__).parent.parent / "data" / "report"
RECORDED = sorted(DATA.glob("recorded/*/report.json.gz")) + sorted(DATA.glob("models/*.normal.json.gz"))[::6]

PROGRAM = """
import sys, ttnn
device = ttnn.open_device(device_id=0)
a = ttnn.full((32, 32), 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
held = []
for i in range(int(sys.argv[1])):
    c = ttnn.add(a, a)
    if i % 5 == 0:
        held.append(ttnn.relu(ttnn.full((32 * (i % 3 + 1), 64), 2.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)))
    if i % 7 == 3:
        ttnn.deallocate(held.pop(0))
    if i % 11 == 0:
        try:
            ttnn.matmul(a, held[-1])
        except RuntimeError:
            pass
    if i % 13 == 0:
        held.append(ttnn.to_memory_config(c, ttnn.L1_MEMORY_CONFIG))
"""


@pytest.fixture(scope="module")
def tool():
    beside = Path(ttnn.__file__).resolve().parents[2] / "ttnn"
    found = beside if beside.is_file() else shutil.which("ttnn")
    if not found:
        pytest.skip("no ttnn command")
    return str(found)


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def record(folder, program, *words):
    """The trace of a program."""
    package = Path(ttnn.__file__).resolve().parent.parent
    run(sys.executable, "-c", program, *words, env=dict(os.environ, PYTHONPATH=str(package), TTNN_TRACE=str(folder)))
    return next(folder.glob("*.ttrace"))


def content(path):
    """All that tables and views of upstream's names hold."""
    with sqlite3.connect(path / "db.sqlite") as db:
        names = [name for (name,) in db.execute("select name from sqlite_master where type in ('table', 'view')")]
        inside = {"buffer_ops", "buffer_spans", "operation_calls", "graph_pieces", "argument_lists", "argument_texts"}
        tables = {}
        for name in sorted(set(names) - inside):
            columns = [row[1] for row in db.execute(f"pragma table_info({name})") if (name, row[1]) != ("tensors", "size")]
            tables[name] = columns, db.execute(f"select {', '.join(columns)} from {name}").fetchall()
    return tables


VARIED = """
import json, random, ttnn
device = ttnn.open_device(device_id=0)
tile = dict(layout=ttnn.TILE_LAYOUT, device=device)
a, b, c = (ttnn.full([1, 1, 32, 32], fill_value=1.5, **tile) for _ in range(3))
pick = random.Random(7).choice
ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NORMAL)
for _ in range(150):
    ttnn.concat([a, b], pick([2, 3]))
    ttnn.linear(a, b, activation=pick([None, "relu", "gelu"]))
    ttnn.clip(a, b, c)
    ttnn.sum(a, pick([2, 3, [2, 3]]), pick([True, False]))
    ttnn.add(a, pick([b, 1.5, 2.5]), memory_config=pick([None, ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG]))
    ttnn.maximum(a, b, **pick([{}, {"memory_config": None}]))
    ttnn.leaky_relu(a, negative_slope=pick([0.1, 0.2]))
graph = ttnn.graph.end_graph_capture()
print(json.dumps([[node["params"]["name"], node["arguments"]] for node in graph if node["node_type"] == "function_start"]))
"""


def test_arguments_are_each_calls_own(tmp_path, tool):
    """Texts of arguments are remembered by what a trace's calls have in common: never another call's."""
    package = Path(ttnn.__file__).resolve().parent.parent
    env = dict(os.environ, PYTHONPATH=str(package), TTNN_TRACE=str(tmp_path), TTNN_DIALECT="seed")
    live = json.loads(run(sys.executable, "-c", VARIED, env=env))
    nodes = json.loads(run(tool, "export", "graph", next(tmp_path.glob("*.ttrace"))))
    read = [[node["params"]["name"], node["arguments"]] for node in nodes if node["node_type"] == "function_start"]
    assert len(live) > 3000 and read[-len(live):] == live


@pytest.mark.parametrize("report", RECORDED, ids=lambda path: path.relative_to(DATA).as_posix())
def test_views_are_the_tables(tmp_path, tool, report):
    run(tool, "import", "--tables", report, tmp_path / "tables")
    tables = content(tmp_path / "tables")
    for form in ([], ["--views"]):
        run(tool, "import", *form, report, tmp_path / "views")
        views = content(tmp_path / "views")
        assert set(views) >= set(tables) and all(views[name] == tables[name] for name in tables if name != "buffer_chunks")
    assert tables["captured_graph"][1] or not tables["operations"][1]


@pytest.mark.parametrize("dialect", ["seed", "tt-metal"])
def test_a_trace_is_its_report(tmp_path, tool, dialect):
    trace = record(tmp_path / "traces", PROGRAM, 300)
    run(tool, "export", "--dialect", dialect, "-o", tmp_path / "report.json", "report", trace)
    for form in ([], ["--tables"], ["--schema", "3.3"], ["--pages"]):
        shutil.rmtree(tmp_path / "a", ignore_errors=True)
        shutil.rmtree(tmp_path / "b", ignore_errors=True)
        if form == ["--pages"]:
            run(tool, "export", "--dialect", dialect, "--pages", "-o", tmp_path / "report.json", "report", trace)
        run(tool, "import", "--dialect", dialect, *form, trace, tmp_path / "a")
        run(tool, "import", *[word for word in form if word != "--pages"], tmp_path / "report.json", tmp_path / "b")
        a, b = content(tmp_path / "a"), content(tmp_path / "b")
        for name in a:
            assert a[name] == b[name], (form, name)
        assert len(a["operations"][1]) > 300


def test_many_that_live(tmp_path, tool):
    """Spans are in proportion to operations however many buffers stay, and lists are right before and behind."""
    trace = record(tmp_path / "traces", PROGRAM.replace("held.pop(0)", "held.pop(len(held) // 2)"), 4000)
    run(tool, "import", trace, tmp_path / "a")
    with sqlite3.connect(tmp_path / "a" / "db.sqlite") as db:
        spans, operations, most = [db.execute(query).fetchone()[0] for query in (
            "select count(*) from buffer_spans", "select count(*) from operations",
            "select max(n) from (select count(*) n from buffers group by operation_id)")]
    assert most > 400 and spans < 8 * operations, (spans, operations, most)


def test_memory(tmp_path, tool):
    """What an import takes does not grow with the trace."""
    trace = record(tmp_path / "traces", PROGRAM, 8000)

    def bound():
        if "asan" not in os.environ.get("LD_PRELOAD", ""):  # which reserves terabytes
            resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

    run(tool, "import", trace, tmp_path / "b", preexec_fn=bound)
    run(tool, "import", "--views", trace, tmp_path / "a", preexec_fn=bound)
    size = (tmp_path / "a" / "db.sqlite").stat().st_size
    with sqlite3.connect(tmp_path / "a" / "db.sqlite") as db:
        operations, text = db.execute("select count(*), sum(length(captured_graph)) from captured_graph").fetchone()
    assert operations > 8000 and size < 2000 * operations and size < text / 4, (size, operations, text)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_nothing(tmp_path, tool, number):
    trace = record(tmp_path / "traces", PROGRAM, 6000)
    for delay in (0, 0.1, 0.3):
        importing = subprocess.Popen([tool, "import", "--tables", trace, "made/here"], cwd=tmp_path,
                                     preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        while importing.poll() is None and not list((tmp_path / "made").glob("here/*.tmp")):
            time.sleep(0.005)
        time.sleep(delay)
        importing.send_signal(number)
        code = importing.wait()
        if code == 0:  # it was done by then
            shutil.rmtree(tmp_path / "made")
        else:
            assert code == -number
            assert not (tmp_path / "made").exists()
