"""tests/tt-metal/run on a checkout of three files: what passes, fails, skips itself, dies, takes too long."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent.parent / "tt-metal" / "run"
OURS = Path(__file__).parents[2]
FILES = {
    "conftest.py": "",
    "tests/ttnn/docs_examples/test_a.py": """
import os, time, pytest
def test_dies(): os.abort()
@pytest.mark.parametrize("x", [1, 2])
def test_first(x): assert x == 1
def test_fails(): raise RuntimeError("no such thing")
def test_skips(): pytest.skip("no card")
def test_late(): time.sleep(60)
class TestMore:
    def test_in_class(self): pass
""",
    "tests/ttnn/unit_tests/some/test_b.py": "import nothing_of_that_name\ndef test_b(): pass\n",
}


@pytest.mark.slow
def test_run(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    results = tmp_path / "results.json"
    command = [RUN, "--ref", tmp_path, "--out", tmp_path, "--python", sys.executable, "--json", results, "--jobs", "1", "--seconds", "3", "--machines", "n150"]
    done = subprocess.run([sys.executable, *command, "test_"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "documentation: 2 of 5 functions pass, 1 skip themselves" in done.stdout
    assert "unit tests: 0 of 1 functions pass" in done.stdout
    groups = json.loads(results.read_text())["groups"]
    why = {name.split("::")[-1]: row["why"] for group in groups.values() for name, row in group.items()}
    assert "SIGABRT" in why["test_dies"] and "too long" in why["test_late"]
    assert "no such thing" in why["test_fails"] and "nothing_of_that_name" in why["test_b"]
    again = subprocess.run([sys.executable, *command[:-4], "--random", "3", "--against", results, "test_b"], capture_output=True, text=True)
    assert again.returncode == 0 and "before" not in again.stdout


def notebook(*cells):
    return json.dumps({"cells": [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]})


PROGRAMS = {  # by the outcome that they have
    "basic_python/passed.py": "import sys\nimport beside\nif __name__ == '__main__':\n    open('here', 'w').close()\n    sys.exit(len(sys.argv) - 1)\n",
    "basic_python/beside.py": "",
    "basic_python/failed.py": "import sys\nsys.exit('no such luck')\n",
    "basic_python/train_and_export_mlp.py": "raise RuntimeError('left out')\n",
    "passed.ipynb": notebook("%time a = 1", "def f():\n    return a\n", "assert f() == 1 and __name__ == '__main__'"),
    "failed.ipynb": notebook("a = 1", "b\n", "a = 2"),
}


@pytest.mark.slow
def test_run_programs(tmp_path):
    """Tutorials are programs and notebooks: a case each, in a folder of its own."""
    pytest.importorskip("IPython")
    (tmp_path / "conftest.py").write_text("")
    for name, text in PROGRAMS.items():
        path = tmp_path / "ttnn" / "tutorials" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    results = tmp_path / "results.json"
    command = [RUN, "--ref", tmp_path, "--out", tmp_path, "--python", sys.executable, "--json", results, "--jobs", "1", "--machines", "n150"]
    done = subprocess.run([sys.executable, *command, "tutorials"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "tutorials: 3 of 5 functions pass" in done.stdout, done.stderr
    rows = json.loads(results.read_text())["groups"]["tutorials"]
    assert all(row["outcome"] == name.split("::")[0].split("/")[-1].split(".")[0].replace("beside", "passed") for name, row in rows.items())
    assert sorted(row["why"] for row in rows.values() if row["why"]) == ["NameError: name 'b' is not defined", "SystemExit: no such luck"]
    assert not list(tmp_path.glob("**/here"))


def test_without_checkout(tmp_path):
    done = subprocess.run([sys.executable, RUN, "--ref", tmp_path], capture_output=True, text=True)
    assert done.returncode == 77 and "no checkout" in done.stdout
