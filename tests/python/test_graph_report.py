"""python -m ttnn.graph_report: the command lines of the documentation."""

import json
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ttnn.graph_report

DATA = Path(__file__).parent.parent / "data" / "report" / "recorded"


@pytest.fixture
def folder(tmp_path):
    import gzip

    (tmp_path / "reports").mkdir()
    for name in ("report.json", "report.python_io.json"):
        text = gzip.open(DATA / "add" / (name + ".gz")).read()
        (tmp_path / "reports" / name).write_bytes(text)
        (tmp_path / name.replace("report.", "my_report.", 1)).write_bytes(text)
    return tmp_path


def count(path, table="operations"):
    return sqlite3.connect(path).execute(f"SELECT count(*) FROM {table}").fetchone()[0]


@pytest.mark.parametrize("line", ["my_report.json ./visualizer_db/", "./reports/ ./visualizer_db/",
                                  "--svg my_report.json ./visualizer_db/"])
def test_command_lines(folder, line):
    done = subprocess.run([sys.executable, "-m", "ttnn.graph_report", *line.split()], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Imported 1 report(s) into ./visualizer_db/db.sqlite" in done.stdout and not done.stderr
    assert count(folder / "visualizer_db" / "db.sqlite") == 2
    pictures = sorted(path.name for path in (folder / "visualizer_db" / "graphs").glob("*"))
    assert pictures == (["my_report.flow.svg", "my_report.svg"] if "--svg" in line else [])
    assert ("2 SVG visualizations in ./visualizer_db/graphs/" in done.stdout) == ("--svg" in line)


def test_same_words_as_the_command(folder):
    """Of a folder with two reports of one machine: both commands say the same, and count its devices once."""
    beside = Path(ttnn.__file__).resolve().parents[2] / "ttnn"
    tool = beside if beside.is_file() else shutil.which("ttnn")
    if not tool:
        pytest.skip("no ttnn command")
    (folder / "reports" / "second.json").write_bytes((folder / "reports" / "report.json").read_bytes())
    ours = subprocess.run([sys.executable, "-m", "ttnn.graph_report", "reports", "db", "--svg"], cwd=folder, capture_output=True, text=True)
    (folder / "db" / "cluster_descriptor.yaml").unlink()
    theirs = subprocess.run([tool, "import", "--svg", "reports", "db"], cwd=folder, capture_output=True, text=True)
    assert ours.stdout == theirs.stdout and ours.stdout.startswith("Imported 2 report(s) into db/db.sqlite\n")
    devices = sqlite3.connect(folder / "db" / "db.sqlite").execute("SELECT count(DISTINCT device_id) FROM devices").fetchone()[0]
    assert f"  - {devices} devices\n" in ours.stdout
    assert f"  - {len(list((folder / 'db' / 'graphs').glob('*.svg')))} SVG visualizations" in ours.stdout


def test_threads_draw_into_one_folder(folder):
    """Each import has pictures of its own until its database is there."""
    for i in range(8):
        shutil.copy(folder / "my_report.json", folder / f"r{i}.json")
    for _ in range(5):
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: ttnn.graph_report.import_report(folder / f"r{i}.json", folder / "db", f"{i}.sqlite", generate_svgs=True), range(8)))
        pictures = sorted(path.name for path in (folder / "db" / "graphs").glob("*"))
        assert pictures == sorted(f"r{i}{suffix}.svg" for i in range(8) for suffix in ("", ".flow"))
        assert [path.name for path in (folder / "db").glob("graphs*")] == ["graphs"]
        shutil.rmtree(folder / "db")


def test_import_report(folder):
    path = ttnn.graph_report.import_report(folder / "my_report.json", folder / "out", db_name="x.sqlite")
    assert path == folder / "out" / "x.sqlite"
    assert count(path, "tensors") > 0


def test_failures(folder):
    (folder / "bad.json").write_text("{")
    with pytest.raises(RuntimeError, match="bad.json:1:2"):
        ttnn.graph_report.import_report(folder / "bad.json", folder / "out")
    done = subprocess.run([sys.executable, "-m", "ttnn.graph_report", "nothing.json", "out"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1 and "nothing.json" in done.stderr
    assert subprocess.run([sys.executable, "-m", "ttnn.graph_report"], capture_output=True).returncode == 2


def test_a_broken_file_of_a_folder(folder):
    (folder / "in").mkdir()
    (folder / "in" / "a.json").write_bytes((folder / "my_report.json").read_bytes())
    (folder / "in" / "b.json").write_text("{")
    with pytest.raises(RuntimeError, match="all but one broken file were imported: .*b.json:1:2"):
        ttnn.graph_report.import_report(folder / "in", folder / "out")
    done = subprocess.run([sys.executable, "-m", "ttnn.graph_report", "in", "again"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1 and "b.json:1:2" in done.stderr and done.stdout.startswith("Imported 1 report(s)")
    for out in "out", "again":
        with sqlite3.connect(folder / out / "db.sqlite") as db:
            ((left,),) = db.execute("SELECT value FROM report_metadata WHERE key = 'left_out'")
        assert [one["file"] for one in json.loads(left)] == ["b.json"]


def test_durations():
    graph = [{"node_type": "function_end", "params": {"name": "a"}, "duration_ns": 5}, {"node_type": "capture_end", "duration_ns": 2000000000}]
    assert ttnn.graph_report.extract_total_duration_from_graph(graph) == 2.0
    assert ttnn.graph_report.extract_operation_durations(graph) == {"a": 5e-9}
